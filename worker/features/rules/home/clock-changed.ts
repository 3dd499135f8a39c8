/** An owner changes the home's clock: rules keep their times of the clock, and what waited for the quiet hours' end goes by the new ones. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { nextTime } from "@edgecall/core/rules/schedule.ts";
import type { ClockBody, ClockView } from "../../../kernel/api/clock.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { logInfo } from "../../../kernel/log.ts";
import { onPresence } from "./alarm-part.ts";
import type { ReminderRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { nextDue } from "./send-notices.ts";

/** @param by the owner @returns the error names the field */
export async function changeClock(
  home: HomeContext,
  change: ClockBody,
  by: string,
): Promise<Parsed<ClockView>> {
  const now = Date.now();
  const before = clockOf(home).read();
  const changed = clockOf(home).change(change, by, now);
  if (!changed.ok) return changed;
  const { zone } = changed.value;
  logInfo("clock.changed", { zone });
  for (const row of rulesOf(home).all()) {
    if (row.kind === "watch") rulesOf(home).put({ ...row, due: nextDue(home, row, now) });
    else if (zone !== before.zone && row.status === "active") rulesOf(home).put(reminderIn(row, zone, now));
  }
  await onPresence(home);
  return { ok: true, value: clockOf(home).view() };
}

/** What is due is told first. A time that is over by the new clock and was not yet told is told now. */
function reminderIn(row: ReminderRow, zone: string, now: number): ReminderRow {
  if (row.due !== null && row.due <= now) return row;
  const due = nextTime(zone, row.rule.schedule, now);
  return due === undefined ? { ...row, due: now, handled: 0 } : { ...row, due, handled: now };
}
