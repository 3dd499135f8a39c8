/** The part of Home's alarm that rules that act need. With nothing critical it is due when an allowance is over soon. */
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { endAllOver } from "../../../kernel/home/permissions/ends.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { tellAgain } from "./news.ts";
import { tellAll } from "./pause.ts";

/** People are told so long before the time of a rule is over. */
const SOON_MS = 7 * DAY_MS;

/** When the allowance is over, or soon, or what is critical is told again, epoch ms. */
function dueOf({ allowed, status, critical, isEndTold }: AutomationRow): number {
  const end = allowed.until - (isEndTold ? 0 : SOON_MS);
  return Math.min(status === "active" ? end : Infinity, critical?.due ?? Infinity);
}

export function nextDue(home: HomeContext): number | undefined {
  const due = Math.min(...automationsOf(home).whole().map(dueOf));
  return due === Infinity ? undefined : due;
}

export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  const store = automationsOf(home);
  if (!store.whole().some((row) => dueOf(row) <= now)) return;
  await tellAgain(home, now);
  for (const { automation, maker, isEndTold, allowed } of store.active())
    if (!isEndTold && allowed.until - SOON_MS <= now) {
      const phrases = await readLanguage(home.env, maker.language);
      const row = store.get(automation.id);
      // It may have been stopped, or allowed anew, meanwhile.
      if (row?.status !== "active" || row.allowed.until !== allowed.until) continue;
      store.put({ ...row, isEndTold: true });
      const name = `${plainText(automation.name, 60)} (${automation.id})`;
      const time = phrases.time(allowed.until, clockOf(home).read().zone, now);
      tellAll(home, row, phrases.sayOf(NEWS_WORDS, "endsSoon", { name, time }));
    }
  await endAllOver(home, now);
}
