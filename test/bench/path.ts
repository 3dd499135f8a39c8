/** Our own path: Worker, bridge and agent as they are shipped, asked over HTTP with a model that is scripted. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleAgent, bundleBridge, bundleWorker } from "../../local/bundles.ts";
import { startWorker } from "../../local/gateway.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { startEndpoint } from "./endpoint.ts";
import { poster } from "./http.ts";
import type { Work } from "./load.ts";
import type { Processes } from "./processes.ts";

export const BENCH_AGENT = "bench";
/** The cheapest real tool: it reads one file of the kernel. */
export const BENCH_ACTION = "memory";
/** Calls of one turn of row (c): most of its time is then the call path, and its history stays short. */
const CALLS_OF_A_TURN = 4;
/** A conversation gets so many turns and then a new one follows: a long history would measure JSON. */
const TURNS_OF_A_CONVERSATION = 5;

export type Path = {
  /** (c) From the last byte of a reply that asks for a call to the first byte of the next request. */
  call: Work;
  /** (d) A whole turn with one call over HTTP, less the model's own time. */
  turn: Work;
  stop(): Promise<void>;
};

export async function startPath(
  dir: string,
  mqttUrl: string,
  atOnce: number,
  processes: Processes,
): Promise<Path> {
  const endpoint = await startEndpoint({ agent_id: BENCH_AGENT, action: BENCH_ACTION });
  const worker = await startWorker({
    port: 0,
    dir: join(dir, "worker"),
    bundle: await bundleWorker({ minify: true }),
    vars: { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" },
    onLog: (line) => appendFileSync(join(dir, "worker.log"), `${line}\n`),
  });
  const bridge = join(dir, "bridge.mjs");
  writeFileSync(bridge, await bundleBridge());
  await processes.start("bridge", [process.execPath, bridge], {
    GATEWAY_URL: worker.url,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: mqttUrl,
    HEALTH_PORT: "0",
  });
  const agent = [await writeAgentProgram(dir), "--config", writeAgentConfig(dir, mqttUrl, BENCH_AGENT)];
  await processes.start("agent", [process.execPath, ...agent]);
  await until(() => isOnline(worker.url, BENCH_AGENT), {
    within: 15_000,
    what: "the bench's agent is online",
  });

  const { post, close } = poster(worker.url, atOnce);
  const headers = { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" };
  let started = 0;
  const conversations = new Map<number, { name: string; turns: number }>();

  const conversationOf = (slot: number): string => {
    const known = conversations.get(slot);
    if (known && known.turns < TURNS_OF_A_CONVERSATION) {
      known.turns += 1;
      return known.name;
    }
    started += 1;
    const name = `bench-${started}`;
    conversations.set(slot, { name, turns: 1 });
    return name;
  };

  const run = async (slot: number, calls: number) => {
    const path = `/v1/conversations/${conversationOf(slot)}/messages`;
    const { text, times } = endpoint.script(calls);
    const began = performance.now();
    const { status, body } = await post(path, JSON.stringify({ text }), headers);
    const took = performance.now() - began;
    if (status !== 200) throw new Error(`a turn was answered with ${status}: ${body.slice(0, 500)}`);
    const result = JSON.parse(body) as { status: string; calls: Array<{ status: string }> };
    const well = result.calls.filter((call) => call.status === "success").length;
    if (result.status !== "done" || well !== calls || times.calls.length !== calls)
      throw new Error(`a turn did not do its ${calls} calls: ${body.slice(0, 500)}`);
    return { took, times };
  };

  return {
    call: async (slot) => (await run(slot, CALLS_OF_A_TURN)).times.calls,
    turn: async (slot) => {
      const { took, times } = await run(slot, 1);
      return [took - times.own];
    },
    async stop() {
      close();
      await worker.stop();
      await endpoint.close();
    },
  };
}

/** Writes the agent as the one file that a Pi gets. @returns its path */
export async function writeAgentProgram(dir: string): Promise<string> {
  const program = join(dir, "pi-agent.cjs");
  writeFileSync(program, await bundleAgent());
  return program;
}

/** Writes an agent's settings. @returns their path */
export function writeAgentConfig(dir: string, mqttUrl: string, id: string): string {
  const own = join(dir, `agent-${id}`);
  mkdirSync(own, { recursive: true });
  const config = join(own, "agent.toml");
  writeFileSync(config, `agent_id = "${id}"\n\n[mqtt]\nurl = "${mqttUrl}"\n`);
  return config;
}

async function isOnline(url: string, agent: string): Promise<boolean> {
  const response = await fetch(`${url}/v1/agents`, { headers: { authorization: `Bearer ${TOKENS.owner}` } });
  const { agents } = (await response.json()) as { agents: Array<{ id: string; online: boolean }> };
  return agents.some(({ id, online }) => id === agent && online);
}
