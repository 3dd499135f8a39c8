/** Faults of devices that describe themselves: each was seen with a real publisher, or follows from one. */
import { describe, expect, test } from "vitest";
import { GHOST_AFTER_MS } from "./model/device.ts";
import { CASES, NOW, newCatalog, OneDevice, published } from "./testkit/device-cases.ts";

const PLUG = { command_topic: "a", state_topic: "s" };

test("unknown keys and unknown classes are no reason to refuse a config, though Home Assistant does", () => {
  const light = { schema: "json", color_mode: true, command_topic: "a", supported_color_modes: ["rgb"] };
  expect(new OneDevice().add("light", light).sent("set", { rgb: [1, 2, 3] })).toHaveLength(1);
  const number = { command_topic: "a", device_class: "temperature_delta", min: -2.5, max: 2.5, step: 0.1 };
  expect(new OneDevice().add("number", number).sent("set", { value: -1.5 })).toEqual(["a -1.5"]);
  const both = CASES.configs.filter(({ topic }) => /Bench-light|local_temperature_calibration/.test(topic));
  expect(both).toHaveLength(2);
});

test("two devices of the same name differ by their ids and by their lines", () => {
  const catalog = newCatalog();
  for (const { topic, payload } of CASES.configs) catalog.mqtt.config(topic, JSON.stringify(payload), NOW);
  const blinds = catalog.devices(NOW).filter(({ name }) => name.toLowerCase() === "bedroom blind");
  expect(blinds.map(({ id }) => id)).toEqual(["bedroom-blind", "bedroom-blind-2"]);
  expect(new Set(blinds.map(({ line }) => line)).size).toBe(2);
});

test("null members of a light's state, and -1 for a version, mean nothing", () => {
  const lamp = new OneDevice().add("light", { ...PLUG, schema: "json", brightness: true });
  lamp.say("s", { state: "ON", brightness: 255 }).say("s", { state: "ON", brightness: null });
  expect(lamp.words()).toMatchObject({ brightness: "100 %" });
  const update = new OneDevice().add("update", { state_topic: "s" });
  update.say("s", { installed_version: -1, latest_version: -1 });
  expect(update.words()).toMatchObject({ update: "not reported yet", "latest version": "not reported yet" });
});

test("payloads are sent as they are written, JSON and spaces included", () => {
  const payload_on = ' {"id": "0x54",  "é": 1.0} ';
  expect(
    published(new OneDevice().add("switch", { ...PLUG, payload_on }).plan("set", { on: true }))[0]?.payload,
  ).toBe(payload_on);
});

test("a ghost is told as one, and removing it publishes nothing", () => {
  const thing = new OneDevice().add("sensor", { state_topic: "s" }).say("s", "1");
  thing.after(GHOST_AFTER_MS + 1);
  expect(thing.device.ghost).toBe(true);
  expect(thing.catalog.forget(thing.device.key, thing.now)).toBeUndefined();
  expect(thing.catalog.devices(thing.now)).toEqual([]);
});

test("a command that the broker keeps is told, since the device gets it again", () => {
  const plug = new OneDevice().add("switch", { ...PLUG, retain: true });
  expect(plug.plan("set", { on: true })).toMatchObject({
    retainedCommand: true,
    steps: [{ retain: true }],
  });
  expect(plug.device.actions[1]).toMatchObject({ retained: true });
  expect(plug.plan("set", { on: true }).retainedCommand).toBe(true);
  expect(new OneDevice().add("switch", PLUG).plan("set", { on: true }).retainedCommand).toBe(false);
});

describe("somebody else sends commands too", () => {
  test("a state of another value is not ours", () => {
    const plug = new OneDevice().add("switch", PLUG);
    expect(plug.notConfirmedBy("set", { on: true }, ["s", "OFF"])).toBe(
      "Sent to Thing; within 15 s it did not report on. It reports: off.",
    );
  });

  test("a topic that takes the command and brings the state proves nothing", () => {
    const plug = new OneDevice().add("switch", { command_topic: "same", state_topic: "same" });
    expect(plug.plan("set", { on: true }).confirm).toBeNull();
    expect(plug.plan("set", { on: true }).unconfirmed(plug.mark())).toBe(
      "Sent to Thing. It does not report back, so nobody can say whether it worked.",
    );
  });
});

test("100 configs in a burst: each says whether something changed, and the same again says that nothing did", () => {
  const catalog = newCatalog();
  const burst = () =>
    CASES.configs.map(({ topic, payload }) => catalog.mqtt.config(topic, JSON.stringify(payload), NOW));
  expect(new Set(burst())).toEqual(new Set([true]));
  const before = catalog.devices(NOW);
  expect(new Set(burst())).toEqual(new Set([false]));
  expect(catalog.devices(NOW)).toEqual(before);
});

describe("done is only what a state says after the command", () => {
  test.each<[string, string, boolean]>([
    ["the state of before", "before", false],
    ["a kept state", "ON", true],
    ["silence", "", false],
    ["rubbish", "maybe", false],
  ])("%s", (_, payload, retained) => {
    const plug = new OneDevice().add("switch", PLUG).say("s", "ON");
    plug.notConfirmedBy(
      "set",
      { on: true },
      ...(payload === "before" ? [] : [["s", payload, retained] as const]),
    );
  });

  test("`optimistic` is never confirmed, though a state comes", () => {
    const plug = new OneDevice().add("switch", { ...PLUG, optimistic: true });
    const plan = plug.plan("set", { on: true });
    plug.say("s", "ON");
    expect(plan.confirm).toBeNull();
  });

  test("in the same millisecond: what came before the mark is old, and what came after is not", () => {
    const plug = new OneDevice().add("switch", PLUG);
    const plan = plug.plan("set", { on: true });
    plug.say("s", "ON");
    const mark = plug.mark();
    expect(plan.confirm?.(mark)).toBeUndefined();
    plug.say("s", "ON");
    expect(plan.confirm?.(mark)).toEqual({
      text: "Thing: on (it was: unknown), reported 0.0 s after the command.".replace(
        " (it was: unknown)",
        "",
      ),
    });
  });
});

test("a template that is not known says why in place of the message, and in the console", () => {
  const plug = new OneDevice().add("switch", { ...PLUG, value_template: "{{ value | teapot }}" });
  plug.say("s", "ON\n now");
  expect(plug.words()).toEqual({
    switch: 'not readable: the template has the filter "teapot", which is not known here',
  });
  expect(plug.catalog.readings("thing", NOW)).toMatchObject([{ tainted: true }]);
  expect(plug.device.notOffered).toEqual([
    { what: "switch: on", why: expect.stringMatching(/^it is not readable\. .*teapot/) },
  ]);
  // It can be sent, but no state can say that it was done.
  expect(plug.plan("set", { on: true }).confirm).toBeNull();

  const broken = new OneDevice().add("switch", { ...PLUG, command_template: "{{ value | teapot }}" });
  expect(broken.device.actions.map(({ name }) => name)).toEqual(["read"]);
  expect(broken.device.notOffered).toEqual([
    { what: "switch", why: expect.stringMatching(/^its command_template cannot be used\. .*teapot/) },
  ]);
});

test("a template that fails for one message keeps the value", () => {
  const sensor = new OneDevice().add("sensor", { state_topic: "s", value_template: "{{ value_json.a.b }}" });
  sensor
    .say("s", { a: { b: 4 } })
    .say("s", { c: 1 })
    .say("s", "no JSON");
  expect(sensor.words()).toEqual({ sensor: "4" });
});

test("a command whose template fails is not sent", () => {
  const plug = new OneDevice().add("switch", { ...PLUG, command_template: "{{ value_json.a.b }}" });
  expect(plug.refusal("set", { on: true })).toMatch(/^the command cannot be written\. /);
});
