import { cpuMs } from "../../test/cpu-ms.ts";
import { sha256 } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { actionOf } from "../agents.ts";
import { objectRequests } from "../cost/prices.ts";
import { readSums, sumsBetween } from "../cost/tally.ts";
import { startEndpoint } from "../endpoint.ts";
import { SUMMING_WORKER } from "../fleet/stack.ts";
import { rss } from "../memory.ts";
import { spread } from "../spread.ts";
import { startBenchWorker } from "../started.ts";
import { median, percentile } from "../stats.ts";
import { type Asker, startAsker } from "../turns.ts";
import { PLAYED_ACTION, PLAYED_AGENT, playBridge } from "./played-bridge.ts";

export type HomesPlan = { homes: number; turnsEach: number; atOnce: number };

export type HomesFigures = {
  homes: number;
  /** Until every home has its snapshot. */
  connectMs: number;
  connectCpuMs: number;
  /** workerd's resident set with all connected, and after the turns. */
  connectedBytes: number;
  rssBytes: number;
  turns: number;
  turnsMs: number;
  p50: number;
  p99: number;
  /** For each turn; the first of each conversation is one of them. */
  turnCpuMs: number;
  objectRequests: number;
  homeRequests: number;
  rowsRead: number;
  rowsWritten: number;
  busyMs: number;
};

const DIALS_AT_ONCE = 32;
const CONNECTED_WITHIN_MS = 120_000;
const CALLS = [[actionOf(PLAYED_AGENT, PLAYED_ACTION)]];
/** A bridge's frames until its home knows its agent: hello and snapshot. */
const FRAMES_TO_CONNECT = 2;

export async function measureHomes(dir: string, plan: HomesPlan): Promise<HomesFigures> {
  const homes = Array.from({ length: plan.homes }, (_, n) => `home-${n + 1}`);
  const endpoint = await startEndpoint();
  const { worker, pid: workerd } = await startBenchWorker(dir, "homes", {
    entry: SUMMING_WORKER,
    vars: {
      RATE_LIMITS: "off",
      LLM_BASE_URL: endpoint.url,
      LLM_MODEL: "bench",
      ALLOW_UNSIGNED_AGENTS: PLAYED_AGENT,
      BRIDGE_TOKENS: JSON.stringify(homes.map((home) => ({ ...record(home, "bridge"), name: home }))),
      API_TOKENS: JSON.stringify(
        homes.map((home) => ({
          ...record(home, "owner"),
          name: "anna",
          role: "owner",
          scopes: ["ask", "command"],
        })),
      ),
    },
  });
  const bridges: Array<{ stop(): void }> = [];
  const askers = new Map<string, Asker>();
  try {
    const began = performance.now();
    const cpuBefore = cpuMs(workerd);
    await spread(DIALS_AT_ONCE, homes, async (home) => {
      bridges.push(await playBridge(worker.url, tokenOf(home, "bridge")));
    });
    await until(async () => (await readSums(worker.url)).Home.messages >= FRAMES_TO_CONNECT * plan.homes, {
      within: CONNECTED_WITHIN_MS,
      what: "every home has its snapshot",
    });
    const connectMs = performance.now() - began;
    const connectCpuMs = cpuMs(workerd) - cpuBefore;
    const connectedBytes = rss(workerd);

    for (const home of homes) askers.set(home, startAsker(worker.url, endpoint, 1, tokenOf(home, "owner")));
    const before = await readSums(worker.url);
    const turnsCpuBefore = cpuMs(workerd);
    const turnsBegan = performance.now();
    const times: number[] = [];
    await spread(plan.atOnce, homes, async (home) => {
      for (let n = 0; n < plan.turnsEach; n += 1)
        times.push((await asked(askers, home).ask("talk", CALLS)).took);
    });
    const turnsMs = performance.now() - turnsBegan;
    const turns = times.length;
    const { Home, Conversation } = sumsBetween(before, await readSums(worker.url));
    return {
      homes: plan.homes,
      connectMs,
      connectCpuMs,
      connectedBytes,
      rssBytes: rss(workerd),
      turns,
      turnsMs,
      p50: median(times),
      p99: percentile(times, 0.99),
      turnCpuMs: (cpuMs(workerd) - turnsCpuBefore) / turns,
      objectRequests: (objectRequests(Home) + objectRequests(Conversation)) / turns,
      homeRequests: objectRequests(Home) / turns,
      rowsRead: (Home.rowsRead + Conversation.rowsRead) / turns,
      rowsWritten: (Home.rowsWritten + Conversation.rowsWritten) / turns,
      busyMs: (Home.busyMs + Conversation.busyMs) / turns,
    };
  } finally {
    for (const bridge of bridges) bridge.stop();
    for (const asker of askers.values()) asker.close();
    await worker.stop();
    await endpoint.close();
  }
}

function asked(askers: ReadonlyMap<string, Asker>, home: string): Asker {
  const asker = askers.get(home);
  if (!asker) throw new Error(`nobody asks ${home}`);
  return asker;
}

function tokenOf(home: string, of: "bridge" | "owner"): string {
  return `bench-${of}-token-of-${home}`;
}

function record(home: string, of: "bridge" | "owner"): { hash: string; home: string } {
  return { hash: sha256(tokenOf(home, of)), home };
}
