/**
 * The agent's part of a Pi's memory: the resident bytes of the installed command, compared with a Node that does nothing. Both
 * start with the same flags, five of each at once.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleCommand } from "../local/bundles.ts";
import { until } from "../test/wait.ts";
import { BENCH_ACTION, writeAgentConfig } from "./agents.ts";
import { Caller } from "./caller.ts";
import type { NodeStart } from "./node-starts.ts";
import type { Leashed, Processes } from "./processes.ts";
import { median } from "./stats.ts";

/** A single process can differ by a few MB, depending on its garbage collections. */
const OF_EACH = 5;
const CALLS = 100;
export const BARE_NODE = "setInterval(()=>{},1e6)";

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
  const caller = await Caller.connect(mqttUrl);
  const program = join(dir, "edgecall.cjs");
  writeFileSync(program, await bundleCommand());
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
        const agent = [...node, program, "agent", "run", "--config", config];
        agents.push({ id, ...(await processes.start(id, agent, start.env)) });
      }
      sets.push({ start, bare, agents });
    }
    const ids = sets.flatMap((set) => set.agents.map((agent) => agent.id));
    await until(() => ids.every((id) => caller.advertised.has(id)), {
      within: 30_000,
      what: "the agents are connected to Mosquitto",
    });
    await sleep(idleMs);
    const idle = sets.map(({ bare, agents }) => ({ bareNode: medianRss(bare), idle: medianRss(agents) }));
    await Promise.all(ids.map((id) => calls(caller, id)));
    return sets.map(({ start, agents }, at) => ({
      start,
      bareNode: idle[at]?.bareNode ?? Number.NaN,
      idle: idle[at]?.idle ?? Number.NaN,
      afterCalls: medianRss(agents),
    }));
  } finally {
    await caller.close();
    const started = [...processes.names()].filter((name) => /^(bare|rss)-/.test(name));
    await Promise.all(started.map((name) => processes.end(name)));
  }
}

async function calls(caller: Caller, agent: string): Promise<void> {
  for (let n = 0; n < CALLS; n += 1) await caller.call(agent, { tool: BENCH_ACTION, parameters: {} });
}

export function medianRss(processes: readonly Leashed[]): number {
  return median(processes.map(({ pid }) => rss(pid)));
}

/** Returns the bytes of a process that are in memory. */
export function rss(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? Number.NaN) * 1_024;
}
