/** A rule stops: a person stops it, or what allowed it does not hold any more. Its runs end at home, and their ends are carried out there. */

import { WHY_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { EndReason } from "../../../kernel/api/permissions.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { ownersHear } from "../../../kernel/home/notices/owners.ts";
import { ownSubscriptions } from "../../../kernel/home/notices/reach.ts";
import { roleNow } from "../../../kernel/home/people/roles.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { endRows } from "./allow.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { idOf } from "./faithful.ts";
import { placeConditions, sendRules } from "./sync.ts";

/** What is critical is told on until a person answers. @param status `gone`: a person ended it */
export function stopRule(
  home: HomeContext,
  row: AutomationRow,
  status: "paused" | "gone" = "paused",
  why: string | null = null,
): AutomationRow {
  const stopped: AutomationRow = { ...row, status, why, changedAt: Date.now() };
  automationsOf(home).put(stopped);
  endRows(home, row.automation);
  sendRules(home, [], [row.automation.id]);
  placeConditions(home, row.automation);
  return stopped;
}

/** The gateway stops it, and tells its maker and the owners. */
function stopBecause(home: HomeContext, row: AutomationRow, why: Why): void {
  stopRule(home, row);
  const tell = async () => {
    const phrases = await readLanguage(home.env, row.maker.language);
    const { id, name } = row.automation;
    const reason = why === "makerHasNoAccess" ? phrases.say(why) : phrases.sayOf(WHY_WORDS, why);
    const now = automationsOf(home).get(id);
    if (now?.status === "paused") automationsOf(home).put({ ...now, why: reason });
    tellAll(home, row, phrases.say("ruleStopped", { name: plainText(name, 60), id, why: reason }));
    await home.alarm.arm();
  };
  home.ctx.waitUntil(tell());
}

/** Its maker and the owners hear it. */
export function tellAll(home: HomeContext, row: AutomationRow, text: string): void {
  const rules = [row.automation.id];
  const notice = { id: crypto.randomUUID(), text, rules, buttons: [], critical: false, at: Date.now() };
  const to = new Set([...makersOwn(home, row), ...ownersHear(home)]);
  sendNotice(home, [...to], notice, row.maker.conversation);
}

/** Where its maker is told; nowhere, once they have no access. */
export function makersOwn(home: HomeContext, { maker }: AutomationRow): string[] {
  if (roleNow(home, maker) === undefined) return [];
  return [maker.conversation ?? [], ownSubscriptions(home, maker.principal)].flat();
}

/** True while its maker is what they were when they asked for it. */
export function makerHolds(home: HomeContext, { maker }: AutomationRow): boolean {
  const role = roleNow(home, maker);
  return role === "owner" || (role === "member" && maker.role === "member");
}

type Why = keyof typeof WHY_WORDS | "makerHasNoAccess";

const WHY: Readonly<Partial<Record<EndReason, Why>>> = {
  date: "ruleTimeOver",
  ended: "ruleEnded",
  not_me: "ruleEnded",
  changed: "device_changed",
  paired_again: "device_changed",
  mode: "ruleDeviceOff",
  device_gone: "device_gone",
};

/** A rule needs all of its permissions. */
export function onPermissionEnded(home: HomeContext, { who }: StandingPermission, why: EndReason): void {
  if (typeof who !== "object" || !("rule" in who)) return;
  const row = automationsOf(home).get(who.rule);
  if (row?.status !== "active" || row.automation.version !== who.version) return;
  const isMakers = why === "rule" && roleNow(home, row.maker) === undefined;
  stopBecause(home, row, WHY[why] ?? (isMakers ? "makerHasNoAccess" : "ruleOwnerGone"));
}

/** Devices were taken off the list. */
export function onAgentsGone(home: HomeContext): void {
  for (const row of automationsOf(home).active()) {
    const { when, do: steps, end } = row.automation;
    if ([...when, ...steps, ...end].some((of) => idOf(home, of) === undefined))
      stopBecause(home, row, "device_gone");
  }
}
