/** What a home tells people is a row until its conversation, or the server of its browser or topic, has it. */

import { heldUntil } from "@edgecall/core/rules/limits.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { Handed, LostNotice, Notice } from "../../api/notices.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError, logInfo } from "../../log.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { emit } from "../feature.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { noticeRetriesOf } from "./notice-retries.ts";
import { noticesOf, type PendingNotice } from "./notice-store.ts";
import { DeliverLaterError, recipientText, subscriptionKind } from "./reach.ts";

const WHY_MAX = 200;
/** More than a server of pushes may take for its answer: it does not know a message that comes again. */
const PUSH_LEASE_MS = 20_000;
/** A briefing waits so long for a bridge that is not connected. */
const BRIDGE_BACK_MS = 30_000;
/** Begins the words of a rule that could not be told. */
export const NOT_DELIVERED = "not delivered to ";

/**
 * Writes one message before it is handed over.
 * @param recipients conversations, browsers and topics
 * @param opens the conversation that a browser's notification opens
 * @param from until then it is held back, epoch ms, and in quiet hours; undefined: it goes out at once
 */
export function sendNotice(
  home: HomeContext,
  recipients: readonly string[],
  notice: Notice,
  opens: string | null,
  from?: number,
): void {
  if (recipients.length === 0) return;
  addRows(home, recipients, notice, opens, from);
  void emit("noticeMade", home, notice, recipients);
}

function addRows(
  home: HomeContext,
  recipients: readonly string[],
  notice: Notice,
  opens: string | null,
  from?: number,
): void {
  for (const recipient of recipients)
    noticesOf(home).add({
      id: `${notice.id} ${recipient}`,
      recipient,
      rule: notice.rules[0] ?? "",
      tells: { say: notice, opens, ...(from !== undefined && { from }) },
      madeAt: notice.at,
    });
}

/** Hands over what waits, each until its recipient has it. */
export async function handOver(home: HomeContext, now: number): Promise<void> {
  const due = noticesOf(home)
    .pending()
    .filter((pending) => handOverAt(home, pending, now) <= now);
  // Before the first try: another event may run this meanwhile.
  for (const { id, recipient } of due)
    noticeRetriesOf(home).failed(id, isOutlet(recipient) ? now - PUSH_LEASE_MS : now, now);
  // Conversations are told in order. A slow server of pushes holds up nobody.
  const outside = due.filter(({ recipient }) => isOutlet(recipient));
  const pushed = outside.map((pending) => handOverOne(home, pending));
  for (const pending of due) if (!isOutlet(pending.recipient)) await handOverOne(home, pending);
  await Promise.all(pushed);
}

/** A browser or topic. */
function isOutlet(recipient: string): boolean {
  return !recipient.includes("/");
}

/** A gateway that was away at the time of a briefing is back before the bridge is, and could read nothing. */
function waitsForBridge(home: HomeContext, { tells, madeAt }: PendingNotice): boolean {
  const now = Date.now();
  return "brief" in tells && !bridgeOf(home).isConnected(now) && now < madeAt + BRIDGE_BACK_MS;
}

async function handOverOne(home: HomeContext, pending: PendingNotice): Promise<void> {
  if (waitsForBridge(home, pending)) return;
  try {
    const handed = await give(home, pending);
    noticesOf(home).remove(pending.id);
    noticeRetriesOf(home).remove(pending.id);
    if (handed.accepted) return;
    const { tells, recipient } = pending;
    notDelivered(home, recipient, "say" in tells ? tells.say : pending.rule, handed.why);
  } catch (error) {
    const now = Date.now();
    const since = error instanceof DeliverLaterError ? now - error.pauseMs : pending.madeAt;
    noticeRetriesOf(home).failed(pending.id, since, now);
    logError("rule.notice_failed", error, { rule: pending.rule });
  }
}

async function give(home: HomeContext, { recipient, tells }: PendingNotice): Promise<Handed> {
  if ("brief" in tells) return await conversationOf(home.env, recipient).brief(tells.brief);
  if (!isOutlet(recipient)) {
    const handed = await conversationOf(home.env, recipient).notice(tells.say);
    // It goes to the top of the person's list.
    if (handed.accepted) conversationListOf(home).usedAt(recipient, Date.now());
    return handed;
  }
  await subscriptionKind(home)?.deliver(home, recipient, tells.opens, tells.say);
  return { accepted: true };
}

/** Rules hear of it, and the next recipient gets the message. @param notice of a briefing only its rule */
function notDelivered(home: HomeContext, failed: string, notice: Notice | string, why: string): void {
  const { next, ...said } = typeof notice === "string" ? { rules: [notice] } : notice;
  const words = `${NOT_DELIVERED}${recipientText(failed)}: ${plainText(why, WHY_MAX)}`;
  logInfo("rule.not_delivered", { rule: said.rules[0] });
  const [first] = next ?? [];
  // All browsers and topics together, and chats one after the other.
  const others = first === undefined ? [] : isOutlet(first) ? (next ?? []) : [first];
  void emit("notDelivered", home, said.rules, { recipient: failed, instead: others, why: words });
  if (!("text" in said)) return;
  const rest = (next ?? []).filter((one) => !others.includes(one));
  addRows(home, others, { ...said, text: `${said.text}\n(It was ${words}.)`, next: rest }, null);
}

/** A conversation had it, and its chat app did not take it in the end. */
export async function onLost(home: HomeContext, { conversation, notice, why }: LostNotice): Promise<void> {
  notDelivered(home, conversation, notice, why);
  await handOver(home, Date.now());
  await home.alarm.arm();
}

export function nextHandOver(home: HomeContext, now: number): number | undefined {
  const times = noticesOf(home)
    .pending()
    .map((pending) => handOverAt(home, pending, now));
  return times.length === 0 ? undefined : Math.min(...times);
}

function handOverAt(home: HomeContext, pending: PendingNotice, now: number): number {
  return Math.max(noticeRetriesOf(home).dueAt(pending.id), holdEnd(home, pending, now));
}

/** The quiet hours are those of now: they may have been changed since it was written. */
function holdEnd(home: HomeContext, { tells }: PendingNotice, now: number): number {
  if (!("say" in tells) || tells.from === undefined) return 0;
  return Math.max(tells.from, heldUntil({ sent: [], quiet: clockOf(home).read().quiet }, "info", now) ?? 0);
}

/** It is held back, and nobody can have it yet: it was not tried. */
export function isHeld(home: HomeContext, pending: PendingNotice, now: number): boolean {
  return noticeRetriesOf(home).dueAt(pending.id) === 0 && holdEnd(home, pending, now) > now;
}
