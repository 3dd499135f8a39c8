/** Python's datetime and timedelta, as far as templates of devices use them. */
import { TemplateProblem } from "./budget.ts";

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Python's years: 1 to 9999. */
const FIRST = -62_135_596_800 * SECOND;
const LAST = 253_402_300_800 * SECOND;

/** The parts of a timedelta in microseconds, in the order of Python's parameters. */
export const TIMEDELTA_UNITS: ReadonlyMap<string, number> = new Map([
  ["days", DAY],
  ["seconds", SECOND],
  ["microseconds", 1],
  ["milliseconds", 1_000],
  ["minutes", MINUTE],
  ["hours", HOUR],
  ["weeks", 7 * DAY],
]);

export class Timedelta {
  readonly micros: number;

  constructor(micros: number) {
    this.micros = inRange(micros);
  }
}

export class Datetime {
  /** Since 1970 in UTC. */
  readonly micros: number;
  /** Minutes east of UTC, by which it is shown; undefined: by a clock whose zone is not said. */
  readonly offset: number | undefined;

  constructor(micros: number, offset: number | undefined) {
    this.micros = inRange(micros);
    this.offset = offset;
  }
}

function inRange(micros: number): number {
  if (micros >= FIRST && micros < LAST) return Math.round(micros);
  throw new TemplateProblem("has a time out of range: the years are 1 to 9999");
}

export function fromTimestamp(seconds: number): Datetime {
  return new Datetime(seconds * SECOND, 0);
}

export function timestamp({ micros }: Datetime): number {
  return micros / SECOND;
}

/** The key is the zone; a home has one. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The same moment by the clock of a zone. @param zone undefined: the machine's */
export function inZone({ micros }: Datetime, zone: string | undefined): Datetime {
  const key = zone ?? "";
  const format =
    FORMATS.get(key) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  FORMATS.set(key, format);
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(format.format(micros / 1_000)) ?? [];
  return new Datetime(micros, (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)));
}

/** Its numbers by its own clock, by Python's names. */
export function datetimeFields({ micros, offset }: Datetime) {
  const clock = micros + (offset ?? 0) * MINUTE;
  const date = new Date(Math.floor(clock / 1_000));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    microsecond: ((clock % SECOND) + SECOND) % SECOND,
    /** 1: Monday. */
    weekday: date.getUTCDay() || 7,
    /** Microseconds since 1970 by its own clock. */
    clock,
  };
}

/** A time of these parts, from the year to the microsecond, by a clock. */
export function datetimeOf(parts: readonly number[], offset: number | undefined): Datetime {
  const [year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, micro = 0] = parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const made = new Datetime(date.getTime() * 1_000 + micro - (offset ?? 0) * MINUTE, offset);
  const { month: m, day: d, hour: h, minute: i, second: s, year: y } = datetimeFields(made);
  const isSame = [y, m, d, h, i, s].every(
    (part, at) => part === [year, month, day, hour, minute, second][at],
  );
  if (!isSame || micro < 0 || micro >= SECOND) throw new TemplateProblem("has a time that is none");
  return made;
}

/** ISO's year, week and weekday. */
export function isoCalendar(time: Datetime): [number, number, number] {
  const { clock, weekday } = datetimeFields(time);
  const thursday = new Date((Math.floor(clock / DAY) + 4 - weekday) * 86_400_000);
  const year = thursday.getUTCFullYear();
  const first = Date.UTC(year, 0, 1);
  return [year, Math.floor((thursday.getTime() - first) / 86_400_000 / 7) + 1, weekday];
}

function dayOfYear(time: Datetime): number {
  const { year, clock } = datetimeFields(time);
  return Math.floor(clock / DAY) - Math.floor(Date.UTC(year, 0, 1) / 86_400_000) + 1;
}

const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** Python's strftime, in English. */
export function strftime(time: Datetime, format: string): string {
  const { year, month, day, hour, minute, second, microsecond, weekday } = datetimeFields(time);
  const monthName = MONTHS[month - 1] ?? "";
  const dayName = WEEKDAYS[weekday - 1] ?? "";
  const parts: ReadonlyMap<string, () => string> = new Map([
    ["Y", () => String(year)],
    ["y", () => pad(year % 100)],
    ["m", () => pad(month)],
    ["d", () => pad(day)],
    ["H", () => pad(hour)],
    ["I", () => pad(hour % 12 || 12)],
    ["M", () => pad(minute)],
    ["S", () => pad(second)],
    ["f", () => pad(microsecond, 6)],
    ["p", () => (hour < 12 ? "AM" : "PM")],
    ["a", () => dayName.slice(0, 3)],
    ["A", () => dayName],
    ["b", () => monthName.slice(0, 3)],
    ["B", () => monthName],
    ["z", () => offsetText(time.offset, "")],
    ["e", () => String(day).padStart(2)],
    ["j", () => pad(dayOfYear(time), 3)],
    ["u", () => String(weekday)],
    ["w", () => String(weekday % 7)],
    ["V", () => pad(isoCalendar(time)[1])],
    ["G", () => String(isoCalendar(time)[0])],
    ["F", () => `${year}-${pad(month)}-${pad(day)}`],
    ["T", () => `${pad(hour)}:${pad(minute)}:${pad(second)}`],
    ["R", () => `${pad(hour)}:${pad(minute)}`],
    ["D", () => `${pad(month)}/${pad(day)}/${pad(year % 100)}`],
    ["x", () => `${pad(month)}/${pad(day)}/${pad(year % 100)}`],
    ["X", () => `${pad(hour)}:${pad(minute)}:${pad(second)}`],
    [
      "c",
      () =>
        `${dayName.slice(0, 3)} ${monthName.slice(0, 3)} ${String(day).padStart(2)} ${pad(hour)}:${pad(minute)}:${pad(second)} ${year}`,
    ],
    ["s", () => String(Math.floor(time.micros / SECOND))],
    ["h", () => monthName.slice(0, 3)],
    ["k", () => String(hour).padStart(2)],
    ["l", () => String(hour % 12 || 12).padStart(2)],
    ["n", () => "\n"],
    ["t", () => "\t"],
    ["%", () => "%"],
  ]);
  return format.replace(/%(-?)(.)/gsu, (_, bare, letter) => {
    const part = parts.get(letter);
    if (!part) throw new TemplateProblem(`has a date format that is not known here: %${letter}`);
    return bare === "" ? part() : part().replace(/^0+(?=\d)/, "");
  });
}

export function isoformat(time: Datetime, separator = "T"): string {
  const { year, microsecond } = datetimeFields(time);
  const clock = strftime(time, `-%m-%d${separator}%H:%M:%S${microsecond === 0 ? "" : ".%f"}`);
  return `${pad(year, 4)}${clock}${offsetText(time.offset, ":")}`;
}

function offsetText(offset: number | undefined, colon: string): string {
  if (offset === undefined) return "";
  const size = Math.abs(offset);
  return `${offset < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}${colon}${pad(size % 60)}`;
}

export function timedeltaText({ micros }: Timedelta): string {
  const days = Math.floor(micros / DAY);
  const rest = micros - days * DAY;
  const before = days === 0 ? "" : `${days} day${Math.abs(days) === 1 ? "" : "s"}, `;
  const fraction = rest % SECOND === 0 ? "" : `.${pad(rest % SECOND, 6)}`;
  return `${before}${Math.floor(rest / HOUR)}:${pad(Math.floor(rest / MINUTE) % 60)}:${pad(Math.floor(rest / SECOND) % 60)}${fraction}`;
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, "0");
}
