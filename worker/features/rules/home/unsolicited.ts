/**
 * An EvoClaw agent, which has no key, says something of its own accord: where `UNASKED_REPORTS` names it, owners are told. Nobody
 * knows who wrote it, so it is quoted, it counts as a stranger's text, and no model reads it unless a person asks about it later.
 */

import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { ENGLISH } from "@edgecall/core/phrases/phrases.ts";
import { readReport } from "@edgecall/core/protocol/mqtt.ts";
import { unsolicitedText } from "@edgecall/core/protocol/unsolicited.ts";
import { heldUntil, isNoisy } from "@edgecall/core/rules/limits.ts";
import { deviceText } from "@edgecall/core/rules/plain-text.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import type { Notice } from "../../../kernel/api/notices.ts";
import { keysOf } from "../../../kernel/home/agents/agent-keys.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { isHeld } from "../../../kernel/home/notices/hand-over.ts";
import type { PendingNotice } from "../../../kernel/home/notices/notice-store.ts";
import { noticesOf } from "../../../kernel/home/notices/notice-store.ts";
import { ownersHear } from "../../../kernel/home/notices/owners.ts";
import { logInfo } from "../../../kernel/log.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { rulesDue } from "./alarm-part.ts";
import type { Unsolicited } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";

/** Lines of one message that was held back. */
const LINES_MAX = 10;

/** @returns whether the settings let this agent speak: it has no key, is served, and is named */
export function maySpeak(home: HomeContext, agent: string): boolean {
  const { env } = home;
  return (
    keysOf(home).standing(agent) === "none" &&
    keysOf(home).serves(agent) &&
    readSettings(env).unaskedReports.has(agent)
  );
}

/** @param text the report, as published */
export async function onUnsolicited(home: HomeContext, agent: string, text: string): Promise<void> {
  const report = readReport(text);
  const words = report.ok ? unsolicitedText(report.value) : undefined;
  if (words === undefined) return;
  const now = Date.now();
  const before = rulesOf(home).unsolicitedOf(agent);
  const line = lineOf(before, agent, words, now);
  if (!line) return;
  const recipients = ownersHear(home);
  if (recipients.length === 0) logInfo("unasked.nobody_told", { agent });
  const notice: Notice = {
    id: `said:${agent}:${crypto.randomUUID()}`,
    text: line.text,
    rules: [],
    buttons: [],
    critical: false,
    at: now,
    sources: [STRANGER],
  };
  const told = recipients.filter((recipient) => notifyOwner(home, agent, recipient, notice, line));
  let { said } = before;
  if (told.length > 0) {
    rulesOf(home).noteSent({ at: now, critical: false }, told);
    said = { to: told, at: [...said.at.filter((at) => at > now - HOUR_MS), now] };
  }
  rulesOf(home).noteUnsolicited(agent, { ...line.counts, said });
  await rulesDue(home);
  await home.alarm.arm();
}

/** @property always it is told however many lines there are @property counts with this line */
type Line = { text: string; always: boolean; counts: Omit<Unsolicited, "said"> };

/** @returns what is told; undefined: nothing, since it says too much */
function lineOf(before: Unsolicited, agent: string, words: string, now: number): Line | undefined {
  const { noisyAt } = before;
  const times = before.times.filter((at) => at > now - HOUR_MS);
  if (!isNoisy(times, now)) {
    const counts = { noisyAt, times: [...times, now] };
    return { text: ENGLISH.say("agentSays", { agent, text: deviceText(words) }), always: false, counts };
  }
  if (noisyAt > now - HOUR_MS) return undefined;
  const text = ENGLISH.say("saysTooMuch", { agent, count: times.length });
  return { text, always: true, counts: { times, noisyAt: now } };
}

/** A row before it is handed over. @returns false: what is held back for this recipient has one line more */
function notifyOwner(
  home: HomeContext,
  agent: string,
  recipient: string,
  notice: Notice,
  line: Line,
): boolean {
  const { at } = notice;
  const waiting = noticesOf(home)
    .pending()
    .find(
      (one) => one.recipient === recipient && one.id.startsWith(`said:${agent}:`) && isHeld(home, one, at),
    );
  if (waiting) {
    addLine(home, waiting, line);
    return false;
  }
  noticesOf(home).add({
    id: `${notice.id} ${recipient}`,
    recipient,
    rule: "",
    tells: { say: notice, opens: null, from: heldFor(home, recipient, at) ?? at },
    madeAt: at,
  });
  return true;
}

/** The home's bound of messages, and a moment in which others may come. Quiet hours count when it is handed over. */
function heldFor(home: HomeContext, recipient: string, now: number): number | undefined {
  const { messages, toldAt } = rulesOf(home).sent();
  return heldUntil({ sent: messages, lastAt: toldAt.get(recipient) }, "info", now);
}

function addLine(home: HomeContext, pending: PendingNotice, line: Line): void {
  if (!("say" in pending.tells)) return;
  const { say } = pending.tells;
  const lines = say.text.split("\n");
  if (lines.length > LINES_MAX && !line.always) return;
  const isFull = lines.length === LINES_MAX && !line.always;
  const text = [...lines, isFull ? ENGLISH.say("moreOfIt") : line.text].join("\n");
  noticesOf(home).remove(pending.id);
  noticesOf(home).add({ ...pending, tells: { ...pending.tells, say: { ...say, text } } });
}
