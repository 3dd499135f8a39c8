/**
 * The agent's part of a Pi's memory: the resident bytes of its bundle, compared with a Node that does nothing. Both
 * start with the same flags, five of each at once.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { MqttClient } from "mqtt";
import { until } from "../test/wait.ts";
import { BENCH_ACTION, writeAgentConfig, writeAgentProgram } from "./agents.ts";
import { connectBroker } from "./floor/broker-client.ts";
import type { NodeStart } from "./node-starts.ts";
import type { Leashed, Processes } from "./processes.ts";
import { median } from "./stats.ts";

/** A single process can differ by a few MB, depending on its garbage collections. */
const OF_EACH = 5;
const CALLS = 100;
const BARE_NODE = "setInterval(()=>{},1e6)";

export type MemoryFigures = {
  /** How Node was started, for both. */
  start: NodeStart;
  /** The median resident set in bytes. */
  bareNode: number;
  idle: number;
  afterCalls: number;
};

/** @param idleMs how long they are left alone before the measurement */
export async function measureMemory(
  dir: string,
  mqttUrl: string,
  idleMs: number,
  processes: Processes,
  starts: readonly NodeStart[],
): Promise<MemoryFigures[]> {
  const gateway = await TinyGateway.connect(mqttUrl);
  const program = await writeAgentProgram(dir);
  try {
    const sets = [];
    for (const [at, start] of starts.entries()) {
      const bare: Leashed[] = [];
      const agents: Array<Leashed & { id: string }> = [];
      for (let i = 0; i < OF_EACH; i += 1) {
        const id = `rss-${at}-${i}`;
        const config = writeAgentConfig(dir, mqttUrl, id);
        const node = [process.execPath, ...start.flags];
        bare.push(await processes.start(`bare-${at}-${i}`, [...node, "-e", BARE_NODE], start.env));
        const agent = [...node, program, "--config", config];
        agents.push({ id, ...(await processes.start(id, agent, start.env)) });
      }
      sets.push({ start, bare, agents });
    }
    const ids = sets.flatMap((set) => set.agents.map((agent) => agent.id));
    await until(() => ids.every((id) => gateway.online.has(id)), {
      within: 30_000,
      what: "the agents are connected to Mosquitto",
    });
    await sleep(idleMs);
    const idle = sets.map(({ bare, agents }) => ({ bareNode: medianRss(bare), idle: medianRss(agents) }));
    await Promise.all(ids.map((id) => gateway.call(id, CALLS)));
    return sets.map(({ start, agents }, at) => ({
      start,
      bareNode: idle[at]?.bareNode ?? Number.NaN,
      idle: idle[at]?.idle ?? Number.NaN,
      afterCalls: medianRss(agents),
    }));
  } finally {
    await gateway.close();
    const started = [...processes.names()].filter((name) => /^(bare|rss)-/.test(name));
    await Promise.all(started.map((name) => processes.end(name)));
  }
}

function medianRss(processes: Leashed[]): number {
  return median(processes.map(({ pid }) => rss(pid)));
}

/** Returns the bytes of a process that are in memory. */
export function rss(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? Number.NaN) * 1_024;
}

/**
 * The part of a gateway that an agent needs to be called: commands, reports and acknowledgements, directly over MQTT.
 */
class TinyGateway {
  readonly online = new Set<string>();
  readonly #reported = new Map<string, (status: unknown) => void>();
  #client: MqttClient | undefined;
  #n = Date.now();

  static async connect(mqttUrl: string): Promise<TinyGateway> {
    const gateway = new TinyGateway();
    const client = await connectBroker(mqttUrl, (payload, topic) => gateway.#receive(topic, payload));
    gateway.#client = client;
    await client.subscribeAsync(["evoclaw/agents/+/presence", "evoclaw/agents/+/reports"], { qos: 1 });
    return gateway;
  }

  /** Calls an agent this many times, one after another. */
  async call(agent: string, times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      const id = crypto.randomUUID();
      const status = await new Promise((resolve) => {
        this.#reported.set(id, resolve);
        this.#send(agent, id, "tool", { tool: BENCH_ACTION, parameters: {} });
      });
      if (status !== "success") throw new Error(`agent ${agent}: ${BENCH_ACTION} came to ${String(status)}`);
      this.#send(agent, crypto.randomUUID(), "ack", { request_id: id });
    }
  }

  async close(): Promise<void> {
    await this.#client?.endAsync(true);
  }

  #send(agent: string, id: string, command: string, payload: Record<string, unknown>): void {
    this.#n += 1;
    const caller = { principal: "bench", role: "owner", channel: "bench" };
    const text = JSON.stringify({
      command,
      payload,
      request_id: id,
      expires_in_ms: 30_000,
      caller,
      n: this.#n,
    });
    this.#client?.publish(`evoclaw/agents/${agent}/commands`, text, { qos: 1 });
  }

  #receive(topic: string, payload: Buffer): void {
    const message = JSON.parse(payload.toString()) as {
      state?: string;
      payload?: { request_id?: string; status?: string };
    };
    const agent = topic.split("/")[2] ?? "";
    if (topic.endsWith("/presence") && message.state === "online") this.online.add(agent);
    const { request_id: id, status } = message.payload ?? {};
    if (id === undefined) return;
    this.#reported.get(id)?.(status);
    this.#reported.delete(id);
  }
}
