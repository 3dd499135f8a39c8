/** The agent as a program: `node main.ts --config FILE [--id ID]`. */
import { parseArgs } from "node:util";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { type Agent, startAgent } from "./agent.ts";
import { jsonLog, messageOf } from "./log.ts";
import { loadSettings, type ReadSettings, SettingsError } from "./settings.ts";

const USAGE = `usage: npm run pi-agent -- --config FILE [--id ID]

  --config FILE   the agent's settings, TOML; pi-agent/agent.example.toml explains every key
  --id ID         use this agent_id instead of the one in FILE
  --help          show this

environment, wins over FILE: LLM_BASE_URL LLM_API_KEY LLM_MODEL SYSTEM_PROMPT MAX_TOKENS TEMPERATURE
                             BRAVE_API_KEY CODESEARCH_API_KEY
`;

/** Wrong use, as the shell's own commands have it. */
const EXIT_USAGE = 2;
/** A stop that takes longer than this is ended: the last will then says the goodbye. */
const STOP_WITHIN_MS = 5_000;

function fail(problems: readonly string[]): never {
  process.stderr.write(`${problems.join("\n")}\n\n${USAGE}`);
  process.exit(EXIT_USAGE);
}

function readArguments(): { config: string; id: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { config: { type: "string" }, id: { type: "string" }, help: { type: "boolean" } },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    if (values.config === undefined) fail(["missing: --config FILE"]);
    return { config: values.config, id: values.id };
  } catch (error) {
    fail([messageOf(error)]);
  }
}

function read(config: string, id: string | undefined): ReadSettings {
  try {
    return loadSettings(config, process.env, id === undefined ? {} : { agentId: id });
  } catch (error) {
    if (error instanceof SettingsError) fail(error.problems);
    throw error;
  }
}

/** Tools that only tests have: they leave a mark, work on, or ask, when told to. */
async function testingTools(env: NodeJS.ProcessEnv): Promise<Tool[]> {
  if (env.EDGECALL_TEST_TOOLS !== "1") return [];
  const file = env.EDGECALL_TEST_FILE;
  if (!file)
    fail(["EDGECALL_TEST_FILE: missing beside EDGECALL_TEST_TOOLS=1; right would be: a file's path"]);
  return (await import("./testing/test-tools.ts")).testing({ file });
}

async function start({ settings, notes }: ReadSettings): Promise<Agent> {
  const log = jsonLog(settings.agentId);
  for (const note of notes) log("info", "settings.note", { note });
  try {
    const tools = await testingTools(process.env);
    return await startAgent(settings, { log, tools, onReady: () => process.send?.({ ready: true }) });
  } catch (error) {
    if (error instanceof SettingsError) fail(error.problems);
    throw error;
  }
}

/** Without a top-level await, so that it can also be bundled as CommonJS (single executables take nothing else). */
async function main(): Promise<void> {
  const { config, id } = readArguments();
  const agent = await start(read(config, id));
  const stop = () => {
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    void agent.stop();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // Started by the local stack: without it there is nobody left to stop this process.
  if (process.channel) process.on("disconnect", stop);
  await agent.stopped;
  process.exit(0);
}

void main();
