/** A home of devices as real configs make them, and what sentences come to there. */
import { en as phraseData } from "@edgecall/core/phrases/languages/en.ts";
import { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { en } from "@edgecall/core/sentences/languages/en.ts";
import { makeLexicon } from "@edgecall/core/sentences/lexicon.ts";
import { type NamedThing, NameTable } from "@edgecall/core/sentences/names.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { NOW, newCatalog } from "../discovery/testkit/device-cases.ts";
import { calledIn } from "../worker/features/sentences/home/called.ts";
import {
  type ResolveContext,
  type Resolved,
  resolveMeanings,
} from "../worker/features/sentences/home/resolve.ts";
import { kindsIn, type Thing } from "../worker/features/sentences/home/things.ts";
import type { SpokenRule } from "../worker/kernel/api/roster.ts";

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
    "switch",
    "Laundry",
    "Bosch washing machine plug",
    { command_topic: "wm/set", state_topic: "wm/on" },
    { "wm/on": "ON" },
  ],
  [
    "switch",
    "Kitchen",
    "Freezer light",
    { command_topic: "fl/set", state_topic: "fl/on" },
    { "fl/on": "OFF" },
  ],
  [
    "cover",
    "Garage",
    "Garage door",
    { command_topic: "g/set", state_topic: "g", device_class: "garage" },
    { g: "closed" },
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
  catalog.mqtt.config(
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
    catalog.mqtt.state(topic, payload, { now: NOW, retained: false });

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
  adverts: () =>
    ["disk", "cpu"].map((name) => ({
      name,
      description: "",
      parameters: {},
      effect: "read",
      idempotent: true,
    })),
};
export const all = [...things, vm];
const areas = [...new Set(things.flatMap(({ area }) => area ?? []))];
export const table = new NameTable([
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
export const lexicon = makeLexicon(en);
export const phrases = new Phrases(phraseData);

export async function resolve(sentence: string, earlier: string[] = []): Promise<Resolved> {
  const understood = readSentence(sentence, table, [lexicon]);
  if (understood.result === "none") throw new Error(`${sentence}: ${JSON.stringify(understood)}`);
  return await resolveMeanings(
    understood.result === "one" ? [understood] : understood.meanings,
    contextOf(sentence, earlier),
  );
}

export function contextOf(text: string, earlier: string[] = [], rules: SpokenRule[] = []): ResolveContext {
  return {
    things: all,
    phrases,
    earlier,
    called: calledIn([lexicon]),
    now: NOW,
    zone: "Europe/Berlin",
    text,
    tools: ["watch", "remind", "rules", "ack"],
    states: async (ids) =>
      new Map(ids.map((id) => [id, { id, online: true, readings: catalog.readings(id, NOW, true) }])),
    rules: () => rules,
    past: undefined,
    works: async () => true,
    examples: async () => "",
  };
}

/** The calls of all steps: "kitchen-light set {"on":true}". */
export async function callsOf(sentence: string, earlier?: string[]): Promise<string[]> {
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

export async function answerTo(sentence: string): Promise<string> {
  const resolved = await resolve(sentence);
  return "answer" in resolved
    ? resolved.answer
    : "problem" in resolved
      ? resolved.problem.text
      : JSON.stringify(resolved);
}
