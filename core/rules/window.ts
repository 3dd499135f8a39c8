/** A part of the day on a zone's clock, as `22:00-07:00`: when a watch counts, and the quiet hours of a home. */
import type { Parsed } from "../protocol/parse.ts";
import type { TimeWindow } from "../protocol/rules.ts";
import { instantOf, localTime } from "../time/zone.ts";

/** Reads `HH:MM`. @returns minutes since midnight; undefined when there is no such time */
export function readClock(text: string): number | undefined {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return Number(hours) * 60 + Number(minutes);
}

/** @param minute since midnight @returns `HH:MM` */
export function clockText(minute: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** Reads `HH:MM-HH:MM`. `24:00` as the end is midnight. The error says what would be right. */
export function readWindow(text: string, zone: string): Parsed<TimeWindow> {
  const [start = "", end = ""] = text.split("-");
  const [from, to] = [readClock(start), readClock(end === "24:00" ? "00:00" : end)];
  if (from === undefined || to === undefined)
    return { ok: false, error: "expected HH:MM-HH:MM between 00:00 and 24:00, as in 22:00-07:00" };
  if (from === to) return { ok: false, error: "this is the whole day; leave it out" };
  return { ok: true, value: { from, to, zone } };
}

export function windowText({ from, to }: TimeWindow): string {
  return `${clockText(from)}–${clockText(to)}`;
}

/** @param at epoch ms */
export function isInside(window: TimeWindow, at: number): boolean {
  return stretchAt(window, at).inside;
}

/** The next time after `at` at which the window begins or ends, epoch ms. */
export function nextEdge(window: TimeWindow, at: number): number {
  return stretchAt(window, at).until;
}

/** A time in which the window is open, or in which it is closed. */
type Stretch = { inside: boolean; from: number; until: number };

/** The last one of each window: a rule asks with every value. */
const LAST = new WeakMap<TimeWindow, Stretch>();

/**
 * By the moments at which it begins and ends, not by the clock: where the clock shows its end twice, it ends once.
 */
function stretchAt(window: TimeWindow, at: number): Stretch {
  const known = LAST.get(window);
  if (known && known.from <= at && at < known.until) return known;
  const { zone, from, to } = window;
  const today = localTime(zone, at);
  const minutes = [from, to].sort((a, b) => a - b);
  const edges = [-1, 0, 1, 2].flatMap((days) =>
    minutes.map((minute) => ({
      at: instantOf(zone, {
        ...today,
        day: today.day + days,
        hour: Math.floor(minute / 60),
        minute: minute % 60,
      }),
      opens: minute === from,
    })),
  );
  const next = edges.findIndex((edge) => edge.at > at);
  const stretch = {
    inside: edges[next - 1]?.opens ?? false,
    from: edges[next - 1]?.at ?? at,
    until: edges[next]?.at ?? at + 1,
  };
  LAST.set(window, stretch);
  return stretch;
}
