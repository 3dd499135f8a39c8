/**
 * What a caller sends along with its words, as clients do that keep a conversation themselves (worker/openai):
 * instructions, and what was said before by the caller's word. It is stored in the turn's origin.
 */
import { joinSources, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { Transcript } from "./transcript.ts";
import type { StoredEntry, Turn } from "./transcript-rows.ts";

export type Brought = {
  /** Stands below the gateway's own system prompt, for this turn. */
  instructions?: string;
  /** No tools are offered. */
  tools?: false;
  /** What was said before the turn, in place of our rows. Empty: nothing was. */
  history?: BroughtEntry[];
  /** Instead: the id of the turn that this one goes on from, whatever was said in others. */
  after?: string;
};

export type BroughtEntry = { role: "user" | "assistant"; text: string; images?: string[] };

/** `turn` of the entries that a caller brought; ours begin with 1. */
const BROUGHT_TURN = 0;

/** Whether a turn is shown something else than all the rows before it. */
export function standsApart({ origin }: Turn): boolean {
  return origin.brought?.history !== undefined || origin.brought?.after !== undefined;
}

/** What the model is shown in a turn. */
export function historyOf(transcript: Transcript, turn: Turn): StoredEntry[] {
  if (!standsApart(turn)) return transcript.entries(turn.n);
  const chain = chainOf(transcript, turn);
  return [
    ...(chain[0]?.origin.brought?.history ?? []).map(toEntry),
    ...chain.flatMap(({ n }) => transcript.entriesOf(n)),
  ];
}

/** Whose texts the model is shown in a turn: those of our rows, and those of what the caller brought. */
export function sourcesFor(transcript: Transcript, turn: Turn): Source[] {
  if (!standsApart(turn)) return transcript.sourcesUpTo(turn.n);
  const chain = chainOf(transcript, turn);
  return joinSources(
    ...chain.map((one) => transcript.sourcesOf(one)),
    chain[0] ? broughtSources(transcript, chain[0]) : [STRANGER],
  );
}

/**
 * Whose texts a caller brought. Words of an assistant are ours where we have the turns in which they were said, and
 * then our rows know; of any others we know nothing.
 */
function broughtSources(transcript: Transcript, begin: Turn): Source[] {
  const history = begin.origin.brought?.history ?? [];
  if (history.some(({ role, images }) => role === "user" && images?.length)) return [STRANGER];
  if (!wasAnswered(begin)) return [];
  const [oldest] = transcript.turns();
  if (!oldest || oldest.n === begin.n || wasAnswered(oldest)) return [STRANGER];
  return transcript.sourcesUpTo(begin.n - 1);
}

/** Whatever the person did not say themselves, somebody else did. */
function wasAnswered({ origin }: Turn): boolean {
  return origin.brought?.history?.some(({ role }) => role !== "user") ?? false;
}

/** The turns that lead to this one, the first one first. */
function chainOf(transcript: Transcript, turn: Turn): Turn[] {
  const chain = [turn];
  for (let at = turn; at.origin.brought?.after !== undefined; ) {
    const before = transcript.turn(at.origin.brought.after);
    // A turn goes on from an older one only, so this comes to an end.
    if (!before || before.n >= at.n) break;
    chain.unshift(before);
    at = before;
  }
  return chain;
}

function toEntry(entry: BroughtEntry): StoredEntry {
  const common = { seq: 0, turn: BROUGHT_TURN };
  return entry.role === "user"
    ? { ...common, ...entry, role: "user" }
    : { ...common, role: "assistant", text: entry.text, calls: [] };
}
