/** The part of Home's alarm that rules that act need. Without a word of a person, and with nothing critical, it is due in two months. */
import { DAY_MS, HOUR_MS } from "@edgecall/core/time/zone.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { endAllOver } from "../../../kernel/home/permissions/ends.ts";
import { permissionsOf } from "../../../kernel/home/permissions/permission-store.ts";
import { rowsOf } from "./allow.ts";
import { statusOf } from "./ask-bridge.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { tellAgain } from "./news.ts";
import { sendPresence } from "./sync.ts";

/** A permission ends without a use in 60 days. Runs with nothing to tell are known at the bridge alone, so it is asked before. */
const LOOK_AFTER_MS = 59 * DAY_MS;
const LOOK_AGAIN_MS = 6 * HOUR_MS;

/** When the bridge is asked whether it ran, or the allowance is over, epoch ms. */
function dueOf({ lookedAt, allowed, status, critical }: AutomationRow): number {
  const look =
    status === "active" ? Math.min((lookedAt ?? allowed.at) + LOOK_AFTER_MS, allowed.until) : Infinity;
  return Math.min(look, critical?.due ?? Infinity);
}

export function nextDue(home: HomeContext): number | undefined {
  const store = automationsOf(home);
  const due = Math.min(store.backEnds() ?? Infinity, ...store.whole().map(dueOf));
  return due === Infinity ? undefined : due;
}

export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  const store = automationsOf(home);
  if ((store.backEnds() ?? Infinity) <= now) {
    store.forgetBack(now);
    sendPresence(home);
  }
  const due = store.whole().filter((row) => dueOf(row) <= now);
  if (due.length === 0) return;
  await tellAgain(home, now);
  for (const row of due) if (row.status === "active") await look(home, row, now);
  await endAllOver(home, now);
}

async function look(
  home: HomeContext,
  { automation, lookedAt, allowed }: AutomationRow,
  now: number,
): Promise<void> {
  if ((lookedAt ?? allowed.at) + LOOK_AFTER_MS > now) return;
  const answer = await statusOf(home, [automation.id]);
  const hasRun = answer?.status.some(({ runs }) => runs.some(({ at }) => at > now - LOOK_AFTER_MS)) ?? false;
  const row = automationsOf(home).get(automation.id);
  if (!row) return;
  if (hasRun) for (const { id } of rowsOf(home, automation)) permissionsOf(home).use(id, now);
  automationsOf(home).put({ ...row, lookedAt: hasRun ? now : now - LOOK_AFTER_MS + LOOK_AGAIN_MS });
}
