/** The part of Home's alarm that rules that act need. Without a word of a person, and with nothing critical, it is due when an allowance is over. */
import type { HomeContext } from "../../../kernel/home/context.ts";
import { endAllOver } from "../../../kernel/home/permissions/ends.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { tellAgain } from "./news.ts";
import { sendPresence } from "./sync.ts";

/** When the allowance is over, or what is critical is told again, epoch ms. */
function dueOf({ allowed, status, critical }: AutomationRow): number {
  return Math.min(status === "active" ? allowed.until : Infinity, critical?.due ?? Infinity);
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
  if (!store.whole().some((row) => dueOf(row) <= now)) return;
  await tellAgain(home, now);
  await endAllOver(home, now);
}
