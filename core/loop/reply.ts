/**
 * Reads a model's reply as real endpoints send it: with arguments as an object or as broken JSON, call ids that are missing
 * or repeated, a wrong `finish_reason`, deltas without index, or thoughts within the text.
 */

import { isObject } from "../protocol/is-object.ts";
import { jsonIn } from "../protocol/json-text.ts";
import { cutText } from "../text/cut.ts";
import { CallPieces, type LooseCall } from "./call-pieces.ts";
import { errorDetail } from "./error-detail.ts";
import type { Call, Usage } from "./history.ts";
import type { Finish, ModelReply, RequestedCall } from "./model-reply.ts";
import { joined, replayMembers } from "./replay.ts";
import { errorInReply } from "./retry.ts";
import { ShownText } from "./shown-text.ts";
import type { ReplyReader } from "./wire.ts";

type LooseMessage = {
  content?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
  /** The form of calls before `tool_calls`. */
  function_call?: unknown;
};
/** Endpoints leave out and add fields freely, so only the nesting is certain. */
export type LooseChunk = {
  model?: unknown;
  choices?: Array<{
    index?: unknown;
    delta?: LooseMessage | null;
    message?: LooseMessage | null;
    finish_reason?: unknown;
    usage?: unknown;
  } | null> | null;
  usage?: unknown;
} | null;

/** Builds a reply from the chunks of a stream of OpenAI's form, or from one whole completion. */
export class ReplyBuilder implements ReplyReader {
  readonly #shown = new ShownText();
  readonly #calls: CallPieces;
  /** Members of the message that are sent back. */
  #members: Record<string, unknown> = {};
  /** Mistral's content with thoughts, as a list of parts. */
  #parts: unknown[] | undefined;
  #choice: unknown;
  #model = "";
  #usage: Usage | undefined;
  #finish: Finish | undefined;
  #length = 0;

  /** @param names of the tools that the request offers */
  constructor(names: ReadonlySet<string> = new Set()) {
    this.#calls = new CallPieces(names);
  }

  get length(): number {
    return this.#length + this.#calls.length;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** @throws ModelError when the chunk is an error in place of a part of the reply */
  add(value: unknown, event = ""): string {
    if (!isObject(value)) return "";
    const error = errorIn(value, event);
    if (error !== undefined) throw errorInReply(error);
    const chunk = value as NonNullable<LooseChunk>;
    if (typeof chunk.model === "string" && chunk.model) this.#model = chunk.model;
    const choices = chunk.choices ?? [];
    // The first one that says anything: a request asks for one, and some endpoints send others.
    const choice =
      choices.find((it) => it && this.#choice !== undefined && it.index === this.#choice) ??
      (this.#choice === undefined ? (choices.find(saysAnything) ?? choices[0]) : undefined);
    this.#addUsage(chunk.usage ?? choice?.usage);
    if (!choice) return "";
    if (saysAnything(choice)) this.#choice = choice.index;
    // Some endpoints send an empty one with every chunk.
    if (typeof choice.finish_reason === "string" && choice.finish_reason)
      this.#finish = toFinish(choice.finish_reason);
    const part = choice.delta ?? choice.message;
    if (!part) return "";
    // Some endpoints repeat the whole message after its pieces.
    const isPiece = part === choice.delta;
    if (isPiece || this.#calls.isEmpty) this.#addCalls(part, isPiece);
    if (!isPiece && this.#shown.raw !== "") return "";
    const members = replayMembers(part);
    this.#length += JSON.stringify(members).length - 2;
    for (const [name, member] of Object.entries(members))
      this.#members[name] = joined(this.#members[name], member);
    return this.#addContent(part);
  }

  /** @returns the text that was not shown yet, and whether other text was shown */
  end(): { left: string; isOther: boolean } {
    return this.#shown.end();
  }

  #addUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    this.#usage = { input_tokens: count(usage.prompt_tokens), output_tokens: count(usage.completion_tokens) };
  }

  #addCalls(part: LooseMessage, isPiece: boolean): void {
    const calls = Array.isArray(part.tool_calls) ? (part.tool_calls as LooseCall[]) : [];
    for (const call of calls) this.#calls.add(call ?? {}, isPiece);
    if (isObject(part.function_call)) this.#calls.add({ index: 0, function: part.function_call }, isPiece);
  }

  #addContent({ content, refusal }: LooseMessage): string {
    const text = textOfContent(content) || textOfContent(refusal);
    if (Array.isArray(content) && content.some((it) => isObject(it) && it.type !== "text"))
      this.#parts ??= this.#shown.raw === "" ? [] : [{ type: "text", text: this.#shown.raw }];
    if (this.#parts && content)
      this.#parts = joinedParts(this.#parts, Array.isArray(content) ? content : [{ type: "text", text }]);
    this.#length += Math.max(text.length, Array.isArray(content) ? JSON.stringify(content).length : 0);
    return this.#shown.add(text);
  }

  build(fallbackModel: string): ModelReply {
    const { text, thoughts, asCame } = this.#shown.end();
    const content = this.#parts ?? asCame;
    const calls = this.#calls.build(this.#finish === "length");
    const hasMembers = Object.keys(this.#members).length > 0;
    const hasReplay = hasMembers || content !== undefined;
    return {
      text,
      calls,
      model: this.#model || fallbackModel,
      usage: this.#usage,
      finish: this.#finish,
      ...(hasReplay && {
        replay: {
          ...(hasMembers && { message: this.#members }),
          ...(content !== undefined && { content }),
        },
      }),
      ...((hasReplay || thoughts !== "") && { isThoughtful: true }),
    };
  }
}

function saysAnything(choice: NonNullable<NonNullable<LooseChunk>["choices"]>[number]): boolean {
  const part = choice?.delta ?? choice?.message;
  return Boolean(part?.content || part?.tool_calls || part?.function_call || part?.refusal);
}

/** Adds parts to a list; parts of one type in a row are one. */
function joinedParts(before: readonly unknown[], parts: readonly unknown[]): unknown[] {
  const all = [...before];
  for (const part of parts) {
    const last = all.at(-1);
    if (isObject(part) && isObject(last) && last.type === part.type)
      all[all.length - 1] = onePart(last, part);
    else all.push(part);
  }
  return all;
}

function onePart(last: Record<string, unknown>, part: Record<string, unknown>): Record<string, unknown> {
  const names = new Set([...Object.keys(last), ...Object.keys(part)]);
  const member = (name: string) => (name === "type" ? part.type : joinedInner(last[name], part[name]));
  return Object.fromEntries([...names].map((name) => [name, member(name)]));
}

/** Mistral's thinking is a list of texts. */
function joinedInner(before: unknown, piece: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(piece)) return joinedParts(before, piece);
  return joined(before, piece);
}

/**
 * Finds the error in a chunk or a completion: beside the choices, or in place of them.
 * @param event the name of its server-sent event
 */
function errorIn(value: Record<string, unknown>, event: string): unknown {
  if (event === "error") return value.error ?? value;
  if (value.error) return value.error;
  const { errors, choices, base_resp: base } = value;
  if (Array.isArray(choices) && choices.length > 0) return undefined;
  if (Array.isArray(errors) && errors.length > 0) return errors[0];
  if (isObject(base) && base.status_code) return base;
  const isFailed = value.success === false || value.object === "error" || value.type === "error";
  const hasText = Object.entries(value).some(([name, it]) => SAYS_ERROR.test(name) && errorDetail(it) !== "");
  if (isFailed || (hasText && !Array.isArray(choices))) return value;
  return undefined;
}

/** Members in which endpoints say what is wrong, in place of a reply. */
const SAYS_ERROR =
  /^(?:message|msg|details?|fault|errors?|(?:err|error|status)_?(?:msg|message|description))$/i;

/** The words of endpoints for the same end. */
const FINISHES: ReadonlyArray<readonly [RegExp, Finish]> = [
  [
    /^(?:length|max_(?:output_|completion_)?tokens|model_(?:context_)?length|model_context_window_exceeded|pause_turn|truncat\w*|incomplete)$/i,
    "length",
  ],
  [
    /filter|safety|sensitive|refusal|recitation|blocklist|prohibited|spii|guardrail|moderation|language$/i,
    "content_filter",
  ],
  [/malformed/i, "malformed"],
  [/error|abort|insufficient_system_resource|cancel|fail/i, "error"],
  [/^(?:tool_?(?:calls?|use)|function_?calls?)$/i, "tool_calls"],
  [/^(?:stop|end_turn|eos(?:_token)?|stop_sequence|completed?|end|finished)$/i, "stop"],
];

export function toFinish(reason: string): Finish {
  return FINISHES.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
}

/** The text of a message whose content is a text or a list of parts. */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/**
 * Gives requested calls our own ids. The model's id is kept when it is usable (some endpoints check its form) and new to
 * the conversation: a repeated one would pair two calls with one result.
 * @param used the model call ids that the conversation already has
 */
export function toCalls(requested: readonly RequestedCall[], used: ReadonlySet<string>): Call[] {
  const taken = new Set(used);
  return requested.map((request) => {
    const id = crypto.randomUUID();
    const usable =
      request.id !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(request.id) && !taken.has(request.id);
    const modelCallId = usable && request.id ? request.id : `call_${id.replaceAll("-", "")}`;
    taken.add(modelCallId);
    const { args, problem } = readArguments(request.rawArguments);
    return { id, modelCallId, name: request.name, args, ...(problem && { problem }) };
  });
}

/** Reads the arguments of a call. Unreadable ones, such as a cut-off object, become a `problem`; nothing is guessed. */
export function readArguments(raw: string): { args: Record<string, unknown>; problem?: string } {
  const text = withoutFence(raw.trim());
  if (text === "") return { args: {} };
  const value = jsonIn(text) ?? jsonIn(withoutTrailingCommas(text));
  // The JSON was encoded twice. The inner text is shorter, so the recursion ends.
  if (typeof value === "string") return readArguments(value);
  if (value === null) return { args: {} };
  if (typeof value === "object" && !Array.isArray(value)) return { args: value as Record<string, unknown> };
  return { args: {}, problem: `the arguments are not a JSON object: ${cutText(raw, 200)}` };
}

/** Removes the code fence (three backticks) that models put around JSON. */
function withoutFence(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```") || text.length < 6) return text;
  const inside = text.slice(3, -3);
  return (inside.startsWith("json") ? inside.slice(4) : inside).trim();
}

/** Matches strings first, so that commas inside them stay. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\[\s\S])*"?)|,(?=\s*[}\]])/g, "$1");
}
