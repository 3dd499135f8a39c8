/** Rules as people see and change them outside of a conversation. */

import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { check, type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { conditionText, valueText } from "@edgecall/core/rules/condition-text.ts";
import { isSilentForOwn } from "@edgecall/core/rules/confirmation-text.ts";
import { stopped } from "@edgecall/core/rules/delivery.ts";
import { initialState, type Phase, phaseOf } from "@edgecall/core/rules/evaluate.ts";
import { capEnd } from "@edgecall/core/rules/limits.ts";
import { shownText } from "@edgecall/core/rules/plain-text.ts";
import { scheduleText } from "@edgecall/core/rules/reminder-text.ts";
import { nextTime, nextTimes } from "@edgecall/core/rules/schedule.ts";
import { timeText } from "@edgecall/core/rules/time-text.ts";
import { isMomentary, WatchRule } from "@edgecall/core/rules/watch-rule.ts";
import { clockText, isInside, nextEdge, readWindow, windowText } from "@edgecall/core/rules/window.ts";
import { HOUR_MS, MINUTE_MS } from "@edgecall/core/time/zone.ts";
import { seesAll, type Viewer } from "../../../kernel/api/may-see.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf, viewOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { nameOf, recipientText } from "../../../kernel/home/notices/reach.ts";
import { roleNow } from "../../../kernel/home/people/roles.ts";
import type { RuleBody, RuleChanged, RuleList, RuleView } from "../contract.ts";
import { onPresence } from "./alarm-part.ts";
import { whyNotResumed } from "./orphaned.ts";
import { secondOf } from "./recipients.ts";
import { phrasesFor } from "./rule-languages.ts";
import type { ReminderRow, RuleRow, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { nextDue } from "./send-notices.ts";
import { agentOf, canChange, placeOf } from "./watched.ts";

const HISTORY_MAX = 20;
const TEXT_MAX = 500;
/** More changes than a place that is away makes of a paused rule, which begins behind them: so they count for nothing. */
const CHANGES_AWAY = 1_000_000;

export function ruleList(home: HomeContext, viewer: Viewer): RuleList {
  const rules = rulesOf(home)
    .all()
    .filter((row) => mayManage(row, viewer));
  return { rules: rules.map((row) => ruleView(home, row)), ...viewOf(clockOf(home).read()) };
}

export async function changeRuleBy(
  home: HomeContext,
  id: string,
  body: RuleBody,
  viewer: Viewer,
): Promise<RuleChanged> {
  const before = ownRule(home, id, viewer);
  if (!before) return NO_RULE;
  if (body.severity === "critical" && viewer.role !== "owner")
    return { ok: false, status: 403, message: "severity: only an owner may make a watch critical" };
  if (body.severity === "critical" && roleNow(home, before.maker) !== "owner")
    return { ok: false, status: 422, message: "severity: only a watch that an owner made may be critical" };
  const why = body.status === "active" ? whyNotResumed(home, before) : undefined;
  if (why !== undefined) return { ok: false, status: 422, message: `status: it cannot be active: ${why}` };
  const then = await secondFor(home, before, body);
  if (!then.ok) return { ok: false, status: 422, message: then.error };
  // It may have fired meanwhile.
  const row = ownRule(home, id, viewer);
  if (!row) return NO_RULE;
  const { zone } = clockOf(home).read();
  const changed =
    row.kind === "watch" ? changedWatch(row, body, then.value, zone) : changedReminder(row, body);
  if (!changed.ok) return { ok: false, status: 422, message: changed.error };
  const next = withStatus(home, changed.value, body.status);
  // What was held back may go out by the change, or what nobody answered be another's now.
  rulesOf(home).put(next.kind === "watch" ? { ...next, due: nextDue(home, next, Date.now()) } : next);
  await onPresence(home);
  return { ok: true, rule: ruleView(home, rulesOf(home).get(id) ?? changed.value) };
}

const NO_RULE = { ok: false, status: 404, message: "no such rule" } as const;

export async function removeRuleBy(home: HomeContext, id: string, viewer: Viewer): Promise<boolean> {
  if (!ownRule(home, id, viewer)) return false;
  rulesOf(home).remove(id);
  await onPresence(home);
  return true;
}

function ownRule(home: HomeContext, id: string, viewer: Viewer): RuleRow | undefined {
  const row = rulesOf(home).get(id);
  return row && mayManage(row, viewer) ? row : undefined;
}

/** Of everybody's rules only administrators know. */
function mayManage({ maker }: RuleRow, viewer: Viewer): boolean {
  return seesAll(viewer) || maker.principal === viewer.name;
}

/** By its maker's access, which counts when it speaks too. */
async function secondFor(
  home: HomeContext,
  { maker }: RuleRow,
  { then_to: then }: RuleBody,
): ReturnType<typeof secondOf> {
  return await secondOf(home, maker, then?.to, then?.after_minutes);
}

function changedWatch(
  row: WatchRow,
  body: RuleBody,
  then: WatchRule["then_to"],
  zone: string,
): Parsed<WatchRow> {
  const { name, value, for_minutes, severity, say, text, only_between } = body;
  if (text !== undefined) return wrong("text: a watch has none; its words are `name` and `say`");
  const { rule } = row;
  if (value !== undefined && rule.value === undefined)
    return wrong(`value: '${rule.is}' compares with nothing; leave it out`);
  if (value !== undefined && typeof value !== typeof rule.value)
    return wrong(`value: expected a ${typeof rule.value}, as in ${String(rule.value)}`);
  if (for_minutes !== undefined && isMomentary(rule))
    return wrong(`for_minutes: '${rule.is}' is a moment; leave it out`);
  const hours = typeof only_between === "string" ? readWindow(only_between.trim(), zone) : undefined;
  if (hours && !hours.ok) return wrong(`only_between: ${hours.error}`);
  const { say: before, then_to: second, only_between: hoursBefore, repeat: repeatBefore, ...rest } = rule;
  const { repeat = repeatBefore } = body;
  const between = only_between === undefined ? hoursBefore : hours?.value;
  // All but the words is of the condition, and of how it repeats.
  const isOther = [value, for_minutes, only_between, body.repeat].some((one) => one !== undefined);
  const then_to = body.then_to === undefined ? second : then;
  if (then_to && repeat === "once") return wrong("then_to: this watch ends with its first message");
  const words = say === undefined ? before : (say ?? undefined);
  const next = check(WatchRule, {
    ...rest,
    ...(name !== undefined && { name }),
    ...(value !== undefined && { value }),
    ...(for_minutes !== undefined && { hold_ms: Math.round(for_minutes * MINUTE_MS) }),
    ...(severity && { severity, tell_own: severity === "critical", tell_stale: severity === "critical" }),
    ...(words !== undefined && { say: words }),
    ...(then_to && { then_to }),
    repeat,
    ...(between && { only_between: between }),
    // The place that evaluates it has to learn of another condition.
    version: rule.version + (isOther || severity ? 1 : 0),
  });
  if (!next.ok) return wrong(next.error);
  const { ended: _, ...state } = row.state;
  // One that is for once no more goes on behind its firing.
  return { ok: true, value: { ...row, rule: next.value, state: repeat === "once" ? row.state : state } };
}

function changedReminder(row: ReminderRow, { status: _, text, ...others }: RuleBody): Parsed<ReminderRow> {
  const [other] = Object.keys(others);
  if (other !== undefined) return wrong(`${other}: a reminder has none; it has \`status\` and \`text\``);
  return { ok: true, value: text === undefined ? row : { ...row, rule: { ...row.rule, text } } };
}

/** Times that were missed while it was paused are not made up for, and a watch begins anew: nobody knows what was meanwhile. */
export function withStatus(home: HomeContext, row: RuleRow, status: RuleBody["status"]): RuleRow {
  if (status === undefined || status === row.status) return row;
  const now = Date.now();
  if (row.kind === "watch") {
    const { occurrence } = row.record;
    const seq = row.record.seq + CHANGES_AWAY;
    const rule = { ...row.rule, version: row.rule.version + 1 };
    const record = { ...stopped(row.record, now), seq };
    const state = initialState(now, { seq, occurrence });
    return { ...row, rule, status, why: null, record, state, due: null };
  }
  if (status === "paused") return { ...row, status, why: null };
  const { zone } = clockOf(home).read();
  return { ...row, status, why: null, handled: now, due: nextTime(zone, row.rule.schedule, now) ?? null };
}

function ruleView(home: HomeContext, row: RuleRow): RuleView {
  const { id, kind, status, why, maker, madeAt } = row;
  const phrases = phrasesFor(row);
  const { zone } = clockOf(home).read();
  const [, channel = maker.channel, ...conversation] = maker.conversation?.split("/") ?? [];
  const history = rulesOf(home)
    .firings(id, HISTORY_MAX)
    .map(({ value, ...firing }) => ({
      ...firing,
      ...(value !== null && valueView(row, value)),
    }));
  const common = {
    id,
    kind,
    status,
    why,
    last_firing: history[0]?.at ?? null,
    history,
    by: maker.principal,
    channel,
    conversation: conversation.join("/"),
    to: recipientText(row.to, maker.conversation !== null, phrases),
    made_at: madeAt,
  };
  if (row.kind === "remind") {
    const { text, schedule } = row.rule;
    const now = Date.now();
    const next = status === "active" ? nextTimes(zone, schedule, now) : [];
    return {
      ...common,
      name: shownText(text, TEXT_MAX),
      condition: scheduleText(schedule, zone, row.due ?? undefined, phrases),
      next,
    };
  }
  const { rule } = row;
  const silent = silentText(home, row);
  const state = watchPhase(row);
  const since = state === "firing" ? firingSince(row) : undefined;
  return {
    ...common,
    name: shownText(rule.name, TEXT_MAX),
    condition: conditionText(rule, phrases),
    device: shownText(placeOf(home, rule, phrases), TEXT_MAX),
    agent: agentOf(home, rule.source) ?? null,
    ...(rule.value !== undefined && { value: rule.value }),
    for_minutes: rule.hold_ms / MINUTE_MS,
    severity: rule.severity,
    repeat: rule.repeat,
    ...(rule.only_between && {
      only_between: `${clockText(rule.only_between.from)}-${clockText(rule.only_between.to)}`,
    }),
    ...(rule.then_to && {
      then_to: { to: nameOf(rule.then_to.to), after_minutes: rule.then_to.after_ms / MINUTE_MS },
    }),
    ...(rule.say !== undefined && { say: shownText(rule.say, TEXT_MAX) }),
    state,
    ...(since !== undefined && { since }),
    ...(isSilentForOwn(rule) &&
      canChange(home, rule, Date.now()) && { note: phrases.say("ownChangesSilent") }),
    ...(silent !== undefined && { silent }),
  };
}

/** @param stored JSON that `noteFiring` wrote */
function valueView(row: RuleRow, stored: string): Pick<RuleView["history"][number], "value" | "text"> {
  // SAFETY: `noteFiring` wrote it.
  const value = JSON.parse(stored) as number | string | boolean;
  return {
    value,
    ...(row.kind === "watch" && { text: shownText(valueText(value, row.rule, phrasesFor(row)), TEXT_MAX) }),
  };
}

/** Since when the condition of a firing watch is so, epoch ms. */
function firingSince(row: WatchRow): number | undefined {
  const { of } = row.rule.source;
  if (of === "presence" || of === "bridge") return row.state.open?.since;
  const { untold, told } = row.record;
  const firing = untold?.last ?? told?.firing;
  return firing?.since ?? firing?.at;
}

/** Of a rule that another place evaluates, as far as its changes tell: a hold that has begun is not known here. */
export function watchPhase(row: WatchRow): Phase {
  const { of } = row.rule.source;
  if (of === "presence" || of === "bridge") return phaseOf(row.state);
  const { unknown, told, untold, occurrence } = row.record;
  if (unknown) return "unknown";
  const firing = untold?.last ?? told?.firing;
  const goesOn = firing?.occurrence === occurrence && firing.over === undefined && !isMomentary(row.rule);
  return goesOn ? "firing" : "idle";
}

/** Why nothing is told now; undefined: nothing is held back. */
function silentText(home: HomeContext, row: WatchRow): string | undefined {
  const { status, record, rule } = row;
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const phrases = phrasesFor(row);
  const until = (at: number) => ({ time: timeText(at, zone, now, phrases) });
  if (status !== "active") return phrases.say(status === "paused" ? "isPaused" : "hasStopped");
  if (rule.source.of !== "bridge" && !bridgeOf(home).isConnected(now))
    return phrases.say("bridgeNotConnected");
  if (rule.source.of === "hosted" && !bridgeOf(home).has(RULES_FEATURE, now))
    return phrases.say("bridgeHasNoRules");
  const agent = rule.source.of === "agent" ? agentOf(home, rule.source) : undefined;
  if (agent !== undefined && !servedAgentsOf(home).isOnline(agent, now))
    return phrases.say("agentIsOffline", { agent });
  if (rule.only_between && !isInside(rule.only_between, now))
    return phrases.say("watchedBetween", { hours: windowText(rule.only_between) });
  if (record.unknown) {
    const { since } = record.unknown;
    return since === undefined
      ? phrases.say("deviceHasNoValue")
      : phrases.say("hasNoValueSince", until(since));
  }
  if (record.snoozed_until !== undefined && record.snoozed_until > now)
    return phrases.say("isSnoozedUntil", until(record.snoozed_until));
  if (record.muted && record.muted.until > now) return phrases.say("isMutedUntil", until(record.muted.until));
  if (record.told?.acked && !record.told.firing.over)
    return phrases.say("isAnswered", { person: record.told.acked.by });
  return record.untold && heldText(home, row, record.untold.count, now);
}

/** Why firings that nobody was told of yet wait. */
function heldText(home: HomeContext, row: WatchRow, count: number, now: number): string {
  const { rule, said, due } = row;
  const { zone, quiet } = clockOf(home).read();
  const phrases = phrasesFor(row);
  const held = phrases.say("firingsHeld", { count });
  const time = (at: number) => timeText(at, zone, now, phrases);
  if (quiet && rule.severity !== "critical" && isInside(quiet, now))
    return phrases.say("waitsForQuietEnd", { time: time(nextEdge(quiet, now)), held });
  const isNoisy = rule.severity !== "critical" && (said.noisy_at ?? 0) > now - HOUR_MS;
  const isFull = capEnd(rulesOf(home).sent().messages, rule.severity, now) !== undefined;
  const why = phrases.say(isNoisy ? "deviceIsNoisy" : isFull ? "homeIsFull" : "toldJustNow");
  return due !== null && due > now
    ? phrases.say("whyHeldUntil", { why, held, time: time(due) })
    : phrases.say("whyHeld", { why, held });
}
