/** Checks the arguments of a tool that is not run by the tools' own runner. */
import type { Call, Outcome } from "@edgecall/core/loop/history.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import { parseArguments } from "@edgecall/core/tools/arguments.ts";
import { advisedOf, type Tool } from "@edgecall/core/tools/contract.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";

export type CheckedArguments = { ok: true; input: Record<string, unknown> } | { ok: false; outcome: Outcome };

/** @param problem why the model's arguments could not be read at all */
export function checkArguments(
  tool: Pick<Tool, "name" | "input" | "aliases" | "prepare">,
  { args, problem }: Pick<Call, "args" | "problem">,
): CheckedArguments {
  if (problem !== undefined)
    return refuse(errorText.invalidParams(tool.name, problem, jsonSchema(tool.input)));
  const parsed = parseArguments(tool, args);
  return parsed.ok ? parsed : refuse(advisedOf(parsed.fault));
}

function refuse(words: Advised): CheckedArguments {
  return {
    ok: false,
    outcome: { status: "error", errorType: "invalid_params", ...words, elapsedMs: 0, sources: [] },
  };
}
