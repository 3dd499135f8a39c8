/**
 * What a reply carries beside its text and calls: thoughts, signatures, and the text with its thoughts. Reasoning models
 * of many endpoints refuse the next request without it (Gemini's thought signatures, DeepSeek's and Kimi's
 * `reasoning_content`). Other endpoints refuse what they do not know, so it goes back to the one that gave it, and to no other.
 */
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { isObject } from "../protocol/is-object.ts";
import type { Call, Replay } from "./history.ts";
import type { ChatMessage } from "./messages.ts";
import type { ModelReply } from "./model-reply.ts";

/** A longer one is dropped: it has to fit a row beside the reply, and its next request. */
export const REPLAY_MAX_CHARS = 64 * 1024;

/** Names the address and model of a request. Without query and password, which may be secret. */
export function sourceOf({ baseUrl, model }: { baseUrl: string; model: string }): string {
  if (!URL.canParse(baseUrl)) return `${baseUrl} ${model}`;
  const { origin, host, pathname, protocol } = new URL(baseUrl);
  // The origin of an address such as `workers-ai://` is "null".
  const where = origin === "null" ? `${protocol}//${host}` : origin;
  return `${where}${pathname.replace(/\/+$/, "")} ${model}`;
}

/** Members that are sent back: thoughts, their signatures, and what Gemini and LiteLLM put them into. */
const SENT_BACK = /reason|think|thought|signature|encrypted|^extra_content$|^provider_specific_fields$/i;

/** @returns the members of a message or call that belong into a replay */
export function replayMembers(part: object): Record<string, unknown> {
  const members = Object.entries(part).filter(
    ([name, value]) => SENT_BACK.test(name) && value !== null && value !== undefined && value !== "",
  );
  return Object.fromEntries(members);
}

/**
 * Adds a piece of a streamed member to what came before it. Texts are joined, lists by `index` (OpenRouter's
 * `reasoning_details`) or at their end.
 */
export function joined(before: unknown, piece: unknown): unknown {
  if (typeof before === "string" && typeof piece === "string") return before + piece;
  if (Array.isArray(before) && Array.isArray(piece)) return piece.reduce(withItem, before);
  if (isObject(before) && isObject(piece)) return joinedObject(before, piece, (_, __, last) => last);
  return piece ?? before;
}

function withItem(list: unknown[], item: unknown): unknown[] {
  const at = isObject(item)
    ? list.findLastIndex(
        (it) =>
          isObject(it) &&
          it.type === item.type &&
          (item.index === undefined ? !isSealed(it) && it.index === undefined : it.index === item.index),
      )
    : -1;
  const open = list[at];
  // An item without an index continues the last one only.
  if (!isObject(item) || !isObject(open) || (item.index === undefined && at !== list.length - 1))
    return [...list, item];
  return list.with(at, joinedObject(open, item, joinedText));
}

/** A thought is complete with its signature. */
function isSealed(item: Record<string, unknown>): boolean {
  return typeof item.signature === "string" && item.signature !== "";
}

/** Texts that come in pieces; other members, such as ids and signatures, come whole. */
const IN_PIECES: ReadonlySet<string> = new Set(["text", "summary", "thinking", "content", "data"]);

function joinedText(name: string, before: unknown, piece: unknown): unknown {
  return IN_PIECES.has(name) ? joined(before, piece) : (piece ?? before);
}

function joinedObject(
  before: Record<string, unknown>,
  piece: Record<string, unknown>,
  join: (name: string, before: unknown, piece: unknown) => unknown,
): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(piece)]);
  const member = (name: string) => {
    const [a, b] = [before[name], piece[name]];
    return isObject(a) && isObject(b) ? joinedObject(a, b, join) : b === undefined ? a : join(name, a, b);
  };
  return Object.fromEntries([...names].map((name) => [name, member(name)]));
}

/**
 * Returns what is stored of a reply to be sent back with it.
 * @param calls as they are stored, in the order of the reply's
 * @returns undefined when there is nothing, or too much
 */
export function replayOf(
  reply: Pick<ModelReply, "from" | "replay" | "calls">,
  calls: readonly Call[],
): Replay | undefined {
  const { from, replay = {} } = reply;
  if (from === undefined) return undefined;
  const ofCalls = reply.calls.flatMap(({ id, extra }, at) => {
    const call = calls[at];
    if (!call) return [];
    const members = { ...extra, ...(id !== undefined && id !== call.modelCallId && { id }) };
    return Object.keys(members).length > 0 ? [[call.modelCallId, members] as const] : [];
  });
  const whole = { from, ...replay, ...(ofCalls.length > 0 && { calls: Object.fromEntries(ofCalls) }) };
  const isEmpty = Object.keys(whole).length === 1;
  return isEmpty || JSON.stringify(whole).length > REPLAY_MAX_CHARS ? undefined : whole;
}

/**
 * Puts each replay into its message, where it came from this address and model, and takes it off elsewhere.
 * @param from `sourceOf` the request
 */
export function withReplays(messages: readonly ChatMessage[], from: string): ChatCompletionMessageParam[] {
  const ids = endpointIds(messages, from);
  return messages.map((message): ChatCompletionMessageParam => {
    if (message.role === "tool") {
      const { replay: _, ...result } = message;
      return { ...result, tool_call_id: ids.get(message.tool_call_id) ?? message.tool_call_id };
    }
    const { replay, ...plain } = message;
    if (plain.role !== "assistant" || replay?.from !== from) return plain;
    const calls = plain.tool_calls?.map((call) => ({
      ...call,
      ...replay.calls?.[call.id],
      id: ids.get(call.id) ?? call.id,
    }));
    return {
      ...plain,
      ...replay.message,
      // SAFETY: it is the endpoint's own content.
      ...(replay.content !== undefined && { content: replay.content as string }),
      ...(calls && { tool_calls: calls }),
    };
  });
}

/** The ids that the endpoint itself gave to its calls, by ours. One that it gave twice is left out. */
function endpointIds(messages: readonly ChatMessage[], from: string): Map<string, string> {
  const ids = new Map<string, string>();
  // One that stands in the history under our name is no other call's.
  const given = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [],
    ),
  );
  for (const { replay } of messages) {
    if (replay?.from !== from) continue;
    for (const [ours, { id }] of Object.entries(replay.calls ?? {})) {
      if (typeof id !== "string" || given.has(id)) continue;
      given.add(id);
      ids.set(ours, id);
    }
  }
  return ids;
}
