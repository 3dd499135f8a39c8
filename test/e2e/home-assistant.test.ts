// @module-tag needs/home-assistant
// @module-tag needs/mosquitto
// @module-tag needs/publishers
/**
 * Home Assistant as published on PyPI: its integration "LiteLLM" makes the gateway a conversation agent, its integration "Model Context
 * Protocol" signs in to the gateway and gives its tools to a model of its own, its MCP server gives an agent tools, and on the same broker it and the
 * gateway are told to switch the same devices.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import type { OauthGrantView } from "../../worker/kernel/api/answers.ts";
import { SignIn } from "../oauth-sign-in.ts";
import { BrokerView } from "../publishers/broker-view.ts";
import {
  type Behaviour,
  type Discoverable,
  type FleetDevice,
  startFleet,
} from "../publishers/discoverable.ts";
import { script } from "../scripted-model.ts";
import { type ScriptedProgramModel, startScriptedProgramModel } from "../scripted-program-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { type Entry, type Flow, HomeAssistant } from "./home-assistant.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const START_WITHIN_MS = 240_000;
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
/** A model that Home Assistant asks itself, which is not the gateway's. */
let model: ScriptedProgramModel;

beforeAll(async () => {
  const port = Number(new URL(stack.mqttUrl).port);
  view = await BrokerView.open(port);
  fleet = await startFleet(port, FLEET);
  model = await startScriptedProgramModel();
  home = await HomeAssistant.start(["application_credentials", "stt", "intent", "light", "switch"]);
  await home.useBroker(
    port,
    FLEET.map(({ name }) => name),
  );
  await home.serveMcp();
}, START_WITHIN_MS);

afterAll(async () => {
  await home?.stop();
  await model?.close();
  await fleet?.stop();
  await view?.close();
});

test("a conversation of three turns calls a device, and gets a spoken answer in time while the device is slow", async () => {
  const agent = await home.addConversation(
    { url: stack.gateway.url, api_key: TOKENS.owner },
    { model: "edgecall-voice", prompt: "You are in a test." },
  );
  const ask = (what: object) => ({ calls: [{ arguments: { agent_id: "pi", ...what } }] });
  const first = await home.say(agent, script(ask({ action: "memory" }), { text: "So: $results" }));
  expect(first).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const device = script({ hold: "slow", step: { text: "the garage is open" } });
  const begun = Date.now();
  const question = script(ask({ query: device }), { text: "It says: $results" });
  const second = await home.say(agent, question, first.id);
  expect(second.speech).toBe("pi has not answered yet.\nThe answer comes with your next message.");
  expect(second.id).toBe(first.id);
  expect(Date.now() - begun).toBeLessThan((VOICE_WAIT_S + 5) * 1_000);

  stack.model.release("slow");
  const third = await home.say(agent, script({ text: "Good evening." }), first.id);
  expect(third.speech).toMatch(
    /^Good evening\.\n\nTo ".*": It says: \[.* called no tool .*\]\s+the garage is open$/,
  );
}, 120_000);

test("its MCP integration signs in with a client that was entered by hand, and its model calls a device", async () => {
  const { gateway } = stack;
  const redirect_uris = [`${home.url}/auth/external/callback`];
  const body = JSON.stringify({ name: "Home Assistant", redirect_uris, secret: true });
  const made = await gateway.fetch("/v1/oauth/clients", { method: "POST", body });
  const { client_id, client_secret } = (await made.json()) as Record<string, string>;
  await home.command({ type: "application_credentials/create", domain: "mcp", client_id, client_secret });
  const menu = await home.flow("mcp", { url: `${gateway.url}/mcp` });
  const choice = "pick_implementation";
  expect(menu).toMatchObject({ type: "menu", menu_options: expect.arrayContaining([choice]) });
  const { flow_id, url } = await home.step<Flow & { url: string }>(menu.flow_id, { next_step_id: choice });

  const address = new URL(url);
  const person = new SignIn((path, init) => fetch(gateway.url + path, init), gateway.url);
  const cookie = await person.cookie(TOKENS.owner);
  const { form } = await person.open(address.pathname + address.search, cookie);
  const { location } = await person.press(form, cookie, { command: "yes", trusted: "yes" });
  expect((await fetch(location ?? "")).ok).toBe(true);
  const entry = await home.step<Entry>(flow_id, {});
  expect(entry).toMatchObject({ type: "create_entry", result: { title: "edgecall" } });

  const agent = await home.addConversation(
    { url: model.url, api_key: "none" },
    { model: "scripted", prompt: "You are in a test.", llm_hass_api: [`mcp-${entry.result.entry_id}`] },
  );
  const call = { name: "edge_call", arguments: { agent_id: "pi", action: "memory", params: {} } };
  const said = await home.say(agent, script({ calls: [call] }, { text: "So: $results" }));
  expect(said).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const { grants } = (await (await gateway.fetch("/v1/oauth/grants")).json()) as { grants: OauthGrantView[] };
  expect(grants).toMatchObject([{ client: "Home Assistant", person: "anna", state: "connected" }]);
}, 120_000);

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
  await until(async () => (await home.state("silent light 0")) === "off", {
    every: 100,
    what: "Home Assistant has the state",
  });
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
}, 120_000);

test("its own MCP server passes the gateway's tools on since it signed in: an agent refuses them, and has what its owner names", async () => {
  const server = { url: `${home.url}/api/mcp`, token: home.token, effect: "device" };
  const named = { ...server, name: "named", tools: ["intent__HassTurnOn"] };
  await stack.startAgent({ id: "circle", model: true, top: { mcp: [{ ...server, name: "all" }, named] } });
  await stack.gateway.online("circle");
  const { tools, unavailable } = await until(
    async () => {
      const list = await stack.gateway.toolsOf("circle");
      return list.unavailable.some(({ name }) => name === "all_*") ? list : undefined;
    },
    { what: "the server is refused" },
  );
  expect(unavailable).toContainEqual({
    name: "all_*",
    why: expect.stringMatching(/passes on the tools of an edgecall gateway \(\w*edge_\w+\)/),
  });
  const theirs = tools.filter(({ name }) => /^(?:all|named)_/.test(name));
  expect(theirs.map(({ name }) => name)).toEqual(["named_intent__HassTurnOn"]);
}, 120_000);

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
