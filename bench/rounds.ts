/** Rounds of A B C D E F A B C D E F …, so that drift of a shared machine affects all rows alike. */
import { load, type Work } from "./load.ts";
import { type Figures, median, medianFigures } from "./stats.ts";

export const ROWS = ["a", "b", "c", "d", "e", "f"] as const;
export type Row = (typeof ROWS)[number];
/** The numbers of calls at a time. */
export const LEVELS = [1, 8, 64] as const;
type Level = (typeof LEVELS)[number];

type Round = Record<Level, Record<Row, Figures>>;
export type RatioOf = "c/b" | "d/b" | "c/a" | "c/e" | "d/f";
type Ratios = Record<RatioOf, { p50: number; p99: number; perSecond: number }>;
export type Measured = { rows: Round; ratios: Record<Level, Ratios>; rounds: Round[] };

export type RoundsOptions = {
  rounds: number;
  /** The time of each row at each level, in each round. */
  sliceMs: number;
  /** The time of each row at each level once before the rounds, because V8 compiles code on demand. */
  warmUpMs: number;
  onRound(round: number): void;
};

export async function measureRounds(work: Record<Row, Work>, options: RoundsOptions): Promise<Measured> {
  for (const level of LEVELS) for (const row of ROWS) await load(work[row], level, options.warmUpMs);
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    options.onRound(round);
    rounds.push(await byLevel((level) => byRow((row) => load(work[row], level, options.sliceMs))));
  }
  const rows = await byLevel((level) =>
    byRow(async (row) => medianFigures(rounds.map((round) => round[level][row]))),
  );
  return {
    rows,
    rounds,
    ratios: await byLevel(async (level) => ratiosOf(rounds.map((round) => round[level]))),
  };
}

/** Returns the median of the rounds' own ratios. */
function ratiosOf(rounds: Array<Record<Row, Figures>>): Ratios {
  const ratio = (of: Row, to: Row) => {
    const over = (figure: "p50" | "p99" | "perSecond") =>
      median(rounds.map((round) => round[of][figure] / round[to][figure]));
    return { p50: over("p50"), p99: over("p99"), perSecond: over("perSecond") };
  };
  return {
    "c/b": ratio("c", "b"),
    "d/b": ratio("d", "b"),
    "c/a": ratio("c", "a"),
    "c/e": ratio("c", "e"),
    "d/f": ratio("d", "f"),
  };
}

async function byLevel<T>(make: (level: Level) => Promise<T>): Promise<Record<Level, T>> {
  return { 1: await make(1), 8: await make(8), 64: await make(64) };
}

async function byRow<T>(make: (row: Row) => Promise<T>): Promise<Record<Row, T>> {
  return {
    a: await make("a"),
    b: await make("b"),
    c: await make("c"),
    d: await make("d"),
    e: await make("e"),
    f: await make("f"),
  };
}
