/** A home for many agents: broker, summing Worker, bridge, one real agent that takes the calls, and a simulator of the others. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { type TopicKind, topicOf } from "@edgecall/core/protocol/names.ts";
import type { Gateway } from "../../local/gateway.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { enrolAgents, startBenchAgent } from "../agents.ts";
import { type Endpoint, startEndpoint } from "../endpoint.ts";
import { connectBroker } from "../floor/broker-client.ts";
import { startMosquitto } from "../mosquitto.ts";
import { AS_INSTALLED } from "../node-starts.ts";
import { Processes } from "../processes.ts";
import { startBenchBridge, startBenchWorker } from "../started.ts";
import { type Asker, startAsker } from "../turns.ts";
import type { Adverts } from "./protocol.ts";
import { type Simulator, startSimulator } from "./simulator-process.ts";

export const REAL_AGENT = "bench";
export const SUMMING_WORKER = fileURLToPath(new URL("../cost/summing-worker.ts", import.meta.url));
/** Tools of a pi-agent on a Pi with sensors, and of an agent with a slim advert. */
const REAL_TOOLS = 28;
const SLIM_TOOLS = 3;

export type AdvertKind = "real" | "slim";

export type StackProgram = "workerd" | "bridge" | "agent" | "broker";

export type FleetStack = {
  worker: Gateway;
  workerd: number;
  /** The processes of a stack whose bridge was started. */
  pids(): Record<StackProgram, number>;
  endpoint: Endpoint;
  asker: Asker;
  simulator: Simulator;
  /** Tools in each advert, and its bytes as published without a signature. */
  advert: { tools: number; bytes: number };
  /** Starts the bridge. */
  startBridge(): Promise<void>;
  /** Ends it like a power cut. */
  killBridge(): Promise<void>;
  /** When the gateway welcomed the running bridge, epoch ms. */
  welcomedAt(): number;
  stop(): Promise<void>;
};

/** @param dir a folder of its own @param count of agents, without the real one @param atOnce turns at a time */
export async function startFleetStack(
  dir: string,
  count: number,
  kind: AdvertKind,
  atOnce: number,
): Promise<FleetStack> {
  mkdirSync(dir, { recursive: true });
  const processes = new Processes(dir);
  const onExit = () => processes.killAll();
  process.once("exit", onExit);
  const mqttUrl = await startMosquitto(dir, processes);
  const endpoint = await startEndpoint();
  const { worker, pid: workerd } = await startBenchWorker(dir, "worker", {
    entry: SUMMING_WORKER,
    vars: { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" },
    inspector: true,
  });
  await enrolAgents(worker.url, dir, [REAL_AGENT]);
  const agent = await startBenchAgent(dir, mqttUrl, REAL_AGENT, processes, AS_INSTALLED);
  const adverts = advertsOf(await readAdverts(mqttUrl, REAL_AGENT), kind);
  const simulator = await startSimulator({
    mqttUrl,
    gatewayUrl: worker.url,
    token: TOKENS.owner,
    count,
    adverts,
  });
  const asker = startAsker(worker.url, endpoint, atOnce);
  let bridgeName = "";
  let bridgePid = 0;
  let bridges = 0;
  return {
    worker,
    workerd,
    pids: () => ({ workerd, bridge: bridgePid, agent: agent.pid, broker: processes.pid("mosquitto") }),
    endpoint,
    asker,
    simulator,
    advert: {
      tools: toolsOf(adverts.tools).length,
      bytes: Buffer.byteLength(adverts.capabilities) + Buffer.byteLength(adverts.tools),
    },
    async startBridge() {
      bridges += 1;
      bridgeName = `bridge-${bridges}`;
      const gateway = { gatewayUrl: worker.url, mqttUrl, name: bridgeName };
      bridgePid = (await startBenchBridge(dir, processes, gateway)).pid;
    },
    killBridge: () => processes.end(bridgeName),
    welcomedAt: () => lastEvent(join(dir, `${bridgeName}.log`), "gateway.up"),
    async stop() {
      asker.close();
      await simulator.stop();
      await processes.endAll();
      await worker.stop();
      await endpoint.close();
      process.off("exit", onExit);
    },
  };
}

/** Reads an agent's retained adverts, and takes stamp and signature away. */
async function readAdverts(mqttUrl: string, agent: string): Promise<Adverts> {
  const found = new Map<string, string>();
  const broker = await connectBroker(mqttUrl, (payload, topic) => found.set(topic, payload.toString("utf8")));
  const topic = (kind: TopicKind) => topicOf("evoclaw", agent, kind);
  await broker.subscribeAsync([topic("capabilities"), topic("tools")], { qos: 1 });
  await until(() => found.size === 2, { what: "the real agent has published its adverts" });
  await broker.endAsync(true);
  const bare = (kind: TopicKind) => {
    const { boot_id: _, n: __, sig: ___, ...advert } = JSON.parse(found.get(topic(kind)) ?? "{}");
    return JSON.stringify(advert);
  };
  return { capabilities: bare("capabilities"), tools: bare("tools") };
}

function advertsOf(real: Adverts, kind: AdvertKind): Adverts {
  const own = toolsOf(real.tools);
  if (kind === "real") {
    // This machine lacks the hardware for some; others stand for them, twice.
    const more = own
      .slice(0, Math.max(0, REAL_TOOLS - own.length))
      .map((tool) => ({ ...tool, name: `${tool.name}_2` }));
    return {
      capabilities: real.capabilities,
      tools: JSON.stringify({ hash: "real", tools: [...own, ...more] }),
    };
  }
  const slim = own.slice(0, SLIM_TOOLS);
  const capabilities = JSON.parse(real.capabilities) as Record<string, unknown>;
  const line = `sensors: ${slim.map(({ name }) => name).join(", ")}`;
  return {
    capabilities: JSON.stringify({ ...capabilities, capabilities: line }),
    tools: JSON.stringify({ hash: "slim", tools: slim }),
  };
}

function toolsOf(text: string): ActionAdvert[] {
  return (JSON.parse(text) as { tools: ActionAdvert[] }).tools;
}

/** @returns epoch ms of the last line with this event in a program's log; NaN without one */
function lastEvent(log: string, event: string): number {
  const line = readFileSync(log, "utf8")
    .split("\n")
    .findLast((text) => text.includes(`"event":"${event}"`));
  return line === undefined ? Number.NaN : Date.parse((JSON.parse(line) as { ts: string }).ts);
}
