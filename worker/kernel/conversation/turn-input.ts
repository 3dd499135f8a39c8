/** Rebuilds what a client sent with the request that began a turn, as far as it is in the rows. */
import type { ClientHistoryCall, TurnInput } from "../api/turns.ts";
import { callRef } from "../api/turns.ts";
import type { Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { turnResult, userMessage } from "./turn-view.ts";

export function turnInput(transcript: Transcript, turn: Turn): TurnInput[] {
  const { developer = [], history = [], results: sent = {} } = transcript.clientContextOf(turn);
  const left = new Map(Object.entries(sent));
  const items: TurnInput[] = developer.map((text) => ({ role: "system", text }));
  for (const item of history) {
    if (!("turn" in item)) {
      const { calls = [], ...message } = item;
      items.push(...messageOf(message), ...calls.flatMap((call) => callItems(call, left)));
      continue;
    }
    const known = transcript.turn(item.turn);
    if (!known) continue;
    for (const [ref, text] of Object.entries(transcript.clientContextOf(known).results ?? {}))
      left.set(ref, text);
    items.push(...messageOf({ role: "user", ...userMessage(transcript.entriesOf(known.n)) }));
    const { answer, requested = [] } = turnResult(transcript, known);
    items.push(...messageOf({ role: "assistant", text: answer ?? "" }));
    for (const { id, name, args } of requested)
      items.push(
        ...callItems({ id: callRef(id), own: true, name, arguments: JSON.stringify(args ?? {}) }, left),
      );
  }
  for (const ref of Object.keys(sent)) items.push(...resultOf(ref, left));
  return [...items, ...messageOf({ role: "user", ...userMessage(transcript.entriesOf(turn.n)) })];
}

type Message = Extract<TurnInput, { images?: string[] }>;

function messageOf(message: Message): Message[] {
  return message.text === "" && !message.images?.length ? [] : [message];
}

/** @param left the results of calls of ours that no item has yet */
function callItems({ result, ...call }: ClientHistoryCall, left: Map<string, string>): TurnInput[] {
  const { id, own } = call;
  if (own && result === undefined) return [{ role: "call", ...call }, ...resultOf(id, left)];
  if (own) left.delete(id);
  const answer: TurnInput[] =
    result === undefined ? [] : [{ role: "result", id, ...(own && { own }), text: result }];
  return [{ role: "call", ...call }, ...answer];
}

function resultOf(ref: string, left: Map<string, string>): TurnInput[] {
  const text = left.get(ref);
  left.delete(ref);
  return text === undefined ? [] : [{ role: "result", id: ref, own: true, text }];
}
