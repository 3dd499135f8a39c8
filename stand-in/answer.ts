/** Makes an answer from the tool results: their texts, each with its tool's name. */
import { splitByWords } from "@edgecall/core/tools/advice.ts";
import { type Message, textOf } from "./request.ts";

/** Longest result in an answer; the transcript has all of it. */
const MAX_RESULT_CHARS = 4_000;

export type ToolResult = { label: string; text: string };

/** Returns the results after the question, each with the name of its tool or agent. */
export function resultsIn(messages: readonly Message[]): ToolResult[] {
  const labels = new Map<string, string>();
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) {
      labels.set(call.id, labelOf(call.function.name, call.function.arguments ?? ""));
    }
  }
  return messages
    .filter((message) => message.role === "tool")
    .map((message) => ({
      label: labels.get(message.tool_call_id ?? "") ?? "tool",
      text: textOf(message.content).trim(),
    }));
}

/** Labels a call to one of several agents by the agent, any other by its tool. */
function labelOf(name: string, rawArguments: string): string {
  try {
    const { agent_id: agent } = JSON.parse(rawArguments) as { agent_id?: unknown };
    return typeof agent === "string" ? agent : name;
  } catch {
    return name;
  }
}

export function answerFrom(results: readonly ToolResult[]): string {
  const parts = results.map(({ label, text }) => {
    const { failed, words } = readResult(text);
    if (failed) return `${label} failed: ${words}`;
    return results.length > 1 ? `${label}: ${words}` : words;
  });
  return [...new Set(parts)].join("\n\n");
}

function readResult(text: string): { failed: boolean; words: string } {
  const { failed, words } = fromJson(text) ?? {
    failed: /^error\b/i.test(text),
    words: text.replace(/^error:\s*/i, ""),
  };
  // What is for a model alone is nothing to quote.
  const said = failed ? splitByWords(words).text : words;
  return { failed, words: cut(said.trim() || "(no output)") };
}

/** Converts an object result to text: its own text, or otherwise field by field. */
function fromJson(text: string): { failed: boolean; words: string } | undefined {
  if (!text.startsWith("{")) return undefined;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const failed = value.status === "error" || typeof value.error === "string";
  const keys = failed ? ["error", "message"] : ["content", "result", "answer", "text"];
  const said = keys.map((key) => value[key]).find((one) => typeof one === "string" && one.trim() !== "");
  if (typeof said === "string") return { failed, words: said };
  return { failed, words: fields(value).join("\n") };
}

function fields(value: Record<string, unknown>, prefix = ""): string[] {
  return Object.entries(value).flatMap(([key, one]) =>
    typeof one === "object" && one !== null && !Array.isArray(one) && prefix.length < 60
      ? fields(one as Record<string, unknown>, `${prefix}${key}.`)
      : [`${prefix}${key}: ${typeof one === "string" ? one : JSON.stringify(one)}`],
  );
}

function cut(text: string): string {
  if (text.length <= MAX_RESULT_CHARS) return text;
  return `${text.slice(0, MAX_RESULT_CHARS)}… (${text.length - MAX_RESULT_CHARS} more characters)`;
}
