/** The clock of a time zone, by `Intl`. `Temporal` is not there in workerd, and a library with zones costs 10 KB and more. */

export const WEEKDAYS = ["su", "mo", "tu", "we", "th", "fr", "sa"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** A reading of the clock on the wall. `month` and `day` count from 1; `hour` is 0 to 23. */
export type ClockTime = { year: number; month: number; day: number; hour: number; minute: number };
/** The same of an instant. */
export type LocalTime = ClockTime & { second: number; weekday: Weekday };

const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Kept, since to make one takes 50 times as long as to use it. Their number is bounded by the zones that settings name. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Tells whether it is a zone's IANA name, as `Europe/Berlin`. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    // An offset such as +02:00 knows no summer time; some engines take it.
    return /^[A-Za-z]/.test(zone);
  } catch {
    return false;
  }
}

/** @param at epoch ms @throws RangeError for an unknown zone */
export function localTime(zone: string, at: number): LocalTime {
  const parts = formatOf(zone).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((one) => one.type === type)?.value ?? Number.NaN);
  const [year, month, day] = [part("year"), part("month"), part("day")];
  return {
    year,
    month,
    day,
    hour: part("hour"),
    minute: part("minute"),
    second: part("second"),
    weekday: weekdayOf(year, month, day),
  };
}

/** A day out of range counts on, as in `Date.UTC`: the 32nd of January is the first of February. */
export function weekdayOf(year: number, month: number, day: number): Weekday {
  return WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()] ?? "su";
}

/**
 * The instant (epoch ms) at which the clock shows this. A time that comes twice (the clock was set back) means the first of
 * them; one that is left out means the first moment after the gap.
 */
export function instantOf(zone: string, time: ClockTime): number {
  const { year, month, day, hour, minute } = time;
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  // No zone is more than 14 h away from UTC, so these are the offsets before and after a change on that day.
  const before = offsetMs(zone, asUtc - DAY_MS);
  const after = offsetMs(zone, asUtc + DAY_MS);
  const tries = [asUtc - before, asUtc - after].sort((a, b) => a - b);
  const found = tries.find((at) => at + offsetMs(zone, at) === asUtc);
  return found ?? firstMomentWith(zone, after, asUtc - after, asUtc - before);
}

/** Finds the first moment in (from, to] at which the offset counts. At `from` it does not yet. */
function firstMomentWith(zone: string, offset: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (high - low > SECOND_MS) {
    const middle = low + Math.floor((high - low) / 2 / SECOND_MS) * SECOND_MS;
    if (middle === low) break;
    if (offsetMs(zone, middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** How far the clock is ahead of UTC, in ms. */
function offsetMs(zone: string, at: number): number {
  const second = Math.floor(at / SECOND_MS) * SECOND_MS;
  const local = localTime(zone, second);
  return Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute, local.second) - second;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  FORMATS.set(zone, format);
  return format;
}
