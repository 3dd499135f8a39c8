/** The card of a rule that acts: each field of it is in its words, and no sign that is not seen. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textTokens } from "../loop/tokens.ts";
import { de as deData } from "../phrases/languages/de.ts";
import { zh as zhData } from "../phrases/languages/zh.ts";
import { ENGLISH, Phrases } from "../phrases/phrases.ts";
import { canonicalJson } from "../protocol/approval.ts";
import { Automation } from "../protocol/automation.ts";
import { check, jsonSchema } from "../protocol/parse.ts";
import { schemaForModels } from "../tools/schema-for-models.ts";
import { type CardFacts, cardOf } from "./card.ts";
import { AUTOMATE_TOOL } from "./tool.ts";
import * as de from "./words/de.ts";
import * as zh from "./words/zh.ts";

const LANGUAGES = [
  ENGLISH,
  new Phrases({ ...deData, more: de.card }),
  new Phrases({ ...zhData, more: zh.card }),
];

/** What a stranger, a model or a person may write. */
const text = (maxLength: number) =>
  fc.oneof(
    fc.string({ minLength: 1, maxLength }),
    fc.string({ unit: "binary", minLength: 1, maxLength }),
    fc
      .constantFrom("Lamp\u202eoff", "La\u200bmp", "a\nThen: b", "\u001b[2J", "Lamp", "Front door")
      .map((one) => one.slice(0, maxLength)),
  );
const id = fc.constantFrom("front-door", "hall-light", "boiler");
const minutes = fc.constantFrom(1, 5, 30);

const condition = fc.record({
  of: fc.constant("hosted" as const),
  key: fc.constantFrom("k1", "k2"),
  agent: id,
  condition: fc.oneof(
    fc.record({
      ...shared(),
      reading: fc.constantFrom("temperature", "humidity"),
      type: fc.constant("number" as const),
      is: fc.constantFrom("above" as const, "below" as const),
      value: fc.constantFrom(18, 21, 26),
      unit: fc.constantFrom("°C", "%"),
      hysteresis: fc.constantFrom(0, 0.1, 1),
    }),
    fc.record({
      ...shared(),
      reading: fc.constantFrom("contact", "motion"),
      type: fc.constant("boolean" as const),
      is: fc.constantFrom("equal" as const, "not_equal" as const),
      value: fc.boolean(),
      hysteresis: fc.constant(0),
    }),
  ),
});

function shared() {
  return {
    id: fc.constant("w-12ab0"),
    version: fc.constant(1),
    hold_ms: fc.constantFrom(0, 60_000, 300_000),
    clear_hold_ms: fc.constantFrom(0, 60_000),
    repeat: fc.constant("each_time" as const),
    tell_own: fc.constant(false),
  };
}

const step = fc.record(
  {
    of: fc.constant("hosted" as const),
    key: fc.constantFrom("k1", "k2"),
    agent: id,
    action: fc.constantFrom("set", "set_left", "open", "close", "stop"),
    parameters: fc.constantFrom(
      {},
      { on: true },
      { on: false },
      { temperature: 17 },
      { temperature: 21 },
      { rgb: [1, 2, 3] },
    ),
    allow: fc.constantFrom("h1", "h2"),
    wait_minutes: minutes,
    danger: fc.constantFrom("way_in" as const, "heat" as const, "noise" as const, "way_closes" as const),
  },
  { requiredKeys: ["of", "key", "agent", "action", "parameters", "allow"] },
);

const days = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 });
const onlyIf = fc.record(
  {
    presence: fc.constantFrom("nobody_home" as const, "somebody_home" as const),
    between: fc.record({
      from: fc.constantFrom(0, 600),
      to: fc.constantFrom(300, 1_320),
      zone: fc.constant("Europe/Berlin"),
    }),
    days,
  },
  { requiredKeys: [] },
);

const automation: fc.Arbitrary<Automation> = fc.record(
  {
    id: fc.constantFrom("a-0001", "a-0002"),
    version: fc.constantFrom(1, 2),
    name: text(60),
    say: text(200),
    match: fc.constantFrom("all" as const, "any" as const),
    when: fc.array(condition, { minLength: 1, maxLength: 4 }),
    only_if: onlyIf,
    do: fc.array(step, { minLength: 1, maxLength: 6 }),
    over: fc.constantFrom("leave" as const, "off" as const, "undo" as const),
    end: fc.array(step, { maxLength: 3 }),
    at_most_minutes: minutes,
    go_on: fc.boolean(),
    pause_ms: fc.constantFrom(60_000, 600_000),
    an_hour: fc.constantFrom(1, 12),
    zone: fc.constantFrom("Europe/Berlin", "America/New_York"),
  },
  {
    requiredKeys: [
      "id",
      "version",
      "name",
      "match",
      "when",
      "do",
      "over",
      "end",
      "go_on",
      "pause_ms",
      "an_hour",
      "zone",
    ],
  },
);

/** The words alone, or with the signs of the hash of all. */
function shown(rule: Automation, phrases: Phrases, seal = "") {
  const device = ({ agent, key }: { agent: string; key: string }) => ({
    id: agent,
    key,
    name: agent,
    area: key,
  });
  const steps = (all: Automation["do"]) =>
    all.map((one) => ({
      device: device(one),
      foreseen: { isConfirmed: true, waitMs: 15_000, before: {}, units: {} },
    }));
  const facts: CardFacts = {
    when: rule.when.map((one) => ({ device: device(one) })),
    steps: steps(rule.do),
    ends: steps(rule.end),
    presence: ["Anna"],
    isSo: false,
    isOnBroker: true,
    dryRun: null,
    circles: [],
    against: [],
    seal,
    now: 0,
  };
  return cardOf(rule, facts, phrases);
}

const sealOf = (rule: Automation) => canonicalJson(rule);

test("the generated rules are such as the wire takes", () => {
  fc.assert(
    fc.property(automation, (rule) => {
      expect(check(Automation, rule)).toMatchObject({ ok: true });
    }),
    { numRuns: 50 },
  );
});

test.each(LANGUAGES)("in $language two rules that differ have different cards", (phrases) => {
  fc.assert(
    fc.property(automation, automation, (a, b) => {
      fc.pre(canonicalJson(a) !== canonicalJson(b));
      expect(shown(a, phrases, sealOf(a))).not.toEqual(shown(b, phrases, sealOf(b)));
    }),
    { numRuns: 200 },
  );
});

/** Each field alone, as words: what no person reads, as hashes and keys, is in the last line. */
const CHANGES: [string, (rule: Automation) => Partial<Automation>][] = [
  ["name", () => ({ name: "Another" })],
  ["say", () => ({ say: "Other words" })],
  ["match", ({ match }) => ({ match: match === "all" ? "any" : "all" })],
  ["over", () => ({ over: "undo" })],
  ["at_most_minutes", () => ({ at_most_minutes: 55 })],
  ["go_on", ({ go_on }) => ({ go_on: !go_on })],
  ["pause_ms", () => ({ pause_ms: 7_200_000 })],
  ["an_hour", () => ({ an_hour: 7 })],
  ["at", () => ({ when: [], at: { of: "sunset", minutes: -30 } })],
  ["only_if", () => ({ only_if: { presence: "somebody_home", days: [2] } })],
  ["do", ({ do: steps }) => ({ do: [...steps.slice(0, 5), { ...steps[0], action: "toggle" } as never] })],
  [
    "parameters",
    ({ do: [first, ...rest] }) => ({ do: [{ ...first, parameters: { position: 77 } } as never, ...rest] }),
  ],
  ["wait", ({ do: [first, ...rest] }) => ({ do: [{ ...first, wait_minutes: 44 } as never, ...rest] })],
  [
    "end",
    () => ({
      over: "off",
      end: [{ of: "hosted", key: "k1", agent: "boiler", action: "close", parameters: {}, allow: "h" }],
    }),
  ],
  [
    "a limit",
    ({ when: [first, ...rest] }) => ({
      when: [other(first, { is: "above", type: "number", value: 99 }), ...rest],
    }),
  ],
  ["a hold", ({ when: [first, ...rest] }) => ({ when: [other(first, { hold_ms: 780_000 }), ...rest] })],
  [
    "a hysteresis",
    ({ when: [first, ...rest] }) => ({
      when: [other(first, { is: "above", type: "number", value: 9, hysteresis: 0.7 }), ...rest],
    }),
  ],
];

function other(one: Automation["when"][number] | undefined, more: object): Automation["when"][number] {
  return { ...one, condition: { ...one?.condition, ...more } } as Automation["when"][number];
}

test.each(CHANGES)("%s is in words", (_, change) => {
  fc.assert(
    fc.property(automation, (made) => {
      const rule: Automation = {
        ...made,
        over: "off",
        at_most_minutes: 30,
        do: [...made.do, ...made.do].slice(0, 2),
        when: [...made.when, ...made.when].slice(0, 2),
      };
      const changed = { ...rule, ...change(rule) };
      fc.pre(canonicalJson(rule) !== canonicalJson(changed));
      for (const phrases of LANGUAGES) expect(shown(changed, phrases)).not.toEqual(shown(rule, phrases));
    }),
    { numRuns: 30 },
  );
});

test("no line has a sign that is not seen, or is one that the wire does not take", () => {
  fc.assert(
    fc.property(automation, text(80), (rule, name) => {
      for (const phrases of LANGUAGES) {
        const hostile = { ...rule, do: rule.do.map((one) => ({ ...one, agent: "x" })) };
        const { card, second_tap } = shown(hostile, phrases, "s");
        const named = cardOf(
          hostile,
          {
            ...factsOf(hostile, name),
          },
          phrases,
        );
        for (const line of [...card, ...second_tap, ...named.card, ...named.second_tap])
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(card.length).toBeLessThanOrEqual(20);
        expect(Math.max(...card.map((line) => line.length))).toBeLessThanOrEqual(500);
      }
    }),
    { numRuns: 200 },
  );
});

test("a version that takes the place of another says so", () => {
  fc.assert(
    fc.property(automation, (rule) => {
      const last = (version: number) => shown({ ...rule, version }, ENGLISH, "s").card.at(-1);
      const sealed = (version: number) => `${rule.id}, version ${version}, for exactly these devices (s).`;
      expect(last(1)).toBe(sealed(1));
      expect(last(3)).toBe(`It takes the place of version 2 of this rule. ${sealed(3)}`);
    }),
    { numRuns: 20 },
  );
});

function factsOf(rule: Automation, name: string): CardFacts {
  const device = { id: name, key: name, name, area: name, isShared: true };
  return {
    when: rule.when.map(() => ({ device, words: { yes: name, no: name } })),
    steps: rule.do.map(() => ({
      device,
      foreseen: { isConfirmed: false, waitMs: 1, before: { on: { value: name, unit: name } }, units: {} },
    })),
    ends: rule.end.map(() => ({ device })),
    presence: [name],
    isSo: true,
    isOnBroker: true,
    dryRun: { times: [0], days: 7, since: 0, hasPresence: true },
    circles: ["", name],
    against: [name],
    seal: "s",
    now: 0,
  };
}

describe("the tool", () => {
  test("has a schema of at most 350 tokens", () => {
    const { name, description, input } = AUTOMATE_TOOL;
    const parameters = schemaForModels(jsonSchema(input));
    expect(textTokens(JSON.stringify({ name, description, parameters }))).toBeLessThanOrEqual(350);
  });
});
