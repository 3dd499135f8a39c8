/** The agents of the bench, and the calls that it sends to them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleAgent } from "../local/bundles.ts";
import { enrol } from "../local/enrol.ts";
import { TOKENS } from "../test/tokens.ts";
import type { ModelCall } from "./endpoint.ts";
import type { NodeStart } from "./node-starts.ts";
import type { Leashed, Processes } from "./processes.ts";
import { waitTool } from "./wait-tool.ts";

/** The cheapest real tool: it reads one file of the kernel. */
export const BENCH_ACTION = "memory";
const WAITING_AGENT_PROGRAM = fileURLToPath(new URL("./waiting-agent.ts", import.meta.url));

/** Starts the agent as it is released. @param start absent: without the service's flags */
export async function startBenchAgent(
  dir: string,
  mqttUrl: string,
  id: string,
  processes: Processes,
  start: NodeStart = { flags: [], env: {} },
): Promise<Leashed> {
  const program = [await writeAgentProgram(dir), "--config", writeAgentConfig(dir, mqttUrl, id)];
  return await processes.start(id, [process.execPath, ...start.flags, ...program], start.env);
}

/** Starts the agent with a tool that waits. */
export function startWaitingAgent(
  dir: string,
  mqttUrl: string,
  id: string,
  processes: Processes,
): Promise<Leashed> {
  return processes.start(id, [process.execPath, WAITING_AGENT_PROGRAM, writeAgentConfig(dir, mqttUrl, id)]);
}

export function actionOf(agent_id: string, action: string, params: Record<string, unknown> = {}): ModelCall {
  return { name: "edge_call", arguments: { agent_id, action, params } };
}

export function read(agent: string): ModelCall {
  return actionOf(agent, BENCH_ACTION);
}

/** @param id tells it from the others of its reply */
export function waits(agent: string, ms: number, id = ""): ModelCall {
  const { name, arguments: args } = actionOf(agent, waitTool.name, { ms });
  return { name, arguments: { ...args, ...(id && { id }) } };
}

/** Writes the agent as the single file that a Pi gets. @returns its path */
export async function writeAgentProgram(dir: string): Promise<string> {
  const program = join(dir, "pi-agent.cjs");
  writeFileSync(program, await bundleAgent());
  return program;
}

/** Writes an agent's settings. @param more its group, and sections of agent.toml @returns their path */
export function writeAgentConfig(
  dir: string,
  mqttUrl: string,
  id: string,
  { group, sections = "" }: { group?: string | undefined; sections?: string } = {},
): string {
  const own = join(dir, `agent-${id}`);
  mkdirSync(own, { recursive: true });
  const config = join(own, "agent.toml");
  const top = [`agent_id = "${id}"`, ...(group === undefined ? [] : [`group = "${group}"`])].join("\n");
  writeFileSync(config, `${top}\n\n[mqtt]\nurl = "${mqttUrl}"\n${sections}`);
  return config;
}

/**
 * Enrols the agents before they are started, as pairing does. From then on each message is signed, and each command
 * checked.
 */
export async function enrolAgents(url: string, dir: string, ids: readonly string[]): Promise<void> {
  for (const agentId of ids)
    await enrol({
      url,
      token: TOKENS.owner,
      agentId,
      stateDir: join(dir, `agent-${agentId}`, `${agentId}.state`),
    });
}

export async function areOnline(url: string, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) {
    const response = await fetch(`${url}/v1/agents/${id}`, {
      headers: { authorization: `Bearer ${TOKENS.owner}` },
    });
    const agent = (await response.json()) as { online?: boolean };
    if (agent.online !== true) return false;
  }
  return true;
}
