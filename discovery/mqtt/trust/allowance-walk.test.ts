/**
 * Attempts to have an allowance outlive a change of what is sent. Each changes what a publisher can change, and is judged by the messages: where an
 * action sends something else than before, takes other parameters, or asks no more, the hash of what was allowed has to be another one.
 */
import { expect, test } from "vitest";
import { NOW, newCatalog } from "../../testkit/device-cases.ts";

type Catalog = ReturnType<typeof newCatalog>;
type Config = Record<string, unknown>;
type Configs = Record<string, Config | null>;

const device = { identifiers: ["box"], name: "Box" };
const PLUG = { unique_id: "p", name: "Plug", command_topic: "box/set", state_topic: "box", device };
const LEFT = { ...PLUG, unique_id: "l", name: "Left", command_topic: "box/l" };
const RIGHT = { ...PLUG, unique_id: "r", name: "Right", command_topic: "box/r" };
const pair = (one: Config, other: Config, kind = "switch"): Configs => ({
  [`${kind}/l`]: one,
  [`${kind}/r`]: other,
});
const WHOLE = {
  device,
  origin: { name: "o" },
  command_topic: "box/set",
  "~": "base",
  components: {
    a: { platform: "switch", unique_id: "a", name: null },
    b: { p: "lock", uniq_id: "b", cmd_t: "~/lock" },
  },
};
const whole = (change: (of: typeof WHOLE) => Config): [Configs, Configs] => [
  { "device/d": WHOLE },
  { "device/d": change(WHOLE) },
];
const only = (change: Config, kind = "switch", before: Config = {}): [Configs, Configs] => [
  { [`${kind}/p`]: { ...PLUG, ...before } },
  { [`${kind}/p`]: { ...PLUG, ...before, ...change } },
];
const LIGHT = { schema: "json", brightness: true, supported_color_modes: ["color_temp"] };
const other = { identifiers: ["other"], name: "Other" };
const OTHER_LOCK = { unique_id: "k", command_topic: "box/set", device: other };

const ATTEMPTS: Record<string, [before: Configs, after: Configs]> = {
  // Names that choose what an action is.
  "two parts exchange their names": [
    pair(LEFT, RIGHT),
    pair({ ...LEFT, name: "Right" }, { ...RIGHT, name: "Left" }),
  ],
  "two locks exchange their names": [
    pair(LEFT, RIGHT, "lock"),
    pair({ ...LEFT, name: "Right" }, { ...RIGHT, name: "Left" }, "lock"),
  ],
  "two buttons exchange their names": [
    pair(LEFT, RIGHT, "button"),
    pair({ ...LEFT, name: "Right" }, { ...RIGHT, name: "Left" }, "button"),
  ],
  "a part becomes the device itself": [
    pair(LEFT, { ...RIGHT, name: null }),
    pair({ ...LEFT, name: null }, { ...RIGHT, name: "Left" }),
  ],
  "both parts get one name, in another order": [
    pair({ ...LEFT, name: "A" }, { ...RIGHT, name: "B" }),
    pair({ ...LEFT, name: "B" }, { ...RIGHT, name: "A" }),
  ],
  "names that fold to the same": [
    pair({ ...LEFT, name: "É 1" }, { ...RIGHT, name: "E-2" }),
    pair({ ...LEFT, name: "e 2" }, { ...RIGHT, name: "E_1" }),
  ],
  "names without letters": [
    pair({ ...LEFT, name: "左" }, { ...RIGHT, name: "R" }),
    pair({ ...LEFT, name: "R" }, { ...RIGHT, name: "右" }),
  ],
  "settings exchange their names": [
    pair({ ...LEFT, entity_category: "config" }, { ...RIGHT, entity_category: "config" }, "number"),
    pair(
      { ...LEFT, name: "Right", entity_category: "config" },
      { ...RIGHT, name: "Left", entity_category: "config" },
      "number",
    ),
  ],
  "the classes of parts without names are exchanged": [
    pair({ ...LEFT, name: null, device_class: "outlet" }, { ...RIGHT, name: null, device_class: "switch" }),
    pair({ ...LEFT, name: null, device_class: "switch" }, { ...RIGHT, name: null, device_class: "outlet" }),
  ],
  "the topics of configs are exchanged": [
    { "switch/a": { ...LEFT, name: "X" }, "switch/b": { ...RIGHT, name: "X" } },
    { "switch/b": { ...LEFT, name: "X" }, "switch/a": { ...RIGHT, name: "X" } },
  ],
  "a third part makes the short name long": [{ "switch/l": LEFT }, { "switch/l": LEFT, "light/r": RIGHT }],
  // Keys, in every form.
  "another topic": only({ command_topic: "lock/set" }),
  "another topic by a short name": [
    { "switch/p": PLUG },
    { "switch/p": { ...PLUG, command_topic: undefined, cmd_t: "lock/set" } },
  ],
  "both names of a key": only({ cmd_t: "lock/set" }),
  "a short name of a payload": only({ pl_on: "UNLOCK" }),
  "another base": only({ "~": "lock" }, "switch", { command_topic: "~/set", "~": "box" }),
  "a base at the end": only({ "~": "lock" }, "switch", { command_topic: "set/~", "~": "box" }),
  "a base where there was none": only({ "~": "x" }, "switch", { command_topic: "~/set" }),
  "a payload that is true": only({ payload_on: true }, "switch", { payload_on: "true" }),
  "a payload that is a number": only({ payload_on: 2 }, "switch", { payload_on: 1 }),
  "an empty payload": only({ payload_on: "" }),
  "a payload with another invisible character": only({ payload_on: "ON\u200b" }),
  "a retained command": only({ retain: true }),
  "a retained command by a word": only({ retain: "yes" }),
  "another QoS": only({ qos: 2 }),
  "a template": only({ command_template: "UNLOCK" }),
  "a template with the name": only({ name: "Plug 2" }, "switch", { command_template: "{{ name }}" }),
  "a template with the entity's id": only({ unique_id: "q" }, "switch", {
    command_template: "{{ entity_id }}",
  }),
  "a template with a name in brackets": only({ name: "B" }, "switch", {
    command_template: "{{ [name][0] ~ value }}",
  }),
  "a template with a macro that reads the name": only({ name: "B" }, "switch", {
    command_template: "{% macro m() %}{{ name }}{% endmacro %}{{ m() }}",
  }),
  "a template with a name that is the class's": only({ device_class: "outlet" }, "switch", {
    name: null,
    command_template: "{{ name }}",
  }),
  "a class that is dangerous": only({ device_class: "gas" }, "valve"),
  "a class that is not dangerous any more": only({ device_class: "curtain" }, "cover", {
    device_class: "garage",
  }),
  "the same in capital letters": only({ device_class: "GAS" }, "valve", { device_class: "gas" }),
  "a name that is dangerous no more": only({ name: "Lamp" }, "switch", { name: "Heater" }),
  "a device's name that is dangerous no more": only({ device: { ...device, name: "Lamp" } }, "switch", {
    device: { ...device, name: "Boiler" },
    name: null,
  }),
  "an effect": only({ effect: true, effect_list: ["x"] }, "light", LIGHT),
  "a list with one more": only({ options: ["a", "b"] }, "select", { options: ["a"] }),
  "a wider range": only({ max: 200 }, "number", { max: 100 }),
  "a finer step": only({ step: 0.1 }, "number", { step: 1 }),
  "another mode of colours": only({ supported_color_modes: ["rgb"] }, "light", LIGHT),
  "a pattern that is gone": only({ pattern: undefined }, "text", { pattern: "^a$" }),
  "a code that is wanted no more": only({ code_format: undefined }, "lock", { code_format: "^\\d$" }),
  "a brightness that is sent again comes from another topic": only({ brightness_state_topic: "z" }, "light", {
    on_command_type: "brightness",
    brightness_command_topic: "b",
    brightness_state_topic: "y",
  }),
  // Other devices.
  "a lock on the same topic ends": [
    { "switch/p": PLUG, "lock/k": OTHER_LOCK },
    { "switch/p": PLUG, "lock/k": null },
  ],
  "a lock below the topic ends": [
    { "switch/p": PLUG, "lock/k": { ...OTHER_LOCK, command_topic: "box/set/x" } },
    { "switch/p": PLUG, "lock/k": null },
  ],
  "a lock above the topic ends": [
    { "switch/p": PLUG, "lock/k": { ...OTHER_LOCK, command_topic: "box" } },
    { "switch/p": PLUG, "lock/k": null },
  ],
  "a lock on the topic is a switch now": [
    { "switch/p": PLUG, "lock/k": OTHER_LOCK },
    { "switch/p": PLUG, "lock/k": null, "switch/k": OTHER_LOCK },
  ],
  "another device joins by an identifier": [
    { "switch/p": PLUG, "switch/o": { ...LEFT, device: other } },
    { "switch/p": PLUG, "switch/o": { ...LEFT, device: { identifiers: ["other", "box"] } } },
  ],
  "another config takes the unique id": [
    { "switch/p": PLUG },
    { "switch/p": PLUG, "switch/a": { ...PLUG, command_topic: "lock/set" } },
  ],
  "another kind takes the unique id": [{ "switch/p": PLUG }, { "switch/p": null, "button/p": PLUG }],
  // A config of a whole device.
  "the device's own topic": whole((of) => ({ ...of, command_topic: "lock/set" })),
  "the device's base": whole((of) => ({ ...of, "~": "other" })),
  "the device's QoS": whole((of) => ({ ...of, qos: 1 })),
  "a component's base": whole((of) => ({
    ...of,
    components: { ...of.components, b: { ...of.components.b, "~": "mine" } },
  })),
  "the names of components are exchanged": whole((of) => ({
    ...of,
    components: { a: of.components.b, b: of.components.a },
  })),
  "a component is another platform": whole((of) => ({
    ...of,
    components: { ...of.components, b: { ...of.components.b, p: "switch" } },
  })),
  "a child of the device": whole((of) => ({
    ...of,
    child_devices: [
      {
        identifiers: ["kid"],
        name: "Kid",
        components: { c: { p: "switch", uniq_id: "c", cmd_t: "kid/set" } },
      },
    ],
  })),
  "configs of parts in place of the device's": [
    { "device/d": WHOLE },
    { "device/d": null, "switch/a": { ...PLUG, unique_id: "a", name: null, command_topic: "other/set" } },
  ],
  "the availability tells the topic": only({
    availability_topic: "lock/set",
    availability: [{ topic: "x" }],
  }),
};

type Sent = { danger: boolean; messages: string[] };

function applied(catalog: Catalog, configs: Configs): void {
  for (const [path, config] of Object.entries(configs))
    catalog.mqtt.config(`homeassistant/${path}/config`, config === null ? "" : JSON.stringify(config), NOW);
}

function examples(schema: Record<string, unknown>): unknown[] {
  const {
    type,
    enum: choices,
    minimum = 1,
    maximum = 100,
  } = schema as { type?: string; enum?: unknown[]; minimum?: number; maximum?: number };
  if (choices) return choices;
  if (type === "boolean") return [true, false];
  if (type === "array") return [[255, 0, 10]];
  return type === "string" ? ["a", "abc"] : [minimum, maximum, minimum + 0.1];
}

/** Lists the messages that each action of a device sends. */
function sentBy(catalog: Catalog, key: string): { hash: string; sent: Record<string, Sent> } | undefined {
  const found = catalog.devices(NOW).find((one) => one.key === key);
  if (!found) return undefined;
  const sent: Record<string, Sent> = {};
  for (const { name, parameters, danger } of [...found.actions, ...(found.settings ?? [])]) {
    if (name === "read") continue;
    const properties = (parameters.properties ?? {}) as Record<string, Record<string, unknown>>;
    const given = Object.entries(properties).flatMap(([key, schema]) =>
      examples(schema).map((one) => ({ [key]: one })),
    );
    const messages = (given.length > 0 ? given : [{}]).map((one) => {
      const plan = catalog.plan(found.id, name, one, NOW);
      return JSON.stringify([one, "error" in plan ? "refused" : plan.steps]);
    });
    sent[name] = { danger: danger === true, messages };
  }
  return { hash: found.allowHash, sent };
}

/** True if a call that was allowed sends something else, or one that asked each time asks no more. */
function isOther(before: Record<string, Sent>, after: Record<string, Sent>): boolean {
  return Object.entries(after).some(([name, { danger, messages }]) => {
    const former = before[name];
    if (!former) return true;
    return (former.danger && !danger) || messages.some((one) => !former.messages.includes(one));
  });
}

test.each(Object.entries(ATTEMPTS))("S23: an allowance does not outlive that %s", (_, [before, after]) => {
  const catalog = newCatalog();
  applied(catalog, before);
  // Availability is told, since it is no matter of an allowance.
  const keys = catalog.devices(NOW).map(({ key }) => key);
  const were = keys.map((key) => sentBy(catalog, key));
  applied(catalog, after);
  catalog.mqtt.state("lock/set", "online", { now: NOW, retained: false });
  for (const [at, key] of keys.entries()) {
    const [was, is] = [were[at], sentBy(catalog, key)];
    if (was && is && isOther(was.sent, is.sent)) expect(is.hash).not.toBe(was.hash);
  }
});

test("S23: the attempts change what is sent", () => {
  const changed = Object.values(ATTEMPTS).filter(([before, after]) => {
    const catalog = newCatalog();
    applied(catalog, before);
    const were = catalog.devices(NOW).map(({ key }) => [key, sentBy(catalog, key)] as const);
    applied(catalog, after);
    catalog.mqtt.state("lock/set", "online", { now: NOW, retained: false });
    return were.some(([key, was]) => {
      const is = sentBy(catalog, key);
      return was && is && isOther(was.sent, is.sent);
    });
  });
  expect(changed.length).toBeGreaterThanOrEqual(40);
});
