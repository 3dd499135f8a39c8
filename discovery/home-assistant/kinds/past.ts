/** The past of an entity's state, as Home Assistant's recorder has it. */
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
const REACH_MS = 168 * HOUR_MS;
/** Home Assistant sends all values of the time: one each second is 6 MB in two days. */
const NUMBERS_REACH_MS = 48 * HOUR_MS;
const NUMBERS: readonly string[] = ["input_number", "number", "sensor"];

/** @param slot of the state @param spec the words of its values @returns undefined: the past of such an entity is not told */
export function pastOf(
  entry: Entry,
  slot: Slot | undefined,
  spec: ReadingSpec | undefined,
): History | undefined {
  if (!KINDS.includes(entry.domain) || !slot || !spec || spec.free) return undefined;
  return {
    reachMs: NUMBERS.includes(entry.domain) ? NUMBERS_REACH_MS : REACH_MS,
    ask: (from, to) => ({
      pastOf: entry.id,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    }),
    values: (response) => rowsOf(response, slot).sort((a, b) => a.at - b.at),
  };
}

/** Rows `{s, lu}` or `{state, last_changed}`; what has another form is left out. */
function rowsOf(response: unknown, slot: Slot): { at: number; value: SlotValue }[] {
  return (Array.isArray(response) ? response : []).map(objectOf).flatMap((row) => {
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
  const time = typeof value === "number" ? value * 1_000 : Date.parse(typeof value === "string" ? value : "");
  return Number.isFinite(time) ? time : undefined;
}
