/**
 * The agent's part of a Pi's memory: the resident bytes of its bundle, idle and after calls of all kinds over the
 * broker, compared with a Node that does nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../test/wait.ts";
import { writeAgentConfig } from "../agents.ts";
import type { Caller, ToolCall } from "../caller.ts";
import { BARE_NODE, medianRss } from "../memory.ts";
import type { NodeStart } from "../node-starts.ts";
import type { Leashed, Processes } from "../processes.ts";

/** A single process can differ by a few MB, depending on its garbage collections. */
const OF_EACH = 3;
/** Numbers of calls after which memory is read. At the first one every tool has been used and its code is compiled. */
const MARKS = [100, 1_000, 2_000] as const;
/** Calls that are not reads would otherwise ask. */
const POLICY = '\n[policy]\nshell = "allow"\nfile_write = "allow"\ngit = "allow"\n';

export type AgentMemory = {
  /** How Node was started, for all. */
  start: NodeStart;
  /** The median resident set in bytes. */
  bareNode: number;
  idle: number;
  after: Record<(typeof MARKS)[number], number>;
  agents: number;
};

const MIX = 20;
/** Runs before the mix, for git_status. */
const FIRST: ToolCall = { tool: "bash", parameters: { command: "git init -q ." } };

/** Returns the nth call of the mix. Of 20 calls, 5 start a program in the sandbox. */
function mixedCall(n: number): ToolCall {
  const round = Math.floor(n / MIX);
  const path = `notes/${round % 10}.txt`;
  const mix: ToolCall[] = [
    { tool: "write", parameters: { path, content: `Note ${round}\n${"word ".repeat(400)}\n` } },
    { tool: "read", parameters: { path } },
    { tool: "memory", parameters: {} },
    { tool: "bash", parameters: { command: "seq 1 200" } },
    { tool: "cpu", parameters: {} },
    { tool: "list_processes", parameters: {} },
    { tool: "edit", parameters: { path, old_string: "Note ", new_string: "Paper " } },
    { tool: "grep", parameters: { pattern: "Paper" } },
    { tool: "disk", parameters: {} },
    { tool: "ls", parameters: { path: "notes" } },
    { tool: "system_info", parameters: {} },
    { tool: "read", parameters: { path: "/etc/os-release" } },
    { tool: "network_info", parameters: {} },
    { tool: "find", parameters: { pattern: "*.txt" } },
    { tool: "memory", parameters: {} },
    { tool: "append", parameters: { path, content: `line ${round}\n` } },
    { tool: "read", parameters: { path } },
    { tool: "todoread", parameters: {} },
    { tool: "git_status", parameters: {} },
    { tool: "glob", parameters: { pattern: "notes/*" } },
  ];
  return mix[n % MIX] as ToolCall;
}

/** @param settleMs how long they are left alone before each reading */
export async function measureAgentMemory(
  dir: string,
  {
    program,
    mqttUrl,
    caller,
    processes,
  }: { program: string; mqttUrl: string; caller: Caller; processes: Processes },
  { settleMs, start }: { settleMs: { idle: number; after: number }; start: NodeStart },
): Promise<AgentMemory> {
  const node = [process.execPath, ...start.flags];
  const bare: Leashed[] = [];
  const agents: Leashed[] = [];
  for (let i = 0; i < OF_EACH; i += 1) {
    const id = `memory-${i}${start.flags.join("").replaceAll(/[^a-z0-9-]/g, "")}`;
    bare.push(await processes.start(`bare-${id}`, [...node, "-e", BARE_NODE], start.env));
    const config = writeAgentConfig(dir, mqttUrl, id, { sections: POLICY });
    agents.push(await processes.start(id, [...node, program, "--config", config], start.env));
  }
  try {
    await until(() => agents.every(({ name }) => caller.advertised.has(name)), {
      within: 30_000,
      what: "the agents have advertised",
    });
    await sleep(settleMs.idle);
    const idle = medianRss(agents);
    await Promise.all(agents.map(({ name }) => caller.call(name, FIRST)));
    const after = { 100: Number.NaN, 1000: Number.NaN, 2000: Number.NaN };
    let made = 0;
    for (const mark of MARKS) {
      await Promise.all(agents.map(({ name }) => callAll(caller, name, made, mark)));
      made = mark;
      await sleep(settleMs.after);
      after[mark] = medianRss(agents);
    }
    return { start, bareNode: medianRss(bare), idle, after, agents: OF_EACH };
  } finally {
    await Promise.all([...bare, ...agents].map(({ name }) => processes.end(name)));
  }
}

async function callAll(caller: Caller, agent: string, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) await caller.call(agent, mixedCall(n));
}
