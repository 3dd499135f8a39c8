/** Makes calls of the tools of rules: watches, reminders, briefings, lists and ends of them. */

import type { ReadingWord } from "@edgecall/core/phrases/languages/phrase-data.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { REMINDER_TEXT_MAX } from "@edgecall/core/rules/reminder.ts";
import type { Acknowledge, Briefing, Frame, Remind, Watch, When } from "@edgecall/core/sentences/frame.ts";
import { HOUR_MS, localTime } from "@edgecall/core/time/zone.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import { type AskContext, hasNone } from "./asks.ts";
import { machineWatch, unwatchable } from "./machines.ts";
import { readingsOf, stateIn, wantedValue } from "./readings.ts";
import { reportedNear } from "./reported-near.ts";
import { type RuleEndContext, ruleEnds } from "./rule-ends.ts";
import { byState, findTarget, type Problem } from "./targets.ts";
import type { Thing } from "./things.ts";

export type RuleContext = AskContext &
  RuleEndContext & {
    /** The home's. */
    zone: string;
    /** The person's words, by which a watch is called. */
    text: string;
  };

export type RuleCalls = { calls: PlannedCall[]; things: Thing[] } | { answer: string } | { problem: Problem };

const NAME_MAX = 60;
/** Watches that one sentence starts. */
const WATCHED_MAX = 5;
const DAYS = ["su", "mo", "tu", "we", "th", "fr", "sa"] as const;
const DAY_MS = 24 * HOUR_MS;

/** @returns undefined: the frame is about something else */
export async function ruleCalls(frame: Frame, context: RuleContext): Promise<RuleCalls | undefined> {
  switch (frame.kind) {
    case "watch":
      return await watchCalls(frame, context);
    case "remind":
    case "briefing":
      return remindCalls(frame, context);
    case "rules": {
      const ends = ruleEnds(frame, context);
      return "calls" in ends ? { ...ends, things: [] } : ends;
    }
    case "ack":
      return ackCalls(frame);
    default:
      return undefined;
  }
}

async function watchCalls(watch: Watch, context: RuleContext): Promise<RuleCalls> {
  const { condition, for_minutes } = watch;
  const target = byState(watch.target, condition);
  const { phrases, text } = context;
  const problem = unwatchable(watch, context);
  if (problem) return { problem };
  const isPresence = "state" in condition && (condition.state === "online" || condition.state === "offline");
  const watched = context.things.filter(
    (thing) => isPresence || thing.hosted || machineWatch(condition, thing) || isNamed(target, thing),
  );
  const wide = findTarget(target, { ...context, things: watched }, () => true, true);
  if ("problem" in wide) return wide;
  const ids = wide.things.flatMap(({ id, hosted }) => (hosted && !isPresence ? id : []));
  const states = ids.length === 0 ? new Map() : await context.states(ids);
  if (!states) return { problem: { text: phrases.say("bridgeNotConnected") } };
  const readingsIn = (thing: Thing): readonly Reading[] => states.get(thing.id)?.readings ?? [];
  const fieldsOf = (thing: Thing) =>
    isPresence
      ? presence(condition.state)
      : thing.hosted
        ? fields(condition, readingsIn(thing))
        : machineWatch(condition, thing);
  const found = findTarget(
    target,
    { ...context, things: wide.things },
    (thing) => fieldsOf(thing) !== undefined,
    isMany(target),
  );
  if ("problem" in found) return found;
  const able = found.things.filter((thing) => fieldsOf(thing) !== undefined);
  const [first] = found.things;
  if (able.length > WATCHED_MAX)
    return { problem: { text: phrases.say("tooMany", { count: able.length, max: String(WATCHED_MAX) }) } };
  if (able.length === 0 && first && "state" in condition && !isPresence)
    return { problem: await reportedNear(first, condition, context) };
  if (able.length === 0)
    return {
      problem: first
        ? hasNone(readingOf(condition), { thing: first, readings: readingsIn(first) }, phrases)
        : { text: phrases.say("whichDevice"), asks: true },
    };
  const name = text.replace(/[.!。！\s]+$/u, "").slice(0, NAME_MAX);
  const calls = able.map((thing) => ({
    name: "watch",
    args: {
      name:
        able.length === 1
          ? name
          : `${name.slice(0, NAME_MAX - thing.name.length - 3)} (${thing.name})`.slice(-NAME_MAX),
      agent_id: thing.id,
      ...fieldsOf(thing),
      ...(for_minutes !== undefined && { for_minutes }),
    },
  }));
  return { calls, things: able };
}

function readingOf(condition: Watch["condition"]): ReadingWord {
  if ("changes" in condition) return condition.changes;
  return "state" in condition ? "state" : (condition.reading ?? "state");
}

function isNamed(target: Watch["target"], { id }: Thing): boolean {
  return target.of === "named" && target.ids.includes(id);
}

function isMany(target: Watch["target"]): boolean {
  return target.of === "type" && target.number !== "one";
}

function presence(is: string): Record<string, unknown> {
  return { reading: "presence", is };
}

/** The fields of a watch by a device's own reading. @returns undefined: it has none that could say it */
function fields(
  condition: Watch["condition"],
  readings: readonly Reading[],
): Record<string, unknown> | undefined {
  if ("changes" in condition) {
    const [reading] = readingsOf(readings, condition.changes);
    return reading && { reading: reading.name, is: "changes" };
  }
  if ("state" in condition) {
    for (const state of [condition.state, condition.or ?? condition.state]) {
      const by = stateIn(readings, state)?.by;
      const wanted = by && wantedValue(by, state);
      if (wanted) return { reading: by.name, ...wanted };
    }
    return undefined;
  }
  const { reading: asked, is, value } = condition;
  const numbers = readings.filter((one) => typeof one.value === "number" && one.class !== "battery");
  const [reading] = asked === undefined ? numbers : readingsOf(numbers, asked);
  return reading && { reading: reading.name, is, value: value.number };
}

function remindCalls(frame: Remind | Briefing, { zone, now, phrases }: RuleContext): RuleCalls {
  const when = timeOf(frame.when, zone, now);
  const text = frame.text.trim().slice(0, REMINDER_TEXT_MAX) || "⏰";
  if (!when) return { problem: { text: phrases.say("timeIsOver") } };
  const args = { text, ...when, ...(frame.kind === "briefing" && { do: "brief" }) };
  return { calls: [{ name: "remind", args }], things: [] };
}

/** The fields of a reminder by the home's clock. */
function timeOf(when: When, zone: string, now: number): Record<string, unknown> | undefined {
  if ("in_minutes" in when) return { in_minutes: when.in_minutes };
  if ("every" in when)
    return {
      every: when.every,
      ...(when.at !== undefined && { at: when.at }),
      ...("days" in when && { days: when.days }),
    };
  const { at, day } = when;
  for (let ahead = 0; ahead <= 8; ahead += 1) {
    const local = localTime(zone, now + ahead * DAY_MS);
    const date = new Date(Date.UTC(local.year, local.month - 1, local.day));
    const isDay =
      day === undefined ||
      (day === "today" && ahead === 0) ||
      (day === "tomorrow" && ahead === 1) ||
      day === DAYS[date.getUTCDay()];
    const minutes = local.hour * 60 + local.minute;
    const [hour = 0, minute = 0] = at.split(":").map(Number);
    const isAhead = ahead > 0 || hour * 60 + minute > minutes;
    if (isDay && isAhead) return { at_date: `${date.toISOString().slice(0, 10)} ${at}` };
  }
  return undefined;
}

function ackCalls({ snooze_minutes }: Acknowledge): RuleCalls {
  const snooze = snooze_minutes === undefined ? {} : { snooze_minutes: Math.max(1, snooze_minutes) };
  return { calls: [{ name: "ack", args: snooze }], things: [] };
}
