/** The filters and functions of times. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, type Run, takes, textOr } from "./calls.ts";
import {
  Datetime,
  datetimeFields,
  datetimeOf,
  fromTimestamp,
  inZone,
  Timedelta,
  timestamp,
} from "./dates.ts";
import { orDefault } from "./maths.ts";
import { rounded, toFloat } from "./numbers.ts";
import { OMITTED } from "./values.ts";

/** The time by the local clock. It costs more than other steps. */
export function local(run: Run, time: Datetime): Datetime {
  run.budget.spend(20);
  return inZone(aware(run, time), run.zone);
}

/** A time without a zone is one of the local clock. */
export function aware(run: Run, time: Datetime): Datetime {
  if (time.offset !== undefined) return time;
  run.budget.spend(20);
  const offset = inZone(time, run.zone).offset ?? 0;
  const nearly = inZone(new Datetime(time.micros - offset * 60_000_000, 0), run.zone);
  return new Datetime(time.micros - (nearly.offset ?? 0) * 60_000_000, nearly.offset);
}

const DATE = /^(\d{4})-?(\d{2})-?(\d{2})$/;
const TIME =
  /^(\d{4})-?(\d{1,2})-?(\d{1,2})[T ](\d{1,2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,6})\d{0,6})?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/** A time as Home Assistant reads it of a text. */
function parsedTime(text: string): Datetime | undefined {
  if (text.length > 40) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone] =
    TIME.exec(text) ?? DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const parts = [year, month, day, hour, minute, second, fraction.padEnd(6, "0")].map(Number);
  try {
    return datetimeOf(parts, zone === undefined ? undefined : offsetOf(zone));
  } catch {
    return undefined;
  }
}

/** @param zone Z, +02, +0200 or +02:00 */
function offsetOf(zone: string): number {
  const digits = zone.replace(/\D/g, "").padEnd(4, "0");
  const size = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4));
  return zone.startsWith("-") ? -size : size;
}

const CLOCK =
  /^(?:(-?\d{1,9}) (?:days?, )?)?(-?)(?:(?:(\d{1,9}):)?(\d{1,9}):)?(\d{1,9})(?:[.,](\d{1,6})\d{0,6})?$/;
const NUMBER = "(\\d{1,9}(?:[.,]\\d{1,9})?)";
const ISO = new RegExp(`^([-+]?)P(?:${NUMBER}D)?(?:T(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`);

/** Seconds of a duration such as PT10M or 1:02:03. */
function durationOf(text: string): number | undefined {
  const number = (part: string | undefined) => Number((part ?? "0").replace(",", "."));
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, days, sign, hours, minutes, seconds, fraction = ""] = clock;
    const within =
      number(hours) * 3_600 + number(minutes) * 60 + number(seconds) + Number(fraction.padEnd(6, "0")) / 1e6;
    return number(days) * 86_400 + (sign === "-" ? -within : within);
  }
  const [whole, sign, days, hours, minutes, seconds] = ISO.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const size = number(days) * 86_400 + number(hours) * 3_600 + number(minutes) * 60 + number(seconds);
  return sign === "-" ? -size : size;
}

const UNITS: ReadonlyArray<readonly [name: string, seconds: number]> = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** Seconds in words, in so many units, of which the last is rounded. @param precision 0: all units */
function ageText(seconds: number, precision: number): string {
  if (seconds === 0) return "0 seconds";
  const [year = 1, month = 1] = UNITS.map(([, size]) => size);
  const monthsOf = (of: number) => Math.floor((of % year) / month);
  let left = seconds;
  let rest = seconds;
  let count = 0;
  for (const [, size] of UNITS) {
    if (rest < size) continue;
    count += 1;
    if (count === precision) {
      const months = monthsOf(left);
      left += rounded(rest / size, 0) * size - rest;
      if (monthsOf(left) >= 12 && (months < 12 || size === month)) left += year - (left % year);
      break;
    }
    rest %= size;
  }
  const words: string[] = [];
  const word = (number: number, name: string) => words.push(`${number} ${name}${number === 1 ? "" : "s"}`);
  for (const [name, size] of UNITS) {
    if (left < size) continue;
    if (words.length + 1 === precision) {
      word(rounded(left / size, 0), name);
      break;
    }
    word(Math.floor(left / size), name);
    left %= size;
  }
  return words.join(" ");
}

/** @param sign 1: since a time, -1: until it. A time on the other side, and what is no time, stays as it is */
function away(sign: 1 | -1, precise: boolean): Builtin {
  return takes(precise ? "value precision?" : "value", (run, value, precision = OMITTED) => {
    if (!(value instanceof Datetime)) return value;
    const seconds = (run.now.getTime() / 1_000 - timestamp(aware(run, value))) * sign;
    return seconds < 0 ? value : ageText(rounded(seconds, 0), intOr(precision, 1));
  });
}

const todayAt = takes("time_str?", (run, value) => {
  const now = local(run, fromTimestamp(run.now.getTime() / 1_000));
  const { year, month, day } = datetimeFields(now);
  const text = textOr(value, "");
  const [hour, minute, second = "0", ...more] = text === "" ? ["0", "0"] : text.split(":", 4);
  const parts = [hour, minute, second].map((part) =>
    /^ *\d{1,2} *$/.test(part ?? "") ? Number(part) : Number.NaN,
  );
  if (more.length > 0 || parts.some(Number.isNaN))
    throw new TemplateProblem(
      `has ${JSON.stringify(cutText(text, 50))} where a time of the day would be right`,
    );
  return aware(run, datetimeOf([year, month, day, ...parts], undefined));
});

/** Letters of a format that is read, with what each takes of a text. */
const READ: Readonly<Record<string, readonly [pattern: string, part: number]>> = {
  Y: ["(\\d{4})", 0],
  m: ["(\\d{1,2})", 1],
  d: ["(\\d{1,2})", 2],
  H: ["(\\d{1,2})", 3],
  M: ["(\\d{1,2})", 4],
  S: ["(\\d{1,2})", 5],
  f: ["(\\d{1,6})", 6],
};

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const LONG_MONTHS =
  "january february march april may june july august september october november december".split(" ");

/** Python's strptime, of numbers and of the names of months in English. */
function readTime(text: string, format: string): Datetime | undefined {
  if (text.length > 100 || format.length > 100) return undefined;
  const order: string[] = [];
  const source = format.replace(/%(.)|\s+|[.*+?^${}()|[\]\\]/gsu, (part, letter: string | undefined) => {
    if (letter === undefined) return /\s/.test(part) ? "\\s+" : `\\${part}`;
    if (letter === "%") return "%";
    // Twice the same letter is an error in Python too, and would let the search take long.
    if (order.includes(letter)) throw new TemplateProblem(`has a date format with %${letter} twice`);
    order.push(letter);
    const known = READ[letter]?.[0];
    if (known !== undefined) return known;
    if (letter === "I") return "(\\d{1,2})";
    if (letter === "y") return "(\\d{2})";
    if (letter === "b") return `(${MONTHS.join("|")})`;
    if (letter === "B") return `(${LONG_MONTHS.join("|")})`;
    if (letter === "p") return "(am|pm)";
    if (letter === "z") return "(Z|[+-]\\d{2}:?\\d{2})";
    if (letter === "a" || letter === "A") return "([a-z]{3,9})";
    throw new TemplateProblem(`has a date format that cannot be read here: %${letter}`);
  });
  const found = new RegExp(`^${source}$`, "i").exec(text);
  if (!found) return undefined;
  const parts = [1900, 1, 1, 0, 0, 0, 0];
  let offset: number | undefined;
  let isAfternoon: boolean | undefined;
  for (const [at, letter] of order.entries()) {
    const value = (found[at + 1] ?? "").toLowerCase();
    const place = READ[letter]?.[1];
    if (letter === "f") parts[6] = Number(value.padEnd(6, "0"));
    else if (place !== undefined) parts[place] = Number(value);
    else if (letter === "y") parts[0] = Number(value) + (Number(value) < 69 ? 2_000 : 1_900);
    else if (letter === "I") parts[3] = Number(value) % 12;
    else if (letter === "b") parts[1] = MONTHS.indexOf(value) + 1;
    else if (letter === "B") parts[1] = LONG_MONTHS.indexOf(value) + 1;
    else if (letter === "p") isAfternoon = value === "pm";
    else if (letter === "z") offset = offsetOf(value);
  }
  if (isAfternoon === true && (parts[3] ?? 0) < 12) parts[3] = (parts[3] ?? 0) + 12;
  try {
    return datetimeOf(parts, offset);
  } catch {
    return undefined;
  }
}

/** Functions that are also filters. */
export const TIME_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  as_datetime: takes("value default?", (_, value, otherwise) => {
    if (value instanceof Datetime) return value;
    const seconds = toFloat(value);
    const made =
      seconds !== undefined
        ? fromTimestamp(seconds)
        : typeof value === "string"
          ? parsedTime(value)
          : undefined;
    if (made === undefined && otherwise === OMITTED && typeof value === "string") return null;
    return orDefault(made, otherwise, value, "a time");
  }),
  as_local: takes("value", (run, value) => {
    if (!(value instanceof Datetime)) throw new TemplateProblem("makes local what is no time");
    return local(run, value);
  }),
  as_timedelta: takes("value", (_, value) => {
    const seconds = durationOf(textOr(value, ""));
    return seconds === undefined ? null : new Timedelta(seconds * 1_000_000);
  }),
  as_timestamp: takes("value default?", (run, value, otherwise) => {
    const time = typeof value === "string" ? parsedTime(value) : value;
    const made = time instanceof Datetime ? timestamp(aware(run, time)) : undefined;
    return orDefault(made, otherwise, value, "a time");
  }),
  relative_time: away(1, false),
  time_since: away(1, true),
  time_until: away(-1, true),
  timedelta_string: takes("value precision?", (_, value, precision) => {
    if (!(value instanceof Timedelta)) return value;
    return ageText(rounded(Math.abs(value.micros) / 1_000_000, 0), intOr(precision, 1));
  }),
  today_at: todayAt,
};

export const TIME_ONLY_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  strptime: takes("string fmt default?", (_, value, format, otherwise) => {
    const made = typeof value === "string" ? readTime(value, textOr(format, "")) : undefined;
    return orDefault(made, otherwise, value, "a time of that format");
  }),
};
