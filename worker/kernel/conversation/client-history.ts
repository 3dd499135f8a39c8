/**
 * A client's own history beside our rows. Turns that both have are shown to the model from the rows, which hold the devices'
 * results. Everything else that the client has is shown as it sent it. A turn that the client no longer has (it was edited, or
 * asked again) is not shown.
 */
import type { Source } from "@edgecall/core/loop/taint.ts";
import type {
  ClientContext,
  ClientHistoryCall,
  ClientHistoryEntry,
  ClientHistoryItem,
} from "../api/turns.ts";
import { chainOf, clientSources, followed, itemsIn } from "./client-context.ts";
import type { Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { joined, TurnFinder } from "./turn-finder.ts";

/**
 * A client's context in the form that its new turn stores, and the sources of the words in it.
 * @param isShared its chats are known by what they bring alone
 */
export function readClientContext(
  transcript: Transcript,
  brought: ClientContext,
  isShared: boolean,
): { brought: ClientContext; sources: Source[] } {
  const finder = new TurnFinder(transcript, brought.history);
  const left = isShared ? leftTurn(brought, finder) : undefined;
  if (left) {
    const { history: _, ...rest } = brought;
    const shown = { ...rest, after: left.id };
    return { brought: shown, sources: clientSources(transcript, shown, finder) };
  }
  const shown = aligned(transcript, brought, !isShared, finder);
  const follows = isShared && shown.history ? followed(shown.history, finder)?.id : undefined;
  return {
    brought: { ...shown, ...(follows !== undefined && { follows }) },
    sources: clientSources(transcript, shown, finder),
  };
}

/** The turn that the client of an unnamed chat did not wait for: the words that it was told end its history. Undefined: none, or several said the same. */
function leftTurn({ history = [], results }: ClientContext, finder: TurnFinder): Turn | undefined {
  const last = history.findLast((item) => !("turn" in item) && item.role === "assistant");
  if (results || !last || "turn" in last) return undefined;
  const [turn, ...others] = [...finder.answering(last.text)].filter(({ meanwhile }) => meanwhile);
  return others.length === 0 ? turn : undefined;
}

/**
 * @param brought as the caller sent it
 * @param byText turns are known by their words: in a conversation that the caller names. Else by its calls alone, since
 *   other chats may have the same words
 * @param said of its history
 */
function aligned(
  transcript: Transcript,
  brought: ClientContext,
  byText: boolean,
  finder: TurnFinder,
): ClientContext {
  const { history, results = {}, after, ...rest } = brought;
  const [ref] = Object.keys(results);
  if (!history) {
    // Results alone go on from where they were asked for.
    const asker = byText || after !== undefined || !ref ? undefined : turnOfCall(transcript, ref);
    const from = after ?? asker?.id;
    return {
      ...rest,
      ...(ref && { results }),
      ...(from !== undefined ? { after: from } : !byText && { history: [] }),
    };
  }
  const items = itemsOf(transcript, history as ClientHistoryEntry[], byText, finder);
  const known = new Set(items.flatMap((item) => ("turn" in item ? [item.turn] : [])));
  const isKnown = ([call, text]: [string, string]) =>
    finder
      .taking(call)
      .some((turn) => known.has(turn.id) && transcript.clientContextOf(turn).results?.[call] === text);
  const news = Object.entries(results).filter((result) => !isKnown(result));
  return {
    ...rest,
    ...(news.length > 0 && { results: Object.fromEntries(news) }),
    ...(!(byText && isWhole(transcript, items)) && { history: items }),
  };
}

/** It is what comes next anyway. */
function isWhole(transcript: Transcript, items: readonly ClientHistoryItem[]): boolean {
  const last = transcript.turns().at(-1);
  if (!last) return items.length === 0;
  const chain = chainOf(transcript, last);
  const expected = chain
    ? itemsIn(transcript, chain)
    : transcript.turns().map(({ id }): ClientHistoryItem => ({ turn: id }));
  return JSON.stringify(items) === JSON.stringify(expected);
}

function itemsOf(
  transcript: Transcript,
  history: readonly ClientHistoryEntry[],
  byText: boolean,
  finder: TurnFinder,
): ClientHistoryItem[] {
  const items: ClientHistoryItem[] = [];
  let asked: ClientHistoryEntry[] = [];
  let last: Turn | undefined;
  /** The calls that it handed over. */
  let refs: string[] = [];
  const addTurn = (turn: Turn, calls: readonly ClientHistoryCall[] = []) => {
    last = turn;
    refs = calls.flatMap(({ own, id }) => (own ? [id] : []));
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
        ? last && continuationOf(finder, last, refs, entry.text)
        : byText
          ? turnOfText(finder, last, asked, entry)
          : undefined;
    if (turn && turn.n > (last?.n ?? 0)) addTurn(turn, entry.calls);
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
  const n = transcript.turnOfCall(ref);
  return n === undefined ? undefined : transcript.turnAt(n);
}

/** The turn that took the results of another's calls. */
function continuationOf(
  finder: TurnFinder,
  turn: Turn,
  refs: readonly string[],
  text: string,
): Turn | undefined {
  const saying = finder.answering(text);
  return refs
    .flatMap((ref) => finder.taking(ref))
    .filter((next) => next.n > turn.n && saying.has(next))
    .sort((a, b) => a.n - b.n)
    .at(-1);
}

function turnOfText(
  finder: TurnFinder,
  last: Turn | undefined,
  asked: readonly ClientHistoryEntry[],
  answer: ClientHistoryEntry,
): Turn | undefined {
  const same = finder.asking(joined(asked.map(({ text }) => text)));
  const saying = finder.answering(answer.text);
  let stopped: Turn | undefined;
  for (let at = same.length - 1; at >= 0; at -= 1) {
    const turn = same[at];
    if (!turn || turn.n <= (last?.n ?? 0)) break;
    if ((turn.status === "done" || turn.meanwhile) && saying.has(turn)) return turn;
    // A turn that was stopped or failed has another text than the client; only our rows know what was done.
    if (turn.status === "cancelled" || turn.status === "failed") stopped ??= turn;
  }
  return stopped;
}
