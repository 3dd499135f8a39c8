/**
 * `npm run bench -- --tools [--quick] [--only overhead,tree,memory,start] [--before COMMIT] [--json FILE]`: the cost of
 * the device's tools, compared with the same work without them. Figures never fail the run: it exits with 0 unless
 * something did not run.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Caller } from "../caller.ts";
import { startMosquitto } from "../mosquitto.ts";
import { NODE_STARTS, startWords } from "../node-starts.ts";
import { readOptions } from "../options.ts";
import { say, startRun } from "../run.ts";
import { measureAgentMemory } from "./agent-memory.ts";
import { makeBigTree } from "./big-tree.ts";
import { overheads } from "./overhead.ts";
import { measurePair } from "./pairs.ts";
import { bundledAgent, treeOf } from "./programs.ts";
import { measureStartUp } from "./start-up.ts";
import { type ToolResults, toolTable } from "./table.ts";
import { agentsPlace, treePairs } from "./tree-pairs.ts";
import type { TreeFigures } from "./tree-row.ts";

const PARTS = ["overhead", "tree", "memory", "start"] as const;
/** `--quick` only checks that everything runs; docs/measured/tools.md says how long each takes. */
const FULL = { rounds: 9, starts: 9, settleMs: { idle: 45_000, after: 15_000 } };
const QUICK = { rounds: 3, starts: 3, settleMs: { idle: 3_000, after: 2_000 } };
const ROW_PROGRAM = fileURLToPath(new URL("./tree-row.ts", import.meta.url));
const EXIT_USAGE = 2;

const USAGE = `npm run bench -- --tools [options]

  --quick          few rounds, only to see that everything runs
  --only PARTS     of ${PARTS.join(",")}
  --before COMMIT  a commit whose start is measured next to today's
  --json FILE      the figures as JSON too`;

const options = readOptions(USAGE, {
  /** Accepted without effect, since `npm run bench -- --tools` passes it on. */
  tools: { type: "boolean" },
  quick: { type: "boolean", default: false },
  only: { type: "string", default: PARTS.join(",") },
  /** A commit whose start is measured next to today's. */
  before: { type: "string" },
  json: { type: "string" },
});
const plan = options.quick ? QUICK : FULL;
const wanted = new Set(options.only.split(","));
for (const part of wanted)
  if (!PARTS.some((one) => one === part))
    fail(`--only: no part '${part}'; right would be: ${PARTS.join(", ")}`);
const { dir, processes, failed } = startRun(tmpdir());

function fail(problem: string): never {
  process.stderr.write(`${problem}\n`);
  process.exit(EXIT_USAGE);
}

async function measureOverheads(): Promise<Pick<ToolResults, "overheads" | "missing">> {
  const { pairs, missing, close } = await overheads(join(dir, "overhead"));
  try {
    const figures = [];
    for (const pair of pairs) {
      say(`${pair.what} beside ${pair.plainly}`);
      figures.push(await measurePair(pair, plan.rounds));
    }
    return { overheads: figures, missing };
  } finally {
    await close();
  }
}

async function measureTree(): Promise<ToolResults["tree"]> {
  say("making the tree");
  const root = join(dir, "tree");
  const tree = makeBigTree(root);
  const { environment } = await agentsPlace(root);
  const rows: TreeFigures[] = [];
  for (const [row, { what, plainly }] of treePairs(root, tree, environment).entries()) {
    say(`${what} beside ${plainly}`);
    const args = [ROW_PROGRAM, root, JSON.stringify(tree), String(row), String(plan.rounds)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    rows.push(JSON.parse(stdout) as TreeFigures);
  }
  return { bytes: tree.bytes, files: tree.files, rows };
}

async function measureAgents(): Promise<Pick<ToolResults, "memory" | "startUp">> {
  const mqttUrl = await startMosquitto(dir, processes);
  const caller = await Caller.connect(mqttUrl);
  const place = { mqttUrl, caller, processes };
  const program = bundledAgent(dir, "now");
  try {
    const programs = new Map([["now", program]]);
    if (options.before !== undefined)
      programs.set(options.before, bundledAgent(dir, "before", treeOf(dir, options.before)));
    if (wanted.has("start")) say("start-up");
    const startUp = wanted.has("start") ? await measureStartUp(dir, place, programs, plan.starts) : [];
    const memory = [];
    for (const start of wanted.has("memory") ? NODE_STARTS : []) {
      say(`memory ${startWords(start)}: idle, 100, 1000 and 2000 calls of each agent`);
      memory.push(await measureAgentMemory(dir, { ...place, program }, { settleMs: plan.settleMs, start }));
    }
    return { memory, startUp };
  } finally {
    await caller.close();
  }
}

try {
  const loadBefore = loadavg()[0] ?? Number.NaN;
  const results: ToolResults = {
    ...(wanted.has("overhead") ? await measureOverheads() : { overheads: [], missing: [] }),
    tree: wanted.has("tree") ? await measureTree() : { bytes: 0, files: 0, rows: [] },
    ...(wanted.has("memory") || wanted.has("start") ? await measureAgents() : { memory: [], startUp: [] }),
  };
  const load = [loadBefore, loadavg()[0] ?? Number.NaN];
  const about = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model ?? "", load };
  console.log(`\n${toolTable(results)}\n`);
  console.log(
    `${about.cpus} cores (${about.model}), Node ${about.node}; load ${load.map((one) => one.toFixed(1)).join(" at the start, ")} at the end.`,
  );
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ ...about, ...results }, null, 2)}\n`);
} catch (error) {
  failed(error);
}
await processes.endAll();
// mqtt.js leaves timers running.
process.exit();
