/**
 * Converts answers of Workers AI's models into OpenAI's form. Pure functions.
 *
 * Newer models answer in OpenAI's form, which stays unchanged. Older ones answer `{response, tool_calls, usage}` with calls as
 * `{name, arguments}`. Their `response` is a number or an object when the text looks like one, and some write a call as JSON into
 * their text.
 */

import { jsonIn } from "@edgecall/core/protocol/json-text.ts";

type Loose = Record<string, unknown>;
type Part = "delta" | "message";

/** @param part the field of OpenAI's form that has the text: `delta` in a stream's chunk, `message` in a whole answer */
export function openAiForm(value: unknown, part: Part): unknown {
  if (!isObject(value)) return value;
  const errors = Array.isArray(value.errors) ? value.errors : [];
  if (errors.length > 0) return { error: errors[0] };
  if (value.error !== undefined) return value;
  if (Array.isArray(value.choices)) return { ...value, choices: value.choices.map(withPlainCalls) };
  const calls = Array.isArray(value.tool_calls) ? value.tool_calls.filter(isObject).map(callForm) : [];
  const message = { content: textOf(value.response), ...(calls.length > 0 && { tool_calls: calls }) };
  const finish = typeof value.finish_reason === "string" ? value.finish_reason : part === "message" && "stop";
  return {
    choices: [{ index: 0, [part]: message, ...(finish && { finish_reason: finish }) }],
    ...(isObject(value.usage) && { usage: value.usage }),
  };
}

/** Some models put the name beside `function` instead of into it, also in OpenAI's form. */
function withPlainCalls(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const part: Part = isObject(choice.delta) ? "delta" : "message";
  const message = choice[part];
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return choice;
  return { ...choice, [part]: { ...message, tool_calls: message.tool_calls.filter(isObject).map(callForm) } };
}

function callForm(call: Loose): Loose {
  if (isObject(call.function)) return call;
  const { name, arguments: args, parameters, ...rest } = call;
  return { ...rest, type: "function", function: { name, arguments: args ?? parameters } };
}

/** Workers AI parses a text that looks like JSON, so it is turned back into text. */
function textOf(response: unknown): string {
  if (typeof response === "string") return response;
  return response === undefined || response === null ? "" : JSON.stringify(response);
}

const MARKED_CALL = /<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g;

/** @returns true when a text with this beginning may become a call */
export function mayBeCall(text: string): boolean {
  const begin = text.trimStart();
  return /^[{[]/.test(begin) || "<tool_call>".startsWith(begin.slice(0, 11));
}

/**
 * Finds calls that a model wrote as text: JSON alone, or marked with `<tool_call>`.
 * @param offered the tools' names; JSON without one of them is an ordinary answer
 */
export function callsInText(text: string, offered: ReadonlySet<string>): Loose[] | undefined {
  const marked = [...text.matchAll(MARKED_CALL)].map((match) => match[1] ?? "");
  const parsed = (marked.length > 0 ? marked : [text]).flatMap((json) => parse(json));
  const calls = parsed.filter(isObject).filter(({ name }) => typeof name === "string" && offered.has(name));
  if (calls.length === 0 || calls.length < parsed.length) return undefined;
  return calls.map((call, index) => {
    const { name, arguments: args, parameters } = call;
    return {
      index,
      type: "function",
      function: { name, arguments: JSON.stringify(args ?? parameters ?? {}) },
    };
  });
}

function parse(json: string): unknown[] {
  const value = jsonIn(json);
  return Array.isArray(value) ? value : [value];
}

/**
 * Workers AI's error numbers, by what a retry can do. 3036 means that the account's free share of the day is used up, so no retry
 * within a turn helps.
 */
const STATUS_OF: Record<string, number> = {
  "3006": 413,
  "3007": 408,
  "3008": 408,
  "3036": 402,
  "3040": 429,
  "5004": 400,
  "5005": 405,
  "5007": 400,
  "5016": 403,
  "5018": 403,
};

/** @param message of the error that `run` threw: `InferenceUpstreamError: 3040: Capacity temporarily exceeded` */
export function statusOfError(message: string): number {
  const code = /^(?:\w+: )*(?:error code: )?(\d{4})\b/i.exec(message)?.[1];
  return (code && STATUS_OF[code]) || 502;
}

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
