/** Runs the agent as a process: settings from a file, signals, and an exit code. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { jsonLog } from "@edgecall/node/log.ts";
import { type Agent, startAgent } from "./agent.ts";
import { AgentSettingsError, loadSettings, type ReadSettings } from "./config/settings.ts";
import { endLeftovers } from "./service/leftovers.ts";
import { openService, type Service } from "./service/service.ts";
import { watchMainThread } from "./watchdog.ts";

/** A stop that takes longer is cut short. The last will then replaces the goodbye. */
const STOP_WITHIN_MS = 5_000;

export type Run = {
  /** The path of agent.toml. */
  config: string;
  /** Replaces the file's agent_id. */
  id: string | undefined;
  env: NodeJS.ProcessEnv;
  /** True for an update that is on trial: see service.ts. */
  onTrial?: boolean;
};

/**
 * Runs the agent until a signal or a command stops it, and then ends the process.
 * @throws AgentSettingsError when it cannot start
 */
export async function runAgent({ config, id, env, onTrial = false }: Run): Promise<never> {
  const { settings, notes } = loadSettings(config, env, id === undefined ? {} : { agentId: id });
  const service = openService({
    settings,
    log: jsonLog({ program: "agent", agent: settings.agentId }),
    env,
    onTrial,
  });
  await endLeftovers({ stateDir: settings.stateDir, env, log: service.log });
  void watchMainThread(settings.agentId, env);
  const agent = await start({ settings, notes }, service, env);
  const stop = () => {
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    service.stopping();
    void agent.stop();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // The local stack has started this process, which must not outlive it.
  if (process.channel) process.on("disconnect", stop);
  await agent.stopped;
  process.exit(0);
}

async function start(
  { settings, notes }: ReadSettings,
  service: Service,
  env: NodeJS.ProcessEnv,
): Promise<Agent> {
  const { log } = service;
  for (const note of notes) log("info", "settings.note", { note });
  const tools = await testingTools(env);
  const onReady = () => {
    process.send?.({ ready: true });
    service.online();
  };
  const agent = await startAgent(settings, { log, tools, onReady });
  service.started(agent);
  return agent;
}

/** Tools for tests alone: they write to a file, go on in the background, or ask. */
async function testingTools(env: NodeJS.ProcessEnv): Promise<Tool[]> {
  if (env.EDGECALL_TEST_TOOLS !== "1") return [];
  const file = env.EDGECALL_TEST_FILE;
  if (!file) {
    throw new AgentSettingsError([
      "EDGECALL_TEST_FILE: missing beside EDGECALL_TEST_TOOLS=1; right would be: a file's path",
    ]);
  }
  return (await import("./testing/test-tools.ts")).testing({ file });
}
