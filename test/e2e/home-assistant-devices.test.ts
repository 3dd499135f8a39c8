// @module-tag needs/home-assistant
// @module-tag needs/mosquitto
// @module-tag needs/publishers
/**
 * Home Assistant, as published on PyPI, beside the gateway: its MCP server gives an agent tools, and on the same broker both are told to
 * switch the same devices.
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
import { until } from "../wait.ts";
import { HOME_ASSISTANT_START_MS, HomeAssistant } from "./home-assistant.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const stack = useStack({
  mosquitto: findMosquitto(),
  bridge: { STATE_DIRECTORY: mkdtempSync(join(tmpdir(), "edgecall-bridge-")) },
});

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

beforeAll(async () => {
  const port = Number(new URL(stack.mqttUrl).port);
  view = await BrokerView.open(port);
  fleet = await startFleet(port, FLEET);
  home = await HomeAssistant.start(["intent", "light", "switch"]);
  await home.useBroker(
    port,
    FLEET.map(({ name }) => name),
  );
  await home.serveMcp();
}, HOME_ASSISTANT_START_MS);

afterAll(async () => {
  await home?.stop();
  await fleet?.stop();
  await view?.close();
});

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
  const off = '{"state":"OFF"}';
  fleet.report("silent light 0", off);
  await view.message("hmd/light/silent-light-0/state", (text) => text === off);
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
