/**
 * The card of a rule that acts: what an owner reads before it is allowed. Code writes all of it, from the very rule that is signed; no model
 * does, and a device's name that reads like more than a label is left out.
 */
import { actionParts, settingText, unitOf, valueText } from "../approvals/sentence.ts";
import { slotText } from "../approvals/slot-text.ts";
import type { Phrases } from "../phrases/phrases.ts";
import type { Automation, AutomationCondition, AutomationStep } from "../protocol/automation.ts";
import { conditionText, valueText as conditionValue } from "../rules/condition-text.ts";
import { plainText, spaced } from "../rules/plain-text.ts";
import { RULE_NAME_MAX, SAY_MAX, type WatchRule } from "../rules/watch-rule.ts";
import { clockText } from "../rules/window.ts";
import { isLabel } from "../text/label.ts";
import { MINUTE_MS, WEEKDAYS } from "../time/zone.ts";
import { visibleJson } from "../tools/visible.ts";
import type { Foreseen } from "./device.ts";
import { CARD_WORDS } from "./words/card-words.ts";

/** A device as the card names it. @property isShared another device is called so too: then its id is beside the name */
export type CardDevice = {
  id: string;
  key: string;
  name: string;
  area?: string | undefined;
  isShared?: boolean | undefined;
};

/** @property device what the step changes; @property foreseen undefined: of a paired agent */
export type CardStep = {
  device: CardDevice;
  foreseen?: Pick<Foreseen, "isConfirmed" | "waitMs" | "before" | "units"> | undefined;
};

/**
 * Its runs in the past, had it been there. @property times of its runs, oldest first (epoch ms) @property days of which values are known @property since
 * when, if that is less than all @property hasPresence it is not known who was at home
 */
export type CardDryRun = {
  times: readonly number[];
  days: number;
  since?: number | undefined;
  hasPresence: boolean;
};

/**
 * Facts that the card needs beside the rule.
 * @property when in the order of the rule's conditions, as are `steps` and `ends`
 * @property presence names of what knows who is at home
 * @property isSo its condition is so now @property isOnBroker a broker's password is enough to set it off
 * @property circles names of rules that make it run and that it makes run; "": itself @property against names of rules that do the opposite
 * @property seal a few signs of the hash of all that is signed
 */
export type CardFacts = {
  when: readonly { device: CardDevice; words?: WatchRule["words"] | undefined }[];
  steps: readonly CardStep[];
  ends: readonly CardStep[];
  presence: readonly string[];
  isSo: boolean;
  isOnBroker: boolean;
  /** null: nothing is kept of it. */
  dryRun: CardDryRun | null;
  circles: readonly string[];
  against: readonly string[];
  seal: string;
  now: number;
};

export type Card = { card: string[]; second_tap: string[] };

const PLACE_MAX = 50;
const ID_WORDS_MAX = 3;
const KEY_SHOWN = 9;
const TIMES_SHOWN = 5;
const OFTEN_A_DAY = 20;
/** Names of sources, and of rules, that a line has room for. */
const NAMES_SHOWN = 6;
const RULES_SHOWN = 2;

/** Writes the card of a rule, in the language of the phrases. */
export function cardOf(rule: Automation, facts: CardFacts, phrases: Phrases): Card {
  const lines = [
    oftenLine(facts, phrases),
    phrases.sayOf(CARD_WORDS, "makeRule", { name: plainText(rule.name, RULE_NAME_MAX) }),
    ...whenLines(rule, facts, phrases),
    onlyIfLine(rule, facts, phrases),
    ...stepLines(rule, facts, phrases),
    ifNotLine(rule, facts, phrases),
    overLine(rule, facts, phrases),
    rule.say === undefined
      ? phrases.sayOf(CARD_WORDS, "tellsFailures")
      : phrases.sayOf(CARD_WORDS, "tellsThen", { text: plainText(rule.say, SAY_MAX) }),
    whereLine(rule, facts, phrases),
    phrases.sentences(facts.isSo ? phrases.sayOf(CARD_WORDS, "isSo") : "", dryRunText(rule, facts, phrases)),
    conflictsText(facts, phrases),
    sealedLine(rule, facts, phrases),
  ];
  return {
    card: lines.filter((line) => line !== "").map(spaced),
    second_tap: secondTaps(rule, facts, phrases).map(spaced),
  };
}

// ── when ──────────────────────────────────────────────────────────────────────────────────────────────

function whenLines(
  { when, match, at, zone, place }: Automation,
  facts: CardFacts,
  phrases: Phrases,
): string[] {
  if (at) {
    const where = phrases.parts(zone, place ? `${place.lat}°, ${place.lon}°` : "");
    const time = phrases.parts(timeText(at, phrases), daysText(at.days, phrases));
    return [phrases.sayOf(CARD_WORDS, "at", { time, where })];
  }
  const texts = when.map((one, index) => whenText(one, facts.when[index], phrases));
  const [only] = texts;
  if (texts.length === 1 && only !== undefined)
    return [phrases.sayOf(CARD_WORDS, "when", { condition: only })];
  return [
    phrases.sayOf(CARD_WORDS, match === "all" ? "allOf" : "anyOf"),
    ...texts.map((text) => phrases.sayOf(CARD_WORDS, "item", { text })),
  ];
}

function whenText(
  { condition, agent, key }: AutomationCondition,
  fact: CardFacts["when"][number] | undefined,
  phrases: Phrases,
): string {
  const { is, value, hysteresis, unit } = condition;
  const worded = { ...condition, ...(fact?.words && { words: fact.words }) };
  const place = placeText(fact?.device ?? { id: agent, key, name: agent }, phrases);
  const text = phrases.say("named", { name: place, text: conditionText(worded, phrases) });
  if (hysteresis === 0) return text;
  const figure = (number: number) => conditionValue(Number(number.toPrecision(6)), { unit }, phrases);
  const isLimit = typeof value === "number" && (is === "above" || is === "below");
  const more = isLimit
    ? phrases.sayOf(CARD_WORDS, "untilValue", {
        value: figure(is === "above" ? value - hysteresis : value + hysteresis),
      })
    : phrases.sayOf(CARD_WORDS, "stepOf", { value: figure(hysteresis) });
  return phrases.parts(text, more);
}

function timeText({ of, minutes }: NonNullable<Automation["at"]>, phrases: Phrases): string {
  if (of === "clock") return clockText(minutes);
  const time = phrases.sayOf(CARD_WORDS, of);
  if (minutes === 0) return time;
  const span = phrases.span(Math.abs(minutes) * MINUTE_MS);
  return phrases.sayOf(CARD_WORDS, minutes < 0 ? "before" : "after", { span, time });
}

function daysText(days: readonly number[] | undefined, phrases: Phrases): string {
  const names = (days ?? []).map((day) => phrases.weekday(WEEKDAYS[(day + 1) % 7] ?? "mo"));
  return phrases.list(names, "plain");
}

function onlyIfLine({ only_if: onlyIf, zone, at }: Automation, facts: CardFacts, phrases: Phrases): string {
  if (!onlyIf) return "";
  const { presence, between, days } = onlyIf;
  const sources = namesText(facts.presence, phrases);
  const isOfClock = (between !== undefined || days !== undefined) && !at;
  const text = phrases.parts(
    presence === undefined
      ? ""
      : phrases.sayOf(CARD_WORDS, presence === "nobody_home" ? "nobodyHome" : "somebodyHome", { sources }),
    between
      ? phrases.sayOf(CARD_WORDS, "between", { from: clockText(between.from), to: clockText(between.to) })
      : "",
    daysText(days, phrases),
    isOfClock ? `(${between?.zone ?? zone})` : "",
  );
  return phrases.sayOf(CARD_WORDS, "onlyIf", { text });
}

// ── then ──────────────────────────────────────────────────────────────────────────────────────────────

function stepLines({ do: steps }: Automation, facts: CardFacts, phrases: Phrases): string[] {
  return steps.map((step, at) => {
    const fact = facts.steps[at];
    const notes = phrases.parts(...notesOf(step, fact, phrases));
    const act = stepText(step, fact, phrases);
    const text = notes === "" ? act : `${act} (${notes})`;
    const timed = step.wait_minutes
      ? phrases.sayOf(CARD_WORDS, "waits", { span: phrases.span(step.wait_minutes * MINUTE_MS), step: text })
      : text;
    const numbered = steps.length > 1 ? `${at + 1}. ${timed}` : timed;
    return at === 0 ? phrases.sayOf(CARD_WORDS, "thenDo", { step: numbered }) : numbered;
  });
}

function notesOf(step: AutomationStep, fact: CardStep | undefined, phrases: Phrases): string[] {
  const { of, danger } = step;
  const { foreseen } = fact ?? {};
  const before = Object.entries(foreseen?.before ?? {}).map(([name, { value, unit }]) =>
    valueText(value, unit ?? unitOf(name), name, phrases),
  );
  const values = before.filter((one) => one !== undefined);
  return [
    values.length === 0 ? "" : phrases.sayOf(CARD_WORDS, "valueNow", { value: phrases.parts(...values) }),
    danger === "way_in" ? phrases.sayOf(CARD_WORDS, "asksThen") : "",
    of === "agent" ? phrases.sayOf(CARD_WORDS, "byGateway") : "",
    foreseen?.isConfirmed === false ? phrases.sayOf(CARD_WORDS, "cannotSay") : "",
  ];
}

/** `Living room TRV: target temperature 17 °C`, with each value. */
function stepText(
  { action, parameters, agent, key, of }: AutomationStep,
  fact: CardStep | undefined,
  phrases: Phrases,
): string {
  const { part } = of === "hosted" ? actionParts(action) : {};
  const place = phrases.parts(
    placeText(fact?.device ?? { id: agent, key, name: agent }, phrases),
    part === undefined ? "" : slotText(part.replaceAll("_", " "), phrases),
  );
  return phrases.say("named", { name: place, text: actText({ action, parameters, of }, fact, phrases) });
}

function actText(
  { action, parameters, of }: Pick<AutomationStep, "action" | "parameters" | "of">,
  fact: CardStep | undefined,
  phrases: Phrases,
): string {
  const names = Object.keys(parameters).filter((name) => parameters[name] !== undefined);
  if (of === "agent")
    return phrases.parts(slotText(action, phrases), names.length === 0 ? "" : visibleJson(parameters));
  const { base, act } = actionParts(action);
  const { on } = parameters;
  const isSwitch = base === "set" && typeof on === "boolean";
  const verb = isSwitch
    ? phrases.act(on ? "turn_on" : "turn_off")
    : act !== undefined
      ? phrases.act(act)
      : base.startsWith("set")
        ? ""
        : slotText(action, phrases);
  const settings = names
    .filter((name) => !(isSwitch && name === "on"))
    .map((name) => {
      const unit = unitOf(name) ?? fact?.foreseen?.units[name];
      const value = parameters[name];
      return `${settingText(name, phrases)} ${valueText(value, unit, name, phrases) ?? visibleJson(value)}`;
    });
  return phrases.parts(verb, ...settings);
}

/** A name that reads like more than a label is not shown, and neither is an id that was made of it, unless that is short. */
function placeText({ id, key, name, area, isShared }: CardDevice, phrases: Phrases): string {
  const shownId = id.split(/[-_]+/).length <= ID_WORDS_MAX ? plainText(id, PLACE_MAX) : "";
  const kind = `${phrases.kind("device", 1)} ${plainText(key, KEY_SHOWN)}`;
  const isNamed = isPlainLabel(name);
  const shown = isNamed ? plainText(name, PLACE_MAX) : shownId || kind;
  const where = area !== undefined && isPlainLabel(area) ? plainText(area, PLACE_MAX) : "";
  const place = phrases.parts(shown, where);
  return isShared && isNamed ? `${place} (${shownId || kind})` : place;
}

/** A label that no chat app makes a link of. */
function isPlainLabel(name: string): boolean {
  return isLabel(name) && plainText(name, PLACE_MAX) === name;
}

function ifNotLine({ do: steps, go_on }: Automation, facts: CardFacts, phrases: Phrases): string {
  const waits = steps.flatMap((_, at) => {
    const { foreseen } = facts.steps[at] ?? {};
    return foreseen?.isConfirmed ? [foreseen.waitMs] : [];
  });
  if (waits.length === 0 && steps.length === 1) return "";
  const span = phrases.span(Math.max(...waits, 0));
  return phrases.sayOf(CARD_WORDS, go_on ? "ifNotGoOn" : "ifNotStop", { span });
}

// ── how it ends, and how often ────────────────────────────────────────────────────────────────────────

function overLine(
  { over, end, at_most_minutes: atMost, when, at }: Automation,
  facts: CardFacts,
  phrases: Phrases,
): string {
  if (over === "leave" && atMost === undefined) return phrases.sayOf(CARD_WORDS, "overLeave");
  const ends = end.map((step, index) => stepText(step, facts.ends[index], phrases));
  const text = over === "undo" ? phrases.sayOf(CARD_WORDS, "backToBefore") : phrases.list(ends, "plain");
  const span = phrases.span(Math.max(...when.map(({ condition }) => condition.clear_hold_ms), 0));
  const most = phrases.span((atMost ?? 0) * MINUTE_MS);
  const isMoment =
    at !== undefined || when.every(({ condition: { is } }) => is === "changes" || is === "happens");
  if (isMoment) return phrases.sayOf(CARD_WORDS, "overAfter", { most, text });
  return atMost === undefined
    ? phrases.sayOf(CARD_WORDS, "over", { span, text })
    : phrases.sayOf(CARD_WORDS, "overOrAfter", { span, most, text });
}

function whereLine(
  { an_hour: count, pause_ms, do: steps, end }: Automation,
  facts: CardFacts,
  phrases: Phrases,
): string {
  const isAtHome = [...steps, ...end].every(({ of, danger }) => of === "hosted" && danger !== "way_in");
  return phrases.sentences(
    phrases.sayOf(CARD_WORDS, "limits", { count, span: phrases.span(pause_ms) }),
    phrases.sayOf(CARD_WORDS, isAtHome ? "atHome" : "partlyAtHome"),
    facts.isOnBroker ? phrases.sayOf(CARD_WORDS, "password") : "",
  );
}

// ── what would have been ──────────────────────────────────────────────────────────────────────────────

function oftenLine({ dryRun }: CardFacts, phrases: Phrases): string {
  const { times = [], days = 1 } = dryRun ?? {};
  if (times.length <= OFTEN_A_DAY * days) return "";
  return phrases.sayOf(CARD_WORDS, "often", { count: Math.round(times.length / days) });
}

function dryRunText({ zone }: Automation, { dryRun, now }: CardFacts, phrases: Phrases): string {
  if (!dryRun) return phrases.sayOf(CARD_WORDS, "noHistory");
  const { times, since, hasPresence } = dryRun;
  const count = times.length;
  // The last ones are remembered best.
  const shown = times.slice(-TIMES_SHOWN).map((at) => phrases.time(at, zone, now));
  const text = phrases.list(count > TIMES_SHOWN ? ["…", ...shown] : shown, "plain");
  return phrases.sentences(
    count === 0
      ? phrases.sayOf(CARD_WORDS, "wouldNotRun")
      : phrases.sayOf(CARD_WORDS, "wouldRun", { count, times: text }),
    since === undefined
      ? ""
      : phrases.sayOf(CARD_WORDS, "historySince", { time: phrases.time(since, zone, now) }),
    hasPresence ? phrases.sayOf(CARD_WORDS, "presenceLeftOut") : "",
  );
}

function conflictsText({ circles, against }: CardFacts, phrases: Phrases): string {
  return phrases.sentences(
    circles.includes("") ? phrases.sayOf(CARD_WORDS, "actsOnItself") : "",
    ...circles
      .filter((name) => name !== "")
      .slice(0, RULES_SHOWN)
      .map((name) => phrases.sayOf(CARD_WORDS, "actOnEachOther", { name: plainText(name, RULE_NAME_MAX) })),
    ...against
      .slice(0, RULES_SHOWN)
      .map((name) => phrases.sayOf(CARD_WORDS, "against", { name: plainText(name, RULE_NAME_MAX) })),
  );
}

function sealedLine({ id, version }: Automation, { seal }: CardFacts, phrases: Phrases): string {
  return phrases.sentences(
    version === 1 ? "" : phrases.sayOf(CARD_WORDS, "replaces", { version: String(version - 1) }),
    phrases.sayOf(CARD_WORDS, "sealed", { id, version: String(version), seal }),
  );
}

function secondTaps(rule: Automation, facts: CardFacts, phrases: Phrases): string[] {
  const span = phrases.span((rule.at_most_minutes ?? 0) * MINUTE_MS);
  const taps = [
    ...rule.do.map((step, at) => ({ step, fact: facts.steps[at] })),
    ...rule.end.map((step, at) => ({ step, fact: facts.ends[at] })),
  ].flatMap(({ step, fact }) => {
    const text = stepText(step, fact, phrases);
    switch (step.danger) {
      case "heat":
        return [phrases.sayOf(CARD_WORDS, "tapHeat", { step: text, span })];
      case "way_closes":
        return [phrases.sayOf(CARD_WORDS, "tapCloses", { step: text })];
      case "noise":
        return [phrases.sayOf(CARD_WORDS, "tapNoise", { step: text })];
      default:
        return [];
    }
  });
  return taps;
}

function namesText(names: readonly string[], phrases: Phrases): string {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => plainText(name, PLACE_MAX));
  return phrases.list(names.length > NAMES_SHOWN ? [...shown, "…"] : shown, "plain");
}
