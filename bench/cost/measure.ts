import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startBroker } from "../../local/broker.ts";
import { bundleWorker } from "../../local/bundles.ts";
import { startWorker } from "../../local/gateway.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { areOnline, enrolAgents, startWaitingAgent, waits } from "../agents.ts";
import { startEndpoint } from "../endpoint.ts";
import { poster } from "../http.ts";
import type { Processes } from "../processes.ts";
import { startBenchBridge } from "../started.ts";
import { type Actor, type CostLine, readCostLine } from "./lines.ts";
import {
  AWAKE_TAIL_MS,
  gbSeconds,
  type IdleUsd,
  idleMonth,
  objectRequests,
  type TurnUsd,
  usdPerMillion,
} from "./prices.ts";
import { alarmStands, awakeMs, perTurn, type Tally, tally } from "./tally.ts";

export type TurnCost = {
  what: string;
  /** The counts of one turn, and Home's part of its requests. */
  tally: Tally;
  homeRequests: number;
  /** Of both objects: as the docs say, and with 10 s after everything that woke one. */
  awakeMs: { asTheDocsSay: number; atWorst: number };
  gbSeconds: { asTheDocsSay: number; atWorst: number };
  /** The price of a million such turns, without the model's time. */
  usd: { asTheDocsSay: TurnUsd; atWorst: TurnUsd };
};

export type Costs = {
  turns: TurnCost[];
  idle: { forMs: number; tally: Tally; homeBytes: number; usdAMonth: IdleUsd };
  /** Bytes of databases: a conversation after its first turn, and what each later turn adds to it and to Home. */
  growth: { conversation: number; turn: number; turnInHome: number };
};

export type CostPlan = {
  /** The slow tool's time. */
  slowMs: number;
  /** An idle home is watched for this long. */
  idleMs: number;
};

const AGENT = "costs";
const TURNS_IN_A_ROW = 10;
/** A long conversation must not cost much more to read. */
const LONG_TURNS = 100;
/** After this time without a line, all lines of the finished work have arrived. */
const QUIET_MS = 300;
/** The last alarm of a slow call is its deadline, a minute and some seconds. */
const ALARMS_OVER_WITHIN_MS = 120_000;

export async function measureCosts(dir: string, processes: Processes, plan: CostPlan): Promise<Costs> {
  const lines: CostLine[] = [];
  let heardAt = performance.now();
  const broker = await startBroker();
  const endpoint = await startEndpoint();
  const worker = await startWorker({
    port: 0,
    dir: join(dir, "costs"),
    bundle: await bundleWorker({ entry: fileURLToPath(new URL("./counted-worker.ts", import.meta.url)) }),
    vars: { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" },
    onLog(text) {
      const line = readCostLine(text);
      if (!line) return;
      lines.push(line);
      heardAt = performance.now();
    },
  });
  const { post, close } = poster(worker.url, 1);

  async function over(): Promise<void> {
    const isOver = () => performance.now() - heardAt > QUIET_MS && !alarmStands(lines);
    await until(isOver, { within: ALARMS_OVER_WITHIN_MS, every: 50, what: "the last alarm has run" });
  }

  /** Returns the lines while `work` ran, and until its last alarm had run. */
  async function counted(work: () => Promise<void>): Promise<CostLine[]> {
    const from = lines.length;
    await work();
    await over();
    return lines.slice(from);
  }

  async function ask(conversation: string, toolMs: number, accept: "application/json" | "text/event-stream") {
    const { text } = endpoint.script([[waits(AGENT, toolMs)]]);
    const headers = { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json", accept };
    const { status, body } = await post(
      `/v1/conversations/${conversation}/messages`,
      JSON.stringify({ text }),
      headers,
    );
    if (status !== 200 || !body.includes('"status":"done"') || !body.includes(`Waited ${toolMs} ms.`))
      throw new Error(`a turn was answered with ${status}: ${body.slice(0, 500)}`);
  }

  const turns: TurnCost[] = [];
  async function turn(what: string, count: number, work: () => Promise<void>): Promise<void> {
    turns.push(costOf(what, await counted(work), count));
  }

  try {
    const home = { gatewayUrl: worker.url, mqttUrl: broker.url, name: "cost-bridge" };
    await startBenchBridge(dir, processes, home);
    await enrolAgents(worker.url, dir, [AGENT]);
    await startWaitingAgent(dir, broker.url, AGENT, processes);
    await until(() => areOnline(worker.url, [AGENT]), {
      within: 15_000,
      what: "the agent whose calls are counted is online",
    });
    await over();
    const json = "application/json";
    const stream = "text/event-stream";
    await turn("the first turn of a conversation", 1, () => ask("alone", 0, json));
    await turn("a turn, long after the one before", 1, () => ask("alone", 0, json));
    await turn(`each of ${TURNS_IN_A_ROW} turns in a row`, TURNS_IN_A_ROW, async () => {
      for (let n = 0; n < TURNS_IN_A_ROW; n += 1) await ask("alone", 0, json);
    });
    await ask("long", 0, json);
    await over();
    const [conversation, homeBefore] = [bytesOf(lines, "Conversation"), bytesOf(lines, "Home")];
    for (let n = 1; n < LONG_TURNS; n += 1) await ask("long", 0, json);
    await over();
    const growth = {
      conversation,
      turn: (bytesOf(lines, "Conversation") - conversation) / (LONG_TURNS - 1),
      turnInHome: (bytesOf(lines, "Home") - homeBefore) / (LONG_TURNS - 1),
    };
    // A JSON client gets 202 after 25 s and asks again, so the slow tool is compared over a stream.
    await ask("streamed", 0, stream);
    await over();
    await turn("a turn over a stream, a tool of 0 s", 1, () => ask("streamed", 0, stream));
    const slow = `a turn over a stream, a tool of ${plan.slowMs / 1_000} s`;
    await turn(slow, 1, () => ask("streamed", plan.slowMs, stream));
    const idle = await counted(() => new Promise((resolve) => setTimeout(resolve, plan.idleMs)));
    const bytes = bytesOf(lines, "Home");
    return {
      turns,
      growth,
      idle: { forMs: plan.idleMs, tally: tally(idle), homeBytes: bytes, usdAMonth: idleMonth(bytes) },
    };
  } finally {
    close();
    await Promise.all([processes.end("cost-bridge"), processes.end(AGENT)]);
    await worker.stop();
    await Promise.all([endpoint.close(), broker.stop()]);
  }
}

/** @returns the size of the database of the object that worked last; NaN when none did */
function bytesOf(lines: readonly CostLine[], of: Actor): number {
  const line = lines.findLast((line) => line.cost === "size" && line.of === of);
  return line?.cost === "size" ? line.bytes : Number.NaN;
}

function costOf(what: string, lines: readonly CostLine[], turns: number): TurnCost {
  const each = perTurn(tally(lines), turns);
  const ofHome = perTurn(tally(lines.filter((line) => line.cost !== "worker" && line.of === "Home")), turns);
  const awake = { asTheDocsSay: awakeMs(lines) / turns, atWorst: awakeMs(lines, AWAKE_TAIL_MS) / turns };
  return {
    what,
    tally: each,
    homeRequests: objectRequests(ofHome),
    awakeMs: awake,
    gbSeconds: { asTheDocsSay: gbSeconds(awake.asTheDocsSay), atWorst: gbSeconds(awake.atWorst) },
    usd: {
      asTheDocsSay: usdPerMillion(each, awake.asTheDocsSay),
      atWorst: usdPerMillion(each, awake.atWorst),
    },
  };
}
