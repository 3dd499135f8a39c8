/**
 * Entries → the messages that an OpenAI-compatible endpoint takes.
 *
 * Always a valid history: each call has exactly one result, in the order of the calls, whatever the turn
 * came to. Endpoints answer an orphaned call with 400 for ever after.
 */
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { Call, Entry } from "./history.ts";

export type ChatMessage = ChatCompletionMessageParam;

/** Stands in for the result of a call whose turn was cancelled or failed before there was one. */
const NO_RESULT =
  "Error: No result: the turn ended before this call was answered. Whether it ran is unknown.";

/** A note goes as a user's message, since many endpoints take a system message only at the start. */
export const NOTE_PREFIX = "[edgecall] ";

export function toMessages(system: string, entries: readonly Entry[], note?: string): ChatMessage[] {
  const messages: ChatMessage[] = system ? [{ role: "system", content: system }] : [];
  for (const entry of entries) {
    if (entry.role === "user") messages.push(userMessage(entry));
    else if (entry.role === "note") messages.push({ role: "user", content: NOTE_PREFIX + entry.text });
    else messages.push(...assistantMessages(entry));
  }
  if (note) messages.push({ role: "user", content: note });
  return messages;
}

function userMessage(entry: Extract<Entry, { role: "user" }>): ChatMessage {
  if (!entry.images?.length) return { role: "user", content: entry.text };
  return {
    role: "user",
    content: [
      // Some endpoints refuse an empty text beside an image.
      ...(entry.text ? [{ type: "text" as const, text: entry.text }] : []),
      ...entry.images.map((url) => ({ type: "image_url" as const, image_url: { url } })),
    ],
  };
}

function assistantMessages(entry: Extract<Entry, { role: "assistant" }>): ChatMessage[] {
  if (entry.calls.length === 0) return [{ role: "assistant", content: entry.text }];
  return [
    {
      role: "assistant",
      content: entry.text || null,
      tool_calls: entry.calls.map((call) => ({
        id: call.modelCallId,
        type: "function" as const,
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
    },
    ...entry.calls.map((call) => ({
      role: "tool" as const,
      tool_call_id: call.modelCallId,
      content: resultText(call),
    })),
  ];
}

function resultText(call: Call): string {
  if (!call.outcome) return NO_RESULT;
  // An empty result reads like a lost one.
  return call.outcome.text || "(no output)";
}
