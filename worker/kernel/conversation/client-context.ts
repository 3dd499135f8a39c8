/**
 * What a client sends along with its message when it keeps the conversation itself (worker/features/openai): instructions,
 * tools of its own, and its own history. It has a row beside the turn's.
 */

import { joinSources, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { objectIn } from "@edgecall/core/protocol/json-text.ts";
import type {
  ClientContext,
  ClientContextOutline,
  ClientHistoryCall,
  ClientHistoryEntry,
  ClientHistoryItem,
} from "../api/turns.ts";
import { resultOutcome, withResults } from "./client-tools.ts";
import { isAnswer } from "./store/client-outline.ts";
import type { StoredCall, StoredEntry, Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import type { TurnFinder } from "./turn-finder.ts";

/** `turn` of the entries that a client sent; ours begin with 1. */
const CLIENT_TURN = 0;

/** True if a turn is shown something else than all the rows before it. */
export function hasOwnHistory(transcript: Transcript, turn: Turn): boolean {
  return chainOf(transcript, turn) !== undefined;
}

/** The history that the model is shown in a turn. @param keepFirst how many of the first entries stay when the rest is summed up */
export function historyOf(transcript: Transcript, turn: Turn, keepFirst: number): StoredEntry[] {
  const chain = chainOf(transcript, turn);
  const turns = chain
    ? turnsIn(transcript, itemsIn(transcript, chain))
    : transcript.turns().filter(({ n }) => n <= turn.n);
  const results = new Map(
    turns.flatMap((one) =>
      one.origin.brought?.results ? Object.entries(transcript.clientContextOf(one).results ?? {}) : [],
    ),
  );
  if (!chain) return withResults(transcript.shownUpTo(turn.n, keepFirst), results);
  const entries = transcript.entriesOfAll(turns.map(({ n }) => n));
  const shown = itemsIn(transcript, chain).flatMap((item) =>
    "turn" in item ? (entries.get(transcript.turn(item.turn)?.n ?? 0) ?? []) : [toEntry(item)],
  );
  return withResults(shown, results);
}

/** @property turns that go on from each other, the oldest first. The first of them may have brought a history */
type Chain = { turns: Turn[] };

/** The turns of ours that a turn goes on from, where they are not all those before it. */
export function chainOf(transcript: Transcript, turn: Turn): Chain | undefined {
  // A briefing goes on from nothing: what was said before would cost its tokens each day.
  if (turn.origin.event === "rule") return { turns: [turn] };
  const isApart = ({ origin: { brought } }: Turn) =>
    brought?.history !== undefined || brought?.after !== undefined;
  // In most conversations no turn is: this spares the walk.
  if (!transcript.turns().some(isApart)) return undefined;
  const turns: Turn[] = [];
  for (let at: Turn | undefined = turn; at; at = before(transcript, at)) turns.push(at);
  return turns.some(isApart) ? { turns: turns.reverse() } : undefined;
}

/** A turn goes on from an older one only, so the way back comes to an end. */
function before(transcript: Transcript, { n, origin }: Turn): Turn | undefined {
  const { history, after } = origin.brought ?? {};
  if (history) return undefined;
  const one = after === undefined ? transcript.turnAt(n - 1) : transcript.turn(after);
  return one && one.n < n ? one : undefined;
}

/** The history of a chain: the items that its first turn brought, then the turns. */
export function itemsIn(transcript: Transcript, { turns }: Chain): ClientHistoryItem[] {
  const [first] = turns;
  const history = first?.origin.brought?.history ? (transcript.clientContextOf(first).history ?? []) : [];
  return [...history, ...turns.map(({ id }) => ({ turn: id }))];
}

function turnsIn(transcript: Transcript, items: readonly ClientHistoryItem[]): Turn[] {
  return items.flatMap((item) => ("turn" in item ? (transcript.turn(item.turn) ?? []) : []));
}

/** The turns of a chat among others in the same object: those whose answers it brought, as far as their words tell. */
export function turnsOfChat(transcript: Transcript, turn: Turn): Turn[] {
  const turns = new Set<Turn>();
  let at: Turn | undefined = turn;
  while (at) {
    turns.add(at);
    const { history, follows }: ClientContextOutline = at.origin.brought ?? {};
    for (const id of history ?? []) {
      const one = transcript.turn(id);
      if (one) turns.add(one);
    }
    const followed: Turn | undefined = follows === undefined ? undefined : transcript.turn(follows);
    at = followed && followed.n < at.n ? followed : before(transcript, at);
  }
  return [...turns];
}

/**
 * The sources of the texts that the model is shown in a turn. What a caller brought is in the rows since the turns began; a turn's
 * own words may come from everything that it goes on from.
 */
export function sourcesFor(transcript: Transcript, turn: Turn): Source[] {
  return sourcesOfTurns(transcript)(turn);
}

/** @returns a function that does the same for many turns, and looks at each once */
function sourcesOfTurns(transcript: Transcript): (turn: Turn) => Source[] {
  const known = new Map<number, Source[]>();
  const shownIn = (turn: Turn): Turn[] => {
    const last = before(transcript, turn);
    const brought = turn.origin.brought?.history?.flatMap((id) => transcript.turn(id) ?? []) ?? [];
    return (last ? [last] : brought).filter(({ n }) => n < turn.n);
  };
  return (turn) => {
    // A chain may have thousands of turns, too many for recursion.
    const open = [turn];
    for (let at = open.at(-1); at; at = open.at(-1)) {
      const from = shownIn(at);
      const unknown = known.has(at.n) ? [] : from.filter(({ n }) => !known.has(n));
      if (unknown.length > 0) {
        open.push(...unknown);
        continue;
      }
      open.pop();
      if (!known.has(at.n))
        known.set(at.n, joinSources(...from.map(({ n }) => known.get(n) ?? []), transcript.sourcesOf(at)));
    }
    return known.get(turn.n) ?? [];
  };
}

/**
 * The sources of what a caller brings, for the row of the turn that is about to begin. Words of an assistant are ours where we have
 * the turns in which they were said, and then our rows know; of any others we know nothing. What comes into those turns later is not
 * in these words.
 */
export function clientSources(transcript: Transcript, brought: ClientContext, finder: TurnFinder): Source[] {
  const sourcesOf = sourcesOfTurns(transcript);
  const all = new Set<Source>();
  const answers = new Set<string>();
  // Nobody knows what a caller's tool has read.
  if (brought.results) all.add(STRANGER);
  for (const item of brought.history ?? []) {
    // Of a turn of ours its row knows.
    if ("turn" in item) continue;
    const { role, text, images, calls } = item;
    if (role === "user") {
      if (images?.length) all.add(STRANGER);
      continue;
    }
    if (calls) all.add(STRANGER);
    else answers.add(text);
  }
  for (const text of answers) {
    const turns = finder.answering(text);
    if (turns.size === 0) all.add(STRANGER);
    for (const turn of turns) for (const source of sourcesOf(turn)) all.add(source);
  }
  return [...all];
}

/** The turn that said the last answer of a history; of several that said the same, the one with as many answers before it. */
export function followed(history: readonly ClientHistoryItem[], finder: TurnFinder): Turn | undefined {
  let answers = history.filter(isAnswer).length;
  for (const item of history.toReversed()) {
    if (!isAnswer(item)) continue;
    answers -= 1;
    if ("turn" in item) continue;
    const turns = [...finder.answering(item.text)];
    const place = answers;
    const same = turns.findLast(({ origin }) => (origin.brought?.answers ?? 0) === place) ?? turns.at(-1);
    if (same) return same;
  }
  return undefined;
}

function toEntry(entry: ClientHistoryEntry): StoredEntry {
  const common = { seq: 0, turn: CLIENT_TURN };
  if (entry.role === "assistant")
    return { ...common, role: "assistant", text: entry.text, calls: (entry.calls ?? []).map(toCall) };
  const { role: _, calls: __, ...rest } = entry;
  return { ...common, ...rest, role: "user" };
}

function toCall({ id, name, arguments: raw, result }: ClientHistoryCall): StoredCall {
  return {
    id,
    turn: CLIENT_TURN,
    modelCallId: id,
    name,
    // Other text is a slip of a model, long ago and elsewhere.
    args: objectIn(raw) ?? {},
    ...(result !== undefined && { outcome: resultOutcome(result) }),
    submittedAt: null,
    settledAt: null,
    settledSeq: null,
  };
}
