/** What is told of a watch: decided from its record, a row before it is handed over, and handed over until its conversation has it. */

import { agentSource, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import {
  deliveryDue,
  isFinished,
  onChange,
  onDue,
  type Notice as Told,
} from "@edgecall/core/rules/delivery.ts";
import type { RuleChange } from "@edgecall/core/rules/evaluate.ts";
import { heldUntil } from "@edgecall/core/rules/limits.ts";
import { messageWords } from "@edgecall/core/rules/notice-words.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import { isInside } from "@edgecall/core/rules/window.ts";
import { HOUR_MS } from "@edgecall/core/rules/zone.ts";
import type { Handed, Notice, RuleButton } from "../../api/rules.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import type { HomeContext, HomeStores } from "../context.ts";
import { deliverPush, PushLaterError } from "../push/deliver.ts";
import { stillHolds } from "./access.ts";
import type { PendingNotice, RuleRow, WatchRow } from "./rule-store.ts";
import { placeOf } from "./watched.ts";

/**
 * A place of evaluation says that a watch's state changed. One that was said before changes nothing.
 * @param text the device's own words about it
 */
export function takeChange(
  home: HomeContext,
  row: WatchRow,
  change: RuleChange,
  now: number,
  text?: string,
): void {
  if (change.seq <= row.record.seq || !stillHolds(home, row)) return;
  const held = heldFor(home, row, now);
  const { record, notices } = onChange(row.rule, row.record, change, now, held);
  home.rules.noteChange(row.id, change);
  store(home, row, record, notices, now, text);
}

/** Says of the watches what is due. */
export function tellDue(home: HomeContext, now: number): void {
  const due = home.rules
    .all()
    .filter((row): row is WatchRow => row.kind === "watch" && (row.due ?? Infinity) <= now);
  const { quiet } = readSettings(home.env).clock;
  const told: Array<{ row: WatchRow; notices: Told[] }> = [];
  for (const row of due.filter((one) => stillHolds(home, one))) {
    const { record, notices } = onDue(row.rule, row.record, now, heldFor(home, row, now));
    home.rules.put({ ...row, record, due: nextDue(home, { ...row, record }, now) });
    if (notices.length > 0) told.push({ row, notices });
  }
  // Those that were held back come as one message.
  const isMorning = quiet !== undefined && !isInside(quiet, now) && isInside(quiet, now - 5 * 60_000);
  for (const group of Map.groupBy(told, ({ row }) => row.maker.conversation).values())
    say(home, group, now, isMorning);
  for (const { row } of told) endFinished(home, row.id);
}

function store(
  home: HomeContext,
  row: WatchRow,
  record: WatchRow["record"],
  notices: Told[],
  now: number,
  text: string | undefined,
): void {
  const next = { ...row, record };
  home.rules.put({ ...next, due: nextDue(home, next, now) });
  if (notices.length === 0) return;
  say(home, [{ row: next, notices }], now, false, text);
  endFinished(home, row.id);
}

/** When something is to be said of a watch, epoch ms; null: not before its next change. */
function nextDue(home: HomeContext, row: WatchRow, now: number): number | null {
  return row.status === "active"
    ? (deliveryDue(row.rule, row.record, heldFor(home, row, now)) ?? null)
    : null;
}

function heldFor({ rules, env }: HomeContext, { rule, maker }: WatchRow, now: number): number | undefined {
  rules.sent = rules.sent.filter(({ at }) => at > now - HOUR_MS);
  const { quiet } = readSettings(env).clock;
  return heldUntil(
    { sent: rules.sent, quiet, lastAt: rules.toldAt.get(maker.conversation) },
    rule.severity,
    now,
  );
}

function endFinished({ rules }: HomeContext, id: string): void {
  const row = rules.get(id);
  if (row?.kind === "watch" && isFinished(row.rule, row.record)) rules.remove(id);
}

/** Writes one message for one conversation. */
function say(
  home: HomeContext,
  told: ReadonlyArray<{ row: WatchRow; notices: Told[] }>,
  now: number,
  quiet: boolean,
  text?: string,
): void {
  const [first] = told;
  if (!first) return;
  const { zone } = readSettings(home.env).clock;
  const lines = told.flatMap(({ row, notices }) =>
    notices.map((notice) => ({ rule: row.rule, place: placeOf(home, row.rule), notice })),
  );
  const critical = told.some(({ row }) => row.rule.severity === "critical");
  const sources = told.flatMap(({ row }) => sourcesOf(home, row));
  tell(home, first.row.maker.conversation, {
    id: crypto.randomUUID(),
    text: messageWords(lines, { zone, now }, quiet) + (text === undefined ? "" : `\nIt says: ${text}`),
    rules: told.map(({ row }) => row.id),
    buttons:
      told.length === 1 ? first.notices.flatMap((notice) => buttonsFor(first.row, notice)).slice(0, 3) : [],
    critical,
    at: now,
    sources,
  });
}

/** A text of the device is in it, or a stranger may have asked for the rule. */
function sourcesOf(home: HomeContext, { rule, maker }: WatchRow): Source[] {
  const { source } = rule;
  const agent =
    source.of === "agent"
      ? home.agents.ids().find((id) => home.keys.publicKeyOf(id) === source.key)
      : undefined;
  const own =
    rule.type === "text" || isMomentary(rule) ? [agent === undefined ? STRANGER : agentSource(agent)] : [];
  return maker.tainted ? [STRANGER] : own;
}

function buttonsFor({ id }: WatchRow, notice: Told): RuleButton[] {
  if (!("firing" in notice) || notice.kind === "recovery") return [];
  const of = { rule: id, occurrence: notice.firing.occurrence };
  return [
    { label: "Got it", do: "ack", ...of },
    { label: "Snooze 1 h", do: "snooze", ...of },
    { label: "Stop this watch", do: "stop", ...of },
  ];
}

/** Rows before it is handed over: for its conversation, and for the browsers and topics of whoever made the rules. */
export function tell({ rules, outlets }: HomeContext, conversation: string, notice: Notice): void {
  const common = { conversation, rule: notice.rules[0] ?? "", madeAt: notice.at };
  rules.addNotice({ ...common, id: notice.id, tells: { say: notice } });
  const isOf = ({ id, maker }: RuleRow) =>
    notice.rules.length === 0 ? maker.conversation === conversation : notice.rules.includes(id);
  const makers = new Set(
    rules
      .all()
      .filter(isOf)
      .map(({ maker }) => maker.principal),
  );
  for (const { id } of [...makers].flatMap((principal) => outlets.of(principal)))
    rules.addNotice({ ...common, id: `${notice.id} ${id}`, tells: { say: notice, outlet: id } });
  rules.sent.push({ at: notice.at, critical: notice.critical });
  rules.toldAt.set(conversation, notice.at);
}

/** Hands over what waits, each until its conversation has it. */
export async function handOver(home: HomeContext, now: number): Promise<void> {
  const { rules, noticeRetries } = home;
  const due = rules.pending().filter(({ id }) => noticeRetries.dueAt(id) <= now);
  // Before the first try: another event may run this meanwhile.
  for (const { id } of due) noticeRetries.failed(id, now, now);
  // Conversations are told in order. A slow server of pushes holds up nobody.
  const outside = due.filter(isOutside);
  const pushed = outside.map((pending) => handOverOne(home, pending));
  for (const pending of due) if (!isOutside(pending)) await handOverOne(home, pending);
  await Promise.all(pushed);
}

function isOutside({ tells }: PendingNotice): boolean {
  return "say" in tells && tells.outlet !== undefined;
}

async function handOverOne(home: HomeContext, pending: PendingNotice): Promise<void> {
  const { rules, noticeRetries } = home;
  try {
    const handed = await give(home, pending);
    rules.removeNotice(pending.id);
    noticeRetries.remove(pending.id);
    if (!handed.accepted) notDelivered(home, pending, handed.why);
  } catch (error) {
    const now = Date.now();
    const since = error instanceof PushLaterError ? now - error.pauseMs : pending.madeAt;
    noticeRetries.failed(pending.id, since, now);
    logError("rule.notice_failed", error, { rule: pending.rule });
  }
}

async function give(home: HomeContext, { conversation, tells }: PendingNotice): Promise<Handed> {
  if ("say" in tells && tells.outlet !== undefined) {
    await deliverPush(home, tells.outlet, conversation, tells.say);
    return { accepted: true };
  }
  const stub = conversationOf(home.env, conversation);
  return "say" in tells ? await stub.notice(tells.say) : await stub.brief(tells.brief);
}

function notDelivered({ rules }: HomeContext, { rule }: PendingNotice, why: string): void {
  logInfo("rule.not_delivered", { rule });
  const row = rules.get(rule);
  if (row) rules.put({ ...row, why: `not delivered: ${why}` });
}

export function nextHandOver({ rules, noticeRetries }: HomeStores): number | undefined {
  return noticeRetries.nextDue(rules.pending().map(({ id }) => id));
}
