/** Answers a question about the past from what was kept. Pure: the files are the caller's. */
import type { Parsed } from "../protocol/parse.ts";
import type { PastQuestion } from "../protocol/past-question.ts";
import { type AskedState, readState } from "./condition.ts";
import { factsOf, isEnough, type PastFacts, ROWS_MAX, rowsIn } from "./facts.ts";
import { stepsOf } from "./period.ts";
import { joined, type Period, type Piece, piecesOf } from "./pieces.ts";
import type { PastTimes } from "./question.ts";
import {
  type Gap,
  isMoment,
  type KeptValue,
  type Sample,
  type SeriesInfo,
  type SideOf,
  type Stretch,
  type UnknownCause,
} from "./sample.ts";

const GAPS_MAX = 5;

/** What is asked of a reading, in times that its words mean. */
export type PastAsked = Pick<PastQuestion, "ask" | "is" | "by" | "zone"> & PastTimes;

type FactsOfPeriod = Period & { facts: PastFacts };

/** Figures. Their words are made in answer-text.ts and sentence-text.ts. */
export type PastAnswer = Pick<SeriesInfo, "reading" | "unit" | "class" | "kind"> &
  FactsOfPeriod & {
    /** The state that was asked for, in the words of the reading. */
    is?: string;
    by?: FactsOfPeriod[];
    /** Earlier rows that are left out. */
    by_more?: number;
    compare?: FactsOfPeriod;
    /** The longest parts of time of which nothing is known, in their order, and how long all of them are. */
    unknown: (Period & { why: UnknownCause })[];
    unknown_ms: number;
    /** Since when values are kept (epoch ms); null: nothing is. */
    since: number | null;
    /** Values came faster than they are kept. */
    coarse?: boolean;
    /** Until then (epoch ms) values are Home Assistant's: ours begin there. */
    earlier?: number;
  };

/** What was kept in a part of time. */
type KeptPart = { samples: readonly Sample[]; gaps: readonly Gap[]; isCoarse: boolean; earlier?: number };

type PastSource = {
  info: SeriesInfo;
  /** Of the question's part of time. */
  kept: KeptPart;
  /** Of `compare`. */
  compared: KeptPart | undefined;
  /** A value of the reading, where none is in `kept`: it tells of what kind they are. */
  example: KeptValue | null;
  /** Since when values are kept at all (epoch ms); null: nothing is. */
  since: number | null;
};

export function answerPast(question: PastAsked, source: PastSource): Parsed<PastAnswer> {
  const { ask, from, to, by, zone, compare } = question;
  const { info, kept, compared, example, since } = source;
  const known = kindsOf(kept.samples, example);
  const state = stateOf(question, source, known);
  if (!state.ok) return state;
  const facts = (part: KeptPart, period: Period) => factsOf(ask, { info, ...part }, period, state.value);
  const pieces = piecesOf(kept, { from, to }, isMoment(info));
  const steps = by === undefined ? [] : stepsOf({ from, to }, by, zone);
  const shown = steps.slice(-ROWS_MAX);
  const { reading, unit, class: of, kind } = info;
  const earlier = kept.earlier ?? compared?.earlier;
  return {
    ok: true,
    value: {
      reading,
      kind,
      ...(unit !== undefined && { unit }),
      ...(of !== undefined && { class: of }),
      ...(state.value && { is: state.value.words }),
      from,
      to,
      facts: factsOf(ask, { info, ...kept }, { from, to }, state.value, pieces),
      ...(by !== undefined && { by: shown.map((step) => ({ ...step, facts: facts(kept, step) })) }),
      ...(steps.length > shown.length && { by_more: steps.length - shown.length }),
      ...(compare && compared && { compare: { ...compare, facts: facts(compared, compare) } }),
      ...unknownIn(pieces),
      since,
      ...(kept.isCoarse && { coarse: true }),
      ...(earlier !== undefined && { earlier }),
    },
  };
}

type AskedOf = Pick<PastSource, "info" | "example">;

/**
 * What may be left unread for a question.
 * @property cuts times (epoch ms) between which figures are made: no stretch may have one in it
 * @property sideOf on which side of what is asked a number is: so many a day pass by without crossing it
 * @property isEnough call it with the newest stretch first @returns whether the values of the stretch need not be read
 */
export function needsOf(
  question: PastAsked,
  { info, example }: AskedOf,
): {
  cuts: number[];
  isEnough: (stretch: Stretch) => boolean;
  sideOf: SideOf | undefined;
} {
  const { ask, from, to, by, zone } = question;
  const steps = by === undefined ? [] : stepsOf({ from, to }, by, zone).slice(-ROWS_MAX);
  // Rows are the newest ones.
  let rows = ask === "list" ? ROWS_MAX : 0;
  const ofNumbers = stateOf(question, { info }, [0]);
  const state = ask !== "list" && ask !== "chart" && ofNumbers.ok ? ofNumbers.value : undefined;
  return {
    sideOf: state && ((value) => (typeof value === "number" ? state.test(value) : undefined)),
    cuts: [from, to, ...steps.flatMap((step) => [step.from, step.to])],
    isEnough: (stretch) => {
      const state = stateOf(question, { info }, kindsOf([], stretch.first, example));
      if (state.ok && !isEnough(stretch, ask, state.value, question)) return false;
      if (rows <= 0) return true;
      rows -= state.ok ? rowsIn(stretch, state.value) : 0;
      return false;
    },
  };
}

/** @returns whether the parts that were not read are enough indeed, now that it is known of which kinds all values are */
export function canAnswer(question: PastAsked, { info, kept, compared, example }: PastSource): boolean {
  const state = stateOf(question, { info }, kindsOf(kept.samples, example));
  const all = [...kept.samples, ...(compared?.samples ?? [])];
  return all.every(
    ({ stretch }) => !stretch || !state.ok || isEnough(stretch, question.ask, state.value, question),
  );
}

/** A value of each kind that came: a year has a hundred thousand of them. */
function kindsOf(samples: readonly Sample[], ...examples: (KeptValue | null)[]): KeptValue[] {
  const kinds = new Map<string, KeptValue>();
  for (const { value, stretch } of samples)
    for (const one of [stretch?.first ?? null, value])
      if (one !== null && !kinds.has(typeof one)) kinds.set(typeof one, one);
  for (const example of examples) if (example !== null) kinds.set(typeof example, example);
  return [...kinds.values()];
}

/** Questions for a state need one; those for numbers have none. */
function stateOf(
  { ask, is }: PastAsked,
  { info }: Pick<PastSource, "info">,
  known: readonly KeptValue[],
): Parsed<AskedState | undefined> {
  const isOfNumbers = ask === "min_max" || ask === "mean" || ask === "change";
  const isBoolean = known.some((value) => typeof value === "boolean");
  if (isOfNumbers) {
    const isNumber = known.length === 0 || known.some((value) => typeof value === "number");
    if (!isNumber)
      return { ok: false, error: `ask: '${ask}' needs numbers; ask count or duration of this reading` };
    return { ok: true, value: undefined };
  }
  // All changes of a reading are listed and drawn, both ways.
  const isWhole = ask === "list" || (ask === "chart" && !isBoolean);
  if (isWhole && is === undefined) return { ok: true, value: undefined };
  const state = readState(is, info, known);
  if (!state.ok || state.value || isMoment(info)) return state;
  const isAny = ask === "last" || (ask === "count" && !known.some((value) => typeof value === "number"));
  if (isAny && !isBoolean) return state;
  return { ok: false, error: `is: '${ask}' needs the state that is meant, as in open, on or >5` };
}

/** The longest parts of which nothing is known, in their order. */
function unknownIn(pieces: readonly Piece[]): Pick<PastAnswer, "unknown" | "unknown_ms"> {
  const isAlike = (a: { value: unknown; why?: UnknownCause }, b: { value: unknown; why?: UnknownCause }) =>
    a.value === null && b.value === null && a.why === b.why;
  const missing = pieces.filter(({ value }) => value === null);
  const unknown = joined(missing, isAlike).flatMap(({ from, to, value, why }) =>
    value === null && why !== undefined && to > from ? [{ from, to, why }] : [],
  );
  const longest = unknown.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, GAPS_MAX);
  return {
    unknown: longest.sort((a, b) => a.from - b.from),
    unknown_ms: unknown.reduce((sum, { from, to }) => sum + to - from, 0),
  };
}
