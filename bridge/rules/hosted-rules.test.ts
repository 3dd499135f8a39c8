/** Rules on hosted devices, between a real broker and a played Home. */
import type { KnownState, RuleChange, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

beforeEach(() => {
  played.home.rules = true;
});

function condition(id: string, more: Partial<WatchCondition> = {}): WatchCondition {
  return {
    id,
    version: 1,
    reading: "Temperature",
    type: "number",
    is: "above",
    value: -15,
    hysteresis: 0.3,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
    ...more,
  };
}

/** A thermometer that is announced with a state topic alone, as rtl_433's script does. */
async function freezer(): Promise<string> {
  await hosted.publisher.config("sensor/freezer", {
    name: "Temperature",
    unique_id: "freezer-t",
    state_topic: "rtl/freezer",
    unit_of_measurement: "°C",
    device_class: "temperature",
    device: { identifiers: ["freezer"], name: "Freezer" },
  });
  return keyOf("freezer");
}

async function keyOf(agent: string): Promise<string> {
  const { hosted: of } = await hosted.agentIn(agent);
  return of?.key ?? "";
}

function watch(device: string, id: string, more: Partial<WatchCondition> = {}, known?: KnownState): void {
  const rule = { condition: condition(id, more), device, ...(known && { known }) };
  played.home.send({ t: "rules", set: [rule], drop: [] });
}

/** The bridge has taken the rules that were sent before. */
async function taken(): Promise<void> {
  const id = crypto.randomUUID();
  played.home.send({ t: "states", id });
  await played.home.next("states", (frame) => frame.id === id);
}

const changes = (): RuleChange[] => played.home.of("changes").flatMap((frame) => frame.changes);

async function change(seq: number, rule = "w-0001"): Promise<RuleChange> {
  return await until(() => changes().find((one) => one.rule === rule && one.seq === seq), {
    what: `change ${seq} of ${rule}`,
  });
}

function stored(...all: readonly RuleChange[]): void {
  played.home.send({ t: "changed", upto: Object.fromEntries(all.map(({ rule, seq }) => [rule, seq])) });
}

/** Waits until the bridge has read this value. */
async function reads(agent: string, value: string | number | boolean): Promise<void> {
  await until(async () => {
    const id = crypto.randomUUID();
    played.home.send({ t: "states", id, agents: [agent] });
    const { devices } = await played.home.next("states", (frame) => frame.id === id);
    return devices[0]?.readings.some((reading) => reading.value === value);
  });
}

test("a freezer that warms is one change, and one when it is cold again; values alone send nothing", async () => {
  await hosted.started();
  const key = await freezer();
  await hosted.publisher.say("rtl/freezer", "-18.2");
  await reads("freezer", -18.2);
  watch(key, "w-0001");
  await taken();
  for (const value of ["-18.0", "-17.2", "-16", "-15.0"]) await hosted.publisher.say("rtl/freezer", value);
  await reads("freezer", -15);
  expect(changes()).toEqual([]);
  for (const value of ["-14.9", "-11.4", "-12"]) await hosted.publisher.say("rtl/freezer", value);
  const fired = await change(1);
  expect(fired).toMatchObject({ state: "firing", occurrence: 1, value: -14.9, version: 1 });
  stored(fired);
  // Within the hysteresis it is not over.
  for (const value of ["-15.1", "-16.2"]) await hosted.publisher.say("rtl/freezer", value);
  const over = await change(2);
  expect(over).toMatchObject({ state: "idle", occurrence: 1, value: -16.2 });
  stored(over);
  await taken();
  expect(changes()).toHaveLength(2);
});

test("a value that is true already when the rule is made is told at once", async () => {
  await hosted.started();
  const key = await freezer();
  await hosted.publisher.say("rtl/freezer", "-11");
  await reads("freezer", -11);
  watch(key, "w-0001");
  expect(await change(1)).toMatchObject({ state: "firing", value: -11 });
});

async function door(): Promise<string> {
  await hosted.publisher.config("binary_sensor/door", {
    name: null,
    unique_id: "door",
    state_topic: "door/state",
    device_class: "door",
    device: { identifiers: ["door"], name: "Door" },
  });
  return keyOf("door");
}

const OPEN = { reading: "door", type: "boolean", is: "equal", value: true } as const;

test("a door that flaps 200 times is two changes", async () => {
  await hosted.started();
  const key = await door();
  await hosted.publisher.say("door/state", "OFF");
  await reads("door", false);
  watch(key, "w-0001", { ...OPEN, clear_hold_ms: 1_500 });
  watch(key, "w-0002", { ...OPEN, is: "changes", value: undefined });
  await taken();
  for (let n = 0; n < 200; n += 1) await hosted.publisher.say("door/state", n % 2 ? "OFF" : "ON");
  const fired = await change(1);
  stored(fired);
  stored(await change(1, "w-0002"));
  expect(await change(2)).toMatchObject({ state: "idle", occurrence: 1 });
  const seen = new Set(changes().map(({ rule, seq, state }) => `${rule} ${seq} ${state}`));
  expect([...seen].sort()).toEqual(["w-0001 1 firing", "w-0001 2 idle", "w-0002 1 firing"]);
});

test("changes while the gateway is away come when it is back, in order and until it has them", async () => {
  await hosted.started();
  const key = await freezer();
  await hosted.publisher.say("rtl/freezer", "-18.2");
  await reads("freezer", -18.2);
  watch(key, "w-0001");
  await taken();
  played.home.refuseWith = 503;
  played.home.drop();
  for (const value of ["-11", "-20", "-10"]) await hosted.publisher.say("rtl/freezer", value);
  await until(() => played.home.closes.length > 0);
  played.home.refuseWith = undefined;
  await change(3);
  expect(
    changes()
      .slice(-3)
      .map(({ seq, state }) => [seq, state]),
  ).toEqual([
    [1, "firing"],
    [2, "idle"],
    [3, "firing"],
  ]);
  // Home has not said that it has them.
  played.home.frames.length = 0;
  played.home.drop();
  await change(3);
  stored(...changes());
  await taken();
  played.home.frames.length = 0;
  played.home.drop();
  await played.home.next("snapshot", (frame) => frame.last);
  await taken();
  expect(changes()).toEqual([]);
  expect(played.home.of("hello")[0]).toMatchObject({
    features: expect.arrayContaining(["rules"]),
    rules: await rulesHash([{ id: "w-0001", version: 1 }]),
  });
});

test("a gateway that does not know rules is sent none", async () => {
  played.home.rules = false;
  await hosted.started();
  const key = await freezer();
  watch(key, "w-0001");
  await hosted.publisher.say("rtl/freezer", "-11");
  await reads("freezer", -11);
  await taken();
  expect(changes()).toEqual([]);
});

test("a value that the bridge had kept in its file fires nothing: it may be another one by now", async () => {
  const bridge = await hosted.started();
  await freezer();
  await hosted.publisher.say("rtl/freezer", "-11.4");
  await reads("freezer", -11.4);
  await bridge.stop();
  played.home.frames.length = 0;
  await hosted.started();
  const key = await keyOf("freezer");
  await reads("freezer", -11.4);
  watch(key, "w-0001");
  await taken();
  expect(changes()).toEqual([]);
  await hosted.publisher.say("rtl/freezer", "-11.2");
  expect(await change(1)).toMatchObject({ state: "firing", value: -11.2 });
});

test("a button tells of each press, and not of what the broker or the bridge had kept", async () => {
  const button = {
    name: "Button",
    unique_id: "b",
    state_topic: "button/event",
    event_types: ["single", "double"],
    device: { identifiers: ["b"], name: "Button" },
  };
  await hosted.publisher.config("event/b", button);
  await hosted.publisher.say("button/event", { event_type: "single" }, true);
  const bridge = await hosted.started();
  const key = await keyOf("button");
  const name = async () => {
    const id = crypto.randomUUID();
    played.home.send({ t: "states", id, agents: ["button"] });
    return (await played.home.next("states", (frame) => frame.id === id)).devices[0]?.readings[0]?.name ?? "";
  };
  const presses = { reading: await name(), type: "text", is: "happens", value: undefined } as const;
  watch(key, "w-0001", presses);
  watch(key, "w-0002", { ...presses, value: "double" });
  await taken();
  await hosted.publisher.say("button/event", { event_type: "single" });
  expect(await change(1)).toMatchObject({ state: "firing", count: 1, value: "single" });
  stored(await change(1));
  await taken();
  await bridge.stop();
  played.home.frames.length = 0;
  await hosted.started();
  await hosted.agentIn("button");
  await hosted.publisher.say("button/event", { event_type: "double" });
  expect(await change(1, "w-0002")).toMatchObject({ value: "double" });
  expect(changes().map(({ rule }) => rule)).toEqual(["w-0002"]);
});

test("a state that the broker had kept is no change of a door, and one that comes is", async () => {
  await hosted.publisher.say("door/state", "OFF", true);
  const bridge = await hosted.started();
  const key = await door();
  await reads("door", false);
  const moves = { ...OPEN, is: "changes", value: undefined } as const;
  watch(key, "w-0001", moves);
  await taken();
  await bridge.stop();
  // While no bridge was there.
  await hosted.publisher.say("door/state", "ON", true);
  await hosted.started();
  await reads("door", true);
  await taken();
  expect(changes()).toEqual([]);
  await hosted.publisher.say("door/state", "OFF");
  expect(await change(1)).toMatchObject({ state: "firing", value: false });
});

test("what our own command did is told only where the rule wants it", async () => {
  await hosted.started();
  await hosted.publisher.plug("a");
  const key = await keyOf("plug-a");
  await hosted.publisher.say("plugs/a/state", "OFF");
  const on = { reading: "switch", type: "boolean", is: "equal", value: true } as const;
  await reads("plug-a", false);
  watch(key, "w-0001", on);
  watch(key, "w-0002", { ...on, tell_own: true });
  await taken();
  await hosted.report(hosted.call("plug-a", "set", { on: true }));
  expect(await change(1, "w-0002")).toMatchObject({ state: "firing" });
  expect(changes().map(({ rule }) => rule)).not.toContain("w-0001");
  await hosted.report(hosted.call("plug-a", "set", { on: false }));
  await hosted.publisher.say("plugs/a/state", "OFF");
  stored(await change(1, "w-0002"));
  expect(await change(2, "w-0002")).toMatchObject({ state: "idle" });
});

test("what changes after our own command was confirmed is told: it is another's doing", async () => {
  await hosted.started();
  await hosted.publisher.plug("a");
  const key = await keyOf("plug-a");
  await hosted.publisher.say("plugs/a/state", "ON");
  await reads("plug-a", true);
  watch(key, "w-0001", { reading: "switch", type: "boolean", is: "equal", value: true });
  await taken();
  stored(await change(1));
  await hosted.report(hosted.call("plug-a", "set", { on: false }));
  stored(await change(2));
  await hosted.publisher.say("plugs/a/state", "ON");
  expect(await change(3)).toMatchObject({ state: "firing", value: true });
});

test("rules are taken away, and the hash of the hello follows", async () => {
  await hosted.started();
  const key = await freezer();
  watch(key, "w-0001");
  watch(key, "w-0002");
  played.home.send({ t: "rules", set: [], drop: ["w-0001"] });
  await hosted.publisher.say("rtl/freezer", "-11");
  await change(1, "w-0002");
  expect(changes().map(({ rule }) => rule)).toEqual(["w-0002"]);
  played.home.send({ t: "rules", set: [], drop: [], all: true });
  await taken();
  played.home.frames.length = 0;
  played.home.drop();
  expect((await played.home.next("hello")).rules).toBe(await rulesHash([]));
});

test("a hundred rules on values that come all the time send nothing", async () => {
  await hosted.started();
  const key = await freezer();
  await hosted.publisher.say("rtl/freezer", "-18");
  await reads("freezer", -18);
  const set = Array.from({ length: 100 }, (_, n) => ({
    condition: condition(`w-${1_000 + n}`),
    device: key,
  }));
  played.home.send({ t: "rules", set, drop: [] });
  await taken();
  played.home.frames.length = 0;
  for (let n = 0; n < 500; n += 1) await hosted.publisher.say("rtl/freezer", String(-18 - (n % 7) / 10));
  await hosted.publisher.say("rtl/freezer", "-19.9");
  await until(async () => {
    const id = crypto.randomUUID();
    played.home.send({ t: "states", id, agents: ["freezer"] });
    const { devices } = await played.home.next("states", (frame) => frame.id === id);
    return devices[0]?.readings[0]?.value === -19.9;
  });
  expect([...new Set(played.home.frames.map(({ t }) => t))]).toEqual(["states"]);
});
