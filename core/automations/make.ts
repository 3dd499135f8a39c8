/**
 * Makes a rule that acts from the fields that a model fills and the devices of a home. It fills what is missing, and names all that is
 * wrong at once. An unknown device, reading or action makes nothing.
 */

import type { Automation, AutomationCondition, AutomationStep } from "../protocol/automation.ts";
import { CONDITIONS_MAX, STEPS_MAX, WAIT_MINUTES_MAX } from "../protocol/automation.ts";
import { type Parsed, wrong } from "../protocol/parse.ts";
import type { WatchCondition } from "../protocol/rules.ts";
import { makeWatch } from "../rules/make-watch.ts";
import {
  conditionOf,
  FOR_MINUTES_MAX,
  isMomentary,
  PRESENCE,
  RULE_NAME_MAX,
  SAY_MAX,
  type WatchRule,
} from "../rules/watch-rule.ts";
import { readWindow } from "../rules/window.ts";
import { cutText } from "../text/cut.ts";
import type { Language } from "../text/languages.ts";
import { MINUTE_MS } from "../time/zone.ts";
import { oneLine } from "../tools/one-line.ts";
import { visible } from "../tools/visible.ts";
import type { Foreseen, RuleDevice } from "./device.ts";
import { findAction, findDevice } from "./find-device.ts";
import { type Fault, type GivenInput, readInput } from "./input.ts";
import { readDays, readTime } from "./read-time.ts";

/**
 * The home as far as a rule may be about it.
 * @property presence names of what knows who is at home @property place in degrees; undefined: it is not known
 */
export type RuleHome = {
  devices: readonly RuleDevice[];
  zone: string;
  /** The language of the person that asks for the rule. */
  language: Language;
  presence: readonly string[];
  place?: { lat: number; lon: number } | undefined;
};

/** @property words of a boolean, when it is true and when it is false */
type MadeCondition = {
  made: AutomationCondition;
  device: RuleDevice;
  words: WatchRule["words"];
};
export type MadeStep = { made: AutomationStep; device: RuleDevice; foreseen: Foreseen };

export type MadeAutomation = {
  automation: Automation;
  when: MadeCondition[];
  steps: MadeStep[];
  ends: MadeStep[];
};

/** Heat that a rule began ends after so long, also while its condition is so. */
const HEAT_MINUTES_MAX = 180;
const NOISE_MINUTES_MAX = 5;
const PAUSE_MS = MINUTE_MS;
const AN_HOUR = 12;
/** As many characters of an error reach the model. */
const ERROR_MAX = 1_200;
const FAULT_MAX = 400;
/** One line: it goes through places that keep no others. */
const BETWEEN = " | ";
/** More of a parameter no person reads on a card. */
const PARAMETERS_MAX = 200;
const VALUE_MAX = 60;

/** @param text JSON of the tool's input @returns the rule, or all that is wrong */
export function makeAutomation(
  text: string,
  rule: { id: string; version: number },
  home: RuleHome,
): Parsed<MadeAutomation> {
  const read = readInput(text);
  if (!read.ok) return read;
  const { input } = read.value;
  const faults: Fault[] = [...read.value.faults];
  const no = (field: string, error: string) => {
    if (!faults.some((one) => one.field === field)) faults.push({ field, error });
  };
  const name = nameOf(input, no);
  const say = sayOf(input, no);
  const when = (input.when ?? []).map((one, at) => one && conditionMade(one, at, rule, home, no));
  const at = timeOf(input, home, no);
  const onlyIf = onlyIfOf(input, home, no);
  const steps = (input.do ?? []).map((one, index) => one && stepMade(one, index, home, no));
  if (input.do?.length === 0) no("do", "name an action");
  if ((input.do?.length ?? 0) > STEPS_MAX) no("do", `expected at most ${STEPS_MAX} actions`);
  if ((input.when?.length ?? 0) > CONDITIONS_MAX) no("when", `expected at most ${CONDITIONS_MAX} conditions`);
  checkWaits(input, no);
  const isMoment = at !== undefined || (input.when ?? []).every((one) => one && isMomentary(one));
  const ending = endingOf(
    input,
    steps.filter((one) => one !== undefined),
    isMoment,
    no,
  );
  if (faults.length > 0) return wrong(errorText(faults));
  const [conditions, acts] = [present(when), present(steps)];
  const keys = acts.map(({ made }) => made.key);
  const automation: Automation = {
    ...rule,
    name,
    ...(say !== undefined && { say }),
    match: conditions.length > 1 ? (input.match ?? "all") : "all",
    when: conditions.map(({ made }) => made),
    ...(at && { at }),
    ...(onlyIf && { only_if: onlyIf }),
    do: acts.map(({ made }) => made),
    over: ending.over,
    end: ending.ends.map(({ made }) => made),
    ...(ending.atMost !== undefined && { at_most_minutes: ending.atMost }),
    go_on: keys.length > 1 && new Set(keys).size === keys.length,
    pause_ms: PAUSE_MS,
    an_hour: AN_HOUR,
    zone: home.zone,
    ...(home.language !== "en" && { language: home.language }),
    ...(at && at.of !== "clock" && home.place && { place: home.place }),
  };
  return { ok: true, value: { automation, when: conditions, steps: acts, ends: ending.ends } };
}

type No = (field: string, error: string) => void;

function nameOf({ name }: GivenInput, no: No): string {
  const text = oneLine(name ?? "", RULE_NAME_MAX + 1);
  if (name !== undefined && text === "") no("name", "give it a name, as in Door open, heating down");
  if (text.length > RULE_NAME_MAX) no("name", `expected at most ${RULE_NAME_MAX} characters`);
  return text;
}

function sayOf({ say }: GivenInput, no: No): string | undefined {
  const text = say === undefined ? "" : oneLine(say, SAY_MAX + 1);
  if (text.length > SAY_MAX) no("say", `expected at most ${SAY_MAX} characters`);
  return text === "" ? undefined : text;
}

// ── when ──────────────────────────────────────────────────────────────────────────────────────────────

type When = NonNullable<NonNullable<GivenInput["when"]>[number]>;

function conditionMade(
  given: When,
  at: number,
  { id, version }: { id: string; version: number },
  home: RuleHome,
  no: No,
): MadeCondition | undefined {
  const field = `when.${at}`;
  const { for_minutes } = given;
  if (for_minutes !== undefined && !(for_minutes >= 0 && for_minutes <= FOR_MINUTES_MAX))
    no(`${field}.for_minutes`, `expected 0 to ${FOR_MINUTES_MAX}`);
  if (String(given.value ?? "").length > VALUE_MAX)
    no(`${field}.value`, `expected at most ${VALUE_MAX} characters`);
  const found = findDevice(given.agent_id, home.devices);
  if (!found.ok) {
    no(`${field}.agent_id`, found.error);
    return undefined;
  }
  const device = found.value;
  const unknown = unknownText(given, device);
  if (unknown !== undefined) {
    no(`${field}.${unknown.field}`, unknown.error);
    return undefined;
  }
  const { of, key, readings } = device;
  const watch = makeWatch(
    {
      ...given,
      reading: onlyNamed(given.reading, device),
      name: "rule",
      ...(for_minutes !== undefined && { for_minutes: Math.min(Math.max(for_minutes, 0), FOR_MINUTES_MAX) }),
    },
    {
      id: conditionId(id, at),
      zone: home.zone,
      device: { name: device.id, source: { of, key }, readings },
    },
  );
  if (!watch.ok) {
    const [, named = "", error = watch.error] = /^(\w+): (.*)$/s.exec(watch.error) ?? [];
    no(named === "" ? field : `${field}.${named}`, error);
    return undefined;
  }
  const condition = {
    ...conditionOf(watch.value),
    ...(of === "agent" && readAt(watch.value.reading)),
    version,
  };
  return { made: { of, key, agent: device.id, condition }, device, words: watch.value.words };
}

/** Readings that no rule that acts looks at, although a watch does. */
function unknownText({ reading, is }: When, { of, id }: RuleDevice): Fault | undefined {
  if (of === "agent" && isMomentary({ is }))
    return {
      field: "is",
      error: `of ${id}, a paired agent, a rule that acts takes no moments; use above, below, equal or not_equal`,
    };
  if (reading.trim().toLowerCase() === PRESENCE)
    return {
      field: "reading",
      error: "a rule that acts does not look at whether a device is online; 'watch' tells of it",
    };
  return undefined;
}

/** `fridge` means `fridge.celsius` where an agent's `fridge` has no other value. */
function onlyNamed(given: string, { of, readings }: RuleDevice): string {
  // An error that a model copies it from has one at each dot, so that no chat app makes a link of it.
  const named = given.replaceAll("\u2060", "");
  const [only, ...others] = readings.filter(({ name }) => of === "agent" && name.startsWith(`${named}.`));
  return only && others.length === 0 ? only.name : named;
}

/** `fridge.celsius` is the value `celsius` of an agent's `fridge`. */
function readAt(named: string): Pick<WatchCondition, "reading" | "field"> {
  const [reading = "", ...field] = named.split(".");
  return { reading, ...(field.length > 0 && { field: field.join(".") }) };
}

/** Of the rule's id and the place in it. */
function conditionId(rule: string, at: number): string {
  return `w-${`${rule.slice(2)}${at}`.slice(-12)}`;
}

function timeOf(input: GivenInput, home: RuleHome, no: No): Automation["at"] {
  const { at, when, days } = input;
  const hasWhen = (when?.length ?? 0) > 0;
  if (at === undefined) {
    if (when !== undefined && !hasWhen) no("when", "name a condition, or give 'at'");
    if (when === undefined) no("when", "give a condition (when), or a time (at)");
    return undefined;
  }
  if (hasWhen)
    no(
      "at",
      "it stands in place of 'when'; to act at a time only if something is so, make it a condition of 'when'",
    );
  const read = readTime(at);
  if (!read.ok) {
    no("at", read.error);
    return undefined;
  }
  if (read.value.of !== "clock" && home.place === undefined)
    no(
      "at",
      "the home's bridge does not know where the home is, so it knows no sunset; an owner sets PLACE=52.5,13.4 there",
    );
  const on = days === undefined ? undefined : readDays(days);
  return { ...read.value, ...(on?.ok && { days: on.value }) };
}

function onlyIfOf(input: GivenInput, home: RuleHome, no: No): Automation["only_if"] {
  const { only_if: presence, only_between, days, at } = input;
  if (presence !== undefined && home.presence.length === 0)
    no(
      "only_if",
      "nothing says who is at home; an owner names it at the home's bridge (PRESENCE), or says 'I am away'",
    );
  const between = only_between === undefined ? undefined : readWindow(only_between, home.zone);
  if (between && !between.ok) no("only_between", between.error);
  const on = days === undefined ? undefined : readDays(days);
  if (on && !on.ok) no("days", on.error);
  const onlyIf = {
    ...(presence !== undefined && { presence }),
    ...(between?.ok && { between: between.value }),
    // Those of a time are its own.
    ...(on?.ok && at === undefined && { days: on.value }),
  };
  return Object.keys(onlyIf).length > 0 ? onlyIf : undefined;
}

// ── do ────────────────────────────────────────────────────────────────────────────────────────────────

type Do = NonNullable<NonNullable<GivenInput["do"]>[number]>;

function stepMade(given: Do, at: number, home: RuleHome, no: No): MadeStep | undefined {
  const field = `do.${at}`;
  const { wait_minutes: wait, parameters = {} } = given;
  if (wait !== undefined && !(wait >= 0 && wait <= WAIT_MINUTES_MAX))
    no(`${field}.wait_minutes`, `expected 0 to ${WAIT_MINUTES_MAX}`);
  const found = findDevice(given.agent_id, home.devices);
  if (!found.ok) {
    no(`${field}.agent_id`, found.error);
    return undefined;
  }
  const device = found.value;
  if (device.unchangeable !== undefined) no(`${field}.agent_id`, device.unchangeable);
  const action = findAction(given.action, device);
  if (!action.ok) {
    no(`${field}.action`, action.error);
    return undefined;
  }
  const step = stepOf(device, { action: action.value, parameters }, wait);
  if (!step.ok) {
    no(`${field}.parameters`, step.error);
    return undefined;
  }
  return step.value;
}

function stepOf(
  device: RuleDevice,
  { action, parameters }: { action: string; parameters: Record<string, unknown> },
  wait?: number,
): Parsed<MadeStep> {
  const foreseen = device.foresee(action, parameters);
  if ("error" in foreseen) return wrong(foreseen.error);
  if (JSON.stringify(parameters).length > PARAMETERS_MAX)
    return wrong(`a card has no room for more than ${PARAMETERS_MAX} characters of values`);
  const { allow, danger } = foreseen;
  const { of, key, id } = device;
  const made = {
    ...{ of, key, agent: id, action, parameters, allow },
    ...(wait !== undefined && wait > 0 && { wait_minutes: wait }),
    ...(danger !== undefined && { danger }),
  };
  return { ok: true, value: { made, device, foreseen } };
}

function checkWaits({ do: steps = [] }: GivenInput, no: No): void {
  const sum = steps.reduce((minutes, one) => minutes + (one?.wait_minutes ?? 0), 0);
  if (sum > WAIT_MINUTES_MAX)
    no("do", `its waits are ${sum} min together; expected at most ${WAIT_MINUTES_MAX}`);
}

// ── how it ends ───────────────────────────────────────────────────────────────────────────────────────

type Ending = { over: Automation["over"]; atMost?: number; ends: MadeStep[] };

/** @param isMoment no condition lasts, so that only a time ends it */
function endingOf(input: GivenInput, steps: readonly MadeStep[], isMoment: boolean, no: No): Ending {
  const dangers = steps.map(({ made }) => made.danger);
  const hasHeat = dangers.includes("heat");
  const hasNoise = dangers.includes("noise");
  const atMost = atMostOf(input, hasHeat, hasNoise, no);
  const over = input.over ?? (atMost === undefined ? "leave" : "off");
  if ((hasHeat || hasNoise) && over !== "off")
    no("over", `what heats, pumps or sounds is switched off again: use 'off'`);
  if (over === "leave" && input.at_most_minutes !== undefined)
    no("at_most_minutes", "with 'leave' nothing ends; use over: off or undo");
  if (over !== "leave" && isMoment && atMost === undefined)
    no(
      "at_most_minutes",
      `nothing tells when this is over, so '${over}' needs the minutes after which it comes`,
    );
  if (over === "undo") checkUndo(steps, no);
  const ends = over === "off" ? endsOf(steps, no) : [];
  return { over, ...(over !== "leave" && atMost !== undefined && { atMost }), ends };
}

function atMostOf(
  { at_most_minutes: given }: GivenInput,
  hasHeat: boolean,
  hasNoise: boolean,
  no: No,
): number | undefined {
  const max = hasNoise ? NOISE_MINUTES_MAX : hasHeat ? HEAT_MINUTES_MAX : WAIT_MINUTES_MAX;
  if (given !== undefined && !(given > 0 && given <= max))
    no(
      "at_most_minutes",
      `expected 1 to ${max}${hasNoise ? " for what sounds" : hasHeat ? " for what heats or pumps" : ""}`,
    );
  return given ?? (hasHeat || hasNoise ? max : undefined);
}

function checkUndo(steps: readonly MadeStep[], no: No): void {
  for (const [at, { foreseen, made }] of steps.entries()) {
    const why =
      foreseen.undo === undefined
        ? "nothing tells how it was before"
        : foreseen.undo === "dangerous"
          ? "a person has to be asked for the way back"
          : undefined;
    if (why !== undefined)
      no("over", `'undo' cannot bring back do.${at} (${made.action}): ${why}. Use leave or off`);
  }
}

function endsOf(steps: readonly MadeStep[], no: No): MadeStep[] {
  const ends = steps.flatMap(({ device, foreseen, made }, at): MadeStep[] => {
    const isOwed = made.danger === "heat" || made.danger === "noise";
    if (!foreseen.end) {
      if (isOwed) no(`do.${at}.action`, "nothing switches it off again, so no rule may switch it on");
      return [];
    }
    const end = stepOf(device, foreseen.end);
    // An action that opens a way in is never an end.
    if (!end.ok || end.value.made.danger === "way_in") {
      if (isOwed) no(`do.${at}.action`, "nothing switches it off again, so no rule may switch it on");
      return [];
    }
    return [end.value];
  });
  if (steps.length > 0 && ends.length === 0)
    no(
      "over",
      "'off' switches off what the rule has switched on, and it switches nothing on. Use leave or undo",
    );
  return ends;
}

function present<T>(all: readonly (T | undefined)[]): T[] {
  return all.filter((one) => one !== undefined);
}

/** Whole lines, as many as fit. */
function errorText(faults: readonly Fault[]): string {
  let text = "";
  for (const [at, { field, error }] of faults.entries()) {
    // It quotes what a model or a device has written.
    const line = visible(oneLine(`${field === "" ? "" : `${field}: `}${error}`, FAULT_MAX));
    const more = `and ${faults.length - at} more`;
    if (text.length + line.length + more.length + 2 * BETWEEN.length > ERROR_MAX)
      return text === "" ? cutText(line, ERROR_MAX) : `${text}${BETWEEN}${more}`;
    text = text === "" ? line : `${text}${BETWEEN}${line}`;
  }
  return text;
}
