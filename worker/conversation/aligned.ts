/**
 * A caller's history beside our rows: the turns of ours that it has are shown from the rows, which know what the devices
 * said; what else it has is shown as it says; and what it has no more (edited, or asked again) is not shown.
 */
import {
  type Brought,
  type BroughtCall,
  type BroughtEntry,
  type BroughtItem,
  chainOf,
  plain,
  saysSame,
} from "./brought.ts";
import { callRef, handedOver } from "./client-tools.ts";
import type { Transcript } from "./transcript.ts";
import type { Turn } from "./transcript-rows.ts";

/**
 * @param brought as the caller sent it
 * @param byWords turns are known by their words: in a conversation that the caller names. Else by its calls alone, since
 *   other chats may have the same words
 */
export function aligned(transcript: Transcript, brought: Brought, byWords: boolean): Brought {
  const { history, results = {}, after, ...rest } = brought;
  const [ref] = Object.keys(results);
  if (!history) {
    // Results alone go on from where they were asked for.
    const asker = byWords || after !== undefined || !ref ? undefined : turnOfCall(transcript, ref);
    const from = after ?? asker?.id;
    return {
      ...rest,
      ...(ref && { results }),
      ...(from !== undefined ? { after: from } : !byWords && { history: [] }),
    };
  }
  const items = itemsOf(transcript, history as BroughtEntry[], byWords);
  const known = items.flatMap((item) => ("turn" in item ? (transcript.turn(item.turn) ?? []) : []));
  const news = Object.entries(results).filter(
    ([call, text]) => !known.some(({ origin }) => origin.brought?.results?.[call] === text),
  );
  return {
    ...rest,
    ...(news.length > 0 && { results: Object.fromEntries(news) }),
    ...(!(byWords && isWhole(transcript, items)) && { history: items }),
  };
}

/** It is what comes next anyway. */
function isWhole(transcript: Transcript, items: readonly BroughtItem[]): boolean {
  const last = transcript.turns().at(-1);
  if (!last) return items.length === 0;
  const expected = chainOf(transcript, last)?.items ?? transcript.turns().map(({ id }) => ({ turn: id }));
  return JSON.stringify(items) === JSON.stringify(expected);
}

function itemsOf(transcript: Transcript, history: readonly BroughtEntry[], byWords: boolean): BroughtItem[] {
  const items: BroughtItem[] = [];
  const wordsOf = turnsByWords(transcript);
  let asked: BroughtEntry[] = [];
  let last: Turn | undefined;
  const take = (turn: Turn) => {
    last = turn;
    items.push({ turn: turn.id });
    // Nobody asked for what a job's end set off, and few clients know of it.
    for (let next = transcript.turnAt(turn.n + 1); next?.origin.event === "job"; ) {
      last = next;
      items.push({ turn: next.id });
      next = transcript.turnAt(next.n + 1);
    }
  };
  for (const entry of history) {
    if (entry.role === "user") {
      asked.push(entry);
      continue;
    }
    const own = entry.calls?.find(({ own }) => own);
    const turn: Turn | undefined = own
      ? turnOfCall(transcript, own.id)
      : asked.length === 0
        ? last && goneOnFrom(transcript, last, entry.text)
        : byWords
          ? turnOfWords(transcript, wordsOf, last, asked, entry)
          : undefined;
    if (turn && turn.n > (last?.n ?? 0)) take(turn);
    else {
      items.push(...asked, entry);
      last = undefined;
    }
    asked = [];
  }
  items.push(...asked);
  return items;
}

function turnOfCall(transcript: Transcript, ref: string): Turn | undefined {
  return transcript
    .turns()
    .findLast(({ n }) =>
      transcript
        .entriesOf(n)
        .some((entry) => entry.role === "assistant" && entry.calls.some(({ id }) => callRef(id) === ref)),
    );
}

/** The turn that took the results of another's calls. */
function goneOnFrom(transcript: Transcript, turn: Turn, text: string): Turn | undefined {
  const refs = handedOver(turn, transcript.entriesOf(turn.n)).map(({ id }) => callRef(id));
  return transcript
    .turns()
    .findLast(
      (next) =>
        next.n > turn.n &&
        refs.some((ref) => next.origin.brought?.results?.[ref] !== undefined) &&
        saysSame(transcript, next, text),
    );
}

/** Turns by the person's words in them. @returns a function that reads all turns at its first call, and none after that */
function turnsByWords(transcript: Transcript): () => Map<string, Turn[]> {
  let found: Map<string, Turn[]> | undefined;
  return () => {
    if (found) return found;
    found = new Map();
    for (const turn of transcript.turns()) {
      const said = transcript.entriesOf(turn.n).find(({ role }) => role === "user");
      if (said === undefined || !("text" in said)) continue;
      const words = plain(said.text);
      const same = found.get(words);
      if (same) same.push(turn);
      else found.set(words, [turn]);
    }
    return found;
  };
}

function turnOfWords(
  transcript: Transcript,
  wordsOf: () => Map<string, Turn[]>,
  last: Turn | undefined,
  asked: readonly BroughtEntry[],
  answer: BroughtEntry,
): Turn | undefined {
  const words = plain(asked.map(({ text }) => text).join("\n\n"));
  const same =
    wordsOf()
      .get(words)
      ?.filter(({ n }) => n > (last?.n ?? 0)) ?? [];
  return (
    same.findLast((turn) => turn.status === "done" && saysSame(transcript, turn, answer.text)) ??
    // One that was stopped, or failed, said more or less than the client has; only our rows know what was done.
    same.findLast(({ status }) => status === "cancelled" || status === "failed")
  );
}

export type { BroughtCall };
