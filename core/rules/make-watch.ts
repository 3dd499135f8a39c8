/** Makes a watch from the fields that a model fills and the readings that the device has, with defaults that do not flap. */
import { check, type Parsed, wrong } from "../protocol/parse.ts";
import type { TimeWindow } from "../protocol/rules.ts";
import { closest } from "../text/closest.ts";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { checkWatch, type WatchInput } from "./tools.ts";
import { readValue, type Value, type ValueType } from "./value.ts";
import {
  type Condition,
  isMomentary,
  PRESENCE,
  SETTLES_MS,
  WatchRule,
  type WatchSource,
} from "./watch-rule.ts";
import { readWindow } from "./window.ts";

/**
 * One value that a device can be asked for.
 * @property field where its reading has several values
 * @property event it is a kind of event, without a value between
 * @property values the texts that it may have; none are known: any
 * @property now the last value; undefined: not known
 * @property every_ms how often the place of evaluation reads it; absent: it comes by itself
 */
export type ReadingOption = {
  name: string;
  field?: string;
  type: ValueType;
  unit?: string;
  words?: { yes: string; no: string };
  values?: readonly string[];
  event?: true;
  now?: { value: unknown; at: number };
  every_ms?: number;
};

export type WatchedDevice = {
  /** For people. */
  name: string;
  source: Exclude<WatchSource, { of: "presence" }>;
  readings: readonly ReadingOption[];
};

/** What a watch is made of, beside the model's fields. `zone`: the home's. */
export type NewWatch = { id: string; device: WatchedDevice; zone: string };

const NUMBER_HOLD_MS = MINUTE_MS;
/** Longer than a planned restart or an update. */
const OFFLINE_HOLD_MS = 5 * MINUTE_MS;
/** A longer one would tell the end of something long after it. */
const CLEAR_HOLD_MAX_MS = 10 * MINUTE_MS;
/** The shortest pause between two looks of an agent. */
const CHECK_MIN_MS = 10_000;
const COOLDOWN_MS = HOUR_MS / 2;
/** Of the value that a number is compared with. */
const HYSTERESIS_SHARE = 0.02;
/** Readings that are left out before a device counts as silent, and the least time for it. */
const STALE_READINGS = 10;
const STALE_MIN_MS = 10 * MINUTE_MS;
/** Readings that an error names. */
const NAMED_MAX = 20;

/** The reading by which presence is evaluated: true means online. */
const ONLINE: ReadingOption = { name: PRESENCE, type: "boolean", words: { yes: "online", no: "offline" } };

/** Makes the rule, or says what is wrong: the error names the field and what would be right. */
export function makeWatch(input: WatchInput, { id, device, zone }: NewWatch): Parsed<WatchRule> {
  const checked = checkWatch(input);
  if (!checked.ok) return checked;
  const found =
    input.reading === PRESENCE ? { ok: true as const, value: ONLINE } : findReading(input, device);
  if (!found.ok) return found;
  const reading = comparable(found.value, input.is);
  const compared = comparedValue(input, reading);
  if (!compared.ok) return compared;
  const between = betweenOf(input, zone);
  if (!between.ok) return between;
  const { is, severity = "info", repeat = "each_time" } = input;
  const value = compared.value;
  const timing = timingOf(input, reading, device);
  if (!timing.ok) return timing;
  const { hold_ms, every_ms, check_s } = timing.value;
  const stale = every_ms && Math.max(every_ms * STALE_READINGS, STALE_MIN_MS);
  return check(WatchRule, {
    id,
    version: 1,
    name: input.name.trim(),
    source: input.reading === PRESENCE ? presenceOf(device.source) : device.source,
    reading: reading.name,
    ...(reading.field !== undefined && { field: reading.field }),
    type: reading.type,
    is,
    ...(value !== undefined && { value }),
    ...(reading.unit !== undefined && { unit: reading.unit }),
    hysteresis: defaultHysteresis(is, value, reading),
    hold_ms,
    clear_hold_ms: isMomentary(input) ? 0 : Math.min(Math.max(hold_ms, SETTLES_MS), CLEAR_HOLD_MAX_MS),
    ...(stale && { stale_ms: stale }),
    ...(between.value && { only_between: between.value }),
    repeat,
    // A critical rule is about what happens, whoever did it.
    tell_own: severity === "critical",
    severity,
    cooldown_ms: COOLDOWN_MS,
    ...(input.say !== undefined && { say: input.say }),
    tell_stale: severity === "critical",
    ...(check_s !== undefined && { check_s }),
    ...(reading.words && { words: reading.words }),
  });
}

type Timing = { hold_ms: number; every_ms?: number | undefined; check_s?: number };

/** How long it has to last, and how often an agent looks. A hold without a second look in it would mean nothing. */
function timingOf(
  { is, for_minutes, check_seconds: check_s, reading: name }: WatchInput,
  reading: ReadingOption,
  { source }: WatchedDevice,
): Parsed<Timing> {
  const hold = Math.round((for_minutes ?? defaultHold(is, reading) / MINUTE_MS) * MINUTE_MS);
  // Others say by themselves when their value changes.
  if (check_s === undefined || source.of !== "agent" || name === PRESENCE)
    return { ok: true, value: { hold_ms: hold, every_ms: reading.every_ms } };
  const every = check_s * 1_000;
  const most = Math.max(hold, CHECK_MIN_MS);
  if (for_minutes !== undefined && hold > 0 && every > most)
    return wrong(
      `check_seconds: it would look at most once in these ${for_minutes} min; expected at most ${Math.floor(most / 1_000)}`,
    );
  const every_ms = reading.every_ms && every;
  return { ok: true, value: { hold_ms: hold > 0 ? Math.max(hold, every) : 0, every_ms, check_s } };
}

function betweenOf({ only_between }: WatchInput, zone: string): Parsed<TimeWindow | undefined> {
  if (only_between === undefined) return { ok: true, value: undefined };
  const read = readWindow(only_between, zone);
  return read.ok ? read : { ok: false, error: `only_between: ${read.error}` };
}

function presenceOf(source: WatchedDevice["source"]): WatchSource {
  return source.of === "bridge" ? source : { of: "presence", device: source.of, key: source.key };
}

/** Finds the reading by its name and field. A field that is the only one need not be named. */
function findReading(input: WatchInput, device: WatchedDevice): Parsed<ReadingOption> {
  const { reading, field } = input;
  const named = device.readings.filter(({ name }) => sameName(name, reading));
  if (named.length === 0) {
    const names = [...new Set(device.readings.map(({ name }) => name))];
    const near = closest(reading, names);
    const list = device.readings.length === 0 ? "nothing that can be watched" : listOf(device.readings);
    const meant = near === undefined ? "" : ` Did you mean '${near}'?`;
    return wrong(`reading: ${device.name} has no reading '${reading}'. It has: ${list}.${meant}`);
  }
  const [only] = named;
  if (field === undefined && named.length === 1 && only) return { ok: true, value: only };
  const chosen = named.find((one) => field !== undefined && sameName(one.field ?? one.name, field));
  if (chosen) return { ok: true, value: chosen };
  const fields = named.map((one) => ({ ...one, name: one.field ?? one.name }));
  return wrong(
    field === undefined
      ? `field: '${reading}' of ${device.name} has several values, name one: ${listOf(fields)}.`
      : `field: '${reading}' of ${device.name} has no value '${field}'. It has: ${listOf(fields)}.`,
  );
}

/** The value to compare with, in the reading's type. */
function comparedValue({ is, value }: WatchInput, reading: ReadingOption): Parsed<Value | undefined> {
  const { name, type, event, values, words } = reading;
  if (event && is !== "happens") return wrong(`is: ${name} is an event, so it 'happens'`);
  if (!event && is === "happens")
    return wrong(`is: ${name} has values, so it 'changes', or is 'equal' to one; only events happen`);
  if ((is === "above" || is === "below") && type !== "number")
    return wrong(`is: ${name} is no number; use 'equal', as in ${exampleOf(reading)}`);
  if (value === undefined) return { ok: true, value: undefined };
  const known = valueIn(value, reading);
  if (known === undefined) return wrong(`value: ${name} is ${kindOf(reading)}, not '${value}'`);
  if (values && !words && !values.some((one) => sameName(one, String(known))))
    return wrong(`value: ${name} is one of ${values.slice(0, NAMED_MAX).join(", ")}, not '${value}'`);
  return { ok: true, value: known };
}

/** A device that names no unit gives its number as a text. Where it is compared as a number, it counts as one. */
function comparable(reading: ReadingOption, is: Condition): ReadingOption {
  const isCompared = (is === "above" || is === "below") && reading.type === "text";
  const now = reading.now && readValue({ value: reading.now.value }, "number", undefined);
  return isCompared && now !== undefined ? { ...reading, type: "number" } : reading;
}

function valueIn(value: Value, { type, unit, words }: ReadingOption): Value | undefined {
  if (words && typeof value === "string") {
    if (sameName(value, words.yes)) return true;
    if (sameName(value, words.no)) return false;
  }
  return readValue({ value }, type, unit);
}

function kindOf({ type, words, unit }: ReadingOption): string {
  if (type === "boolean") return words ? `${words.yes} or ${words.no}` : "on or off";
  return type === "text" ? "a text" : `a number${unit === undefined ? "" : ` in ${unit}`}`;
}

function exampleOf({ type, words, values }: ReadingOption): string {
  return type === "boolean" ? (words?.yes ?? "on") : (values?.[0] ?? "a text");
}

function listOf(readings: readonly ReadingOption[]): string {
  const shown = readings
    .slice(0, NAMED_MAX)
    .map(({ name, unit }) => (unit === undefined ? name : `${name} (${unit})`));
  const more = readings.length - shown.length;
  const list = [...new Set(shown)].join(", ");
  return more > 0 ? `${list}, and ${more} more` : list;
}

/** Contacts and events count at once; numbers jitter. */
function defaultHold(is: Condition, { type }: ReadingOption): number {
  if (is === "offline") return OFFLINE_HOLD_MS;
  return type === "number" && is !== "changes" ? NUMBER_HOLD_MS : 0;
}

/** 2 % of the value, or one step of what the sensor shows. */
function defaultHysteresis(is: Condition, value: Value | undefined, { type, now }: ReadingOption): number {
  if (type !== "number" || is === "equal" || is === "not_equal") return 0;
  const current = now && readValue(now, "number", undefined);
  const about = typeof value === "number" ? value : typeof current === "number" ? current : 0;
  const step = typeof current === "number" ? stepOf(current) : 0;
  return Math.max(Number((Math.abs(about) * HYSTERESIS_SHARE).toPrecision(6)), step);
}

/** The smallest difference that a figure with so many decimals shows: 0.1 for −18.2. */
function stepOf(value: number): number {
  const [, decimals = ""] = String(value).split(".");
  return 10 ** -Math.min(decimals.length, 6);
}

function sameName(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}
