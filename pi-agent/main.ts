/** The agent as a program: `node main.ts --config FILE [--id ID]`. */
import { parseArgs } from "node:util";
import { messageOf } from "./log.ts";
import { runAgent } from "./run.ts";
import { SettingsError } from "./settings.ts";

const USAGE = `usage: npm run pi-agent -- --config FILE [--id ID]

  --config FILE   the agent's settings, TOML; pi-agent/agent.example.toml explains every key
  --id ID         use this agent_id instead of the one in FILE
  --help          show this

environment, wins over FILE: LLM_BASE_URL LLM_API_KEY LLM_MODEL SYSTEM_PROMPT MAX_TOKENS TEMPERATURE
                             BRAVE_API_KEY CODESEARCH_API_KEY
`;

/** Wrong use, as the shell's own commands have it. */
const EXIT_USAGE = 2;

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

/** Without a top-level await, so that it can also be bundled as CommonJS (single executables take nothing else). */
async function main(): Promise<void> {
  const { config, id } = readArguments();
  try {
    await runAgent({ config, id, env: process.env });
  } catch (error) {
    if (error instanceof SettingsError) fail(error.problems);
    throw error;
  }
}

void main();
