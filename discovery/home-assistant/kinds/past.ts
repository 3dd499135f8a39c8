/** The past of an entity's state, as Home Assistant's recorder has it. */
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { History, ReadingSpec, SlotValue } from "../../model/entity/entity.ts";
import type { Slot } from "../entity.ts";
import type { Entry } from "../registry.ts";
import { objectOf } from "../state.ts";

/** Kinds whose state is a value, and not a time stamp or a text. */
const KINDS: readonly string[] =
  "alarm_control_panel binary_sensor climate cover fan humidifier input_boolean input_number lawn_mower light lock media_player number sensor siren switch vacuum valve water_heater".split(
    " ",
  );
const HOUR_MS = 3_600_000;
const HOURS_MAX = 168;
/** Home Assistant sends all values of the time: one each second is 6 MB in two days. */
const NUMBERS_HOURS_MAX = 48;
const NUMBERS: readonly string[] = ["input_number", "number", "sensor"];
const CHANGES_MAX = 20;
const NUMBERS_MAX = 12;

type Row = { at: number; value: SlotValue };

/** @param slot of the state @param spec the words of its values @returns undefined: the past of such an entity is not told */
export function pastOf(
  entry: Entry,
  slot: Slot | undefined,
  spec: ReadingSpec | undefined,
): History | undefined {
  if (!KINDS.includes(entry.domain) || !slot || !spec || spec.free) return undefined;
  return {
    hoursMax: NUMBERS.includes(entry.domain) ? NUMBERS_HOURS_MAX : HOURS_MAX,
    ask: (hours, now) => ({
      pastOf: entry.id,
      from: new Date(now - hours * HOUR_MS).toISOString(),
      to: new Date(now).toISOString(),
    }),
    words: (response, now) => {
      const rows = rowsOf(response, slot);
      if (rows.length === 0) return "Home Assistant has nothing of that time.";
      const isNumbers = rows.every(({ value }) => value === null || value instanceof Quantity);
      return isNumbers
        ? numbersText(rows, spec, entry.timeZone)
        : changesText(rows, spec, now, entry.timeZone);
    },
  };
}

/** Rows `{s, lu}` or `{state, last_changed}`; what has another form is left out. */
function rowsOf(response: unknown, slot: Slot): Row[] {
  return (Array.isArray(response) ? response : []).map(objectOf).flatMap((row): Row[] => {
    const state = row.s ?? row.state;
    const at = timeOf(row.lc ?? row.lu ?? row.last_changed);
    if (typeof state !== "string" || at === undefined) return [];
    const value = ["unavailable", "unknown"].includes(state)
      ? null
      : slot.read({ state, attributes: {}, updated: at });
    return value === undefined ? [] : [{ at, value }];
  });
}

function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return value * 1_000;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The last changes, each with how long it lasted. */
function changesText(rows: readonly Row[], spec: ReadingSpec, now: number, timeZone: string): string {
  const changes = rows.filter(({ value }, at) => at === 0 || value !== rows[at - 1]?.value);
  const shown = changes.slice(-CHANGES_MAX).map(({ at, value }, n, all) => {
    const until = all[n + 1]?.at ?? now;
    return `${timeText(at, timeZone)}: ${wordsOf(value, spec)}, for ${durationText(until - at)}`;
  });
  const before =
    changes.length > shown.length ? [`${changes.length - shown.length} changes before these`] : [];
  return [...before, ...shown].join("\n");
}

/** The bounds, and some of the values in their order. */
function numbersText(rows: readonly Row[], spec: ReadingSpec, timeZone: string): string {
  const known = rows.filter((row): row is { at: number; value: Quantity } => row.value instanceof Quantity);
  const [first] = known;
  if (!first) return "It was unknown all the time.";
  const ordered = [...known].sort((a, b) => a.value.value - b.value.value);
  const [low = first, high = first] = [ordered[0], ordered.at(-1)];
  const step = Math.max(1, Math.ceil(known.length / NUMBERS_MAX));
  const some = known.filter((row, at) => at % step === 0 || row === known.at(-1));
  const bounds = `between ${spec.words(low.value)} (${timeText(low.at, timeZone)}) and ${spec.words(high.value)} (${timeText(high.at, timeZone)})`;
  return [bounds, ...some.map(({ at, value }) => `${timeText(at, timeZone)}: ${spec.words(value)}`)].join(
    "\n",
  );
}

/** An integration chooses the names of its states, and one that reads like an order is not told. */
function wordsOf(value: SlotValue, spec: ReadingSpec): string {
  if (value === null) return "unknown";
  return typeof value === "string" && !isLabel(value) ? "another state" : spec.words(value);
}

/** `11-28 07:30`, by the clock of the household. */
function timeText(at: number, timeZone: string): string {
  const format = { timeZone, dateStyle: "short", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat("sv-SE", format).format(at).slice(5);
}

function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
