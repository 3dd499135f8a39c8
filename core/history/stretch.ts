/** Says in short what a day has: a question about a year needs of most days no more. Pure. */
import type {
  Extreme,
  KeptValue,
  MomentsAbout,
  NumbersAbout,
  Room,
  Sample,
  SideOf,
  Span,
  StateAbout,
  StatesAbout,
  Stretch,
} from "./sample.ts";

/** More make it longer than what it is about. */
const STATES_MAX = 8;
const UNKNOWN_MAX = 4;
const ROOMS_MAX = 3;
/** A room has so much of what is between the lowest and the highest number, and is more than half as wide as the number beside it. */
const ROOM_SHARE = 0.01;
const ROOM_RATIO = 0.5;

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;

/** A meter that falls to so little of what it had begins anew. */
const RESET_SHARE = 0.1;

/** Tells whether a meter began anew between two of its values. */
export function isReset(before: number, value: number): boolean {
  return value < before * RESET_SHARE;
}

/**
 * The samples of a day in short: those that end it, or come before a part of it of which nothing is known.
 * @param samples in the order of their times
 * @param sideOf the values stand for others on their side: rooms are those between two sides
 * @returns undefined: it cannot be said in short
 */
export function inShort(
  samples: readonly Sample[],
  isMoment: boolean,
  sideOf?: SideOf,
): Sample[] | undefined {
  const short: Sample[] = [];
  let begun = 0;
  for (const [nth, sample] of samples.entries()) {
    const next = samples[nth + 1];
    if (sample.value !== null && next && next.value !== null) continue;
    const known = samples.slice(begun, nth + 1);
    begun = nth + 1;
    if (known.length < 2) {
      short.push(sample);
      continue;
    }
    const stretch = stretchOf(known, isMoment, sideOf);
    if (!stretch) return undefined;
    short.push({ ...sample, stretch });
  }
  return short.length <= 2 * UNKNOWN_MAX ? short : undefined;
}

type Known = Sample & { value: KeptValue };

/** @param samples two at least, none of which says that nothing is known @returns undefined: there are too many values, or of two kinds */
function stretchOf(
  samples: readonly Sample[],
  isMoment: boolean,
  sideOf: SideOf | undefined,
): Stretch | undefined {
  const last = samples.at(-1);
  const [first, ...more] = samples.slice(0, -1) as readonly Known[];
  if (!first || !last || more.some(({ value }) => typeof value !== typeof first.value)) return undefined;
  const all = [first, ...more];
  const [from, to] = [first.at, last.at];
  if (isMoment) {
    const about = momentsAbout(all);
    return about && { from, to, first: first.value, end: first.value, endFrom: from, spans: 0, about };
  }
  const spans = spansOf(all, to);
  const end = spans.at(-1) ?? { from, ...first };
  const about = typeof first.value === "number" ? numbersAbout(all, to, sideOf) : statesAbout(spans);
  return (
    about && { from, to, first: first.value, end: end.value, endFrom: end.from, spans: spans.length, about }
  );
}

type ValueSpan = Span & { value: KeptValue };

type StateOf = (value: KeptValue) => KeptValue;
const itself: StateOf = (value) => value;

/** @returns parts in which the state is one, each with its first value */
function spansOf(samples: readonly Known[], to: number, stateOf = itself): ValueSpan[] {
  const spans: ValueSpan[] = [];
  for (const [nth, { at, value }] of samples.entries()) {
    const before = spans.at(-1);
    const until = samples[nth + 1]?.at ?? to;
    if (before && stateOf(before.value) === stateOf(value)) before.to = until;
    else spans.push({ from: at, to: until, value });
  }
  return spans;
}

function numbersAbout(samples: readonly Known[], to: number, sideOf?: SideOf): NumbersAbout {
  const [first] = samples as readonly Extreme[];
  let [min, max] = [first as Extreme, first as Extreme];
  let [weighted, lifts] = [0, 0];
  for (const [nth, { at, value }] of (samples as readonly Extreme[]).entries()) {
    const before = samples[nth - 1]?.value as number | undefined;
    if (value < min.value) min = { at, value };
    if (value > max.value) max = { at, value };
    if (before !== undefined && isReset(before, value)) lifts += before;
    weighted += value * ((samples[nth + 1]?.at ?? to) - at);
  }
  const rooms = roomsOf(samples, to, sideOf);
  return {
    of: "numbers",
    min: momentOf(min),
    max: momentOf(max),
    weighted,
    lifts,
    ...(rooms.length > 0 && { rooms }),
  };
}

/** A question whose limit is in one of them needs no number: those of a socket are close to 0, or to what its device takes. */
function roomsOf(samples: readonly Known[], to: number, sideOf?: SideOf): Room[] {
  const numbers = Float64Array.from(new Set(samples.map(({ value }) => value as number))).sort();
  const least = ((numbers.at(-1) ?? 0) - (numbers[0] ?? 0)) * ROOM_SHARE;
  const wide: { low: number; high: number }[] = [];
  for (let nth = 1; nth < numbers.length; nth += 1) {
    const [low = 0, high = 0] = [numbers[nth - 1], numbers[nth]];
    const width = high - low;
    const isWide = width >= least && width > ROOM_RATIO * Math.max(Math.abs(low), Math.abs(high));
    if (sideOf ? sideOf(low) !== sideOf(high) : isWide) wide.push({ low, high });
  }
  return wide
    .sort((a, b) => b.high - b.low - (a.high - a.low))
    .slice(0, ROOMS_MAX)
    .flatMap(({ low, high }): Room[] => {
      const isAbove: StateOf = (value) => (value as number) >= high;
      const spans = spansOf(samples, to, isAbove);
      const end = spans.at(-1);
      const about = statesAbout(spans, isAbove);
      if (!end || !about) return [];
      return [{ low, high, line: { end: end.value, endFrom: end.from, spans: spans.length, about } }];
    });
}

function momentOf({ at, value }: Extreme): Extreme {
  return { at, value };
}

function statesAbout(spans: readonly ValueSpan[], stateOf = itself): StatesAbout | undefined {
  const states = new Map<KeptValue, StateAbout>();
  for (const [nth, { from, to, value }] of spans.entries()) {
    const state = states.get(stateOf(value)) ?? { value, count: 0, ms: 0 };
    states.set(stateOf(value), state);
    if (nth === 0 || nth === spans.length - 1) continue;
    state.count += 1;
    state.value = value;
    state.ms += to - from;
    if (!state.longest || to - from > state.longest.to - state.longest.from) state.longest = { from, to };
    state.last = { from, to };
    if (stateOf === itself) state.hours = (state.hours ?? 0) | hoursIn(from, to);
  }
  if (states.size > STATES_MAX) return undefined;
  return { of: "states", firstTo: spans[0]?.to ?? 0, states: [...states.values()] };
}

function momentsAbout(samples: readonly Known[]): MomentsAbout | undefined {
  const values = new Map<KeptValue, { value: KeptValue; count: number; last: number }>();
  for (const { at, value } of samples)
    values.set(value, { value, count: (values.get(value)?.count ?? 0) + 1, last: at });
  return values.size > STATES_MAX ? undefined : { of: "moments", values: [...values.values()] };
}

/** @returns a bit for each hour of the day that the part is in; one without a length is in one hour */
function hoursIn(from: number, to: number): number {
  let bits = 0;
  const last = Math.floor(Math.max(from, to - 1) / HOUR_MS);
  for (let hour = Math.floor(from / HOUR_MS); hour <= last; hour += 1) bits |= 1 << (hour % HOURS_A_DAY);
  return bits;
}
