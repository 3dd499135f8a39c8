/** The agent's program: `node main.ts --config FILE [--id ID]`. */
import { parseArgs } from "node:util";
import { messageOf } from "@edgecall/node/log.ts";
import { AgentSettingsError, loadSettings } from "./config/settings.ts";
import { makeIdentity, openIdentity } from "./link/identity.ts";
import { runAgent } from "./run.ts";

const USAGE = `usage: npm run pi-agent -- --config FILE [--id ID] [--key | --new-key]

  --config FILE   the agent's settings, TOML; pi-agent/agent.example.toml explains every key
  --id ID         use this agent_id instead of the one in FILE
  --key           print this device's public key and exit; makes a key if there is none yet
  --new-key       make a new key, print it with the old key's signature, and exit; send it to the
                  gateway (POST /v1/agents/ID/key) before you start the agent again
  --help          show this

environment, overrides FILE: LLM_BASE_URL LLM_API_KEY LLM_MODEL SYSTEM_PROMPT MAX_TOKENS TEMPERATURE
                             BRAVE_API_KEY CODESEARCH_API_KEY
`;

/** The exit code for wrong use, the same as of the shell's own commands. */
const EXIT_USAGE = 2;

function fail(problems: readonly string[]): never {
  process.stderr.write(`${problems.join("\n")}\n\n${USAGE}`);
  process.exit(EXIT_USAGE);
}

type Arguments = { config: string; id: string | undefined; todo: "run" | "key" | "new-key" };

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: "string" },
        id: { type: "string" },
        key: { type: "boolean" },
        "new-key": { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    if (values.config === undefined) fail(["missing: --config FILE"]);
    const todo = values["new-key"] ? "new-key" : values.key ? "key" : "run";
    return { config: values.config, id: values.id, todo };
  } catch (error) {
    fail([messageOf(error)]);
  }
}

/** Prints the body for `POST /v1/agents/{id}/key`. */
async function printKey(config: string, id: string | undefined, anew: boolean): Promise<void> {
  const { settings } = loadSettings(config, process.env, id === undefined ? {} : { agentId: id });
  const { stateDir, agentId } = settings;
  const now = await openIdentity(stateDir);
  const next = anew ? await makeIdentity(stateDir) : now;
  const rotation = anew ? { signature: now.nameSuccessor(agentId, next.publicKey) } : {};
  process.stdout.write(`${JSON.stringify({ public_key: next.publicKey, ...rotation })}\n`);
  process.stderr.write(`${agentId}: ${next.fingerprint}\n`);
}

/** There is no top-level await, so that this can be bundled as CommonJS, which single executables need. */
async function main(): Promise<void> {
  const { config, id, todo } = readArguments();
  try {
    if (todo === "run") await runAgent({ config, id, env: process.env });
    else await printKey(config, id, todo === "new-key");
  } catch (error) {
    if (error instanceof AgentSettingsError) fail(error.problems);
    throw error;
  }
}

void main();
