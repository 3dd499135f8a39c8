/** Plans of changes: the steps that carry an action out, and the judgement of what is reported after them. */
import { REPORTED_MAX, type ReportedValue } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Mark, Plan, PlanError } from "./device.ts";
import { plainValue } from "./device-view.ts";
import type { Command, Entity, Expectation, Run, SlotValue, Value, Values } from "./entity/entity.ts";
import { harmless } from "./names.ts";
import { wrongParameter } from "./parameters.ts";
import type { Part, Sending } from "./source.ts";

/** What takes its own time. An alarm counts down before it is armed. */
const WAITS = { cover: 60_000, alarm: 90_000, vacuum: 120_000, update: 600_000 };

/** Of a group that did not do what was asked. */
const MEMBERS_TOLD = 5;

export type PlanContext = {
  /** The device's name. */
  deviceName: string;
  command: Command;
  part: Part;
};

export function planOf(
  context: PlanContext,
  parameters: Readonly<Record<string, unknown>>,
  now: number,
): Omit<Plan, "readings" | "targets"> | PlanError {
  const prepared = prepare(context, parameters, now);
  if ("error" in prepared) return prepared;
  const { command } = context;
  const { partNow, subject, before, run, sending, expects, unreported, isJudged, waitMs } = prepared;
  const { entity } = prepared.part;
  // On its way to a value a device may report others.
  const isLasting = isJudged && command.lasting === true && (run.extraMs ?? 0) === 0;
  const failure = (since: Mark): string | undefined => {
    const found = sending.failure();
    return found && found.message > since.message ? found.text : undefined;
  };
  const confirm = (since: Mark) => {
    const current = partNow();
    if (!current) return undefined;
    const { members = [] } = current;
    if (members.length > 0)
      return members.every((member) => hasDone(member, expects, since, now))
        ? { text: allText(subject, expects, members, since, now) }
        : undefined;
    const fresh = freshValues(current, since, now);
    const bringing = expects.map(({ slots }) => slots.map(fresh).find((value) => value !== undefined));
    if (!expects.every(({ met }, at) => bringing[at] !== undefined && met(fresh, before))) return undefined;
    return { text: confirmedText(subject, current.entity, expects, fresh, before, since) };
  };
  const reportsFailure = (since: Mark) => {
    const current = partNow();
    if (!current || !isJudged) return false;
    const fresh = freshValues(current, since, now);
    return expects.some(({ fails }) => fails?.(fresh) === true);
  };
  const unconfirmed = (since: Mark) => {
    const isEnded = failure(since) !== undefined || reportsFailure(since);
    const words = isJudged
      ? silentText(subject, expects, isEnded ? undefined : waitMs, { part: partNow(), before, since, now })
      : `Sent to ${subject}. ${unreportedText(expects, unreported)}`;
    const why = failure(since);
    return why === undefined ? words : `${words} ${why}`;
  };
  return {
    steps: sending.steps,
    ...(isJudged && sending.asks.length > 0 && { ask: sending.asks }),
    waitMs,
    settleMs: sending.settlesWithinMs ?? 0,
    confirm: isJudged ? confirm : null,
    failure,
    reportsFailure,
    unconfirmed,
    takenBack: (since) => {
      const current = isLasting ? partNow() : undefined;
      return current && takenBackText(subject, expects, { part: current, before, since, now });
    },
    reported: (since) => {
      const current = partNow();
      return current ? reportedValues(current.entity, expects, freshValues(current, since, now)) : [];
    },
    changesOthers: command.changesOthers === true,
    retainedCommand: entity.retain,
  };
}

/**
 * A command as it would be sent, and what would confirm it.
 * @property before all values before it @property unreported what was asked for and nothing reports, as words
 */
type Prepared = {
  part: Part;
  partNow: () => Part | undefined;
  subject: string;
  before: Values;
  run: Run;
  sending: Sending;
  expects: Expectation[];
  unreported: string[];
  isJudged: boolean;
  waitMs: number;
};

/** @param isForeseen nothing is sent now: also of a device that is offline */
export function prepare(
  { command, deviceName, part: planned }: PlanContext,
  parameters: Readonly<Record<string, unknown>>,
  now: number,
  isForeseen = false,
): Prepared | PlanError {
  const { source } = planned;
  // Its source may replace it meanwhile.
  const partNow = () => source.partLike(planned);
  const part = partNow();
  if (!part) return { error: `${deviceName} is not there any more` };
  const { entity } = part;
  const quotes = entity.taintsErrors ? { tainted: true as const } : {};
  const wrong = wrongParameter(command, parameters);
  if (wrong !== undefined) return { error: wrong, ...quotes };
  const named = entity.name === undefined ? deviceName : partName(entity.name, entity.kind);
  // An entity without a device gives its name to the one that it is.
  const subject = named === deviceName ? deviceName : `${deviceName}, ${named}`;
  const absence = isForeseen ? undefined : part.absence(now);
  if (absence !== undefined) return { error: `${subject} is offline: ${absence}`, offline: true };
  const before = snapshot(part, now);
  const run = command.run(parameters, before);
  if ("error" in run) return { ...run, ...quotes };
  const sending = source.sending(part, run.steps);
  if ("error" in sending) return { error: `the message for ${subject} ${sending.error}` };
  const isReported = ({ slots }: Expectation) => !slots.some((slot) => sending.isEchoed(slot));
  const expects = run.expects.filter(isReported);
  const unreported = [
    ...run.unreported,
    ...run.expects.filter((one) => !isReported(one)).map(({ words }) => words),
  ];
  const isJudged = expects.length > 0 && unreported.length === 0;
  const waitMs =
    (command.wait === "value" ? sending.answersWithinMs : WAITS[command.wait]) + (run.extraMs ?? 0);
  return { part, partNow, subject, before, run, sending, expects, unreported, isJudged, waitMs };
}

/** The words about a command count as nobody's but ours, so a name that reads like more than a label is left out. */
function partName(name: string, kind: string): string {
  return isLabel(name) ? name : kind.replaceAll("_", " ");
}

/** All values as they are before the command. */
function snapshot(part: Part, now: number): Values {
  const values = new Map<string, Value | undefined>(
    part.entity.slots.map(({ name }) => [name, part.value(name, now)]),
  );
  return (slot) => values.get(slot);
}

/** Only what came after the mark, and was not kept from before. */
function freshValues(part: Part, since: Mark, now: number): Values {
  return (slot) => {
    const value = part.value(slot, now);
    return value && value.message > since.message && !value.retained ? value : undefined;
  };
}

function expectationText(entity: Entity, { slots, words }: Expectation, values: Values): string | undefined {
  const slot = slots.find((one) => values(one) !== undefined);
  const value = slot === undefined ? undefined : values(slot);
  if (!value) return undefined;
  const spec = entity.readings.find((one) => one.slot === slot);
  if (!spec) return words;
  return harmless(`${spec.label === undefined ? "" : `${spec.label} `}${spec.words(value.value)}`, 100);
}

/** The words of a value that nobody asked for. @param strange in place of one that anybody may have written */
function otherWordsOf(
  entity: Entity,
  expect: Expectation,
  values: Values,
  strange: string | undefined,
): string | undefined {
  const slot = expect.slots.find((one) => values(one) !== undefined);
  const value = reportedIn(expect, values);
  // A light in white had no colour.
  if (value === null && entity.readings.some((one) => one.slot === slot && one.isThere)) return undefined;
  const isFree = entity.readings.some((one) => one.slot === slot && one.free);
  if (typeof value === "string" && value !== "" && (isFree || !isLabel(value))) return strange;
  return expectationText(entity, expect, values);
}

function reportedIn({ slots }: Expectation, values: Values): SlotValue | undefined {
  return slots.map(values).find((value) => value !== undefined)?.value;
}

/** One of each expectation, without free text, and without a value that there is not now. */
function reportedValues(entity: Entity, expects: readonly Expectation[], fresh: Values): ReportedValue[] {
  const found = expects.flatMap((expect): ReportedValue[] => {
    const slot = expect.slots.find((one) => fresh(one) !== undefined);
    const spec = entity.readings.find((one) => one.slot === slot);
    const value = plainValue(reportedIn(expect, fresh) ?? null);
    const isText = typeof value === "string";
    if (!spec || spec.secret || value === null || (isText && (spec.free || !isLabel(value)))) return [];
    const { label, unit } = spec;
    const what = { ...(label !== undefined && { label }), ...(unit !== undefined && { unit }) };
    return [
      { ...what, value, kind: entity.kind, ...(entity.class !== undefined && { class: entity.class }) },
    ];
  });
  return found.slice(0, REPORTED_MAX);
}

/** 21.0 is 21. */
function isSame(a: SlotValue | undefined, b: SlotValue | undefined): boolean {
  return a instanceof Quantity && b instanceof Quantity ? a.value === b.value : a === b;
}

function confirmedText(
  subject: string,
  entity: Entity,
  expects: readonly Expectation[],
  fresh: Values,
  before: Values,
  since: Mark,
): string {
  const reported = expects.map((expect) => expectationText(entity, expect, fresh) ?? expect.words);
  const [only] = expects;
  const isOther = expects.length === 1 && only && !isSame(reportedIn(only, before), reportedIn(only, fresh));
  const former = isOther ? otherWordsOf(entity, only, before, undefined) : undefined;
  const was = former === undefined || former === reported[0] ? "" : ` (it was: ${former})`;
  const times = expects.flatMap(({ slots }) => slots.map((slot) => fresh(slot)?.heard ?? since.at));
  const seconds = Math.max(0, Math.max(...times) - since.at) / 1_000;
  return `${subject}: ${reported.join(", ")}${was}, reported ${seconds.toFixed(1)} s after the command.`;
}

/** The part that is judged. @property part as it is now; undefined: it is gone @property before the values before the command */
type Judged = { part: Part | undefined; before: Values; since: Mark; now: number };

/** @param waitMs how long it was waited for; undefined: it ended before */
function silentText(
  subject: string,
  expects: readonly Expectation[],
  waitMs: number | undefined,
  judged: Judged,
): string {
  const { part, since, now } = judged;
  const within = waitMs === undefined ? "" : ` within ${Math.round(waitMs / 1_000)} s`;
  const asked = expects.map(({ words }) => words).join(", ");
  const group = groupText(subject, expects, judged);
  if (group !== undefined) return group;
  const fresh = part && freshValues(part, since, now);
  const answers = fresh
    ? expects.map((expect) => otherWordsOf(part.entity, expect, fresh, "something else"))
    : [];
  const told = answers.filter((one) => one !== undefined);
  if (told.length === 0) return `Sent to ${subject}; it did not answer${within}.`;
  const [said, lead] = [`it did not report ${asked}. It reports: ${told.join(", ")}.`, within.trim()];
  return `Sent to ${subject}; ${lead === "" ? "" : `${lead} `}${said}`;
}

/** Of a group each member is told that did not do it. @returns undefined: it is none */
function groupText(
  subject: string,
  expects: readonly Expectation[],
  { part, since, now }: Judged,
): string | undefined {
  const members = part?.members ?? [];
  if (members.length === 0) return undefined;
  const others = members.filter((member) => !hasDone(member, expects, since, now));
  const texts = others.slice(0, MEMBERS_TOLD).map((member) => memberText(member, expects, since, now));
  const more = others.length > MEMBERS_TOLD ? [`${others.length - MEMBERS_TOLD} more`] : [];
  const done = members.length - others.length;
  return `Sent to ${subject}; ${done} of its ${members.length} members did it. Not: ${[...texts, ...more].join(", ")}.`;
}

/** Tells whether a member of a group did it. */
function hasDone(part: Part | undefined, expects: readonly Expectation[], since: Mark, now: number): boolean {
  if (!part || part.absence(now) !== undefined) return false;
  const fresh = freshValues(part, since, now);
  const isFresh = ({ slots }: Expectation) => slots.some((slot) => fresh(slot) !== undefined);
  return expects.every((expect) => isFresh(expect) && expect.met(fresh, unknownBefore));
}

function allText(
  subject: string,
  expects: readonly Expectation[],
  members: readonly (Part | undefined)[],
  since: Mark,
  now: number,
): string {
  const slots = expects.flatMap((expect) => expect.slots);
  const heard = members.flatMap((member) => slots.map((slot) => member?.value(slot, now)?.heard ?? since.at));
  const seconds = Math.max(0, Math.max(...heard) - since.at) / 1_000;
  const asked = expects.map(({ words }) => words).join(", ");
  return `${subject}: ${asked}, reported by all ${members.length} members, the last ${seconds.toFixed(1)} s after the command.`;
}

function memberText(
  part: Part | undefined,
  expects: readonly Expectation[],
  since: Mark,
  now: number,
): string {
  if (!part) return "one that is not known";
  const { entity } = part;
  const name = memberName(part);
  if (part.absence(now) !== undefined) return `${name} (offline)`;
  // A lamp without brightness may be in a group of lamps that have one.
  const mute = expects.find(({ slots }) => !entity.slots.some((slot) => slots.includes(slot.name)));
  if (mute) return `${name} (does not report ${mute.words})`;
  const fresh = freshValues(part, since, now);
  const told = expects.flatMap((expect) => otherWordsOf(entity, expect, fresh, "something else") ?? []);
  return `${name} (${told.length > 0 ? told.join(", ") : "did not answer"})`;
}

function memberName({ entity, device }: Part): string {
  return partName(entity.name ?? device.name ?? entity.title, entity.kind);
}

/** Of a group each member counts. @returns undefined: what came last is as it was asked for, or says nothing */
function takenBackText(
  subject: string,
  expects: readonly Expectation[],
  judged: Judged & { part: Part },
): string | undefined {
  const { members = [] } = judged.part;
  if (members.length === 0) return otherText(subject, expects, judged);
  const others = members.flatMap(
    (part) =>
      (part && otherText(memberName(part), expects, { ...judged, part, before: unknownBefore })) ?? [],
  );
  return others.length > 0 ? `${subject}: ${others.slice(0, MEMBERS_TOLD).join(" ")}` : undefined;
}

const unknownBefore: Values = () => undefined;

function otherText(
  subject: string,
  expects: readonly Expectation[],
  { part, before, since, now }: Judged & { part: Part },
): string | undefined {
  const fresh = freshValues(part, since, now);
  const isOther = ({ slots, met }: Expectation) =>
    slots.some((slot) => fresh(slot) !== undefined) && !met(fresh, before);
  const others = expects.filter(isOther);
  const told = others.map((one) => otherWordsOf(part.entity, one, fresh, "something else"));
  const shown = told.filter((one) => one !== undefined);
  if (shown.length === 0) return undefined;
  const asked = others.map(({ words }) => words).join(", ");
  return `${subject} reported ${asked}, and took it back. It reports: ${shown.join(", ")}.`;
}

function unreportedText(expects: readonly Expectation[], unreported: readonly string[]): string {
  if (expects.length === 0) return "It does not report back, so nobody can say whether it worked.";
  return `It does not report this, so nobody can say whether it worked: ${unreported.join(", ")}.`;
}
