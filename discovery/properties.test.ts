/** Properties that hold for every config, also for those that nobody would write. */

import { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DeviceCatalog } from "./catalog.ts";
import { type HostedDevice, LINE_MAX } from "./model/device.ts";
import { DEVICE_ABBREVIATIONS, ENTITY_ABBREVIATIONS } from "./mqtt/config/abbreviations.ts";
import { NOW, newCatalog, OneDevice, published } from "./testkit/device-cases.ts";

const KINDS = [
  "alarm_control_panel",
  "binary_sensor",
  "button",
  "camera",
  "climate",
  "cover",
  "date",
  "datetime",
  "device",
  "device_automation",
  "device_tracker",
  "event",
  "fan",
  "humidifier",
  "image",
  "lawn_mower",
  "light",
  "lock",
  "number",
  "scene",
  "select",
  "sensor",
  "siren",
  "switch",
  "tag",
  "teapot",
  "text",
  "time",
  "update",
  "vacuum",
  "valve",
  "water_heater",
];

const kind = fc.constantFrom(...KINDS);
const topic = fc.constantFrom(
  "a",
  "b",
  "c/set",
  "~/x",
  "x/~",
  "evoclaw/agents/pi/commands",
  "#",
  "$SYS/x",
  "homeassistant/status",
);
const template = fc.constantFrom(
  "{{ value }}",
  "{{ value_json.a }}",
  "{{ value | teapot }}",
  "{{ value | int }}",
  "{% if value %}x{% endif %}",
  "{{",
  "{{ value * 99999 }}",
);
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("ON", "OFF", "None", "json", "template", "first"),
);
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 1, 100, -1));
const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), fc.jsonValue());

const ENTITY_KEYS = [...Object.keys(ENTITY_ABBREVIATIONS), ...Object.values(ENTITY_ABBREVIATIONS)];
const DEVICE_KEYS = [...Object.keys(DEVICE_ABBREVIATIONS), ...Object.values(DEVICE_ABBREVIATIONS)];

/** A value that fits a key's name more often than chance would. */
function fittingKey(key: string): fc.Arbitrary<unknown> {
  if (/(?:^|_)t$|topic/.test(key))
    return fc.oneof({ weight: 8, arbitrary: topic }, { weight: 1, arbitrary: anything });
  if (/tpl|template/.test(key))
    return fc.oneof({ weight: 8, arbitrary: template }, { weight: 1, arbitrary: anything });
  if (/list|modes|options|ops|tones|typ|supported|clrm/.test(key))
    return fc.oneof(
      fc.array(
        fc.oneof(
          text,
          fc.constantFrom("rgb", "hs", "xy", "color_temp", "brightness", "off", "heat", "start"),
        ),
      ),
      anything,
    );
  if (/min|max|step|scale|range|pos|tilt|exp|dly|delay/.test(key)) return fc.oneof(number, anything);
  return anything;
}

const object = (keys: readonly string[]): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .uniqueArray(fc.constantFrom(...keys), { maxLength: 25 })
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((key) => [key, fittingKey(key)])), { noNullPrototype: true }),
    );

const device = fc.oneof(object(DEVICE_KEYS), anything);
const entity = fc
  .tuple(
    object(ENTITY_KEYS),
    fc.record(
      {
        command_topic: topic,
        state_topic: topic,
        unique_id: fc.constantFrom("1", "2", "3"),
        schema: fc.constantFrom("json", "template", "basic"),
        device,
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  )
  .map(([some, more]) => ({ ...some, ...more }));
const whole = fc
  .tuple(entity, device, fc.dictionary(fc.string(), fc.tuple(kind, entity)))
  .map(([some, dev, parts]) => ({
    ...some,
    dev,
    cmps: Object.fromEntries(Object.entries(parts).map(([id, [p, part]]) => [id, { ...part, p }])),
  }));
const config = fc.tuple(
  fc
    .tuple(kind, fc.constantFrom("x", "y", "n/z"))
    .map(([one, place]) => `homeassistant/${one}/${place}/config`),
  fc.oneof(
    { weight: 6, arbitrary: entity.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: whole.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.oneof(fc.string(), fc.constantFrom("", '{"migrate_discovery":true}')) },
  ),
);
const state = fc.tuple(
  fc.constantFrom("a", "b", "c/set", "homeassistant/status", "z/bridge/devices"),
  fc.oneof(
    text,
    fc.json(),
    fc.constantFrom("1", "ON", "OFF", "None", "open", '{"state":"ON","brightness":9,"a":1}'),
    fc.uint8Array(),
  ),
  fc.boolean(),
);

/** Values for each parameter of an action, within its schema. */
function fitting(
  { parameters }: HostedDevice["actions"][number],
  random: fc.Random,
): Record<string, unknown> {
  const { properties = {}, required = [] } = parameters as {
    properties?: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  const names = Object.keys(properties).filter((name) => required.includes(name) || random.nextInt(0, 2) > 0);
  return Object.fromEntries(
    names.map((name) => {
      const { type, enum: options, minimum, maximum, minLength } = properties[name] ?? {};
      if (Array.isArray(options)) return [name, options[random.nextInt(0, options.length - 1)]];
      if (type === "boolean") return [name, random.nextInt(0, 1) > 0];
      if (type === "string") return [name, "x".repeat(Number(minLength ?? 1))];
      if (type === "array") return [name, [1, 2, 3]];
      const [low, high] = [Number(minimum), Number(maximum)];
      const value = low + (high - low) * random.nextDouble();
      return [name, type === "integer" ? Math.min(Math.max(Math.round(value), low), high) : value];
    }),
  );
}

function fed(
  configs: readonly (readonly [string, string])[],
  states: readonly (readonly [string, string | Uint8Array, boolean])[],
) {
  const catalog = newCatalog();
  for (const [place, payload] of configs) catalog.mqtt.config(place, payload, NOW);
  for (const [place, payload, retained] of states) catalog.mqtt.state(place, payload, { now: NOW, retained });
  return catalog;
}

function checkTold(catalog: DeviceCatalog): void {
  for (const told of catalog.devices(NOW + 1_000)) {
    expect(told.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(told.key).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
    expect(told.line.length).toBeLessThanOrEqual(LINE_MAX);
    expect(told.name.length).toBeGreaterThan(0);
    expect(new Set(told.actions.map(({ name }) => name)).size).toBe(told.actions.length);
    for (const action of told.actions) {
      expect(check(ActionAdvert, action)).toMatchObject({ ok: true });
      expect(action.parameters).toMatchObject({ type: "object", additionalProperties: false });
    }
    for (const reading of catalog.readings(told.id, NOW + 1_000, true)) {
      expect(reading.text.length).toBeLessThanOrEqual(500);
      expect(reading.name.length).toBeLessThanOrEqual(100);
      // All of it is on one line.
      expect(reading.text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    }
    expect("text" in catalog.read(told.id, { all: true }, NOW + 1_000)).toBe(true);
  }
}

test("no config and no state throws, and what is told stays within its bounds", () => {
  fc.assert(
    fc.property(fc.array(config, { maxLength: 6 }), fc.array(state, { maxLength: 6 }), (configs, states) => {
      const catalog = fed(configs, states);
      checkTold(catalog);
      for (const topicOf of catalog.mqtt.topics().keys())
        expect(topicOf).not.toMatch(/[+#]|^\$|^evoclaw(?:\/|$)/);
      // Nothing of a file is lost or changed by reading it.
      const dump: unknown = JSON.parse(JSON.stringify(catalog.dump()));
      const again = newCatalog();
      expect(again.restore(dump)).toBe(true);
      for (const [place, payload] of configs) again.mqtt.config(place, payload, NOW);
      const names = (one: DeviceCatalog) => one.devices(NOW).map(({ id, key }) => `${id} ${key}`);
      expect(names(again)).toEqual(names(catalog));
    }),
    { numRuns: 150 },
  );
});

test("each message that an action sends goes where it may, has at most 4 KB, and is sent for a reason", () => {
  let plans = 0;
  fc.assert(
    fc.property(fc.array(config, { maxLength: 4 }), fc.infiniteStream(fc.nat()), (configs, seeds) => {
      const catalog = fed(configs, []);
      const random = {
        nextInt: (low: number, high: number) => low + (Number(seeds.next().value) % (high - low + 1)),
        nextDouble: () => (Number(seeds.next().value) % 1_000) / 999,
      } as fc.Random;
      for (const { id, actions } of catalog.devices(NOW))
        for (const action of actions.filter(({ effect }) => effect !== "read")) {
          const plan = catalog.plan(id, action.name, fitting(action, random), NOW);
          if ("error" in plan) {
            expect(plan.error.length).toBeGreaterThan(0);
            continue;
          }
          plans += 1;
          expect(plan.steps.length).toBeGreaterThan(0);
          for (const { topic: sentTo, payload } of published(plan)) {
            expect(sentTo).not.toMatch(/[+#]|^\$|^evoclaw(?:\/|$)|^homeassistant\/status$|\/config$/);
            expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(4_096);
          }
          expect(plan.waitMs).toBeGreaterThanOrEqual(5_000);
          expect(plan.unconfirmed(catalog.mark(NOW))).toMatch(/^Sent to /);
          const unknown = catalog.plan(id, action.name, { "no such": 1 }, NOW);
          expect(unknown).toMatchObject({
            error: expect.stringContaining("no such: there is no such parameter"),
          });
        }
    }),
    { numRuns: 150 },
  );
  expect(plans).toBeGreaterThan(40);
});

const CHANGES: ReadonlyArray<[string, Record<string, unknown>, string, Record<string, unknown>, string]> = [
  ["switch", { state_topic: "s" }, "set", { on: true }, "ON"],
  ["cover", { state_topic: "s" }, "close", {}, "closed"],
  ["lock", { state_topic: "s" }, "lock", {}, "LOCKED"],
  ["number", { state_topic: "s" }, "set", { value: 7 }, "7"],
  ["select", { state_topic: "s", options: ["a", "b"] }, "set", { value: "b" }, "b"],
  ["light", { state_topic: "s", schema: "json" }, "set", { on: true }, '{"state":"ON"}'],
  ["fan", { state_topic: "s" }, "set", { on: true }, "ON"],
  ["vacuum", { state_topic: "s" }, "start", {}, '{"state":"cleaning"}'],
];

test("a confirmation needs a message that came after the mark, was not kept, and says what was asked", () => {
  const payloads = fc.constantFrom(
    "ON",
    "OFF",
    "closed",
    "opening",
    "LOCKED",
    "7",
    "8",
    "b",
    "None",
    "",
    '{"state":"ON"}',
    '{"state":"OFF"}',
    '{"state":"cleaning"}',
    "rubbish",
  );
  const messages = fc.array(fc.tuple(payloads, fc.boolean()), { maxLength: 6 });
  fc.assert(
    fc.property(
      fc.constantFrom(...CHANGES),
      messages,
      messages,
      ([one, more, action, asked, wanted], before, after) => {
        const thing = new OneDevice().add(one, { command_topic: "a", ...more });
        for (const [payload, retained] of before) thing.say("s", payload, retained);
        const plan = thing.plan(action, asked);
        const mark = thing.mark();
        for (const [payload, retained] of after) thing.say("s", payload, retained);
        if (plan.confirm?.(mark) !== undefined)
          expect(after.some(([payload, retained]) => payload === wanted && !retained)).toBe(true);
        // The value that was asked for, said last and live, is always a confirmation.
        thing.say("s", wanted);
        expect(plan.confirm?.(mark)).toBeDefined();
      },
    ),
    { numRuns: 150 },
  );
});
