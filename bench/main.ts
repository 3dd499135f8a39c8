/**
 * `npm run bench [-- --quick] [--disk] [--fronts] [--json FILE]`: the cost of a call, compared with the machine's time
 * for the same hops without any work on the way. Figures never fail the run: it exits with 0 unless something did not
 * run.
 */
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureBatches } from "./batches.ts";
import { measureCosts } from "./cost/measure.ts";
import { COST_NOTES, costTable } from "./cost/table.ts";
import { measureCpu } from "./cpu.ts";
import { startMqttFloor, startPathFloor } from "./floors.ts";
import { type Fronts, measureFronts } from "./fronts/measure.ts";
import { FRONT_NOTES, frontTable } from "./fronts/table.ts";
import { judge, type Results } from "./limits.ts";
import { measureMemory } from "./memory.ts";
import { startMosquitto } from "./mosquitto.ts";
import { NODE_STARTS } from "./node-starts.ts";
import { startPath } from "./path.ts";
import { Processes } from "./processes.ts";
import { LEVELS, measureRounds } from "./rounds.ts";
import { workerSizes } from "./sizes.ts";
import { NOTES, table } from "./table.ts";

// The other bench, of the device's tools; it ends this process.
if (process.argv.includes("--tools")) await import("./tools/main.ts");

/** About 8 minutes, half of them waits; `--quick`: about 2, to check that it runs. */
const FULL = {
  rounds: 6,
  sliceMs: 1_900,
  warmUpMs: 1_000,
  /** The agents' idle time before their memory is read. */
  idleMs: 60_000,
  cpuMs: 5_000,
  batchPairs: 8,
  cost: { slowMs: 45_000, idleMs: 30_000 },
  fronts: { acksMs: 30_000, firstTokens: 60 },
};
const QUICK = {
  rounds: 2,
  sliceMs: 500,
  warmUpMs: 500,
  idleMs: 5_000,
  cpuMs: 1_000,
  batchPairs: 2,
  cost: { slowMs: 2_000, idleMs: 2_000 },
  fronts: { acksMs: 3_000, firstTokens: 10 },
};
/**
 * The default place of the rows. workerd syncs each transaction to the disk on its only thread, and a virtual disk
 * takes 0.2 to 2 ms for that, depending on its neighbours, so the disk would dominate the figures. Durable Objects on
 * Cloudflare replicate instead.
 */
const MEMORY_DISK = "/dev/shm";
/** The exit code after an interrupt, as shells have it. */
const EXIT_INTERRUPTED = 130;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    /** Stores the rows on this machine's disk instead of in its memory. */
    disk: { type: "boolean", default: false },
    /** Measures only the front doors: chat apps and streams. */
    fronts: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const plan = options.quick ? QUICK : FULL;
const inMemory = !options.disk && isWritable(MEMORY_DISK);
const dir = mkdtempSync(join(inMemory ? MEMORY_DISK : tmpdir(), "edgecall-bench-"));
const processes = new Processes(dir);
/** Called in reverse order at the end. */
const stops: Array<() => Promise<void>> = [];

// Runs however this process ends: Miniflare has its own handler for an interrupt, which does not wait for ours.
process.on("exit", () => {
  processes.killAll();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => process.exit(EXIT_INTERRUPTED));

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function bench(): Promise<Results> {
  say("starting Mosquitto, two Workers, two bridges, an echo and an agent");
  const mqttUrl = await startMosquitto(dir, processes);
  const atOnce = Math.max(...LEVELS);
  const floor1 = await startMqttFloor(mqttUrl, processes);
  stops.push(floor1.stop);
  const floor2 = await startPathFloor(dir, mqttUrl, atOnce, processes);
  stops.push(floor2.stop);
  const path = await startPath(dir, mqttUrl, atOnce, processes);
  stops.push(path.stop);
  say("warming up");
  const measured = await measureRounds(
    { a: floor1.work, b: floor2.work, c: path.call, d: path.turn },
    { ...plan, onRound: (round) => say(`round ${round} of ${plan.rounds}`) },
  );
  say("processor time of a call");
  const cpu = await measureCpu(path, plan.cpuMs);
  say("batches: five calls at once, and one by one");
  const batches = await measureBatches(path, plan.batchPairs);
  say("costs: each turn is counted until its last alarm has run");
  const costs = await measureCosts(dir, processes, plan.cost);
  say(`memory: the agents are left alone for ${plan.idleMs / 1_000} s`);
  const memory = await measureMemory(dir, mqttUrl, plan.idleMs, processes, NODE_STARTS);
  return { measured, cpu, batches, costs, fronts: await benchFronts(), memory, sizes: await workerSizes() };
}

async function benchFronts(): Promise<Fronts> {
  say("front doors: webhooks' acknowledgements, streams' first tokens");
  return await measureFronts(dir, plan.fronts);
}

try {
  const results = options.fronts ? undefined : await bench();
  const fronts = results?.fronts ?? (await benchFronts());
  const about = {
    node: process.version,
    cpus: cpus().length,
    model: cpus()[0]?.model ?? "",
    quick: options.quick,
  };
  const rows = inMemory
    ? `rows in memory (${MEMORY_DISK}; --disk: on the disk)`
    : `rows on the disk (${tmpdir()})`;
  const notes = [
    `One machine, no delay anywhere; ${rows}.`,
    ...(results ? [...NOTES, ...COST_NOTES] : []),
    ...FRONT_NOTES,
  ];
  const tables = results ? [table(results), costTable(results.costs)] : [];
  console.log(`\n${[...tables, frontTable(fronts), notes.join("\n")].join("\n\n")}`);
  if (options.json !== undefined) {
    const json = { ...about, notes, ...(results && { limits: judge(results), ...results }), fronts };
    writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  }
} catch (error) {
  process.exitCode = 1;
  say(`the bench could not run: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  say(processes.lastWords());
}
for (const end of stops.reverse()) await end().catch(() => {});
await processes.endAll();
// Miniflare and mqtt.js leave timers running.
process.exit();
