/**
 * When a watch's changes are told: at once, after a pause, again, or never. Pure: Home stores the record, hands in each change,
 * and calls again at the time that `deliveryDue` names. What a place of evaluation sends twice is recognised by its number.
 *
 * Each message stands for changes that no message before it stood for, or it is a repeat that the rule asks for.
 */
import type { KnownState, RuleChange } from "../protocol/rules.ts";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { isMomentary, type WatchRule } from "./watch-rule.ts";

/** A rule that fires as often as this within an hour is muted for an hour, or until it settles. */
const FLAPPING = 10;
const MUTED_MS = HOUR_MS;
/** The longest that a person may ask for (tools.ts). */
const SNOOZE_MAX_MS = 7 * 24 * HOUR_MS;
/** Without a change for so long, a muted rule has settled. */
const SETTLED_MS = 10 * MINUTE_MS;

/** How long after the first message the repeats of `until_ack` come: at last hourly, for a day. */
const REPEATS_MS = [
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  ...Array.from({ length: 24 }, (_, hour) => (hour + 1) * HOUR_MS),
];

type Value = RuleChange["value"];

export type Firing = {
  /** Names it: `occurrence` of its change. */
  occurrence: number;
  /** Of the rule by which it fired; absent in records of before. */
  version?: number;
  at: number;
  /** Since when the condition is true. */
  since?: number | undefined;
  value?: Value;
  unit?: string | undefined;
  /** Absent: it goes on. `until`: since when the condition is false. `window`: watching ended, not the condition. */
  over?: { at: number; until?: number | undefined; value?: Value; window?: true | undefined } | undefined;
};

/** What was told of a rule, as Home stores it. All times are epoch ms. */
export type DeliveryRecord = {
  /** Of the newest change that was handled, and the newest firing. */
  seq: number;
  occurrence: number;
  /** When the rule last changed. */
  changed_at?: number | undefined;
  /** The firings of the last hour that count for muting: FLAPPING at most. */
  fired: number[];
  /** The firing that was told last. */
  told?:
    | {
        firing: Firing;
        /** The first message about it, and the last. */
        at: number;
        last_at: number;
        acked?: { by: string; at: number } | undefined;
        escalated?: boolean | undefined;
        /** It was said that there is no value while it went on. */
        unwatched?: true | undefined;
        /** Its end was told, or needs no word. */
        ended: boolean;
      }
    | undefined;
  /** Firings that nobody was told of yet: how many, when the first was, and the last one. */
  untold?: { count: number; first_at: number; last: Firing } | undefined;
  muted?: { until: number; told: boolean } | undefined;
  snoozed_until?: number | undefined;
  /** There is no value; `since`: the time of the last one. `told_at` of the last time that this was said. */
  unknown?: { since?: number | undefined; told: boolean } | undefined;
  unknown_told_at?: number | undefined;
  /** There are values again, after it was told that there were none. */
  back?: { at: number; value?: Value } | undefined;
};

/** Something to be said. notice-words.ts writes it. */
export type Notice =
  /** `count` firings that were not told, the last of which is `firing`. */
  | { kind: "firing"; firing: Firing; count: number; firstAt: number }
  /** The same, and from now on the rule is silent for a time. */
  | { kind: "muted"; firing: Firing; count: number; firstAt: number; until: number }
  /** It goes on, and nobody has acknowledged it. `more`: firings since the last message, the last of them at `lastAt`. */
  | { kind: "repeat"; firing: Firing; more: number; lastAt: number }
  /** For the second recipient. */
  | { kind: "escalation"; firing: Firing; afterMs: number }
  | { kind: "recovery"; firing: Firing }
  | { kind: "unknown"; since?: number }
  | { kind: "back"; at: number; value?: Firing["value"] };

export type Decision = { record: DeliveryRecord; notices: Notice[] };

type DeliveryRule = Pick<WatchRule, "is" | "repeat" | "cooldown_ms" | "tell_stale" | "then_to">;
type Notified = NonNullable<DeliveryRecord["told"]>;
type Unsent = NonNullable<DeliveryRecord["untold"]>;

export function newRecord(): DeliveryRecord {
  return { seq: 0, occurrence: 0, fired: [] };
}

/**
 * Takes a change. A change that was handled before changes nothing.
 * @param now epoch ms; the change may be older
 * @param heldUntil until then nothing may be said of this rule (limits.ts); undefined: it may
 */
export function onChange(
  rule: DeliveryRule,
  record: DeliveryRecord,
  change: RuleChange,
  now: number,
  heldUntil?: number,
): Decision {
  if (change.seq <= record.seq) return { record, notices: [] };
  return onDue(rule, withChange(rule, withClock(record, now), change, now), now, heldUntil);
}

/** Says what is due. */
export function onDue(rule: DeliveryRule, record: DeliveryRecord, now: number, heldUntil?: number): Decision {
  const notices: Notice[] = [];
  let next = withClock(record, now);
  for (const part of PARTS) {
    const due = part(rule, next);
    if (!due || Math.max(due.at, heldUntil ?? 0) > now) continue;
    const said = due.say(now);
    next = said.record;
    notices.push(said.notice);
  }
  return { record: next, notices };
}

/** A clock that was set back must not keep a rule silent until it has caught up: what was told in the time to come was told now. */
function withClock(record: DeliveryRecord, now: number): DeliveryRecord {
  const { told, muted, changed_at, unknown_told_at, snoozed_until, fired } = record;
  const times = [told?.at, told?.last_at, changed_at, unknown_told_at, ...fired];
  if (times.every((time) => time === undefined || time <= now)) return record;
  const past = (time: number) => Math.min(time, now);
  return {
    ...record,
    fired: fired.map(past),
    ...(told && { told: { ...told, at: past(told.at), last_at: past(told.last_at) } }),
    ...(muted && { muted: { ...muted, until: Math.min(muted.until, now + MUTED_MS) } }),
    ...(changed_at !== undefined && { changed_at: past(changed_at) }),
    ...(unknown_told_at !== undefined && { unknown_told_at: past(unknown_told_at) }),
    ...(snoozed_until !== undefined && { snoozed_until: Math.min(snoozed_until, now + SNOOZE_MAX_MS) }),
  };
}

/** When `onDue` has something to say, epoch ms; undefined: not before the next change. */
export function deliveryDue(
  rule: DeliveryRule,
  record: DeliveryRecord,
  heldUntil?: number,
): number | undefined {
  const times = PARTS.flatMap((part) => part(rule, record)?.at ?? []);
  return times.length === 0 ? undefined : Math.max(Math.min(...times), heldUntil ?? 0);
}

/**
 * `over`: there is nothing to acknowledge any more, so an old button is no error. `more`: firings that nobody was told of yet,
 * which are acknowledged too: who acknowledges is told of them.
 */
export type Acknowledged = { record: DeliveryRecord; result: "acked" | "already" | "over"; more: number };

/** Acknowledges what fires. It is silent from now on, until it is over. @param by who did, for people */
export function acknowledge(record: DeliveryRecord, by: string, now: number): Acknowledged {
  const { told, untold, snoozed_until: _, ...rest } = record;
  const current = untold ? notifiedNow(untold.last, now) : told;
  if (!current || !goesOn(current.firing)) return { record, result: "over", more: 0 };
  if (current.acked) return { record, result: "already", more: 0 };
  return {
    record: { ...rest, told: { ...current, acked: { by, at: now } } },
    result: "acked",
    more: untold?.count ?? 0,
  };
}

/** Says nothing of the rule before `until`; then, if it still fires, once more. */
export function snooze(record: DeliveryRecord, until: number): DeliveryRecord {
  return { ...record, snoozed_until: until };
}

/** Of a rule that nobody watches for a time: what it told is closed without a word, and what it was about to tell is dropped. */
export function stopped(record: DeliveryRecord, now: number): DeliveryRecord {
  const { told, untold: _, snoozed_until: __, unknown: ___, back: ____, ...rest } = record;
  if (!told) return rest;
  const over = told.firing.over ?? { at: now, window: true as const };
  return { ...rest, told: { ...told, ended: true, firing: { ...told.firing, over } } };
}

/** What another place of evaluation has to know to go on with the rule: a firing that goes on is not told again. */
export function knownState(
  rule: DeliveryRule,
  { seq, occurrence, told, untold }: DeliveryRecord,
): KnownState {
  const firing = untold?.last ?? told?.firing;
  const isOpen = firing?.occurrence === occurrence && goesOn(firing) && !isMomentary(rule);
  return { seq, occurrence, ...(isOpen && { open: { at: firing.at, since: firing.since ?? firing.at } }) };
}

/** Tells whether a rule ends with this message. One that tells no firing, as that there is no value, ends nothing. */
export function isLast({ repeat }: Pick<DeliveryRule, "repeat">, { kind }: Pick<Notice, "kind">): boolean {
  return repeat === "once" && (kind === "firing" || kind === "muted");
}

function withChange(
  rule: DeliveryRule,
  record: DeliveryRecord,
  change: RuleChange,
  now: number,
): DeliveryRecord {
  const seen = { ...record, seq: change.seq };
  if (change.state === "unknown") {
    const { since } = change;
    // A place that begins the rule anew does not know the last value: it is the same gap.
    const told = record.unknown?.told === true && (since === undefined || since === record.unknown.since);
    return { ...seen, unknown: { told, ...(since !== undefined && { since }) } };
  }
  const known = withoutUnknown(seen, change);
  // A moment has no end: this says only that there are values again.
  if (change.state === "idle") return isMomentary(rule) ? known : withEnd(known, change, now);
  return change.occurrence > record.occurrence ? withFiring(rule, known, change, now) : known;
}

/** A firing, or the end of one, says by itself that there are values again. */
function withoutUnknown(record: DeliveryRecord, change: RuleChange): DeliveryRecord {
  const { unknown, ...rest } = record;
  // The end of its time of the day brings no value.
  if (!unknown || change.why === "window") return record;
  const saysMore =
    change.state === "firing" ? change.occurrence > record.occurrence : change.since !== undefined;
  if (!unknown.told || saysMore) return rest;
  return { ...rest, back: { at: change.at, ...(change.value !== undefined && { value: change.value }) } };
}

function withEnd(record: DeliveryRecord, change: RuleChange, now: number): DeliveryRecord {
  const { told, untold } = record;
  const { since } = change;
  const over = {
    at: change.at,
    ...(change.until !== undefined && { until: change.until }),
    ...(change.value !== undefined && { value: change.value }),
    ...(change.why === "window" && { window: true as const }),
  };
  const ended = (firing: Firing): Firing =>
    firing.occurrence === change.occurrence && goesOn(firing)
      ? // The clock of its place may have been set meanwhile: begin and end are by the same clock.
        { ...firing, ...(since !== undefined && { since }), over }
      : firing;
  return {
    ...record,
    changed_at: now,
    ...(told && { told: { ...told, firing: ended(told.firing) } }),
    ...(untold && { untold: { ...untold, last: ended(untold.last) } }),
  };
}

function withFiring(
  rule: DeliveryRule,
  record: DeliveryRecord,
  change: RuleChange,
  now: number,
): DeliveryRecord {
  const { occurrence, version, at, since, value, unit, count = 1 } = change;
  const last: Firing = {
    occurrence,
    version,
    at,
    ...(since !== undefined && { since }),
    ...(value !== undefined && { value }),
    ...(unit !== undefined && { unit }),
  };
  const untold = {
    count: (record.untold?.count ?? 0) + count,
    first_at: record.untold?.first_at ?? since ?? at,
    last,
  };
  const next = { ...record, occurrence, changed_at: now, untold };
  if (absorbs(rule, record)) return next;
  const fired = [...record.fired.filter((time) => time > now - HOUR_MS), now];
  if (isMuted(record, now)) return { ...next, fired: [] };
  const { muted: _, ...unmuted } = next;
  return fired.length < FLAPPING
    ? { ...unmuted, fired }
    : { ...unmuted, fired: [], muted: { until: now + MUTED_MS, told: false } };
}

/** A moment that waits for an acknowledgement takes those after it along: its next repeat counts them. */
function absorbs(rule: DeliveryRule, { told }: DeliveryRecord): boolean {
  return (
    isMomentary(rule) &&
    rule.repeat === "until_ack" &&
    told !== undefined &&
    !told.acked &&
    nextRepeat(told) !== undefined
  );
}

function isMuted(record: DeliveryRecord, now: number): boolean {
  return now < muteEnd(record);
}

function muteEnd({ muted, changed_at = 0 }: DeliveryRecord): number {
  return muted ? Math.min(muted.until, changed_at + SETTLED_MS) : 0;
}

function nextRepeat({ at, last_at }: Notified): number | undefined {
  const next = REPEATS_MS.find((after) => at + after > last_at);
  return next === undefined ? undefined : at + next;
}

function goesOn(firing: Firing): boolean {
  return firing.over === undefined;
}

function notifiedNow(firing: Firing, now: number): Notified {
  return { firing, at: now, last_at: now, ended: !goesOn(firing) };
}

/** A reason to say something: when, and what. Undefined: there is none. */
type Part = (rule: DeliveryRule, record: DeliveryRecord) => Due | undefined;
type Due = { at: number; say(now: number): { record: DeliveryRecord; notice: Notice } };

/** The order counts: the end of one firing is told before the next one. */
const PARTS: readonly Part[] = [recovery, mute, firing, repeat, escalation, unknown, back];

function recovery({ repeat }: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { told } = record;
  if (!told || told.ended || !told.firing.over || told.firing.over.window || repeat === "once")
    return undefined;
  return {
    at: muteEnd(record),
    say: () => ({
      record: { ...record, told: { ...told, ended: true } },
      notice: { kind: "recovery", firing: told.firing },
    }),
  };
}

function mute(_: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { muted, untold, snoozed_until = 0 } = record;
  if (!muted || muted.told || !untold) return undefined;
  return {
    at: snoozed_until,
    say: (now) => {
      const next = withNotified(record, untold, now);
      const said = { firing: untold.last, count: untold.count, firstAt: untold.first_at };
      // It was held for longer than it would have been muted.
      if (!next.muted) return { record: next, notice: { kind: "firing", ...said } };
      return {
        record: { ...next, muted: { ...muted, told: true } },
        notice: { kind: "muted", ...said, until: muted.until },
      };
    },
  };
}

function firing(rule: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { untold, told, muted, snoozed_until = 0 } = record;
  if (!untold || (muted && !muted.told) || absorbs(rule, record)) return undefined;
  const pause = rule.repeat === "each_time" && told ? told.last_at + rule.cooldown_ms : 0;
  return {
    at: Math.max(pause, muteEnd(record), snoozed_until),
    say: (now) => ({
      record: withNotified(record, untold, now),
      notice: { kind: "firing", firing: untold.last, count: untold.count, firstAt: untold.first_at },
    }),
  };
}

function repeat(rule: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { told, snoozed_until } = record;
  if (!told || told.acked || !goesOn(told.firing)) return undefined;
  const next = snoozed_until ?? (rule.repeat === "until_ack" ? nextRepeat(told) : undefined);
  if (next === undefined) return undefined;
  return {
    at: Math.max(next, muteEnd(record)),
    say: (now) => {
      const { untold, snoozed_until: _, ...rest } = record;
      return {
        record: { ...rest, told: { ...told, last_at: now } },
        notice: {
          kind: "repeat",
          firing: told.firing,
          more: untold?.count ?? 0,
          lastAt: untold?.last.at ?? told.firing.at,
        },
      };
    },
  };
}

function escalation({ then_to }: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { told, snoozed_until = 0 } = record;
  if (!then_to || !told || told.acked || told.escalated || !goesOn(told.firing)) return undefined;
  return {
    at: Math.max(told.at + then_to.after_ms, snoozed_until),
    say: (now) => ({
      record: { ...record, told: { ...told, escalated: true } },
      notice: { kind: "escalation", firing: told.firing, afterMs: now - told.at },
    }),
  };
}

function unknown(rule: DeliveryRule, record: DeliveryRecord): Due | undefined {
  const { unknown, unknown_told_at, snoozed_until = 0 } = record;
  if (!unknown || unknown.told || !(rule.tell_stale || leavesOpen(rule, record))) return undefined;
  const pause = unknown_told_at === undefined ? 0 : unknown_told_at + rule.cooldown_ms;
  const { told } = record;
  return {
    at: Math.max(snoozed_until, pause, rule.tell_stale ? 0 : muteEnd(record)),
    say: (now) => ({
      record: {
        ...record,
        unknown: { ...unknown, told: true },
        unknown_told_at: now,
        ...(told && { told: { ...told, unwatched: true as const } }),
      },
      notice: { kind: "unknown", ...(unknown.since !== undefined && { since: unknown.since }) },
    }),
  };
}

/** A person who heard of a firing waits for its end, and learns once that nobody can see it. Of presence the message about the bridge says it. */
function leavesOpen(rule: DeliveryRule, { told, occurrence }: DeliveryRecord): boolean {
  if (isMomentary(rule) || rule.is === "offline" || rule.is === "online") return false;
  return told?.firing.occurrence === occurrence && goesOn(told.firing) && !told.unwatched;
}

function back(_: DeliveryRule, { back, ...record }: DeliveryRecord): Due | undefined {
  return back && { at: 0, say: () => ({ record, notice: { kind: "back", ...back } }) };
}

/** A snooze is over when something is said. */
function withNotified(record: DeliveryRecord, { last }: Unsent, now: number): DeliveryRecord {
  const { untold: _, snoozed_until: __, muted, ...rest } = record;
  return { ...rest, ...(muted && isMuted(record, now) && { muted }), told: notifiedNow(last, now) };
}
