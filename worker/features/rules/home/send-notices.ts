/** What is told of a watch: decided from its record, and a row before it is handed over. */

import { agentSource, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { RuleChange } from "@edgecall/core/protocol/rules.ts";
import { deliveryDue, isLast, onChange, onDue, type Notice as Told } from "@edgecall/core/rules/delivery.ts";
import { heldUntil } from "@edgecall/core/rules/limits.ts";
import { messageText } from "@edgecall/core/rules/notice-text.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import { isInside } from "@edgecall/core/rules/window.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import { keysOf } from "../../../kernel/home/agents/agent-keys.ts";
import { agentRowsOf } from "../../../kernel/home/agents/agent-rows.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { NOT_DELIVERED, sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { heldBy } from "./orphaned.ts";
import { makersOwn, nextRecipients, recipientsOf } from "./recipients.ts";
import { phrasesFor } from "./rule-languages.ts";
import type { RuleRow, Said, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { placeOf } from "./watched.ts";

const NAME_MAX = 64;

/** One thing to say of a watch. @property own all of them are its maker's @property text the device's own words about it */
type Line = { row: WatchRow; notice: Told; recipients: string[]; own: boolean; text: string | undefined };

/**
 * A place of evaluation says that a watch's state changed. One that was said before changes nothing.
 * @param text the device's own words about it
 */
export function applyChange(
  home: HomeContext,
  before: WatchRow,
  change: RuleChange,
  now: number,
  text?: string,
): void {
  if (change.seq <= before.record.seq) return;
  // A critical one that becomes a warning now speaks once more as it was.
  const held = heldFor(home, before, now, change.state === "firing");
  const row = heldBy(home, before);
  if (!row) return;
  const { record, notices } = onChange(row.rule, row.record, change, now, held);
  rulesOf(home).noteChange(row.id, change, now);
  const lines = decided(home, { ...row, record }, notices, now, text);
  say(home, lines, now, false);
  endFinished(home, lines);
}

/** Says of the watches what is due. */
export function sendDueNotices(home: HomeContext, now: number): void {
  const due = rulesOf(home)
    .all()
    .filter(
      (row): row is WatchRow =>
        row.kind === "watch" && row.status === "active" && (row.due ?? Infinity) <= now,
    );
  const { quiet } = clockOf(home).read();
  const lines = due.flatMap((before) => {
    const held = heldFor(home, before, now);
    const row = heldBy(home, before);
    if (!row) return [];
    const { record, notices } = onDue(row.rule, row.record, now, held);
    return decided(home, { ...row, record }, notices, now);
  });
  // Those that were held back come as one message.
  const isMorning = quiet !== undefined && !isInside(quiet, now) && isInside(quiet, now - 5 * 60_000);
  say(home, lines, now, isMorning);
  endFinished(home, lines);
}

/** Stores what was decided of a watch. @returns what has to be said */
function decided(
  home: HomeContext,
  row: WatchRow,
  notices: readonly Told[],
  now: number,
  text?: string,
): Line[] {
  let next = row;
  const makers = new Set(row.to === null ? makersOwn(home, row.maker) : []);
  const lines = notices.flatMap((notice): Line[] => {
    const { recipients, why } = hearers(home, next, notice);
    next = noted(next, saidAfter(next.said, notice, recipients), why, now);
    // Others read whose rule it is, and may not end it.
    return [true, false].map((own) => ({
      row,
      notice,
      recipients: recipients.filter((one) => makers.has(one) === own),
      own,
      text,
    }));
  });
  rulesOf(home).put({ ...next, due: nextDue(home, next, now) });
  return lines;
}

/** The row of a rule that speaks now. @param why it does not speak as it should, in words */
export function noted<Row extends RuleRow>(
  row: Row,
  to: readonly string[],
  why: string | undefined,
  now: number,
): Row {
  const at = [...row.said.at.filter((time) => time > now - HOUR_MS && time !== now), now];
  const before = row.why?.startsWith(NOT_DELIVERED) ? null : row.why;
  const next = why === undefined ? before : `${NOT_DELIVERED}${why}`;
  return { ...row, why: next, said: { ...row.said, to: [...to], at } };
}

/** The end of a firing is for those who heard of it, and an escalation for the second recipient. */
function hearers(home: HomeContext, row: WatchRow, { kind }: Told): ReturnType<typeof recipientsOf> {
  const { to } = row.said;
  if (kind === "recovery" && to.length > 0) return { recipients: to };
  return recipientsOf(home, row, kind === "escalation" ? row.rule.then_to?.to : undefined);
}

/** Who has heard of the newest firing. */
function saidAfter({ to }: Said, { kind }: Told, recipients: readonly string[]): string[] {
  return kind === "firing" || kind === "muted" ? [...recipients] : [...new Set([...to, ...recipients])];
}

/** When something is to be said of a watch, epoch ms; null: not before its next change. */
export function nextDue(home: HomeContext, row: WatchRow, now: number): number | null {
  return row.status === "active"
    ? (deliveryDue(row.rule, row.record, heldFor(home, row, now)) ?? null)
    : null;
}

/** @param fires beside those that wait already */
function heldFor(home: HomeContext, row: WatchRow, now: number, fires = false): number | undefined {
  const { quiet } = clockOf(home).read();
  const { messages, toldAt } = rulesOf(home).sent();
  const times = recipientsOf(home, row).recipients.map((one) => toldAt.get(one) ?? 0);
  const noisyAt = fires || row.record.untold ? row.said.noisy_at : undefined;
  return heldUntil({ sent: messages, quiet, lastAt: Math.max(0, ...times), noisyAt }, row.rule.severity, now);
}

function endFinished(home: HomeContext, lines: readonly Line[]): void {
  for (const { row, notice } of lines) if (isLast(row.rule, notice)) rulesOf(home).remove(row.id);
}

/** A message has no rules of several makers, since it goes to its rule's maker when its recipient does not take it. */
function say(home: HomeContext, lines: readonly Line[], now: number, quiet: boolean): void {
  const parts = Map.groupBy(lines, (line) => nextOf(home, line).join());
  for (const part of parts.values()) sayPart(home, part, now, quiet);
}

function nextOf(home: HomeContext, { row, recipients }: Line): string[] {
  return nextRecipients(home, row, recipients);
}

/** Writes one message for those who are told the same. */
function sayPart(home: HomeContext, lines: readonly Line[], now: number, quiet: boolean): void {
  const all = new Set(lines.flatMap(({ recipients }) => recipients));
  const groups = Map.groupBy(all, (recipient) =>
    lines.flatMap((line, at) => (line.recipients.includes(recipient) ? [at] : [])).join(),
  );
  for (const recipients of groups.values())
    sayTo(
      home,
      recipients,
      lines.filter((line) => line.recipients.includes(recipients[0] ?? "")),
      now,
      quiet,
    );
}

function sayTo(
  home: HomeContext,
  recipients: readonly string[],
  lines: readonly Line[],
  now: number,
  quiet: boolean,
): void {
  const [first] = lines;
  if (!first) return;
  const { zone } = clockOf(home).read();
  const rows = new Map(lines.map(({ row }) => [row.id, row]));
  const phrases = phrasesFor(first.row);
  const words = messageText(
    lines.map(({ row: { rule }, notice }) => ({ rule, place: placeOf(home, rule, phrases), notice })),
    { zone, now, phrases },
    quiet,
  );
  const isOne = rows.size === 1;
  const isOwn = lines.every(({ own }) => own);
  const says = first.text === undefined ? "" : `\n${phrases.say("itSays", { text: first.text })}`;
  sendNotice(
    home,
    recipients,
    {
      id: crypto.randomUUID(),
      text: words + says + (isOne && !isOwn ? byText(first.row) : ""),
      rules: [...rows.keys()],
      buttons: isOne ? lines.flatMap(buttonsFor).slice(0, 3) : [],
      critical: [...rows.values()].some(({ rule }) => rule.severity === "critical"),
      at: now,
      sources: isOwn ? [...rows.values()].flatMap((row) => sourcesOf(home, row)) : [STRANGER],
      next: nextOf(home, first),
    },
    first.row.maker.conversation,
  );
}

/** Who had it said, for others than that person. */
export function byText(row: RuleRow): string {
  const person = plainText(row.maker.principal, NAME_MAX);
  return `\n${phrasesFor(row).say("ruleOf", { person, id: row.id })}`;
}

/** A text of the device is in it, or a stranger may have asked for the rule. */
function sourcesOf(home: HomeContext, { rule, maker }: WatchRow): Source[] {
  const { source } = rule;
  const agent =
    source.of === "agent"
      ? agentRowsOf(home)
          .ids()
          .find((id) => keysOf(home).publicKeyOf(id) === source.key)
      : undefined;
  const own =
    rule.type === "text" || isMomentary(rule) ? [agent === undefined ? STRANGER : agentSource(agent)] : [];
  return maker.tainted ? [STRANGER] : own;
}

function buttonsFor({ row, notice, own }: Line): RuleButton[] {
  const { id, rule } = row;
  // A rule that ends with its message can be answered by nobody.
  if (!("firing" in notice) || notice.kind === "recovery" || rule.repeat === "once") return [];
  const of = { rule: id, occurrence: notice.firing.occurrence };
  const phrases = phrasesFor(row);
  return [
    { label: phrases.say("gotIt"), do: "ack", ...of },
    { label: phrases.say("snoozeHour"), do: "snooze", ...of },
    ...(own ? [{ label: phrases.say("stopWatch"), do: "stop", ...of } as const] : []),
  ];
}
