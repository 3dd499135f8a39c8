import { describe, expect, test } from "vitest";
import { textTokens } from "../loop/tokens.ts";
import { check, jsonSchema } from "../protocol/parse.ts";
import { parseArguments } from "../tools/arguments.ts";
import { textOf } from "../tools/contract.ts";
import {
  type AckInput,
  checkRules,
  checkWatch,
  RULE_TOOLS,
  type RulesInput,
  type WatchInput,
} from "./tools.ts";

/** What a model sees. */
const SHOWN = {
  watch: {
    type: "object",
    additionalProperties: false,
    required: ["name", "agent_id", "reading", "is"],
    properties: {
      name: {
        type: "string",
        maxLength: 60,
        description: "what the person will read, e.g. Freezer too warm",
      },
      agent_id: { type: "string" },
      reading: {
        type: "string",
        description: "an action that only reads, a state of the device, or presence",
      },
      field: { type: "string", description: "which value, of several" },
      is: {
        type: "string",
        enum: ["above", "below", "equal", "not_equal", "changes", "offline", "online", "happens"],
      },
      value: { type: ["number", "string", "boolean"] },
      for_minutes: { type: "number", minimum: 0, maximum: 1440 },
      check_seconds: { type: "integer" },
      repeat: { type: "string", enum: ["once", "each_time", "until_ack"] },
      severity: { type: "string", enum: ["info", "warning", "critical"] },
      only_between: { type: "string", description: "HH:MM-HH:MM" },
      say: { type: "string", maxLength: 200 },
      to: { type: "string", description: "owners, or as telegram:family; leave out for this conversation" },
      then_to: { type: "string" },
      then_minutes: { type: "number" },
    },
  },
  remind: {
    type: "object",
    additionalProperties: false,
    required: ["text"],
    properties: {
      text: { type: "string", maxLength: 500 },
      in_minutes: { type: "number", minimum: 1, maximum: 525600 },
      at_date: {
        type: "string",
        description: "YYYY-MM-DD HH:MM in the home's time",
      },
      every: { type: "string", enum: ["day", "weekday", "weekend", "week", "month", "hour"] },
      at: { type: "string", pattern: "^\\d\\d:\\d\\d$" },
      days: {
        type: "array",
        items: { type: "string", enum: ["mo", "tu", "we", "th", "fr", "sa", "su"] },
      },
      do: {
        type: "string",
        enum: ["say", "brief"],
        description: "brief: then read devices and write what the text asks for",
      },
      to: { type: "string" },
    },
  },
  rules: {
    type: "object",
    additionalProperties: false,
    required: ["do"],
    properties: {
      do: { type: "string", enum: ["list", "pause", "resume", "cancel", "history"] },
      of: { type: "string" },
      name: { type: "string", maxLength: 60 },
      id: { type: "string" },
    },
  },
  ack: {
    type: "object",
    additionalProperties: false,
    properties: {
      id: {
        type: "string",
        description: "leave out for all that are firing here",
      },
      snooze_minutes: { type: "number", minimum: 1, maximum: 10080 },
    },
  },
};

test("the schemas that a model gets", () => {
  for (const name of ["ack", "remind", "rules", "watch"] as const)
    expect(jsonSchema(RULE_TOOLS[name].input)).toEqual(SHOWN[name]);
  expect(Object.keys(RULE_TOOLS)).toEqual(["ack", "remind", "rules", "watch"]);
});

test("all four cost at most 800 tokens of a model call", () => {
  const tokens = Object.values(RULE_TOOLS).map(({ name, description, input }) =>
    textTokens(name + description + JSON.stringify(jsonSchema(input))),
  );
  expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(800);
});

describe("arguments as models write them", () => {
  const parsed = (name: keyof typeof RULE_TOOLS, args: Record<string, unknown>) => {
    const read = parseArguments(RULE_TOOLS[name], args);
    return read.ok ? read.input : textOf(read.fault);
  };

  test("numbers as text, and empty fields", () => {
    const args = { name: "x", agent_id: "a", reading: "t", is: "above", value: -15, for_minutes: "10" };
    expect(parsed("watch", { ...args, to: "", say: null, field: "" })).toEqual({ ...args, for_minutes: 10 });
    expect(parsed("ack", { id: "", snooze_minutes: "60" })).toEqual({
      snooze_minutes: 60,
    } satisfies AckInput);
    expect(parsed("remind", { text: "x", every: "week", days: '["mo"]' })).toEqual({
      text: "x",
      every: "week",
      days: ["mo"],
    });
  });

  test.each([
    ["watch", { agent_id: "a" }, /missing 'name'/],
    ["watch", { name: "x", agent_id: "a", reading: "t", is: "over" }, /is: .*above.*below/],
    [
      "watch",
      { name: "x", agent_id: "a", reading: "t", is: "above", only_between: "10pm-7am" },
      /only_between: expected HH:MM-HH:MM, as in 22:00-07:00/,
    ],
    ["watch", { name: "x".repeat(61), agent_id: "a", reading: "t", is: "above" }, /name: .*60/],
    [
      "remind",
      { text: "x", at_date: "tomorrow" },
      /at_date: expected YYYY-MM-DD HH:MM, as in 2026-11-30 08:00/,
    ],
    ["remind", { text: "x", in_minutes: 0 }, /in_minutes: .*1/],
    ["remind", { text: "x", cron: "0 8 * * *" }, /cron/],
    ["ack", { id: "7f2c" }, /id: expected a rule's id, as in w-7f2c/],
    ["ack", { snooze_minutes: 20_000 }, /snooze_minutes: .*10080/],
    ["rules", { do: "delete" }, /do: .*cancel/],
  ] as const)("%s %j", (name, args, error) => {
    expect(parsed(name, args)).toMatch(error);
  });
});

describe("what belongs together in a watch", () => {
  const watch = (more: Partial<WatchInput>): WatchInput => ({
    name: "x",
    agent_id: "freezer",
    reading: "temperature",
    is: "above",
    value: -15,
    ...more,
  });

  test.each<[Partial<WatchInput>, RegExp]>([
    [{ value: undefined }, /^value: 'above' needs a number to compare with, as in -15$/],
    [{ is: "equal", value: undefined }, /^value: 'equal' needs what to compare with/],
    [{ is: "changes" }, /^value: leave it out with 'changes'/],
    [{ is: "offline", reading: "presence" }, /^value: leave it out with 'offline'/],
    [
      { is: "equal", value: "unavailable" },
      /^value: 'unavailable' .* use is: offline, with reading: presence/,
    ],
    [{ is: "offline", value: undefined }, /^reading: 'offline' is about presence/],
    [{ reading: "presence" }, /^is: presence is offline or online, not 'above'/],
    [{ is: "happens", value: undefined, for_minutes: 5 }, /^for_minutes: leave it out with 'happens'/],
    [{ then_to: "owners", then_minutes: 0.5 }, /^then_minutes: expected 1 to 1440$/],
    [{ then_minutes: 5 }, /^then_minutes: it needs 'then_to'/],
    [{ then_to: "owners", repeat: "once" }, /^then_to: leave it out with repeat: once/],
  ])("%j", (more, error) => {
    const { value, ...rest } = watch(more);
    const input = value === undefined ? rest : { ...rest, value };
    expect(check(RULE_TOOLS.watch.input, input).ok).toBe(true);
    expect(checkWatch(input)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  test("what is right stays as it is", () => {
    for (const input of [watch({}), watch({ is: "equal", value: "open" }), watch({ for_minutes: 0 })])
      expect(checkWatch(input)).toEqual({ ok: true, value: input });
  });
});

test("all of `rules` but the list name a rule", () => {
  const list: RulesInput = { do: "list" };
  expect(checkRules(list)).toEqual({ ok: true, value: list });
  expect(checkRules({ do: "list", of: "reminder" }).ok).toBe(true);
  expect(checkRules({ do: "cancel", of: "reminder", id: "w-7f2c" })).toEqual({
    ok: false,
    error: "of: leave it out with 'cancel', which is of one rule",
  });
  expect(checkRules({ do: "cancel", id: "w-7f2c" }).ok).toBe(true);
  expect(checkRules({ do: "cancel" })).toEqual({
    ok: false,
    error: "name: 'cancel' needs the name of a rule, or its id",
  });
});
