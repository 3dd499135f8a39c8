// @module-tag needs/home-assistant
// @module-tag needs/mosquitto
// @module-tag needs/publishers
/**
 * Home Assistant as published on PyPI: its integration "LiteLLM" makes the gateway a conversation agent, its MCP server gives an agent tools,
 * and on the same broker it and the gateway are told to switch the same devices.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { BrokerView } from "../publishers/broker-view.ts";
import {
  type Behaviour,
  type Discoverable,
  type FleetDevice,
  startFleet,
} from "../publishers/discoverable.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { HomeAssistant } from "./home-assistant.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const START_WITHIN_MS = 150_000;
const VOICE_WAIT_S = 3;

const stack = useStack(
  {
    mosquitto: findMosquitto(),
    vars: { VOICE_WAIT_S: String(VOICE_WAIT_S) },
    bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
  },
  async (stack) => {
    await stack.startAgent({ id: "pi", model: true });
    await stack.gateway.online("pi");
  },
);

/** A hundred devices, and how many of them answer a command in which way. */
const MIX: ReadonlyArray<[Behaviour, number]> = [
  ["works", 80],
  ["unavailable", 7],
  ["silent", 4],
  ["stuck", 3],
  ["optimistic", 6],
];
const FLEET: readonly FleetDevice[] = MIX.flatMap(([behaviour, count]) =>
  Array.from({ length: count }, (_, n) => {
    const kind = n % 2 === 0 ? ("light" as const) : ("switch" as const);
    return { id: `${behaviour}-${n}`, name: `${behaviour} ${kind} ${n}`, kind, behaviour };
  }),
);
const AT_ONCE = 10;

let home: HomeAssistant;
let fleet: Discoverable;
let view: BrokerView;

type Json = Record<string, unknown>;

beforeAll(async () => {
  const port = Number(new URL(stack.mqttUrl).port);
  view = await BrokerView.open(port);
  fleet = await startFleet(port, FLEET);
  home = await HomeAssistant.start(["stt", "intent", "light", "switch"]);
  await home.useBroker(
    port,
    FLEET.map(({ name }) => name),
  );
  await home.serveMcp();
}, START_WITHIN_MS);

afterAll(async () => {
  await home?.stop();
  await fleet?.stop();
  await view?.close();
});

/** @returns the entity id of the conversation agent */
async function setUp(): Promise<string> {
  const flows = "/api/config/config_entries";
  const { flow_id } = await home.request<{ flow_id: string }>(`${flows}/flow`, { handler: "litellm" });
  const connection = { url: stack.gateway.url, api_key: TOKENS.owner };
  const made = await home.request<{ type: string; result: { entry_id: string } }>(
    `${flows}/flow/${flow_id}`,
    connection,
  );
  expect(made.type).toBe("create_entry");
  const adding = `${flows}/subentries/flow`;
  const form = await home.request<{ flow_id: string; data_schema: Json[] }>(adding, {
    handler: [made.result.entry_id, "conversation"],
  });
  // It has asked the gateway for its models.
  expect(JSON.stringify(form.data_schema)).toContain('"edgecall-voice"');
  const agent = { model: "edgecall-voice", prompt: "You are in a test." };
  expect(await home.request(`${adding}/${form.flow_id}`, agent)).toMatchObject({ type: "create_entry" });
  return await until(
    async () => {
      const states = await home.request<Array<{ entity_id: string }>>("/api/states");
      return states.find(({ entity_id: id }) => /^conversation\.(?!home_assistant$)/.test(id))?.entity_id;
    },
    { within: 20_000, what: "the conversation agent is there" },
  );
}

type Processed = {
  conversation_id: string;
  response: { response_type: string; speech: { plain: { speech: string } } };
};

test("a conversation of three turns calls a device, and gets a spoken answer in time while the device is slow", async () => {
  const agent_id = await setUp();
  const say = async (text: string, conversation_id?: string) => {
    const body = { text, agent_id, language: "en", ...(conversation_id && { conversation_id }) };
    const { response, conversation_id: id } = await home.request<Processed>(
      "/api/conversation/process",
      body,
    );
    return { id, type: response.response_type, speech: response.speech.plain.speech };
  };
  const ask = (what: Json) => ({ calls: [{ arguments: { agent_id: "pi", ...what } }] });
  const first = await say(script(ask({ action: "memory" }), { text: "So: $results" }));
  expect(first).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const device = script({ hold: "slow", step: { text: "the garage is open" } });
  const begun = Date.now();
  const second = await say(script(ask({ query: device }), { text: "It says: $results" }), first.id);
  expect(second.speech).toBe("pi has not answered yet.\nThe answer comes with your next message.");
  expect(second.id).toBe(first.id);
  expect(Date.now() - begun).toBeLessThan((VOICE_WAIT_S + 5) * 1_000);

  stack.model.release("slow");
  const third = await say(script({ text: "Good evening." }), first.id);
  expect(third.speech).toMatch(/^Good evening\.\n\nTo ".*": It says: the garage is open$/);
}, 60_000);

test("its own MCP server is a set of an agent's tools, and its success is told as sent, not confirmed", async () => {
  const states = "homeassistant__GetLiveContext";
  const server = {
    name: "home",
    url: `${home.url}/api/mcp`,
    token: home.token,
    effect: "device",
    permission: "device",
    tools: ["intent__HassTurnOn", "intent__HassTurnOff", states],
    reads: [states],
    confirms: false,
  };
  await stack.startAgent({
    id: "house",
    model: true,
    top: { mcp: [server], policy: { home_intent__HassTurnOn: "allow" }, agent: { capabilities: ["device"] } },
  });
  await stack.gateway.online("house");
  fleet.report("silent light 0", '{"state":"OFF"}');
  const query = script(
    { calls: [{ name: "home_intent__HassTurnOn", arguments: { name: "silent light 0" } }] },
    { calls: [{ name: `home_${states}`, arguments: { name: "silent light 0" } }] },
    { text: "$results" },
  );
  const turn = await stack.gateway.ask(
    script({ calls: [{ arguments: { agent_id: "house", query } }] }, { text: "$results" }),
  );
  const told = [
    "Sent to 'home', not confirmed: its success does not say that anything was done.",
    `Read the state before you say that it was done: home_${states}.`,
  ].join(" ");
  const [sent, state] = (turn.answer ?? "").split(" | ");
  expect(sent).toContain(told);
  expect(sent).toContain('"response_type": "action_done"');
  // Nothing happened, and its state says so.
  expect(state).toContain("names: silent light 0\\n  domain: light\\n  state: 'off'");
});

/** Does it for each device, a few at once. @returns the names of those for which it is told as done */
async function doneFor(act: (device: FleetDevice) => Promise<boolean>): Promise<string[]> {
  const rest = [...FLEET];
  const done: string[] = [];
  const work = async () => {
    for (let device = rest.pop(); device; device = rest.pop()) if (await act(device)) done.push(device.name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return done.sort();
}

test("of 100 commands, 20 of them to devices that are away, dead or do not report, done is told of 80, and by Home Assistant of all", async () => {
  const devices = new HostedDevices(stack);
  const idOf = ({ name }: FleetDevice) => name.replaceAll(" ", "-");
  await devices.known(FLEET.filter(({ behaviour }) => behaviour !== "unavailable").map(idOf));
  for (const device of await devices.list()) await devices.allow(device);
  const works = FLEET.filter(({ behaviour }) => behaviour === "works");
  const isOn = ({ kind, name }: FleetDevice, on: boolean) => {
    const state = view.last(`hmd/${kind}/${name.replaceAll(" ", "-")}/state`) ?? "";
    return state.includes(on ? "ON" : "OFF");
  };

  const ours = await doneFor(async (device) => {
    const { status, text } = await devices.ask(idOf(device), "set", { on: true });
    return status === "success" && !text.startsWith("Sent to");
  });
  expect(ours).toEqual(works.map(({ name }) => name).sort());
  expect(works.every((device) => isOn(device, true))).toBe(true);

  const theirs = await doneFor(({ name }) => home.turn(false, name));
  // It says so before the devices do.
  await until(() => works.every((device) => isOn(device, false)), { what: "the devices that work are off" });
  expect(theirs).toEqual(FLEET.map(({ name }) => name).sort());
}, 240_000);
