/** What sentences come to with devices as real configs make them: calls with the devices' own actions, or words. */
import { en as phraseData } from "@edgecall/core/phrases/languages/en.ts";
import { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { en } from "@edgecall/core/sentences/languages/en.ts";
import { makeLexicon } from "@edgecall/core/sentences/lexicon.ts";
import { type NamedThing, NameTable } from "@edgecall/core/sentences/names.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { describe, expect, test } from "vitest";
import { NOW, newCatalog } from "../../../../discovery/testkit/device-cases.ts";
import { type Resolved, resolveMeanings } from "./resolve.ts";
import { kindsIn, type Thing } from "./things.ts";

type Config = [
  kind: string,
  area: string,
  name: string,
  config: Record<string, unknown>,
  states?: Record<string, string>,
];

const lamp = (id: string, more: Record<string, unknown> = {}) => ({
  command_topic: `${id}/set`,
  state_topic: `${id}/on`,
  brightness_command_topic: `${id}/b/set`,
  brightness_state_topic: `${id}/b`,
  brightness_scale: 100,
  ...more,
});
const colour = (id: string) => ({
  color_temp_command_topic: `${id}/ct/set`,
  color_temp_state_topic: `${id}/ct`,
  min_mireds: 153,
  max_mireds: 370,
  rgb_command_topic: `${id}/rgb/set`,
  rgb_state_topic: `${id}/rgb`,
});

const CONFIGS: Config[] = [
  ["light", "Kitchen", "Kitchen light", lamp("k", colour("k")), { "k/on": "ON", "k/b": "40" }],
  ["light", "Kitchen", "Counter light", lamp("c"), { "c/on": "OFF" }],
  ["light", "Living room", "Reading lamp", lamp("r"), { "r/on": "ON", "r/b": "90" }],
  ["switch", "Kitchen", "Fridge", { command_topic: "f/set", state_topic: "f/on" }, { "f/on": "ON" }],
  [
    "cover",
    "Living room",
    "Blinds",
    {
      command_topic: "b/set",
      position_topic: "b/pos",
      set_position_topic: "b/pos/set",
      device_class: "blind",
    },
    { "b/pos": "100" },
  ],
  ["lock", "Hall", "Front door", { command_topic: "d/set", state_topic: "d" }, { d: "LOCKED" }],
  [
    "climate",
    "Living room",
    "Living room heating",
    {
      temperature_command_topic: "h/set",
      temperature_state_topic: "h/t",
      current_temperature_topic: "h/c",
      mode_command_topic: "h/m/set",
      mode_state_topic: "h/m",
      modes: ["off", "heat", "auto"],
      min_temp: 5,
      max_temp: 30,
      temp_step: 0.5,
    },
    { "h/t": "20", "h/c": "21.5", "h/m": "heat" },
  ],
  [
    "fan",
    "Bathroom",
    "Bathroom fan",
    {
      command_topic: "v/set",
      state_topic: "v/on",
      percentage_command_topic: "v/p/set",
      percentage_state_topic: "v/p",
    },
    { "v/on": "OFF" },
  ],
  [
    "sensor",
    "Kitchen",
    "Freezer",
    { state_topic: "fr", device_class: "temperature", unit_of_measurement: "°C" },
    { fr: "-18.4" },
  ],
  [
    "sensor",
    "Bedroom",
    "Bedroom thermometer",
    { state_topic: "bt", device_class: "temperature", unit_of_measurement: "°C" },
    { bt: "19.5" },
  ],
  ["binary_sensor", "Kitchen", "Kitchen window", { state_topic: "kw", device_class: "window" }, { kw: "ON" }],
  [
    "binary_sensor",
    "Living room",
    "Living room window",
    { state_topic: "lw", device_class: "window" },
    { lw: "OFF" },
  ],
  [
    "binary_sensor",
    "Laundry",
    "Leak sensor",
    { state_topic: "leak", device_class: "moisture" },
    { leak: "OFF" },
  ],
  [
    "vacuum",
    "Hall",
    "Robot",
    {
      command_topic: "vac/set",
      state_topic: "vac",
      supported_features: ["start", "stop", "pause", "return_home"],
    },
    {},
  ],
];

const catalog = newCatalog();
for (const [kind, area, name, config] of CONFIGS)
  catalog.config(
    `homeassistant/${kind}/${name.replaceAll(" ", "_")}/config`,
    JSON.stringify({
      unique_id: name,
      name: null,
      device: { identifiers: [name], name, suggested_area: area },
      ...config,
    }),
    NOW,
  );
for (const [, , , , states = {}] of CONFIGS)
  for (const [topic, payload] of Object.entries(states))
    catalog.state(topic, payload, { now: NOW, retained: false });

const things: Thing[] = catalog.devices(NOW).map((device) => ({
  id: device.id,
  name: device.name,
  own: false,
  ...(device.area !== undefined && { area: device.area }),
  online: true,
  hosted: true,
  readOnly: false,
  kinds: kindsIn(device.line),
  adverts: () => device.actions,
}));
const vm: Thing = {
  id: "vm",
  name: "vm",
  own: true,
  online: true,
  hosted: false,
  readOnly: false,
  kinds: new Map(),
  adverts: () => [{ name: "disk", description: "", parameters: {}, effect: "read", idempotent: true }],
};
const all = [...things, vm];
const areas = [...new Set(things.flatMap(({ area }) => area ?? []))];
const table = new NameTable([
  ...all.map(
    ({ id, name, area }): NamedThing => ({
      id,
      name,
      of: "device",
      own: true,
      ...(area !== undefined && { area }),
    }),
  ),
  ...areas.map((area): NamedThing => ({ id: area, name: area, of: "area" })),
]);
const lexicon = makeLexicon(en);
const phrases = new Phrases(phraseData);

async function resolve(sentence: string, earlier: string[] = []): Promise<Resolved> {
  const understood = readSentence(sentence, table, [lexicon]);
  if (understood.result === "none") throw new Error(`${sentence}: ${JSON.stringify(understood)}`);
  return await resolveMeanings(understood.result === "one" ? [understood] : understood.meanings, {
    things: all,
    phrases,
    earlier,
    now: NOW,
    zone: "Europe/Berlin",
    text: sentence,
    tools: ["watch", "remind", "rules", "ack"],
    states: async (ids) =>
      new Map(ids.map((id) => [id, { id, online: true, readings: catalog.readings(id, NOW, true) }])),
    examples: async () => "",
  });
}

/** The calls of all steps: "kitchen-light set {"on":true}". */
async function callsOf(sentence: string, earlier?: string[]): Promise<string[]> {
  const resolved = await resolve(sentence, earlier);
  if (!("steps" in resolved)) return [JSON.stringify(resolved)];
  return resolved.steps
    .flat()
    .map(({ name, args: { agent_id, action, params, ...rest } }) =>
      name === "edge_call"
        ? `${agent_id} ${action} ${JSON.stringify(params)}`
        : `${name} ${JSON.stringify({ ...(agent_id !== undefined && { agent_id }), ...rest })}`,
    );
}

async function answerTo(sentence: string): Promise<string> {
  const resolved = await resolve(sentence);
  return "answer" in resolved
    ? resolved.answer
    : "problem" in resolved
      ? resolved.problem.text
      : JSON.stringify(resolved);
}

describe("an act is the device's own action", () => {
  test.each<[sentence: string, ...calls: string[]]>([
    ["turn on the kitchen light", 'kitchen-light set {"on":true}'],
    ["switch the fridge off", 'fridge set {"on":false}'],
    ["set the kitchen light to 40 %", 'kitchen-light set {"brightness_pct":40}'],
    ["dim the reading lamp to 20 percent", 'reading-lamp set {"brightness_pct":20}'],
    ["set the blinds to 40 %", 'blinds set_position {"position":40}'],
    ["close the blinds", "blinds close {}"],
    ["lock the front door", "front-door lock {}"],
    ["unlock the front door", "front-door unlock {}"],
    ["set the living room heating to 21 degrees", 'living-room-heating set {"temperature":21}'],
    ["turn off the living room heating", 'living-room-heating set {"mode":"off"}'],
    ["set the bathroom fan to 50 %", 'bathroom-fan set {"percentage":50}'],
    ["make the kitchen light red", 'kitchen-light set {"rgb":[255,0,0]}'],
    [
      "turn off all lights in the kitchen",
      'counter-light set {"on":false}',
      'kitchen-light set {"on":false}',
    ],
    ["start the robot", "robot start {}"],
  ])("%s", async (sentence, ...calls) => {
    expect((await callsOf(sentence)).sort()).toEqual(calls);
  });

  test("brighter is a step from what it reports", async () => {
    expect(await callsOf("make the kitchen light brighter")).toEqual([
      'kitchen-light set {"brightness_pct":65}',
    ]);
    expect(await callsOf("make the reading lamp brighter")).toEqual([
      'reading-lamp set {"brightness_pct":100}',
    ]);
  });

  test("it means what was spoken of", async () => {
    expect(await callsOf("turn it off", ["reading-lamp"])).toEqual(['reading-lamp set {"on":false}']);
    expect(await answerTo("turn it off")).toBe("Which device?");
  });

  test("a singular of which there are several is asked back", async () => {
    expect(await resolve("turn off the light in the kitchen")).toEqual({
      problem: { text: "Which one? Counter light or Kitchen light", asks: true, which: true },
    });
  });

  test("a value beyond the device's own bounds is said, and not sent", async () => {
    expect(await answerTo("set the living room heating to 50 degrees")).toBe(
      "Living room heating: temperature goes from 5 to 30.",
    );
  });

  test("what a device cannot do is said with what it can", async () => {
    expect(await answerTo("lock the fridge")).toBe("Fridge: it cannot do that. It can: turn on, turn off.");
  });

  test("two parts are two steps", async () => {
    expect(await resolve("turn off the counter light and turn on the reading lamp")).toMatchObject({
      steps: [[{ args: { agent_id: "counter-light" } }], [{ args: { agent_id: "reading-lamp" } }]],
    });
  });
});

describe("a question is answered from what devices report", () => {
  test.each([
    ["how warm is it in the bedroom?", "Bedroom thermometer: 19.5 °C."],
    ["what is the temperature of the freezer?", "Freezer: −18.4 °C."],
    ["is the front door locked?", "Yes. Front door: locked."],
    ["is the counter light on?", "No. Counter light: off."],
    ["which windows are open?", "Kitchen window: open."],
    ["are all windows closed?", "No. Kitchen window: open."],
    ["is any window open?", "Yes. Kitchen window: open."],
    ["how many lights are on?", "2 of 3: Kitchen light and Reading lamp."],
    ["is the freezer colder than -15 degrees?", "Yes. Freezer: −18.4 °C."],
    ["is the leak sensor wet?", "No. Leak sensor: dry."],
  ])("%s", async (sentence, answer) => {
    expect(await answerTo(sentence)).toBe(answer);
  });

  test("a reading that the device does not have is said with those that it has", async () => {
    expect(await answerTo("what is the humidity of the freezer?")).toBe(
      "Freezer has no humidity. It has: temperature.",
    );
  });

  test("of a machine it is a call of its own tool", async () => {
    expect(await callsOf("how full is the disk?")).toEqual(["vm disk {}"]);
  });
});

describe("a rule is a call of its tool", () => {
  test("a watch has the device's own reading and a value that it reports", async () => {
    expect(await callsOf("tell me when the kitchen window is open.")).toEqual([
      'watch {"agent_id":"kitchen-window","name":"tell me when the kitchen window is open","reading":"window","is":"equal","value":true}',
    ]);
    expect(await callsOf("tell me when the freezer is above -15 degrees")).toEqual([
      'watch {"agent_id":"freezer","name":"tell me when the freezer is above -15 degrees","reading":"temperature","is":"above","value":-15}',
    ]);
  });

  test("a reminder has the person's text and time", async () => {
    expect(await callsOf("remind me in 10 minutes to turn the pizza")).toEqual([
      'remind {"text":"turn the pizza","in_minutes":10}',
    ]);
  });
});
