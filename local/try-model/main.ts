/**
 * `npm run try-model`: says which habits an endpoint and its model have (LLM_BASE_URL, LLM_MODEL, LLM_API_KEY, LLM_API), and what
 * edgecall does about each, then runs example flows on the one-machine stack, and says whether the model is good enough. It costs
 * model usage, so only a person starts it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "@edgecall/client/client.ts";
import type { TurnResult } from "@edgecall/client/routes.ts";
import { ask } from "@edgecall/client/turns.ts";
import { isLocalModel } from "@edgecall/core/loop/window.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { findHabits } from "@edgecall/core/try-model/habits.ts";
import { verdictOf } from "@edgecall/core/try-model/verdict.ts";
import { windowOf, windowText } from "@edgecall/core/try-model/window.ts";
import { onStop } from "../on-stop.ts";
import { freePort } from "../port.ts";
import { readStartSettings } from "../settings.ts";
import { startStack } from "../stack.ts";
import { loadTokens } from "../tokens.ts";
import { waitForAgent } from "../wait-for-agent.ts";
import { endpointOf } from "./endpoint.ts";
import { FLOWS, type Flow } from "./flows.ts";
import { addRow, type ResultRow, readRow, SCRIPTED } from "./rows.ts";

const USAGE =
  "npm run try-model [-- --row]: tries the model of LLM_BASE_URL and LLM_MODEL; --row adds its row to docs/measured/models.md\nnpm run try-model -- --add FILE: adds a row that was sent in";
const MEASURED = fileURLToPath(new URL("../../docs/measured", import.meta.url));
const { row: addsRow, add } = optionsOf(process.argv.slice(2));
if (add !== undefined) {
  const sent = readRow(readFileSync(add, "utf8"));
  if (!sent.ok) {
    console.error(`${add}: ${sent.error}`);
    process.exit(2);
  }
  addRow(MEASURED, sent.value);
  process.exit(0);
}

type Row = { flow: string; result: string; calls: string; tokens: number; seconds: number; answer: string };

/** Characters of an answer in the table. */
const SHOWN_CHARS = 80;

const dir = mkdtempSync(join(tmpdir(), "edgecall-try-"));
const settings = readStartSettings({}, { ...process.env, EDGECALL_DIR: dir });
if (!settings.ok) refuse(settings.error);
const { model } = settings.value;
if (!model)
  refuse(
    "LLM_BASE_URL and LLM_MODEL: set them (and LLM_API_KEY where the endpoint wants one) to the model to try",
  );
const tokens = loadTokens(dir, undefined);
const port = await freePort();
const client = new Client({ url: `http://127.0.0.1:${port}`, token: tokens.api });
const lines: string[] = [];
const say = (name: string, line: string) => lines.push(`[${name}] ${line}`);
// The model is tried, and not what is understood without one.
const env = { ...process.env, FAST_PATH: "off" };
const starting = startStack({ settings: settings.value, port, tokens, env, say });
let stopping: Promise<void> | undefined;
const stop = () => {
  stopping ??= starting
    .then((stack) => stack.stop())
    .finally(() => rmSync(dir, { recursive: true, force: true }));
  return stopping;
};
onStop(stop, 1);
try {
  const stack = await starting;
  await stack.ready((line) => console.error(line));
  await waitForAgent(client, settings.value.agentId, (line) => console.error(line));
  console.error(`trying ${model.name} at ${model.baseUrl}: ${FLOWS.length} flows`);
  const habits = await findHabits(endpointOf(model, process.env));
  console.table(habits.map(({ habit, seen, edgecall }) => ({ habit, seen, edgecall })));
  const rows: Row[] = [];
  for (const flow of FLOWS) rows.push(await tried(flow, settings.value.agentId));
  console.table(rows);
  const asked = { ...model, apiKey: process.env.LLM_API_KEY ?? "" };
  console.log(await windowText(asked));
  const verdict = verdictOf(habits, rows);
  console.log(verdict.text);
  const window = await windowOf(asked);
  const made: ResultRow = {
    day: new Date().toISOString().slice(0, 10),
    version: VERSION,
    model: model.name,
    endpoint: model.name === SCRIPTED ? SCRIPTED : (window?.server ?? hostOf(model.baseUrl)),
    window: window?.tokens ?? null,
    good: verdict.isGood,
    bad: verdict.bad,
    flows: rows.map(({ flow, result }) => ({ what: flow, result })),
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    seconds: Math.round(rows.reduce((sum, { seconds }) => sum + seconds, 0)),
  };
  console.log('To send it in, paste the next line into an issue of the form "A model that was tried":');
  console.log(JSON.stringify(made));
  if (addsRow) addRow(MEASURED, made);
  process.exitCode = verdict.isGood ? 0 : 1;
} catch (error) {
  if (!stopping) {
    console.error([...lines.slice(-20), error instanceof Error ? error.message : String(error)].join("\n"));
    process.exitCode = 1;
  }
}
await stop();
process.exit();

/** A server of a network at home has no name that others know. */
function hostOf(baseUrl: string): string {
  return isLocalModel({ baseUrl }) ? "a server at home" : new URL(baseUrl).hostname;
}

function optionsOf(args: string[]): { row?: boolean | undefined; add?: string | undefined } {
  try {
    return parseArgs({ args, options: { row: { type: "boolean" }, add: { type: "string" } } }).values;
  } catch {
    console.error(USAGE);
    process.exit(2);
  }
}

function refuse(error: string): never {
  console.error(error);
  rmSync(dir, { recursive: true, force: true });
  process.exit(2);
}

async function tried(flow: Flow, agent: string): Promise<Row> {
  const began = performance.now();
  const conversation = `try-${crypto.randomUUID()}`;
  const turns: TurnResult[] = [];
  for (const text of flow.says(agent)) turns.push(await ask(client, conversation, { text }));
  const last = turns.at(-1);
  const failed = turns.find(({ status }) => status !== "done");
  const calls = turns.flatMap((turn) => turn.calls);
  const tokens = turns.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0);
  return {
    flow: flow.name,
    result: failed ? `the turn ended as ${failed.status}` : ((last && flow.problem(last)) ?? "ok"),
    calls: calls.map(({ action, status }) => `${action ?? "query"} ${status}`).join(", "),
    tokens,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    answer: (last?.answer ?? "").replaceAll(/\s+/g, " ").slice(0, SHOWN_CHARS),
  };
}
