/**
 * `npm run trace [-- --list]` counts the files of the Worker that one question enters, and those that a call enters when its
 * device never answers: what somebody reads to follow it. A file counts when one of its functions runs, not when it is
 * imported. `--list` also prints the files.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startBroker } from "../../local/broker.ts";
import { bundleBridge, bundleWorker } from "../../local/bundles.ts";
import { startWorker } from "../../local/gateway.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { areOnline, enrolAgents, read, startBenchAgent } from "../agents.ts";
import { startEndpoint } from "../endpoint.ts";
import { Processes } from "../processes.ts";
import { noteEntries } from "./instrument.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const AGENT = "trace";
/** In place of a file's index: a request of the Worker. */
const FETCH = -1;
const MODEL_STEP = "worker/kernel/conversation/model-call.ts";
/** Longer than from the alarm to the next request to the model. */
const BURST_MS = 250;
const QUIET_MS = 500;
/** Below the 10 s without an event after which an object sleeps. */
const AWAKE_EVERY_MS = 3_000;

type Entry = [at: number, file: number];

const dir = mkdtempSync(join(tmpdir(), "edgecall-trace-"));
const processes = new Processes(dir);
const files: string[] = [];
const broker = await startBroker();
const endpoint = await startEndpoint();
const entry = fileURLToPath(new URL("./traced-worker.ts", import.meta.url));
const worker = await startWorker({
  port: 0,
  dir: join(dir, "worker"),
  bundle: await bundleWorker({ entry, plugins: [noteEntries(ROOT, files)] }),
  vars: { ...testVars, LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" },
});
try {
  const bridge = join(dir, "bridge.mjs");
  writeFileSync(bridge, await bundleBridge());
  await processes.start("bridge", [process.execPath, bridge], {
    GATEWAY_URL: worker.url,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: broker.url,
    HEALTH_PORT: "0",
  });
  await enrolAgents(worker.url, dir, [AGENT]);
  const { pid } = await startBenchAgent(dir, broker.url, AGENT, processes);
  await until(() => areOnline(worker.url, [AGENT]), { within: 15_000, what: "the agent is online" });
  await ask("warm-up");

  await sleep(QUIET_MS);
  await entries();
  await ask("measured");
  await sleep(QUIET_MS);
  tell("one question with one call, from the request until nothing runs any more", await entries());

  process.kill(pid, "SIGSTOP");
  // Keeps both objects in memory, so that their constructors do not count.
  const awake = setInterval(() => void keepAwake("silent"), AWAKE_EVERY_MS);
  await ask("silent").finally(() => clearInterval(awake));
  const all = await entries();
  // The question's last request to the model, after the call was given up.
  const asked = all.findLastIndex(([, file]) => file === FETCH);
  const end = all[asked]?.[0] ?? 0;
  const burst = all.slice(0, asked).filter(([at]) => at > end - BURST_MS);
  const step = burst.findIndex(([, file]) => files[file] === MODEL_STEP);
  if (step < 0) throw new Error(`no function of ${MODEL_STEP} was entered`);
  tell("a device never answers: from the alarm to the next step of the model", burst.slice(0, step));
  process.kill(pid, "SIGCONT");
} finally {
  await processes.endAll();
  await worker.stop();
  await Promise.all([endpoint.close(), broker.stop()]);
  rmSync(dir, { recursive: true, force: true });
}

async function keepAwake(conversation: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKENS.owner}` };
  for (const path of ["/v1/status", `/v1/conversations/${conversation}`])
    await (await fetch(`${worker.url}${path}`, { headers })).text();
}

async function ask(conversation: string): Promise<void> {
  const response = await fetch(`${worker.url}/v1/conversations/${conversation}/messages`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKENS.owner}`,
      "content-type": "application/json",
      accept: "text/event-stream",
    },
    body: JSON.stringify({ text: endpoint.script([[read(AGENT)]]).text }),
  });
  const body = await response.text();
  if (!body.includes('"status":"done"')) throw new Error(`${response.status}: ${body.slice(0, 500)}`);
}

/** Returns the entries since the last time. */
async function entries(): Promise<Entry[]> {
  return (await (await fetch(`${worker.url}/trace`)).json()) as Entry[];
}

function changesIn(paths: readonly string[]): number {
  return paths.filter((path, at) => at > 0 && path !== paths[at - 1]).length;
}

function tell(what: string, all: readonly Entry[]): void {
  const paths = all.flatMap(([, file]) => files[file] ?? []);
  const inWorker = paths.filter((path) => path.startsWith("worker/"));
  const entered = [...new Set(paths)].sort();
  const ours = entered.filter((path) => path.startsWith("worker/"));
  console.log(
    `${what}:\n  ${paths.length} functions entered, in ${ours.length} files of the Worker and ${entered.length - ours.length} of core; ${changesIn(paths)} changes of file, ${changesIn(inWorker)} without those to core and back`,
  );
  if (process.argv.includes("--list")) for (const path of entered) console.log(`    ${path}`);
}
