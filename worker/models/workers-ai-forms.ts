/**
 * What Workers AI's models answer with, brought into OpenAI's form. Pure.
 *
 * There are two forms: the newer models' own is OpenAI's; the older ones answer `{response, tool_calls, usage}`,
 * with calls as `{name, arguments}`, with `response` as a number or an object where it reads like one, and some
 * with the call as JSON in their text. What is in OpenAI's form already is left as it is.
 */

type Loose = Record<string, unknown>;
type Part = "delta" | "message";

/** @param part where OpenAI's form has the text: of a stream's chunk, or of a whole answer */
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

/** Some put the name beside `function` instead of into it, in OpenAI's form too. */
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

/** A text that reads like JSON comes parsed. */
function textOf(response: unknown): string {
  if (typeof response === "string") return response;
  return response === undefined || response === null ? "" : JSON.stringify(response);
}

const MARKED_CALL = /<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g;

/** Whether a text that begins like this may turn out to be a call. */
export function mayBeCall(text: string): boolean {
  const begin = text.trimStart();
  return /^[{[]/.test(begin) || "<tool_call>".startsWith(begin.slice(0, 11));
}

/**
 * The calls that a model wrote as text: JSON alone, or marked with `<tool_call>`.
 *
 * @param offered names: JSON that names none of them is an answer like any other
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
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [undefined];
  }
}

/**
 * Workers AI's own error numbers, for what becomes of a call: 3036 is the account's free share of the day, which
 * no second try within a turn brings back.
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

/** @param message of what `run` threw: `InferenceUpstreamError: 3040: Capacity temporarily exceeded` */
export function statusOfError(message: string): number {
  const code = /^(?:\w+: )*(?:error code: )?(\d{4})\b/i.exec(message)?.[1];
  return (code && STATUS_OF[code]) || 502;
}

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
