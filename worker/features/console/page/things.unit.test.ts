import type { AgentView, DeviceView } from "@edgecall/client/routes.ts";
import { describe, expect, test } from "vitest";
import { approvalText } from "./approval-text.ts";
import { newestRuns, stateOf } from "./automations/automation.ts";
import { happeningsOf } from "./home/happenings.ts";
import { areasOf, chipsOf, needsOf } from "./home/summary.ts";
import { whoText } from "./permission-text.ts";
import { callerText } from "./person-text.ts";
import { climateOf, nameWithin, thingsOf } from "./things.ts";

type Reading = NonNullable<DeviceView["readings"]>[number];
const NOW = Date.parse("2026-11-27T14:00:00Z");

const reading = (name: string, value: Reading["value"], more: Partial<Reading> = {}): Reading => ({
  name,
  value,
  text: String(value),
  kind: "sensor",
  at: NOW - 1_000,
  tainted: false,
  ...more,
});
const action = (name: string, properties: object = {}, more: object = {}) => ({
  name,
  description: "",
  parameters: { type: "object", properties },
  effect: "device",
  ...more,
});
const SET = action("set", { on: { type: "boolean" } });

function device(name: string, more: Partial<DeviceView> = {}): DeviceView {
  return {
    id: name.toLowerCase().replaceAll(" ", "-"),
    name,
    area: "Kitchen",
    own: { name: null, area: null },
    line: "",
    model: null,
    publisher: null,
    online: true,
    last_seen: NOW,
    ghost: false,
    mode: "allowed",
    chosen: false,
    allow: "a",
    allowed_by: null,
    allowed_at: null,
    changed: false,
    actions: [],
    settings: { offered: false, actions: [] },
    readings: [],
    not_offered: [],
    ...more,
  };
}
const lamp = (name: string, on: boolean, more: Partial<DeviceView> = {}) =>
  device(name, {
    actions: [SET],
    readings: [
      reading("light", on, { kind: "light", text: on ? "on" : "off" }),
      reading("brightness", 60, { kind: "light", unit: "%", text: "60 %" }),
    ],
    ...more,
  });
const machine = (id: string, online: boolean): AgentView => ({
  id,
  online,
  status: online ? "idle" : "offline",
  last_seen: NOW - 720_000,
  last_active: null,
  type: null,
  version: "0.3.0",
  capabilities: "",
  foreign: false,
  paired: true,
  features: [],
  actions: [],
  counts: { calls: 0, success: 0, error: 0, open: 0 },
});
const [only] = [(one: DeviceView) => thingsOf([one], [], true)[0]];

describe("a thing", () => {
  test("has its state first, with what belongs to it, and one press", () => {
    expect(only(lamp("Reading lamp", true))).toMatchObject({
      state: "On · 60 %",
      tone: "on",
      press: { action: "set", parameters: { on: false }, label: "Turn off" },
    });
    expect(only(lamp("Reading lamp", false))).toMatchObject({
      state: "Off",
      press: { parameters: { on: true } },
    });
  });

  test("N5: a retained state is shown, and its age is not known", () => {
    const lock = device("Front door", {
      readings: [reading("lock", "locked", { kind: "lock", text: "locked", at: null })],
    });
    expect(only(lock)).toMatchObject({ state: "Locked", at: null, kind: "door" });
  });

  test("N5: what is not available cannot be pressed, under a device that is online", () => {
    const gone = lamp("Lamp", true);
    const readings = (gone.readings ?? []).map((one) => ({ ...one, unavailable: true }));
    expect(only({ ...gone, readings })).toMatchObject({
      tone: "gone",
      press: undefined,
      usable: false,
      state: "No answer",
      wrong: ["No answer"],
    });
    expect(only({ ...gone, online: false })).toMatchObject({ state: "Offline", press: undefined });
  });

  test.each([
    ["of a dangerous kind", { actions: [{ ...SET, dangerous: true as const }] }],
    ["of a device that may only be read", { mode: "read" as const }],
    ["of one that is switched off here", { mode: "off" as const }],
    ["of one that is offline", { online: false }],
  ])("no press %s", (_, more) => {
    expect(only(lamp("Lamp", false, more))?.press).toBeUndefined();
  });

  test("nor for a person who may not command", () => {
    expect(thingsOf([lamp("Lamp", false)], [], false)[0]?.press).toBeUndefined();
  });

  test("a measured value is rounded for the eye, a text is not", () => {
    const warm = device("Sensor", {
      readings: [reading("temperature", 21.17, { class: "temperature", unit: "°C", text: "21.17 °C" })],
    });
    expect(only(warm)?.state).toBe("21.2 °C");
    const cold = device("Freezer", {
      readings: [reading("temperature", -16.52, { class: "temperature", unit: "°C", text: "-16.52 °C" })],
    });
    expect(only(cold)?.state).toBe("−16.5 °C");
  });

  test("hostile names stay data", () => {
    expect(only(device("a‮b", { area: null }))?.name).not.toContain("‮");
  });

  test("its name within its area does not say the area again", () => {
    expect(nameWithin({ name: "Bathroom light", area: "Bathroom" })).toBe("Light");
    expect(nameWithin({ name: "Bathroomlight", area: "Bathroom" })).toBe("Bathroomlight");
    expect(nameWithin({ name: "Bathroom", area: "Bathroom" })).toBe("Bathroom");
    expect(nameWithin({ name: "Attic", area: null })).toBe("Attic");
  });
});

test("what needs a look: fires first, then what is wrong, then what is away; what is switched off here does not", () => {
  const leak = device("Leak", {
    readings: [reading("leak", true, { kind: "binary_sensor", class: "moisture", text: "wet" })],
  });
  const low = device("Door", {
    readings: [
      reading("door", false, { kind: "binary_sensor", class: "door", text: "closed" }),
      reading("battery", 8, { class: "battery", unit: "%", text: "8 %" }),
    ],
  });
  const off = device("Old", { online: false, mode: "off" });
  const things = thingsOf(
    [low, leak, off, lamp("Away", false, { online: false })],
    [machine("garden-pi", false)],
    true,
  );
  const firing = {
    ...{
      id: "w-1",
      kind: "watch",
      name: "Freezer too warm",
      status: "active",
      why: null,
      condition: "above −15 °C",
    },
    ...{
      device: "Freezer",
      state: "firing",
      last_firing: NOW - 60_000,
      by: "ann",
      channel: "api",
      conversation: "c",
    },
    ...{
      to: "you here",
      made_at: 0,
      history: [{ occurrence: 3, at: NOW - 60_000, until: null, acked_by: null }],
    },
  } as unknown as Parameters<typeof needsOf>[1][number];
  const needs = needsOf(things, [firing]);
  // The one that is shown is answered, and none that fires since.
  expect(needs[0]?.firing).toEqual({ rule: "w-1", occurrence: 3 });
  expect(needs.map(({ title }) => title)).toEqual([
    "Freezer too warm",
    "Leak: Wet",
    "Away: Offline",
    "Door: battery low (8 %)",
    "garden-pi: Offline",
  ]);
});

test("areas: four tiles matter most, what has no area comes after, machines last", () => {
  const devices = [
    device("Thermo", { readings: [reading("t", 20, { class: "temperature" })] }),
    lamp("A", false),
    lamp("B", true),
    lamp("C", false, { area: null }),
    device("Window", {
      readings: [reading("w", true, { kind: "binary_sensor", class: "window", text: "open" })],
    }),
  ];
  const areas = areasOf(thingsOf(devices, [machine("pi", true)], true));
  expect(areas.map(({ name }) => name)).toEqual(["Kitchen", "No area", "Machines"]);
  expect(areas[0]?.things.map(({ name }) => name)).toEqual(["Window", "B", "A", "Thermo"]);
});

test("a room's climate: a sensor of both before a heating before a thermometer", () => {
  const unit = { class: "temperature", unit: "°C" };
  const freezer = device("Freezer", { readings: [reading("temperature", -16, { ...unit, text: "-16 °C" })] });
  const both = device("Sensor", {
    readings: [
      reading("humidity", 48.06, { class: "humidity", unit: "%", text: "48.06 %" }),
      reading("temperature", 21.17, { ...unit, text: "21.17 °C" }),
    ],
  });
  expect(climateOf(thingsOf([freezer, both], [], true))).toMatchObject({
    text: "21.2 °C · 48 %",
    of: "sensor",
  });
});

test("chips count, and open lists: they never act", () => {
  const chips = chipsOf(thingsOf([lamp("A", true), lamp("B", false)], [machine("pi", false)], true));
  expect(chips.map(({ strong, quiet }) => `${strong} ${quiet}`.trim())).toEqual([
    "1 light on",
    "2 of 3 online",
  ]);
  // Lights that are on are counted, so those are listed; without one all lights are.
  expect(chips[0]?.show).toBe("lit");
  expect(chipsOf(thingsOf([lamp("A", false)], [], true))[0]?.show).toBe("lights");
});

test("today says what a person refused, what nobody answered, what is not allowed and what failed each in its own words", () => {
  const at = new Date(NOW - 60_000).toISOString();
  const line = (error_type: string, approval?: { approved: boolean; by?: string; at: string }) => ({
    ...{ timestamp: at, agent_id: "door", tool: "unlock", parameters: {}, result: "error" as const },
    ...{ exit_code: null, elapsed_ms: 1, call_id: "c", request_id: "r", error_type },
    ...{ caller: { principal: "ben", role: "member", channel: "telegram" }, ...(approval && { approval }) },
  });
  const lines = [
    line("permission_denied", { approved: false, by: "ann", at }),
    line("permission_denied", { approved: false, by: "ben", at }),
    line("permission_denied", { approved: false, at }),
    line("permission_denied"),
    line("offline", { approved: true, by: "ann", at }),
  ];
  const said = happeningsOf({ lines, things: [], rules: [], now: NOW, me: "ann" });
  expect(said.map(({ title, isBad }) => [title, isBad])).toEqual([
    ["door: You said no; nothing was changed.", false],
    ["door: ben said no; nothing was changed.", false],
    ["door: Nobody answered in time; nothing was changed.", false],
    ["door: not allowed; nothing was changed", false],
    ["door: it did not work", true],
  ]);
});

test("today never shows an action's name, and says equal things once", () => {
  const line = (tool: string, parameters: unknown, more: object = {}) => ({
    timestamp: new Date(NOW - 60_000).toISOString(),
    ...{ agent_id: "lamp", tool, parameters, result: "success" as const, exit_code: null, elapsed_ms: 1 },
    ...{ call_id: "c", request_id: "r", caller: { principal: "ben", role: "member", channel: "telegram" } },
    ...more,
  });
  const things = thingsOf([lamp("Lamp", true)], [], true);
  const lines = [
    line("set", { on: true }),
    line("set", { on: true }),
    line("set", { brightness_pct: 40 }),
    line("frobnicate_all", { x: 1 }),
    line("read", {}),
    line("device_change", {}, { agent_id: "@gateway" }),
    line("set", { on: true }, { result: "error", error_type: "offline" }),
  ];
  const said = happeningsOf({ lines, things, rules: [], now: NOW, me: "ann" });
  expect(said.map(({ title }) => title)).toEqual([
    "Lamp: on",
    "Lamp: 40 %",
    "Lamp: changed",
    "Lamp: it did not work",
  ]);
  expect(said[0]?.second).toBe("ben, in Telegram");
  expect(JSON.stringify(said)).not.toMatch(/frobnicate|_/);
});

test("what ran under a permission names it and its date; a real yes of another is told with its time", () => {
  const asked = NOW - 60_000;
  const line = (approval: object) => ({
    timestamp: new Date(asked).toISOString(),
    ...{ agent_id: "door", tool: "lock", parameters: {}, result: "success" as const, exit_code: null },
    ...{ elapsed_ms: 1, call_id: "c", request_id: "r" },
    caller: { principal: "ann", role: "owner", channel: "api" },
    approval: { approved: true, at: new Date(asked + 8_000).toISOString(), ...approval },
  });
  const given = { at: "2026-11-20T12:00:00Z", permission: "p" };
  const said = [{ by: "ann", ...given }, { by: "ben", ...given }, { by: "ben" }, { by: "ann" }].map(
    (approval) =>
      happeningsOf({ lines: [line(approval)], things: [], rules: [], now: NOW, me: "ann" })[0]?.second,
  );
  const [mine, theirs, yes, own] = said;
  expect(mine).toMatch(/^you; by your permission of .*20.*2026/);
  expect(theirs).toMatch(/^you; by the permission that ben gave on .*20.*2026/);
  expect(yes).toMatch(/^you; ben said yes\. \(.*\d\d:08/);
  expect(own).toBe("you");
});

test("the record says who said no and when, and never tells a permission as an answer", () => {
  const timestamp = new Date(NOW).toISOString();
  const text = (approval: object) =>
    approvalText({ timestamp, approval: { approved: true, at: timestamp, ...approval } }, "ann");
  expect(text({ by: "ann" })).toBe("You said yes.");
  expect(text({ by: "ben", approved: false, at: new Date(NOW + 8_000).toISOString() })).toMatch(
    /^ben said no; nothing was changed\. \(.*:08/,
  );
  expect(text({ approved: false })).toBe("Nobody answered in time; nothing was changed.");
  expect(text({ by: "ann", permission: "p" })).toMatch(/^by your permission of /);
});

test("a machine's own tool is told by its name, not as a change; one that failed is named", () => {
  const agent = { id: "vm", online: true, status: "idle", conditions: [], actions: [], capabilities: "" };
  const things = thingsOf([], [agent as unknown as AgentView], true);
  const line = (result: "success" | "error") => ({
    timestamp: new Date(NOW - 60_000).toISOString(),
    ...{ agent_id: "vm", tool: "weather_report", parameters: {}, result, exit_code: null, elapsed_ms: 1 },
    ...{ call_id: "c", request_id: "r", caller: { principal: "ann", role: "owner", channel: "api" } },
  });
  const lines = [line("success"), line("error")];
  const said = happeningsOf({ lines, things, rules: [], now: NOW, me: "ann" });
  expect(said.map(({ title }) => title)).toEqual(["vm: weather report", "vm: weather report did not work"]);
});

describe("what a rule did", () => {
  const valve = device("Water valve");
  const things = thingsOf([valve], [], true);
  const run = (more: object) => ({
    ...{ rule: "a-1234", version: 1, firing: 1, state: "done", at: NOW - 60_000, steps: [] },
    because: ["Leak sensor, Water leak: wet"],
    ...more,
  });
  const acting = (runs: object[] | null) =>
    ({
      ...{ id: "a-1234", name: "Leak, close valve", changes: [valve.id] },
      now: runs && { runs },
    }) as unknown as Parameters<typeof newestRuns>[0] & { id: string; name: string; changes: string[] };
  const line = (id: string, call_id = "c", at = NOW - 60_000) => ({
    timestamp: new Date(at).toISOString(),
    ...{ agent_id: valve.id, tool: "close", parameters: {}, result: "success" as const, exit_code: null },
    ...{ elapsed_ms: 1, call_id, request_id: "r" },
    caller: { principal: `rule:${id}`, role: "member", channel: "rule" },
  });
  const said = (given: Partial<Parameters<typeof happeningsOf>[0]>) =>
    happeningsOf({ lines: [], things, rules: [], now: NOW, me: "ann", ...given }).map(
      ({ title, second, isBad }) => [title, second, isBad],
    );

  test("today has its runs, the newest first, also before the record has them", () => {
    const runs = [
      run({ at: NOW - 90_000, firing: 1 }),
      run({ at: NOW - 30_000, firing: 3, state: "stopped", why: "the valve did not report it" }),
      run({ at: NOW - 60_000, firing: 2, state: "not_run", why: "somebody is home" }),
      // Of the day before.
      run({ at: NOW - 2 * 86_400_000, firing: 4, state: "undone" }),
    ];
    expect(said({ automations: [acting(runs)] })).toEqual([
      ["Leak, close valve: stopped in the middle", "the valve did not report it", true],
      ["Leak, close valve: not run", "somebody is home", false],
      ["Leak, close valve: done", "Water valve; because Leak sensor, Water leak: wet", false],
    ]);
  });

  test("the record's lines of it are told once, and by its name where the bridge is silent", () => {
    expect(said({ lines: [line("a-1234")], automations: [acting([run({})])] })).toHaveLength(1);
    const silent = said({ lines: [line("a-1234"), line("a-gone")], automations: [acting(null)] });
    expect(silent).toEqual([
      ["Water valve: closed", "the rule “Leak, close valve”", false],
      ["Water valve: closed", "a rule", false],
    ]);
    const lately = said({ lines: [line("a-1234")], ruleName: () => "Leak, close valve" });
    expect(lately).toEqual([["Water valve: closed", "the rule “Leak, close valve”", false]]);
  });

  test("the record tells of runs that are not listed any more", () => {
    const lines = [
      line("a-1234", "a-1234:1:3:0", NOW - 60_000),
      line("a-1234", "a-1234:1:2:0", NOW - 90_000),
      line("a-1234", "of the gateway", NOW - 120_000),
    ];
    const automations = [acting([run({ firing: 3 })])];
    const ran = ["Leak, close valve: done", "Water valve; because Leak sensor, Water leak: wet", false];
    const recorded = ["Water valve: closed", "the rule “Leak, close valve”", false];
    expect(said({ lines, automations })).toEqual([ran, recorded]);
    expect(said({ lines: lines.slice(0, 1), automations })).toEqual([ran]);
    expect(said({ lines: lines.slice(2), automations })).toEqual([ran, recorded]);
  });

  test("the record names it, or has its id where it is gone", () => {
    expect(callerText("rule:a-1234", "ann", () => "Leak, close valve")).toBe("the rule “Leak, close valve”");
    expect(callerText("rule:a-1234", "ann", () => undefined)).toBe("the rule “a-1234”");
    expect(callerText("ann", "ann", () => undefined)).toBe("you");
  });

  test("its permission names it", () => {
    const who = { rule: "a-1234", version: 2 };
    expect(whoText(who, "ann", () => "Leak, close valve")).toBe("the rule “Leak, close valve”");
    expect(whoText(who, "ann")).toBe("this rule");
  });

  test("its newest run comes first; it says what it waits for", () => {
    // The bridge had no clock when it began the second one.
    const runs = [run({ at: 2, firing: 1 }), run({ at: 1, firing: 2 }), run({ at: 3, firing: 3 })];
    expect(newestRuns(acting(runs)).map(({ firing }) => firing)).toEqual([3, 2, 1]);
    expect(newestRuns(acting(null))).toEqual([]);
    const stateWith = (now: object | null, status: "active" | "paused" = "active") =>
      stateOf({ status, now } as unknown as Parameters<typeof stateOf>[0], (at) => `${at} o'clock`);
    expect(stateWith({ state: "waiting" })).toBe("it is so already, and runs the next time");
    expect(stateWith({ state: "waiting", over_at: 8 })).toBe("ready at 8 o'clock, if it stays so");
    expect(stateWith({ state: "armed" })).toBe("ready");
    expect(stateWith({ state: "armed" }, "paused")).toBe("paused");
    expect(stateWith(null)).toBe("not known");
  });
});
