/** Flights become rows: each that is out for too long, and all when the bridge's line ends. */

import { logError } from "../../log.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";

/** Sees to it that each flight becomes a row in time. */
export function armInFlightTimer(home: HomeContext): void {
  const { inFlight } = ledgerOf(home);
  const due = inFlight.nextDue();
  if (due === undefined || inFlight.timer !== undefined) return;
  inFlight.timer = setTimeout(
    () => {
      inFlight.timer = undefined;
      void storeInFlight(home, inFlight.overdue(Date.now()));
    },
    Math.max(0, due - Date.now()),
  );
}

/** Gives flights a row each, in the state that they have, and from there on the alarm watches them. */
export async function storeInFlight(
  home: HomeContext,
  ids = ledgerOf(home)
    .inFlight.list()
    .map(({ id }) => id),
): Promise<void> {
  try {
    for (const id of ids) ledgerOf(home).store(id);
    if (ids.length > 0) await home.alarm.arm();
  } catch (error) {
    logError("flight.not_stored", error, { calls: ids.length });
  }
  armInFlightTimer(home);
}
