/**
 * An allowance ends when a message changes. The keys come from what each kind reads of its config, so a new one is tested without a line
 * here.
 */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import { describe, expect, test } from "vitest";
import type { Parameter } from "../../model/entity/entity.ts";
import { allowText, allowTextBefore } from "../../model/trust/covered-text.ts";
import { NOW, newCatalog, sha256 } from "../../testkit/device-cases.ts";
import type { Component } from "../config/components.ts";
import type { MqttEntity as Entity } from "../entity/entity.ts";
import { COMMANDED_KINDS, entityOf } from "../kinds/all.ts";
import { isCovered } from "./allow-hash.ts";

const PREFIXES = { prefix: "homeassistant", ownPrefix: "evoclaw" };
type Config = Record<string, unknown>;

const GIVEN =
  "value state code action tone duration volume_level brightness color_temp red green blue white cold_white warm_white hue sat x y effect transition position tilt_position position_open position_closed tilt_min tilt_max";
const print = (names: string) =>
  names
    .split(" ")
    .map((name) => `{{ ${name} }}`)
    .join(" ");
/** Prints everything that a command's template may be given. */
const EVERYTHING = print(`${GIVEN} name entity_id this`);
/** The same without what the entity is called. */
const NAMELESS = print(GIVEN);

/** Values that a key may have. The last one stands for a key that is missing. */
const VALUES = [
  ["a", "b"],
  ["brightness", "rgb", "color_temp"],
  ["arm_home", "start", "fan_speed"],
  "brightness",
  "b",
  "outlet",
  true,
  false,
  7,
  50,
  undefined,
];

function made(kind: string, config: Config, keys?: Set<string>): (Entity & { count: number }) | undefined {
  const read = (key: string | symbol) => void (typeof key === "string" && keys?.add(key));
  const seen = new Proxy(config, {
    get: (of, key) => {
      read(key);
      return of[key as string];
    },
    has: (of, key) => {
      read(key);
      return key in of;
    },
    getOwnPropertyDescriptor: (of, key) => {
      read(key);
      return Reflect.getOwnPropertyDescriptor(of, key);
    },
  });
  const component: Component = { kind, unique: "id u", config: seen, device: { identities: ["id d"] } };
  const entity = entityOf(component, PREFIXES);
  // Payloads are read when a command runs.
  const count = entity && keys ? messagesOf(entity).length : 0;
  return entity && { ...entity, config, count };
}

function examplesOf(parameter: Parameter): unknown[] {
  if (parameter.type === "boolean") return [true, false];
  if (parameter.type === "array")
    return [
      [255, 0, 10],
      [1, 2, 3],
    ];
  if (parameter.type !== "string")
    return [parameter.minimum, parameter.maximum, (parameter.minimum + parameter.maximum) / 3];
  if ("enum" in parameter) return [...parameter.enum];
  return [
    "a",
    "abc",
    "7",
    "2026-11-22",
    "07:30:00",
    "2026-11-22T07:30:00+01:00",
    "x".repeat(parameter.maxLength),
  ].filter((text) => text.length >= (parameter.minLength ?? 0) && text.length <= parameter.maxLength);
}

/** What each action sends, by its parameters. */
function messagesOf({ commands, qos, retain }: Entity): string[] {
  return commands.flatMap(({ action, parameters, required, run }) => {
    const names = Object.keys(parameters);
    const examples = (name: string) => examplesOf(parameters[name] as Parameter);
    const firsts = (of: readonly string[]) => Object.fromEntries(of.map((name) => [name, examples(name)[0]]));
    const asked = [
      firsts(required),
      firsts(names),
      ...names.flatMap((name) => examples(name).map((one) => ({ ...firsts(required), [name]: one }))),
      ...names.flatMap((name) => examples(name).map((one) => ({ ...firsts(names), [name]: one }))),
    ];
    return asked.flatMap((given) => {
      const ran = run(given, (slot) => ({
        value: slot === "brightness" ? Quantity.of(40) : null,
        at: NOW,
        heard: NOW,
        message: 1,
        retained: false,
      }));
      if ("error" in ran) return [];
      return [JSON.stringify([action, given, ran.steps, qos, retain])];
    });
  });
}

/** With these an entity is not offered, or sends the same another way. They are changed too, but stand in no whole config. */
const LEFT_OUT = ["retain", "qos", "entity_category", "enabled_by_default", "code", "code_format"];

/** A config of a kind with everything that it reads: each key gets the value by which it can send most. */
function fullConfig(kind: string, more: Config): { config: Config; keys: string[] } {
  const keys = new Set<string>();
  const config: Config = { ...more };
  const size = () => made(kind, config, keys)?.count ?? 0;
  let best = size();
  const isOpen = (key: string) => !(key in config || LEFT_OUT.includes(key));
  const tell = (key: string) => {
    if (key.endsWith("topic")) config[key] = `t/${key}`;
    else if (key.endsWith("template")) config[key] = "{{ value }}";
    best = Math.max(best, size());
  };
  // A key that is read because of another one joins the set while this goes through it.
  for (const key of keys) if (isOpen(key)) tell(key);
  for (const key of keys) {
    if (isOpen(key)) tell(key);
    if (!isOpen(key)) continue;
    let kept: unknown;
    let seen = keys.size;
    for (const value of VALUES) {
      config[key] = value;
      const now = size();
      if (now > best || keys.size > seen) [best, kept, seen] = [now, value, keys.size];
    }
    if (kept === undefined) delete config[key];
    else config[key] = kept;
  }
  return { config, keys: [...keys] };
}

const SHAPES: Array<[kind: string, more: Config]> = COMMANDED_KINDS.flatMap(
  (kind): Array<[string, Config]> =>
    kind === "light"
      ? [
          ["light", { schema: "json" }],
          [
            "light",
            { schema: "json", supported_color_modes: ["rgb", "color_temp"], brightness: true, effect: true },
          ],
          ["light", { schema: "basic" }],
          ["light", { schema: "basic", on_command_type: "brightness" }],
          ["light", { schema: "template" }],
        ]
      : [[kind, {}]],
);

/** Changes each key alone. @returns the keys whose change leaves the text as it was, although other messages are possible */
function missed(
  kind: string,
  more: Config,
  template: string,
  textOf: (entity: Entity) => string | undefined,
): string[] {
  const { config: plain, keys } = fullConfig(kind, more);
  const config = Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [key, key.endsWith("template") ? template : value]),
  );
  const whole = made(kind, config) as Entity;
  expect(whole.commands.length, kind).toBeGreaterThan(0);
  const [text, messages] = [textOf(whole), messagesOf(whole).join("\n")];
  const found = keys.flatMap((key) =>
    [...VALUES, key.endsWith("topic") ? "other/topic" : `${template} other`].flatMap((value) => {
      const other = { ...config, [key]: value };
      if (value === undefined) delete other[key];
      const entity = made(kind, other) as Entity;
      // Messages are written for those keys alone that are not covered.
      if (entity.commands.length === 0 || textOf(entity) !== text) return [];
      return messagesOf(entity).join("\n") === messages ? [] : [key];
    }),
  );
  return [...new Set(found)];
}

// Thousands of configs are read.
describe("S23: an allowance covers everything that can change a message", { timeout: 120_000 }, () => {
  test.each(SHAPES)(
    "S23: each key of %s %o, changed alone under templates that use every variable",
    (kind, more) => {
      expect(missed(kind, more, EVERYTHING, (entity) => allowText(["d"], [entity], []))).toEqual([]);
    },
  );

  test.each(SHAPES)(
    "S23: what 0.3 allowed of %s %o is carried over only where no key was missing",
    (kind, more) => {
      // Without a text nothing is carried over. The QoS of a config was never that of a command.
      const ofThen = (entity: Entity) => allowTextBefore(["d"], [entity], []) ?? crypto.randomUUID();
      const keys = missed(kind, more, NAMELESS, ofThen).filter((key) => key !== "qos");
      expect(keys).toEqual([]);
    },
  );

  test("S23: most kinds are carried over; one whose template reads its name is not", () => {
    const text = (kind: string, template: string) =>
      allowTextBefore(["d"], [made(kind, { command_topic: "a", command_template: template }) as Entity], []);
    expect(text("switch", "{{ value }}")).toBeDefined();
    expect(text("switch", "{{ name }}")).toBeUndefined();
    expect(allowTextBefore(["d"], [made("light", { command_topic: "a" }) as Entity], [])).toBeUndefined();
  });

  test("S23: what is only shown, or only read, is not covered", () => {
    const shown =
      "name icon entity_picture state_topic value_template availability_topic optimistic percentage_state_topic mode_state_template state_open device";
    expect(shown.split(" ").filter((key) => isCovered(key, {}))).toEqual([]);
    expect(isCovered("a_key_of_tomorrow", {})).toBe(true);
    expect(isCovered("brightness_state_topic", { on_command_type: "brightness" })).toBe(true);
  });

  const PLUG = {
    unique_id: "p",
    name: "Plug",
    command_topic: "a",
    device: { identifiers: ["p"], name: "Box" },
  };
  const hashOf = (config: Config, kind = "switch") => {
    const catalog = newCatalog();
    catalog.mqtt.config(`homeassistant/${kind}/p/config`, JSON.stringify({ ...PLUG, ...config }), NOW);
    return catalog.devices(NOW)[0]?.allowHash;
  };

  test("S23: a new name counts where the template sends it", () => {
    const command_template = '{"{{ name }}": "{{ value }}"}';
    expect(hashOf({ command_template, name: "Lamp" })).not.toBe(hashOf({ command_template }));
    expect(hashOf({ command_template, name: null, device_class: "outlet" })).not.toBe(
      hashOf({ command_template, name: null, device_class: "switch" }),
    );
    expect(hashOf({ name: "Lamp" })).toBe(hashOf({}));
  });

  test("S23: a light's new parameters count", () => {
    const light = { schema: "json", effect_list: ["a"], transition: false };
    const first = hashOf(light, "light");
    expect(hashOf({ ...light, effect: true }, "light")).not.toBe(first);
    expect(hashOf({ ...light, transition: true }, "light")).not.toBe(first);
  });
});

describe("S23: a command's template has nothing of time or chance", () => {
  test.each([
    "{{ now() }}",
    "{{ utcnow().hour }}",
    "{{ value if now().hour < 5 else 'UNLOCK' }}",
    "{% if now().minute > 3 %}{{ value }}{% endif %}",
    "{% set t = as_timestamp(now()) %}{{ t }}",
    "{{ [now()] | map('string') | list }}",
    "{% for x in [1] if now().hour == x %}{{ x }}{% endfor %}",
    "{{ {'a': [1, (2, now())]} }}",
    "{{ value.replace('a', utcnow().isoformat()) }}",
  ])("S23: %s is refused by its name, and the console has the reason", (command_template) => {
    const catalog = newCatalog();
    catalog.mqtt.config(
      "homeassistant/switch/p/config",
      JSON.stringify({ command_topic: "a", command_template }),
      NOW,
    );
    const [device] = catalog.devices(NOW);
    expect(device?.actions.map(({ name }) => name)).toEqual(["read"]);
    expect(device?.notOffered[0]?.why).toMatch(
      /^its command_template cannot be used\. The template uses "(?:now|utcnow)", which depends on time: /,
    );
  });

  test("S23: so is one that is named by a text", () => {
    const catalog = newCatalog();
    const command_template = "{{ ['a', 'b'] | map('ran' ~ 'dom') | list }}";
    catalog.mqtt.config(
      "homeassistant/switch/p/config",
      JSON.stringify({ command_topic: "a", command_template }),
      NOW,
    );
    const [device] = catalog.devices(NOW);
    expect(catalog.plan(device?.id ?? "", "set", { on: true }, NOW)).toEqual({
      error: expect.stringContaining('uses "random", which depends on chance'),
    });
  });

  test("S23: a state's template still has the time", () => {
    const catalog = newCatalog();
    catalog.mqtt.config(
      "homeassistant/sensor/p/config",
      JSON.stringify({ state_topic: "s", value_template: "{{ now().year }}" }),
      NOW,
    );
    catalog.mqtt.state("s", "x", { now: NOW, retained: false });
    expect(catalog.readings(catalog.devices(NOW)[0]?.id ?? "", NOW)[0]?.text).toBe("2027");
  });
});

test("S23: the hash of 0.3 is sent beside the new one where it still holds", () => {
  const catalog = newCatalog();
  catalog.mqtt.config(
    "homeassistant/switch/p/config",
    JSON.stringify({ unique_id: "p", command_topic: "a" }),
    NOW,
  );
  catalog.mqtt.config(
    "homeassistant/light/l/config",
    JSON.stringify({ unique_id: "l", command_topic: "b" }),
    NOW,
  );
  const [light, plug] = catalog.devices(NOW);
  const text = (kind: string, unique: string, topic: string) =>
    `{"dangerous":[],"entities":["{\\"config\\":{\\"command_topic\\":\\"${topic}\\"},\\"kind\\":\\"${kind}\\",\\"unique\\":\\"id ${unique}\\"}"],"identities":["entity ${kind} id ${unique}"]}`;
  expect(plug?.allowHashBefore).toBe(sha256(text("switch", "p", "a")));
  expect(light?.allowHashBefore).toBeNull();
});
