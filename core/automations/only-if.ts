/** Tells whether a rule may act now: who is at home, the part of the day, the day of the week. Unknown never runs. */
import type { OnlyIf } from "../protocol/automation.ts";
import { isInside } from "../rules/window.ts";
import { localTime, WEEKDAYS } from "../time/zone.ts";
import { combined, type Truth } from "./truth.ts";

/** `nobody`: all sources have said so for 10 minutes. `somebody`: one says so. */
export type Presence = "nobody" | "somebody" | "unknown";

/** @param at epoch ms */
export function isAllowedNow(
  onlyIf: OnlyIf | undefined,
  { at, presence, zone }: { at: number; presence: Presence; zone: string },
): Truth {
  const { presence: wanted, between, days } = onlyIf ?? {};
  return combined("all", [
    wanted === undefined ? true : isHome(wanted, presence),
    between ? isInside(between, at) : true,
    days ? days.includes(weekdayNumber(zone, at)) : true,
  ]);
}

/** 0: Monday. */
export function weekdayNumber(zone: string, at: number): number {
  return (WEEKDAYS.indexOf(localTime(zone, at).weekday) + 6) % 7;
}

function isHome(wanted: NonNullable<OnlyIf["presence"]>, presence: Presence): Truth {
  if (presence === "unknown") return undefined;
  return (wanted === "nobody_home") === (presence === "nobody");
}
