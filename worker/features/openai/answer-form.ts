/** Turns the answer format that a client wants into an instruction, since every model understands words. */
import { HttpError } from "../../kernel/http/errors.ts";
import type { ClientMessage } from "./client-messages.ts";

/** @param format `response_format` of a chat, or `text.format` of a response */
export function answerForm(format: unknown): ClientMessage[] {
  if (typeof format !== "object" || format === null || !("type" in format)) return [];
  if (format.type !== "json_object" && format.type !== "json_schema") return [];
  const nested = "json_schema" in format ? format.json_schema : format;
  const schema =
    typeof nested === "object" && nested !== null && "schema" in nested ? nested.schema : undefined;
  const fits = schema === undefined ? "" : ` that fits this schema: ${textOf(schema)}`;
  return [
    {
      role: "system",
      text: `Answer with one JSON value alone, without a code fence,${fits}.`,
      images: [],
      beside: true,
    },
  ];
}

function textOf(schema: unknown): string {
  try {
    return JSON.stringify(schema);
  } catch {
    // Too deeply nested for the stack.
    throw new HttpError(400, "invalid_body", "the schema of the answer is nested too deep");
  }
}
