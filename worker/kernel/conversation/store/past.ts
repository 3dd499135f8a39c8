/**
 * Ended turns whose entries are not held, gathered in a row for many of them. So an object that is rebuilt reads a few rows for
 * thousands of turns, and not every row that they have. What is gathered is in the entries too.
 */

import type { Sql } from "../../sql-store.ts";
import type { RowCache, StoredQuestion, Turn } from "./rows.ts";
import type { Tables } from "./tables.ts";

const TURNS_EACH = 32;
/** A row takes 2 MB. */
const ROW_MAX_CHARS = 500_000;

/** All that is in memory of a turn. */
type PastTurn = {
  turn: Turn;
  span: { first: number; last: number } | undefined;
  chars: number;
  keys: string[];
  refs: string[];
  questions: StoredQuestion[];
};

/** Gathers the turns that have ended since the last time, when they are many. */
export function gatherPast(sql: Sql, tables: Tables, cache: RowCache): void {
  const { turns, spans, from } = cache;
  // Most times. Numbers of turns that were deleted count too.
  if (from - cache.past <= TURNS_EACH) return;
  const ended = [...turns.values()].filter(({ n }) => n > cache.past && n < from);
  const last = ended.at(-1);
  if (!last || ended.length < TURNS_EACH) return;
  // Rows that are read beside them: those from the first of a later turn on.
  const later = [...spans].flatMap(([n, { first }]) => (n > last.n ? [first - 1] : []));
  const upto = Math.min(cache.seq, ...later);
  const keys = byTurn(cache.byKey);
  const refs = byTurn(cache.byRef);
  const past = ended.map((turn): PastTurn => {
    const { n } = turn;
    const more = {
      keys: keys.get(n) ?? [],
      refs: refs.get(n) ?? [],
      questions: cache.questions.get(n) ?? [],
    };
    return { turn, span: spans.get(n), chars: cache.chars.get(n) ?? 0, ...more };
  });
  tables.need("past");
  for (let some = past; some.length > 0; ) {
    const text = some.map((one) => JSON.stringify(one));
    let count = 1;
    for (let chars = text[0]?.length ?? 0; count < text.length; count += 1) {
      chars += text[count]?.length ?? 0;
      if (chars > ROW_MAX_CHARS) break;
    }
    sql.insert("INTO past", {
      last: some[count - 1]?.turn.n ?? 0,
      upto,
      turns: `[${text.slice(0, count).join(",")}]`,
    });
    some = some.slice(count);
  }
  cache.past = last.n;
}

/** Reads what was gathered. @returns the seq up to which only entries of gathered turns stand */
export function loadPast(sql: Sql, cache: RowCache): number {
  let upto = 0;
  for (const row of sql.exec<{ upto: number; turns: string }>("SELECT upto, turns FROM past ORDER BY last")) {
    // SAFETY: `gatherPast` wrote it.
    for (const { turn, span, chars, keys, refs, questions } of JSON.parse(row.turns) as PastTurn[]) {
      const { n } = turn;
      cache.turns.set(n, turn);
      cache.byId.set(turn.id, n);
      cache.chars.set(n, chars);
      if (span) cache.spans.set(n, span);
      // A turn may end when the next one has begun.
      cache.seq = Math.max(cache.seq, span?.last ?? 0);
      if (questions.length > 0) cache.questions.set(n, questions);
      for (const key of keys) cache.byKey.set(key, n);
      for (const ref of refs) cache.byRef.set(ref, n);
      cache.past = n;
    }
    upto = row.upto;
  }
  return upto;
}

function byTurn(map: ReadonlyMap<string, number>): Map<number, string[]> {
  const all = new Map<number, string[]>();
  for (const [key, n] of map) all.set(n, [...(all.get(n) ?? []), key]);
  return all;
}
