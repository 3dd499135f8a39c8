/** The part of Home's alarm that rules need: reminders, holds of presence, pauses of what is told, and what was not handed over. */

import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { handOver } from "../../../kernel/home/notices/hand-over.ts";
import { noticesOf } from "../../../kernel/home/notices/notice-store.ts";
import { nextGone, nextLook, notifyBridgeGone } from "./bridge-gone.ts";
import { orphanGone } from "./orphaned.ts";
import { bringRules } from "./places.ts";
import { nextPresence, stepPresence } from "./presence.ts";
import { remindDue } from "./reminders.ts";
import { readLanguages } from "./rule-languages.ts";
import { rulesOf } from "./rule-store.ts";
import { sendDueNotices } from "./send-notices.ts";

export function nextDue(home: HomeContext, now: number): number | undefined {
  if (rulesOf(home).all().length === 0 && noticesOf(home).pending().length === 0) return undefined;
  const times = [
    nextGone(home),
    nextLook(home, now),
    ...rulesOf(home)
      .all()
      .map(({ due, status }) => (status === "active" ? (due ?? undefined) : undefined)),
    nextPresence(home, now),
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  await readLanguages(home);
  moveHours(home);
  stepPresence(home, now);
  remindDue(home, now);
  sendDueNotices(home, now);
  notifyBridgeGone(home, now);
  await bringRules(home);
}

/** Rules, or what they watch, may have changed: the bridge said something of devices, or is gone, or a person made or changed a rule. */
export async function onPresence(home: HomeContext): Promise<void> {
  await readLanguages(home);
  moveHours(home);
  if (rulesOf(home).all().length > 0) stepPresence(home, Date.now());
  await rulesDue(home);
}

/** Hours of watches go by the home's clock of now: an owner or a setting may have changed its zone. Whoever evaluates them learns it. */
function moveHours(home: HomeContext): void {
  for (const row of rulesOf(home).all()) {
    if (row.kind !== "watch" || !row.rule.only_between) continue;
    const { only_between: hours, version } = row.rule;
    const { zone } = clockOf(home).read();
    if (hours.zone === zone) continue;
    rulesOf(home).put({
      ...row,
      rule: { ...row.rule, only_between: { ...hours, zone }, version: version + 1 },
    });
  }
}

/** Devices may have been taken off the list. */
export async function devicesGone(home: HomeContext): Promise<void> {
  await readLanguages(home);
  orphanGone(home);
  await onPresence(home);
}

/** Does what came of a change: places learn of rules, and conversations get their messages. */
export async function rulesDue(home: HomeContext): Promise<void> {
  await bringRules(home);
  if (noticesOf(home).pending().length > 0) await handOver(home, Date.now());
  if (rulesOf(home).all().length > 0) await home.alarm.arm();
}
