import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import { QUESTION_MAX_MS } from "../../config/question-times.ts";

/** Limits of a question on the wire. */
const QUESTION_CHARS = 4_000;
const OPTION_CHARS = 200;
const MAX_OPTIONS = 20;
const DAY_MS = 24 * 3_600_000;

export function question(): Tool {
  return defineTool({
    name: "question",
    description: `Ask the user a question and wait for the answer: ${QUESTION_MAX_MS / DAY_MS} days at most, so ask only what you cannot find out yourself. With options the user picks one of them; without, any text answers it.`,
    input: z.strictObject({
      question: z
        .string()
        .check(z.minLength(1), z.maxLength(QUESTION_CHARS), z.describe("One question, complete in itself")),
      options: z
        .optional(
          z
            .array(z.string().check(z.minLength(1), z.maxLength(OPTION_CHARS)))
            .check(z.minLength(2), z.maxLength(MAX_OPTIONS)),
        )
        .check(z.describe("The only answers to choose from")),
    }),
    // It changes nothing: the person may refuse.
    effect: "read",
    // After a crash the same question is asked again, and answered once.
    idempotent: true,
    // The time to deliver the question; the clock pauses while it is open.
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ question: text, options }, { ask }): Promise<ToolResult> {
      const choices = options && [...new Set(options)];
      const answer = await ask({
        text,
        ...(choices && { options: choices }),
        expiresInMs: QUESTION_MAX_MS,
      });
      return textResult(`The user answered: ${answer}`, { answer });
    },
  });
}
