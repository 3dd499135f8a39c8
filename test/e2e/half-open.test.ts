/**
 * The line between bridge and gateway dies silently: both ends trust it until the other's sign of life is missing.
 * Three homes at one gateway, so that their waits overlap.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { type Broker, startBroker } from "../../local/broker.ts";
import { startWorker } from "../../local/gateway.ts";
import { type ScriptedModel, script, startScriptedModel } from "../scripted-model.ts";
import { sha256, TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { Program } from "./program.ts";
import { WireTap } from "./wire-tap.ts";

/** The promised time until a dead line is noticed and the waiting caller is told. */
const KNOWN_WITHIN_MS = 25_000;
/** The promised time until a replaced bridge is back. */
const BACK_WITHIN_MS = 30_000;

const OWNER_C = "test-owner-token-of-home-c";
const BRIDGE_C = "test-bridge-token-of-home-c";
const vars = {
  ...testVars,
  API_TOKENS: withOne(testVars.API_TOKENS, {
    hash: sha256(OWNER_C),
    name: "carl",
    home: "c",
    role: "owner",
    scopes: ["ask", "command", "approve", "admin"],
  }),
  BRIDGE_TOKENS: withOne(testVars.BRIDGE_TOKENS, { hash: sha256(BRIDGE_C), name: "bridge-c", home: "c" }),
};

const dir = mkdtempSync(join(tmpdir(), "edgecall-half-open-"));
const programs: Program[] = [];
const ends: Array<() => unknown> = [() => rmSync(dir, { recursive: true, force: true })];
let broker: Broker;
let model: ScriptedModel;
let url: string;

beforeAll(async () => {
  broker = await startBroker();
  ends.push(() => broker.stop());
  model = await startScriptedModel();
  ends.push(() => model.close());
  const worker = await startWorker({
    port: 0,
    dir,
    vars: { ...vars, LLM_BASE_URL: model.url },
    onLog: () => {},
  });
  ends.push(() => worker.stop());
  url = worker.url;
  ends.push(() => Promise.all(programs.map((program) => program.stop())));
});

afterEach(({ task }) => {
  if (task.result?.state !== "fail") return;
  console.error(programs.flatMap(({ name, lines }) => lines.map((line) => `[${name}] ${line}`)).join("\n"));
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

function withOne(list: string, one: object): string {
  return JSON.stringify([...(JSON.parse(list) as object[]), one]);
}

async function startBridge(name: string, token: string, gateway: string): Promise<Program> {
  const env = {
    BRIDGE_ID: name,
    GATEWAY_URL: gateway,
    BRIDGE_TOKEN: token,
    MQTT_URL: broker.url,
    HEALTH_PORT: "0",
  };
  const bridge = new Program({ name, script: "bridge/main.ts", env });
  programs.push(bridge);
  await bridge.ready;
  return bridge;
}

async function openTap(): Promise<WireTap> {
  const tap = await WireTap.open(url);
  ends.push(() => tap.close());
  return tap;
}

/** Starts one of our agents, which can be asked in words. */
async function startAgent(id: string, home: GatewayClient): Promise<PlayedAgent> {
  const agent = await PlayedAgent.silent(id, broker.url);
  ends.push(() => agent.stop());
  const advert = {
    agent_id: id,
    capabilities: `${id} measures`,
    version: VERSION,
    features: ["tool", "prompt"],
  };
  await agent.say("capabilities", advert, true);
  await agent.say("presence", { state: "online", boot_id: "b1" }, true);
  await until(async () => (await home.agent(id))?.online, { what: `${id} is online` });
  return agent;
}

function asks(home: GatewayClient, agent_id: string) {
  return home.ask(script({ calls: [{ arguments: { agent_id, query: "How warm?" } }] }, { text: "$results" }));
}

type Status = { bridge: { online: boolean }; calls: Array<{ state: string }> };

async function statusOf(home: GatewayClient): Promise<Status> {
  return (await (await home.fetch("/v1/status")).json()) as Status;
}

/** Waits until the bridge itself reports that its line is dead. @returns milliseconds since `since` */
async function silentAfter(bridge: Program, since: number): Promise<number> {
  const event = await until(() => bridge.events("gateway.silent")[0], {
    within: 30_000,
    what: "gateway.silent",
  });
  return Date.parse(String(event.ts)) - since;
}

describe.concurrent("a line that dies silently", () => {
  test("G12 the replaced bridge is back within 30 s after the newer one's line died", async () => {
    const tap = await openTap();
    const older = await startBridge("older", TOKENS.bridge, url);
    const newer = await startBridge("newer", TOKENS.bridge, tap.url);
    await until(() => older.events("gateway.standby")[0], { what: "it waits for its place" });
    const diedAt = Date.now();
    tap.die({ newToo: true });
    const back = await until(() => older.events("gateway.up")[1], { within: 40_000, what: "it is back" });
    expect(Date.parse(String(back.ts)) - diedAt).toBeLessThan(BACK_WITHIN_MS);
    expect(await silentAfter(newer, diedAt)).toBeLessThan(KNOWN_WITHIN_MS);
  });

  test("G12 the bridge does not come back: the caller of an accepted call is told within 25 s", async () => {
    const tap = await openTap();
    const home = new GatewayClient(url, TOKENS.otherHome);
    const bridge = await startBridge("gone", TOKENS.otherBridge, tap.url);
    const agent = await startAgent("pi", home);
    const asking = asks(home, "pi");
    await until(async () => (await statusOf(home)).calls[0]?.state === "taken", { what: "it is taken" });
    const diedAt = Date.now();
    tap.die({ newToo: true });
    const turn = await asking;
    expect(Date.now() - diedAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(turn.calls[0]).toMatchObject({ agent: "pi", error_type: "outcome_unknown" });
    expect((await statusOf(home)).bridge.online).toBe(false);
    expect(agent.commands).toHaveLength(1);
    expect(await silentAfter(bridge, diedAt)).toBeLessThan(KNOWN_WITHIN_MS);
  });

  test("G12 the bridge comes back: a call that was sent into the dead line is sent again within 25 s, once", async () => {
    const tap = await openTap();
    const home = new GatewayClient(url, OWNER_C);
    const bridge = await startBridge("back", BRIDGE_C, tap.url);
    const agent = await startAgent("nas", home);
    const diedAt = Date.now();
    tap.die({ newToo: false });
    const asking = asks(home, "nas");
    const command = await until(() => agent.commands.find((one) => one.command === "prompt"), {
      within: 40_000,
      what: "the call comes",
    });
    expect(Date.now() - diedAt).toBeLessThan(KNOWN_WITHIN_MS);
    await agent.report("result", {
      status: "success",
      content: "19 degrees",
      request_id: command.request_id,
    });
    expect((await asking).answer).toBe("19 degrees");
    expect(agent.commands.filter((one) => one.command === "prompt")).toHaveLength(1);
    expect(await silentAfter(bridge, diedAt)).toBeLessThan(KNOWN_WITHIN_MS);
  });
});
