/** While the bridge is gone nothing can be watched: that is said once to each conversation that watches, and so is its return. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { timeText } from "@edgecall/core/rules/time-text.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { isHeld, sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { noticesOf } from "../../../kernel/home/notices/notice-store.ts";
import { recipientsOf } from "./recipients.ts";
import { phrasesFor } from "./rule-languages.ts";
import type { RuleRow, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";

/** With rules that are worth it, a line that died without a close is known so long after its last sign of life. */
const LOOK_AFTER_MS = 5 * 60_000;

/**
 * When the line has to be looked at, epoch ms: one that dies without a close wakes nobody. Looking costs an alarm each time, so only
 * a watch of the bridge or a critical one has it done. With others, whatever comes next finds the line dead.
 */
export function nextLook(home: HomeContext, now: number): number | undefined {
  const lostAt = bridgeOf(home).lostAt();
  const rows = watching(home);
  if (lostAt === undefined || rows.length === 0) return undefined;
  if (lostAt <= now) return now;
  const isWorthIt = rows.some(({ rule }) => rule.source.of === "bridge" || rule.severity === "critical");
  return isWorthIt ? (bridgeOf(home).lastConfirmedAt() ?? now) + LOOK_AFTER_MS : undefined;
}

/** Longer than a restart or an update. */
const TOLD_AFTER_MS = 5 * 60_000;

/** When it has to be said, epoch ms. */
export function nextGone(home: HomeContext): number | undefined {
  const goneAt = bridgeOf(home).goneAt();
  if (goneAt === undefined || goneAt === rulesOf(home).notifiedGone() || watching(home).length === 0)
    return undefined;
  return goneAt + TOLD_AFTER_MS;
}

export function notifyBridgeGone(home: HomeContext, now: number): void {
  const due = nextGone(home);
  const goneAt = bridgeOf(home).goneAt();
  if (due === undefined || goneAt === undefined || due > now) return;
  rulesOf(home).noteGone(goneAt);
  const { zone } = clockOf(home).read();
  say(home, `gone:${goneAt}`, now, (phrases, count) =>
    phrases.say("bridgeGone", { count, time: timeText(goneAt, zone, now, phrases) }),
  );
}

/** Only where its absence was told: what waits for the morning is left out. @param goneAt of before; undefined: it was not gone */
export function notifyBridgeBack(home: HomeContext, goneAt: number | undefined, now: number): void {
  if (goneAt === undefined || goneAt !== rulesOf(home).notifiedGone()) return;
  const held = noticesOf(home)
    .pending()
    .filter((one) => one.id.startsWith(`gone:${goneAt}:`) && isHeld(home, one, now));
  for (const { id } of held) noticesOf(home).remove(id);
  const { zone } = clockOf(home).read();
  const words = (phrases: Phrases) => phrases.say("bridgeBack", { time: timeText(now, zone, now, phrases) });
  say(home, `back:${goneAt}`, now, words, new Set(held.map(({ recipient }) => recipient)));
}

/**
 * In quiet hours only those with a critical watch are told at once.
 * @param words for somebody with so many watches
 * @param without they are not told
 */
function say(
  home: HomeContext,
  id: string,
  now: number,
  words: (phrases: Phrases, count: number) => string,
  without: ReadonlySet<string> = new Set(),
): void {
  const rows = watching(home).map((row) => ({ row, recipients: recipientsOf(home, row).recipients }));
  const all = new Set(rows.flatMap(({ recipients }) => recipients));
  const rowsOf = (recipient: string) =>
    rows.flatMap(({ row, recipients }) => (recipients.includes(recipient) ? [row] : []));
  // A watch of the bridge itself tells it by its own words.
  const told = [...all].filter(
    (one) => !without.has(one) && rowsOf(one).every(({ rule }) => rule.source.of !== "bridge"),
  );
  const isCritical = (recipient: string) =>
    rowsOf(recipient).some(({ rule }) => rule.severity === "critical");
  const textFor = (recipient: string) => {
    const [first, ...others] = rowsOf(recipient);
    return first ? words(phrasesFor(first), others.length + 1) : "";
  };
  const groups = Map.groupBy(told, (one) => `${isCritical(one) ? "⚠" : ""}${textFor(one)}`);
  for (const recipients of groups.values()) {
    const [first = ""] = recipients;
    const watches = rowsOf(first);
    const critical = isCritical(first);
    const text = textFor(first);
    const notice = { id: `${id}:${first}`, text, rules: [], buttons: [], critical, at: now };
    sendNotice(home, recipients, notice, watches[0]?.maker.conversation ?? null, critical ? undefined : now);
  }
}

function watching(home: HomeContext): WatchRow[] {
  return rulesOf(home)
    .all()
    .filter((row: RuleRow): row is WatchRow => row.kind === "watch" && row.status === "active");
}
