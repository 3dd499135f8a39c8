/** An answer about the past in words for a model, in English and short: what is so, then what is not known. */
import { ENGLISH } from "../phrases/phrases.ts";
import type { PastAsk, PastStep } from "../protocol/past.ts";
import { classWords } from "../text/class-words.ts";
import { numberText } from "../text/quantity.ts";
import { DAY_MS, localTime } from "../time/zone.ts";
import type { PastAnswer } from "./answer.ts";
import { isNothingKnown, type PastFacts, type PastMoment } from "./facts.ts";
import type { Period } from "./pieces.ts";
import type { UnknownCause } from "./sample.ts";

/** `KEEPER` stands for the program that keeps the values. */
const CAUSES: Readonly<Record<UnknownCause, string>> = {
  bridge: "the KEEPER was off",
  clock: "the KEEPER's clock was set",
  disk: "the KEEPER's disk took nothing",
  gone: "it is not kept any more",
  away: "it was not available",
  none: "no value had come",
};

/** Shorter ones are told only by the sum. */
const SHORT_MS = 60_000;
/** Gaps that are named. */
const NAMED_MAX = 3;

type PastTextParts = {
  /** The device's. */
  name: string;
  ask: PastAsk;
  by?: PastStep | undefined;
  zone: string;
  now: number;
  /** The program that keeps the values. Default: the bridge. */
  keeper?: "bridge" | "agent";
  /** A picture goes with it. */
  hasPicture?: boolean;
};

export function pastText(answer: PastAnswer, parts: PastTextParts): string {
  const { name, zone, now } = parts;
  const { reading, from, to, facts, since, coarse, compare, earlier } = answer;
  const say = new Sayer(answer, parts);
  const span = (of: Period) => `${timeText(of.from, zone, now)} to ${timeText(of.to, zone, now)}`;
  const head = `${name}, ${reading}, ${span({ from, to })} (${zone}):`;
  const lines = [
    `${head} ${isNothingKnown(facts) ? "nothing is known of this time" : say.facts(facts)}.`,
    ...say.rows(facts),
    say.steps(),
    parts.hasPicture ? "The person sees the chart." : "",
    compare
      ? `${span(compare)}: ${isNothingKnown(compare.facts) ? "nothing is known" : say.facts(compare.facts)}.`
      : "",
    [
      unknownText(answer, parts),
      since === null
        ? "Nothing was kept yet."
        : since > from
          ? `Kept since ${ENGLISH.date(since, zone)}.`
          : "",
      earlier === undefined ? "" : `Until ${timeText(earlier, zone, now)} as Home Assistant kept it.`,
      coarse ? "It changed faster than is kept, so this is rough." : "",
    ]
      .filter((one) => one !== "")
      .join(" "),
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** Writes facts of one answer: its unit, its states, its numbers' decimals. */
class Sayer {
  readonly #answer: PastAnswer;
  readonly #parts: PastTextParts;

  constructor(answer: PastAnswer, parts: PastTextParts) {
    this.#answer = answer;
    this.#parts = parts;
  }

  facts(facts: PastFacts): string {
    const { is } = this.#answer;
    const { ask } = this.#parts;
    const { count = 0, ms, longest, min, max, mean, change, first, end } = facts;
    switch (ask) {
      case "last":
        return this.#last(facts) ?? (is === undefined ? "it did not change" : `it did not become ${is}`);
      case "list":
        return count === 0 ? "it did not change" : `${times(count)}${is === undefined ? "" : ` ${is}`}`;
      case "count":
        return [`${is ?? "changed"} ${times(count)}`, this.#last(facts)].filter(Boolean).join("; ");
      case "duration":
        return [
          `${is} for ${ENGLISH.span(ms ?? 0)} in all, ${times(count)}`,
          longest ? `longest ${ENGLISH.span(longest.to - longest.from)}, ${this.#span(longest)}` : "",
        ]
          .filter((one) => one !== "")
          .join("; ");
      case "min_max":
        return min && max ? `lowest ${this.#moment(min)}, highest ${this.#moment(max)}` : "no number came";
      case "mean":
        return this.#mean(facts);
      case "chart":
        if (mean !== undefined) return this.#mean(facts);
        return is === undefined
          ? `changed ${times(count)}`
          : `${is} for ${ENGLISH.span(ms ?? 0)} in all, ${times(count)}`;
      case "change":
        if (change === undefined || !first || !end) return "no number came";
        return `${change > 0 ? "+" : ""}${this.#number(change)}, from ${this.#moment(first)} to ${this.#moment(end)}`;
    }
  }

  #mean({ mean, min, max }: PastFacts): string {
    if (mean === undefined || !min || !max) return "no number came";
    return `mean ${this.#number(mean, 1)}, from ${this.#value(min.value)} to ${this.#value(max.value)}`;
  }

  /** Of a list, each on its line. */
  rows({ list = [], more }: PastFacts): string[] {
    const rows = list.map(({ at, value }) => `${this.#time(at)} ${this.#value(value)}`);
    return more === undefined ? rows : [`${more} earlier ones are left out; ask by day.`, ...rows];
  }

  /** Of each hour, day, week or month, the figure alone. */
  steps(): string {
    const { by = [], by_more } = this.#answer;
    if (by.length === 0) return "";
    const named = by.map(({ from, facts }) => `${this.#step(from)}: ${this.#figure(facts)}`).join(", ");
    const left = by_more === undefined ? "" : ` (${by_more} earlier ones are left out)`;
    return `By ${this.#parts.by}: ${named}${left}.`;
  }

  #figure(facts: PastFacts): string {
    if (isNothingKnown(facts)) return "not known";
    const { count = 0, ms, min, max, mean, change } = facts;
    const isNumber = min && max;
    switch (this.#parts.ask) {
      case "duration":
        return ENGLISH.span(ms ?? 0);
      case "min_max":
        return isNumber ? `${this.#bare(min.value)} to ${this.#bare(max.value)}` : "–";
      case "mean":
        return mean === undefined ? "–" : this.#bare(rounded(mean, this.#decimals(1)));
      case "change":
        return change === undefined ? "–" : this.#bare(rounded(change, this.#decimals(0)));
      default:
        return String(count);
    }
  }

  #last({ last }: PastFacts): string | undefined {
    if (!last) return undefined;
    const { at, to, value, is_over } = last;
    const became = `last ${this.#answer.is ?? this.#value(value)} ${this.#time(at)}`;
    if (this.#answer.kind === "event") return became;
    if (to !== null) return `${became}, until ${this.#time(to)}`;
    return `${became}, ${is_over ? "its end was not seen" : "and still"}`;
  }

  #step(from: number): string {
    const { by, zone } = this.#parts;
    const { day, weekday, hour, month, year } = localTime(zone, from);
    if (by === "hour") return `${hour}:00`;
    if (by === "month") return `${year}-${String(month).padStart(2, "0")}`;
    return `${ENGLISH.weekday(weekday)} ${day}`;
  }

  #moment({ at, value }: PastMoment): string {
    return `${this.#value(value)} (${this.#time(at)})`;
  }

  #value(value: PastMoment["value"]): string {
    const [yes, no] = classWords(this.#answer.class);
    if (typeof value === "boolean") return value ? yes : no;
    return typeof value === "number" ? this.#number(value) : value;
  }

  #number(value: number, more = 0): string {
    const { unit } = this.#answer;
    return `${this.#bare(rounded(value, this.#decimals(more)))}${unit === undefined ? "" : ` ${unit}`}`;
  }

  #bare(value: PastMoment["value"]): string {
    return typeof value === "number" ? numberText(value) : String(value);
  }

  /** Those of the reading's own numbers, and `more` for what was calculated. */
  #decimals(more: number): number {
    const { min, max, first, end } = this.#answer.facts;
    const numbers = [min, max, first, end].flatMap((one) =>
      typeof one?.value === "number" ? [one.value] : [],
    );
    return numbers.length === 0 ? 6 : Math.max(...numbers.map(decimalsOf)) + more;
  }

  #span({ from, to }: Period): string {
    return `${this.#time(from)} to ${this.#time(to)}`;
  }

  #time(at: number): string {
    return timeText(at, this.#parts.zone, this.#parts.now);
  }
}

function unknownText(
  { unknown, unknown_ms }: PastAnswer,
  { zone, now, keeper = "bridge" }: PastTextParts,
): string {
  if (unknown_ms === 0) return "";
  const named = unknown
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
    .slice(0, NAMED_MAX)
    .filter(({ from, to }, at) => at === 0 || to - from >= SHORT_MS)
    .sort((a, b) => a.from - b.from);
  const told = named.reduce((sum, { from, to }) => sum + to - from, 0);
  const parts = named.map(
    ({ from, to, why }) =>
      `${timeText(from, zone, now)} to ${timeText(to, zone, now)} (${CAUSES[why].replace("KEEPER", keeper)})`,
  );
  const all = unknown_ms - told >= SHORT_MS ? `; ${ENGLISH.span(unknown_ms)} in all` : "";
  return `Not known: ${parts.join(", ")}${all}.`;
}

/** Within the last six days the weekday alone names the day. */
function timeText(at: number, zone: string, now: number): string {
  const text = ENGLISH.time(at, zone, now);
  return now - at < DAY_MS * 6 ? text.replace(/^(\w{3}) \d+ \w{3},/, "$1") : text;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function decimalsOf(value: number): number {
  return numberText(value).split(".")[1]?.length ?? 0;
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(Math.min(decimals, 10)));
}
