/** The tools of rules, for a model and for the commands of a chat. */

import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { conditionText } from "@edgecall/core/rules/condition-text.ts";
import { reminderConfirmation, watchConfirmation } from "@edgecall/core/rules/confirmation-text.ts";
import { newRecord } from "@edgecall/core/rules/delivery.ts";
import { initialState } from "@edgecall/core/rules/evaluate.ts";
import { scheduleOf } from "@edgecall/core/rules/make-schedule.ts";
import { makeWatch, type ReadingOption } from "@edgecall/core/rules/make-watch.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { scheduleText } from "@edgecall/core/rules/reminder-text.ts";
import { findRule, newRuleId } from "@edgecall/core/rules/rule-names.ts";
import { nextTime } from "@edgecall/core/rules/schedule.ts";
import { timeText } from "@edgecall/core/rules/time-text.ts";
import {
  type AckInput,
  checkRules,
  type RemindInput,
  RULE_TOOLS,
  type RulesInput,
  type WatchInput,
} from "@edgecall/core/rules/tools.ts";
import { PRESENCE, type WatchRule } from "@edgecall/core/rules/watch-rule.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { invalid, refused, type ToolAnswer, type ToolReply } from "../../../kernel/api/tool-answer.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { listedElsewhere } from "../../../kernel/home/feature.ts";
import { recipientText } from "../../../kernel/home/notices/reach.ts";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { isRuleTool } from "../model-tools.ts";
import { onPresence } from "./alarm-part.ts";
import { askFirst } from "./ask-first.ts";
import { mayChange, nameOf } from "./may-change.ts";
import { whyNotResumed } from "./orphaned.ts";
import { acknowledgeRule, snoozeRule } from "./press.ts";
import { findRecipient, secondOf } from "./recipients.ts";
import { phrasesFor, readLanguages } from "./rule-languages.ts";
import type { Maker, RuleRow, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { sameWatch } from "./same-watch.ts";
import { kindOf } from "./spoken.ts";
import { watchPhase, withStatus } from "./views.ts";
import { agentOf, canChange, placeOf, readingsOf, watchedDevice } from "./watched.ts";

const RULES_MAX = 100;
const RULES_A_PERSON = 20;
const HISTORY_MAX = 20;

type Reply = ToolReply;

/** @returns undefined: it is no tool of rules */
export function runRuleTool(home: HomeContext, request: HomeToolRequest): Promise<Reply> | undefined {
  return isRuleTool(request.name) ? run(home, request) : undefined;
}

async function run(home: HomeContext, request: HomeToolRequest): Promise<Reply> {
  const { name } = request;
  const makes = name === "watch" || name === "remind";
  // What was made goes on where the model has no tools for it any more.
  if (!isRuleTool(name) || (makes && !readSettings(home.env).tools.rules))
    return refused("not_found", errorText.unknownTool(name, [EDGE_CALL]));
  if (request.viewer.role === "guest") return refused("permission_denied", "Guests make no rules.");
  await readLanguages(home, request.language);
  const checked = checkArguments(RULE_TOOLS[name], request);
  if (!checked.ok) return checked.outcome;
  // SAFETY: they were parsed with the schema of this tool.
  switch (name) {
    case "watch":
      return await watch(home, request, checked.input as WatchInput);
    case "remind":
      return await remind(home, request, checked.input as RemindInput);
    case "rules":
      return await rules(home, request, checked.input as RulesInput);
    case "ack":
      return await ack(home, request, checked.input as AckInput);
  }
}

async function watch(home: HomeContext, request: HomeToolRequest, input: WatchInput): Promise<Reply> {
  const refusal = withoutMaking(home, request);
  if (refusal) return refusal;
  const maker = makerOf(request);
  const device = watchedDevice(home, input.agent_id);
  const reach = request.origin.limits?.agents;
  if (!device || (reach && !reach.includes(input.agent_id)))
    return invalid(`agent_id: there is no agent '${plainText(input.agent_id, 64)}'`);
  if (input.severity === "critical" && request.viewer.role !== "owner")
    return invalid("severity: only an owner may make a critical watch");
  const { zone } = clockOf(home).read();
  const needsReadings = input.reading !== PRESENCE && device.source.of !== "bridge";
  const read = needsReadings && (await readingsOf(home, input.agent_id, input.reading));
  if (read && !read.ok) return invalid(read.error);
  const readings = read ? read.value : [];
  const rule = makeWatch(input, { id: freeId(home, "w"), device: { ...device, readings }, zone });
  if (!rule.ok) return invalid(rule.error);
  const to = await findRecipient(home, maker, input.to);
  if (!to.ok) return invalid(to.error);
  const then = await secondOf(home, maker, input.then_to, input.then_minutes);
  if (!then.ok) return invalid(then.error);
  const wanted = { ...rule.value, ...(then.value && { then_to: then.value }) };
  const asWanted = () => sameWatch(rulesOf(home).all(), { rule: wanted, maker, to: to.value });
  const before = asWanted();
  if (before) return haveAlready(home, before, request);
  const asked = await askFirst(home, request, othersText([to.value, then.value?.to ?? null]));
  if (asked) return asked;
  const meanwhile = withoutMaking(home, request);
  if (meanwhile) return meanwhile;
  const other = asWanted();
  if (other) return haveAlready(home, other, request);
  const now = Date.now();
  // Another call may have taken the first one meanwhile.
  const id = freeId(home, "w");
  const row: WatchRow = {
    kind: "watch",
    id,
    rule: { ...wanted, id, ...languageOf(request) },
    maker,
    to: to.value,
    said: { to: [], at: [] },
    status: "active",
    why: null,
    record: newRecord(),
    state: initialState(now),
    due: null,
    madeAt: now,
  };
  rulesOf(home).put(row);
  rulesOf(home).beingMade.add(id);
  const answer = made(
    home,
    row,
    readings.find(({ name, field }) => name === rule.value.reading && field === rule.value.field),
  );
  await onPresence(home).finally(() => rulesOf(home).beingMade.delete(id));
  const placed = rulesOf(home).get(id);
  if (placed?.status !== "orphaned") return answer;
  // Its agent has just refused it.
  rulesOf(home).remove(id);
  return invalid(`reading: ${device.name} cannot watch that: ${placed.why}`);
}

/** No second one is made, which would tell everything twice. */
function haveAlready(home: HomeContext, row: WatchRow, { language }: HomeToolRequest): ToolAnswer {
  const phrases = phrasesOf(language);
  const text = phrases.say("haveAlready", { watch: rowText(home, row, phrases) });
  return { ...answer(`${row.id}: ${text}`, "The person sees this text."), shown: { text } };
}

/** Who is told beside the maker, for the question whether that may be. */
function othersText(recipients: ReadonlyArray<string | null>): string {
  return recipients.flatMap((to) => (to === null ? [] : [recipientText(to)])).join(" and ");
}

function freeId(home: HomeContext, kind: "w" | "r"): string {
  return newRuleId(kind, (taken) => rulesOf(home).get(taken) !== undefined);
}

async function remind(home: HomeContext, request: HomeToolRequest, input: RemindInput): Promise<Reply> {
  const before = withoutMaking(home, request);
  if (before) return before;
  const maker = makerOf(request);
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const schedule = scheduleOf(input, zone, now);
  if (!schedule.ok) return invalid(schedule.error);
  if (input.text.trim() === "") return invalid("text: expected what the person is to be told");
  const to = await findRecipient(home, maker, input.to);
  if (!to.ok) return invalid(to.error);
  if (input.do === "brief" && (to.value !== null || maker.conversation === null))
    return invalid("do: a briefing is written in a conversation, for whoever asked there; use do: say");
  const asked = await askFirst(home, request, othersText([to.value]));
  if (asked) return asked;
  const meanwhile = withoutMaking(home, request);
  if (meanwhile) return meanwhile;
  const id = freeId(home, "r");
  const row: RuleRow = {
    kind: "remind",
    id,
    rule: {
      id,
      version: 1,
      text: input.text.trim(),
      schedule: schedule.value,
      do: input.do ?? "say",
      ...languageOf(request),
    },
    maker,
    to: to.value,
    said: { to: [], at: [] },
    status: "active",
    why: null,
    due: nextTime(zone, schedule.value, now) ?? now,
    handled: now,
    madeAt: now,
  };
  rulesOf(home).put(row);
  await home.alarm.arm();
  return made(home, row);
}

/** The answer where no rule is to be made: this call made one before, also while it ran a second time, or there is no room. */
function withoutMaking(home: HomeContext, { id, origin }: HomeToolRequest): ToolAnswer | undefined {
  const known = rulesOf(home)
    .all()
    .find(({ maker }) => maker.call === id);
  if (known) return made(home, known);
  const full = roomFor(home, origin);
  return full === undefined ? undefined : invalid(full);
}

/** A gateway of before knows no language, and reads the rule all the same. */
function languageOf({ language = "en" }: HomeToolRequest): Pick<WatchRule, "language"> {
  return language === "en" ? {} : { language };
}

function makerOf({ id, origin, from, sources }: HomeToolRequest): Maker {
  const { principal, role, channel, limits, reply } = origin;
  return {
    principal,
    role,
    channel,
    conversation: from.conversation,
    call: id,
    tainted: sources.includes(STRANGER),
    ...(limits && { limits }),
    // SAFETY: only chats set it, from an Address.
    ...(reply && { reply: reply as Maker["reply"] & object }),
  };
}

function roomFor(home: HomeContext, { principal }: Pick<Maker, "principal">): string | undefined {
  const all = rulesOf(home).all();
  if (all.length >= RULES_MAX) return `this home has ${RULES_MAX} rules; cancel some first`;
  const own = all.filter(({ maker }) => maker.principal === principal);
  return own.length >= RULES_A_PERSON
    ? `this person has ${RULES_A_PERSON} rules; cancel some first`
    : undefined;
}

function made(home: HomeContext, row: RuleRow, reading?: ReadingOption): ToolAnswer {
  const shown = confirmation(home, row, reading);
  const advice = row.maker.conversation === null ? "Tell the person this." : "The person sees this text.";
  return { ...answer(`${row.id}: ${shown}`, advice), shown: { text: shown, undo: row.id } };
}

function confirmation(home: HomeContext, row: RuleRow, reading: ReadingOption | undefined): string {
  const now = Date.now();
  const { zone, quiet } = clockOf(home).read();
  const phrases = phrasesFor(row);
  const to = recipientText(row.to, row.maker.conversation !== null, phrases);
  if (row.kind === "remind") return reminderConfirmation(row.rule, zone, to, now, phrases);
  const place = placeOf(home, row.rule, phrases);
  const then = row.rule.then_to && recipientText(row.rule.then_to.to, true, phrases);
  const facts = {
    ...{ place, to, then, now: reading?.now ?? present(home, row, now), quiet },
    changes: canChange(home, row.rule, now),
  };
  return watchConfirmation(row.rule, { ...facts, checked: checkedEvery(row.rule, reading) }, now, phrases);
}

function checkedEvery({ check_s }: WatchRule, reading: ReadingOption | undefined): number | undefined {
  return check_s === undefined ? reading?.every_ms : check_s * 1_000;
}

function present(
  home: HomeContext,
  { rule }: WatchRow,
  at: number,
): { value: boolean; at: number } | undefined {
  if (rule.reading !== PRESENCE) return undefined;
  if (rule.source.of === "bridge") return { value: bridgeOf(home).isConnected(at), at };
  const id = agentOf(home, rule.source);
  return id === undefined ? undefined : { value: servedAgentsOf(home).isOnline(id, at), at };
}

/** @param advice for the model alone */
function answer(text: string, advice?: string): ToolAnswer {
  return { status: "success", text, ...(advice !== undefined && { advice }), sources: [] };
}

async function rules(home: HomeContext, request: HomeToolRequest, input: RulesInput): Promise<Reply> {
  const checked = checkRules(input);
  if (!checked.ok) return invalid(checked.error);
  const phrases = phrasesOf(request.language);
  const mine = rulesOf(home)
    .all()
    .filter((row) => mayChange(row, request));
  if (input.do === "list") {
    const listed = mine.filter((row) => isListed(row, input.of));
    // Others than watches and reminders: those that act.
    const others = input.of === undefined ? await listedElsewhere(home, request) : [];
    if (listed.length === 0 && others.length > 0) return answer(others.join("\n"));
    const own =
      listed.length === 0 && mine.length > 0 ? phrases.say("noSuchRule") : listText(home, listed, phrases);
    return answer([own, ...others].join("\n"));
  }
  const named = mine.map((row) => ({ id: row.id, name: nameOf(row), row }));
  const found = findRule(named, input);
  if (!found.ok) return invalid(found.error);
  const { row } = found.value;
  if (input.do === "history") return answer(historyText(home, row, phrases));
  const why = input.do === "resume" ? whyNotResumed(home, row) : undefined;
  if (why !== undefined) return invalid(`do: ${row.id} cannot be resumed: ${why}`);
  const asked = await askFirst(home, request);
  if (asked) return asked;
  return answer(await changeRule(home, row, input.do, phrases));
}

const CHANGED = { cancel: "ruleCancelled", pause: "rulePaused", resume: "ruleResumed" } as const;

/** @returns what was done, in words */
async function changeRule(
  home: HomeContext,
  row: RuleRow,
  what: "pause" | "resume" | "cancel",
  phrases: Phrases,
): Promise<string> {
  const name = `${row.id} (${plainText(nameOf(row), 60)})`;
  if (what === "cancel") rulesOf(home).remove(row.id);
  else rulesOf(home).put(withStatus(home, row, what === "pause" ? "paused" : "active"));
  await onPresence(home);
  return phrases.say(CHANGED[what], { name });
}

/** Whoever was told here may answer too. */
function isNotifiedIn({ maker, said }: RuleRow, here: readonly string[]): boolean {
  return here.some((one) => maker.conversation === one || said.to.includes(one));
}

/** A briefing comes at its time, as a reminder does. */
function isListed(row: RuleRow, of: RulesInput["of"]): boolean {
  const kind = kindOf(row);
  return of === undefined || kind === of || (of === "reminder" && kind === "briefing");
}

function listText(home: HomeContext, rows: readonly RuleRow[], phrases: Phrases): string {
  if (rows.length === 0) return phrases.say("noRules");
  return rows.map((row) => `${row.id}: ${rowText(home, row, phrases)}`).join("\n");
}

const PHASES = {
  idle: "phaseIdle",
  pending: "phasePending",
  firing: "phaseFiring",
  clearing: "phaseClearing",
  unknown: "phaseUnknown",
} as const;

function rowText(home: HomeContext, row: RuleRow, phrases: Phrases): string {
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const name = plainText(nameOf(row), 60);
  const isActive = row.status === "active";
  const state = isActive
    ? ""
    : ` (${phrases.say(row.status === "paused" ? "statePaused" : "stateOrphaned")})`;
  const why = row.why === null ? "" : phrases.say("sentence", { text: row.why });
  if (row.kind === "remind") {
    const when = scheduleText(row.rule.schedule, zone, row.due ?? undefined, phrases);
    const next =
      row.due === null ? "" : phrases.say("nextTimes", { times: timeText(row.due, zone, now, phrases) });
    return phrases.sentences(phrases.say("listedReminder", { name, when, state }), next, why);
  }
  const place = plainText(placeOf(home, row.rule, phrases), 120);
  const condition = conditionText(row.rule, phrases);
  const phase = isActive ? phrases.say("now", { value: phrases.say(PHASES[watchPhase(row)]) }) : "";
  return phrases.sentences(phrases.say("listedWatch", { name, place, condition, state }), phase, why);
}

function historyText(home: HomeContext, row: RuleRow, phrases: Phrases): string {
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const time = (at: number) => timeText(at, zone, now, phrases);
  const lines = rulesOf(home)
    .firings(row.id, HISTORY_MAX)
    .map(({ at, until, acked_by: person }) => {
      const times = until === null ? time(at) : phrases.say("fromTo", { from: time(at), to: time(until) });
      return person === null ? times : phrases.say("andAnsweredBy", { times, person });
    });
  if (lines.length === 0) return phrases.say("neverFired", { id: row.id });
  return [phrases.say("newestFirst", { id: row.id }), ...lines].join("\n");
}

/** Without an id: all that are firing in this conversation. */
async function ack(
  home: HomeContext,
  request: HomeToolRequest,
  { id, snooze_minutes }: AckInput,
): Promise<Reply> {
  const { conversation, privateChat } = request.from;
  const phrases = phrasesOf(request.language);
  const here = [conversation ?? [], privateChat ?? []].flat();
  const all = rulesOf(home)
    .all()
    .filter(
      (row): row is WatchRow => row.kind === "watch" && (mayChange(row, request) || isNotifiedIn(row, here)),
    );
  const meant =
    id === undefined
      ? all.filter((row) => isNotifiedIn(row, here) && isOpen(row.record))
      : all.filter((row) => row.id === id);
  if (meant.length === 0)
    return answer(
      id === undefined ? phrases.say("nothingFires") : phrases.say("noSuchWatch", { id: plainText(id, 64) }),
    );
  const asked = await askFirst(home, request);
  if (asked) return asked;
  const by = { principal: request.viewer.name, here };
  const words = meant.map((row) =>
    snooze_minutes === undefined ? acknowledgeRule(home, row, by) : snoozeRule(home, row, snooze_minutes, by),
  );
  await home.alarm.arm();
  return answer(words.join("\n"));
}

function isOpen({ told, untold }: WatchRow["record"]): boolean {
  const firing = untold?.last ?? told?.firing;
  return (
    firing !== undefined && firing.over === undefined && (untold !== undefined || told?.acked === undefined)
  );
}
