import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { makeWatch, type ReadingOption, type WatchedDevice } from "./make-watch.ts";
import { NOON } from "./testkit/rules.ts";
import type { WatchInput } from "./tools.ts";
import { conditionOf, WatchRule } from "./watch-rule.ts";

const freezer: WatchedDevice = {
  name: "Freezer",
  source: { of: "agent", key: "key-1" },
  readings: [
    {
      name: "temperature",
      type: "number",
      unit: "°C",
      now: { value: "-18.2", at: NOON },
      every_ms: MINUTE_MS,
    },
    { name: "humidity", type: "number", unit: "%" },
    { name: "door", type: "boolean", words: { yes: "open", no: "closed" } },
    { name: "mode", type: "text", values: ["eco", "fast"] },
    { name: "button", type: "text", event: true },
    { name: "sensors", field: "cpu-thermal", type: "number", unit: "°C" },
    { name: "sensors", field: "nvme", type: "number", unit: "°C" },
  ],
};
const ask = (more: Partial<WatchInput> = {}): WatchInput => ({
  name: "Freezer too warm",
  agent_id: "freezer",
  reading: "temperature",
  is: "above",
  value: -15,
  ...more,
});
const made = (input: WatchInput, device = freezer) =>
  makeWatch(input, { id: "w-7f2c", device, zone: "Europe/Berlin" });
/** @throws with the error */
function rule(input: WatchInput, device = freezer): WatchRule {
  const watch = made(input, device);
  if (!watch.ok) throw new Error(watch.error);
  return watch.value;
}
const without = ({ value: _, ...input }: WatchInput): WatchInput => input;

test("a device that is asked is asked as often as one wants, with a look within the hold", () => {
  expect(rule(ask({ check_seconds: 10, for_minutes: 0 }))).toMatchObject({ check_s: 10, hold_ms: 0 });
  expect(rule(ask({ check_seconds: 600 }))).toMatchObject({
    check_s: 600,
    hold_ms: 10 * MINUTE_MS,
    stale_ms: 100 * MINUTE_MS,
  });
  expect(made(ask({ check_seconds: 600, for_minutes: 5 }))).toEqual({
    ok: false,
    error: "check_seconds: it would look at most once in these 5 min; expected at most 300",
  });
  // It says by itself when it changes.
  const hosted: WatchedDevice = { ...freezer, source: { of: "hosted", key: "key-2" } };
  expect(rule(ask({ check_seconds: 600 }), hosted)).not.toHaveProperty("check_s");
  expect(rule(ask())).not.toHaveProperty("check_s");
  expect(conditionOf(rule(ask({ check_seconds: 10 })))).not.toHaveProperty("check_s");
});

test("V2: a number that its device tells as a text, without a unit, can be compared as a number", () => {
  const count = { name: "people", type: "text", now: { value: "3", at: NOON } } as const;
  const camera = { ...freezer, readings: [count] };
  expect(rule(ask({ reading: "people", value: 5 }), camera)).toMatchObject({ type: "number", value: 5 });
  expect(rule(ask({ reading: "people", is: "equal", value: "007" }), camera)).toMatchObject({
    type: "text",
    value: "007",
  });
});

test("a threshold, with defaults that do not flap", () => {
  expect(rule(ask())).toEqual({
    id: "w-7f2c",
    version: 1,
    name: "Freezer too warm",
    source: { of: "agent", key: "key-1" },
    reading: "temperature",
    type: "number",
    is: "above",
    value: -15,
    unit: "°C",
    hysteresis: 0.3,
    hold_ms: MINUTE_MS,
    clear_hold_ms: MINUTE_MS,
    stale_ms: 10 * MINUTE_MS,
    repeat: "each_time",
    tell_own: false,
    severity: "info",
    cooldown_ms: 30 * MINUTE_MS,
    tell_stale: false,
  });
  expect(WatchRule.parse(rule(ask()))).toEqual(rule(ask()));
});

test("what the model gave stands", () => {
  const watch = rule(
    ask({
      name: " Freezer ",
      value: "-15,5",
      for_minutes: 30,
      repeat: "until_ack",
      severity: "critical",
      only_between: "22:00-07:00",
      say: "Close it.",
    }),
  );
  expect(watch).toMatchObject({
    name: "Freezer",
    value: -15.5,
    hold_ms: 30 * MINUTE_MS,
    clear_hold_ms: 10 * MINUTE_MS,
    repeat: "until_ack",
    severity: "critical",
    only_between: { from: 1_320, to: 420, zone: "Europe/Berlin" },
    say: "Close it.",
    tell_stale: true,
    tell_own: true,
  });
});

describe("defaults by what is watched", () => {
  test.each<[string, WatchInput, Partial<WatchRule>]>([
    [
      "a contact counts at once, and its end after a minute",
      ask({ reading: "door", is: "equal", value: "Open" }),
      {
        value: true,
        hold_ms: 0,
        clear_hold_ms: MINUTE_MS,
        hysteresis: 0,
        words: { yes: "open", no: "closed" },
      },
    ],
    ["an event", without(ask({ reading: "button", is: "happens" })), { hold_ms: 0, clear_hold_ms: 0 }],
    [
      "offline",
      without(ask({ reading: "presence", is: "offline" })),
      { source: { of: "presence", device: "agent", key: "key-1" }, type: "boolean", hold_ms: 5 * MINUTE_MS },
    ],
    ["online", without(ask({ reading: "presence", is: "online" })), { hold_ms: 0, clear_hold_ms: MINUTE_MS }],
    ["at once, as asked", ask({ for_minutes: 0 }), { hold_ms: 0, clear_hold_ms: MINUTE_MS }],
    [
      "any change by one step of the sensor or 2 %",
      without(ask({ is: "changes" })),
      { hold_ms: 0, hysteresis: 0.364 },
    ],
    ["around zero, one step", ask({ value: 0 }), { hysteresis: 0.1 }],
    ["a number that is met exactly", ask({ is: "equal", value: 0 }), { hysteresis: 0, hold_ms: MINUTE_MS }],
    ["without a known value, 2 %", ask({ reading: "humidity", value: 60 }), { hysteresis: 1.2 }],
  ])("%s", (_, input, expected) => {
    expect(rule(input)).toMatchObject(expected);
  });

  test("a device that speaks by itself is never silent for too long", () => {
    expect(rule(ask({ reading: "humidity", value: 60 }))).not.toHaveProperty("stale_ms");
    const slow: ReadingOption = { name: "level", type: "number", every_ms: HOUR_MS };
    expect(rule(ask({ reading: "level" }), { ...freezer, readings: [slow] }).stale_ms).toBe(10 * HOUR_MS);
  });

  test("the bridge is watched by its presence", () => {
    const bridge: WatchedDevice = { name: "bridge", source: { of: "bridge" }, readings: [] };
    expect(rule(without(ask({ reading: "presence", is: "offline" })), bridge).source).toEqual({
      of: "bridge",
    });
  });
});

describe("readings and their fields", () => {
  test("by name, without regard to case; one of several by its field", () => {
    expect(rule(ask({ reading: "Temperature" })).reading).toBe("temperature");
    expect(rule(ask({ reading: "sensors", field: "NVME" }))).toMatchObject({
      reading: "sensors",
      field: "nvme",
    });
    expect(rule(ask({ field: "temperature" }))).not.toHaveProperty("field");
  });

  test.each<[WatchInput, RegExp]>([
    [
      ask({ reading: "temp" }),
      /^reading: Freezer has no reading 'temp'\. It has: temperature \(°C\), humidity \(%\), door, mode, button, sensors \(°C\)\.$/,
    ],
    [ask({ reading: "temperatur" }), / Did you mean 'temperature'\?$/],
    [
      ask({ reading: "sensors" }),
      /^field: 'sensors' of Freezer has several values, name one: cpu-thermal \(°C\), nvme \(°C\)\.$/,
    ],
    [
      ask({ reading: "sensors", field: "gpu" }),
      /^field: 'sensors' of Freezer has no value 'gpu'\. It has: cpu-thermal/,
    ],
    [ask({ field: "inside" }), /^field: 'temperature' of Freezer has no value 'inside'/],
    [ask({ reading: "door" }), /^is: door is no number; use 'equal', as in open$/],
    [ask({ reading: "mode", value: "eco" }), /^is: mode is no number; use 'equal', as in eco$/],
    [ask({ value: "warm" }), /^value: temperature is a number in °C, not 'warm'$/],
    [ask({ reading: "door", is: "equal", value: "ajar" }), /^value: door is open or closed, not 'ajar'$/],
    [ask({ reading: "mode", is: "equal", value: "slow" }), /^value: mode is one of eco, fast, not 'slow'$/],
    [without(ask({ is: "happens" })), /^is: temperature has values, so it 'changes'/],
    [without(ask({ reading: "button", is: "changes" })), /^is: button is an event, so it 'happens'$/],
    [without(ask()), /^value: 'above' needs a number/],
    [ask({ only_between: "22:00-25:00" }), /^only_between: expected HH:MM-HH:MM/],
    [ask({ name: "  " }), /^name: /],
  ])("%j is refused in words", (input, error) => {
    expect(made(input)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });

  test("a device without readings, and one with many", () => {
    expect(made(ask(), { ...freezer, readings: [] })).toMatchObject({
      error: "reading: Freezer has no reading 'temperature'. It has: nothing that can be watched.",
    });
    const readings = Array.from({ length: 30 }, (_, n): ReadingOption => ({ name: `r${n}`, type: "number" }));
    expect(made(ask({ reading: "zzzz" }), { ...freezer, readings })).toMatchObject({
      error: expect.stringMatching(/r19, and 10 more\.$/),
    });
  });
});
