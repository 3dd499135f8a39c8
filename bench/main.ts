/**
 * `npm run bench [-- --quick] [--disk] [--calls | --among | --fronts | --scale | --sentences | --page] [--json FILE]`: the cost of a call, compared with the
 * machine's time for the same hops without any work on the way; what many agents, turns and homes take; a model of any
 * number of homes. Figures never fail the run: it exits with 0 unless something did not run.
 */
import { accessSync, constants, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { type Among, measureAmong } from "./among/measure.ts";
import { AMONG_NOTES, amongTable } from "./among/table.ts";
import { measureBatches } from "./batches.ts";
import { measureCosts } from "./cost/measure.ts";
import { COST_NOTES, costTable } from "./cost/table.ts";
import { measureCpu } from "./cpu.ts";
import { startMqttFloor, startPathFloor } from "./floors.ts";
import { type Fronts, measureFronts } from "./fronts/measure.ts";
import { FRONT_NOTES, frontTable } from "./fronts/table.ts";
import { measureHomeAssistant } from "./home-assistant/measure.ts";
import { HOME_ASSISTANT_NOTES, homeAssistantTable } from "./home-assistant/table.ts";
import { type Calls, judge } from "./limits.ts";
import { measureMemory } from "./memory.ts";
import { startMosquitto } from "./mosquitto.ts";
import { NODE_STARTS } from "./node-starts.ts";
import { readOptions } from "./options.ts";
import { type FirstPaint, measureFirstPaint } from "./page/measure.ts";
import { PAGE_NOTES, pageTable } from "./page/table.ts";
import { startPath } from "./path.ts";
import { LEVELS, measureRounds } from "./rounds.ts";
import { say, startRun } from "./run.ts";
import { countsOf } from "./scale/counts.ts";
import { measureScale, SCALE_NOTES, scaleTables } from "./scale/measure.ts";
import { USUAL_USE } from "./scale/model.ts";
import { modelTables } from "./scale/table.ts";
import { measureSentences, type Sentences } from "./sentences/measure.ts";
import { SENTENCES_NOTES, sentencesTable } from "./sentences/table.ts";
import { workerSizes } from "./sizes.ts";
import { limitLines, NOTES, table } from "./table.ts";
import { measureWorkerStart } from "./worker-start.ts";

// The other bench, of the device's tools; it ends this process.
if (process.argv.includes("--tools")) await import("./tools/main.ts");
// And that of what the bridge keeps at home.
if (process.argv.includes("--history")) await import("./history/main.ts");
// And that of rules that act.
if (process.argv.includes("--rules")) await import("./automations/main.ts");

const USAGE = `npm run bench -- [options]

  --quick        everything with few rounds: 4 minutes, in place of 20
  --calls        calls and turns alone
  --among        agents that call each other, groups, lent agents, sessions
  --fronts       the front doors alone
  --scale        many agents, turns and homes alone
  --sentences    plain sentences that need no model alone
  --page         the first paint of the console alone (it needs Chromium)
  --home-assistant   a large Home Assistant, only with this option (.ci/peers/home-assistant.sh installs it)
  --disk         the rows on this machine's disk, in place of its memory
  --json FILE    the figures as JSON too
  --tools        the device's tools; npm run bench -- --tools --help
  --history      400 days of values of 300 devices, and questions about them
  --rules        50 rules that act, from a value to the command
  --help         this

It needs Mosquitto (apt-get install mosquitto), but for --fronts; and Chromium for the first paint.`;

/** A step of a fleet that takes longer is given up. */
const FLEET_STEP_MS = 120_000;

/**
 * About 21 minutes on a quiet machine: 9 for the calls, half of them waits, 7 for the fleets, 5 for the soak and the homes;
 * never more than 40, since each step of a fleet has an end. `--quick`: about 4, to check that it runs.
 */
const FULL = {
  rounds: 6,
  sliceMs: 1_900,
  warmUpMs: 1_000,
  /** The agents' idle time before their memory is read. */
  idleMs: 60_000,
  cpuMs: 5_000,
  batchPairs: 8,
  cost: { slowMs: 45_000, idleMs: 30_000 },
  among: { rounds: 6, calls: 60, probes: 10 },
  fronts: { acksMs: 30_000, firstTokens: 60 },
  sentences: { rounds: 15, turns: 100, warmUp: 10 },
  page: { rounds: 21 },
  // With 1,700 and with 2,000 entities.
  homeAssistant: {
    homes: [
      { devices: 300, few: false },
      { devices: 600, few: true },
      { devices: 600, few: true, kept: true },
    ],
    idleMs: 20_000,
    rounds: 5,
  },
  scale: {
    fleets: {
      fleets: (["real", "slim"] as const).flatMap((advert) =>
        [1, 10, 100, 1_000, 5_000].map((agents) => ({ agents, advert })),
      ),
      turns: 40,
      atOnce: 64,
      withinMs: FLEET_STEP_MS,
    },
    soak: { turns: 5_000, slice: 500, calls: 100_000, ledgerTurns: 100 },
    homes: { homes: 1_000, turnsEach: 2, atOnce: 16 },
  },
};
const QUICK = {
  rounds: 2,
  sliceMs: 500,
  warmUpMs: 500,
  idleMs: 5_000,
  cpuMs: 1_000,
  batchPairs: 2,
  cost: { slowMs: 2_000, idleMs: 2_000 },
  among: { rounds: 2, calls: 12, probes: 2 },
  fronts: { acksMs: 3_000, firstTokens: 10 },
  sentences: { rounds: 3, turns: 10, warmUp: 2 },
  page: { rounds: 5 },
  homeAssistant: { homes: [{ devices: 30, few: false }], idleMs: 3_000, rounds: 2 },
  scale: {
    fleets: {
      fleets: [1, 10, 100].map((agents) => ({ agents, advert: "real" as const })),
      turns: 5,
      atOnce: 64,
      withinMs: FLEET_STEP_MS,
    },
    soak: { turns: 100, slice: 50, calls: 1_000, ledgerTurns: 20 },
    homes: { homes: 20, turnsEach: 2, atOnce: 16 },
  },
};
/**
 * The default place of the rows. workerd syncs each transaction to the disk on its only thread, and a virtual disk
 * takes 0.2 to 2 ms for that, depending on its neighbours, so the disk would dominate the figures. Durable Objects on
 * Cloudflare replicate instead.
 */
const MEMORY_DISK = "/dev/shm";

const options = readOptions(USAGE, {
  quick: { type: "boolean", default: false },
  /** Stores the rows on this machine's disk instead of in its memory. */
  disk: { type: "boolean", default: false },
  /** Measures only calls and turns: time, processor, memory, costs. */
  calls: { type: "boolean", default: false },
  /** Measures only calls of agents by agents, of groups and lent agents, and sessions. */
  among: { type: "boolean", default: false },
  /** Measures only the front doors: chat apps and streams. */
  fronts: { type: "boolean", default: false },
  /** Measures only many agents, many turns and many homes. */
  scale: { type: "boolean", default: false },
  /** Measures only plain sentences: files, a cold start, turns in the demo home. */
  sentences: { type: "boolean", default: false },
  /** Measures only the first paint of the console. */
  page: { type: "boolean", default: false },
  /** Measures only a large Home Assistant, which no other run does. */
  "home-assistant": { type: "boolean", default: false },
  json: { type: "string" },
});
const plan = options.quick ? QUICK : FULL;
const inMemory = !options.disk && isWritable(MEMORY_DISK);
const { dir, processes, failed } = startRun(inMemory ? MEMORY_DISK : tmpdir());
/** Called in reverse order at the end. */
const stops: Array<() => Promise<void>> = [];

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function benchCalls(): Promise<Calls> {
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
    { a: floor1.work, b: floor2.work, c: path.call, d: path.turn, e: floor2.call, f: floor2.turn },
    { ...plan, onRound: (round) => say(`round ${round} of ${plan.rounds}`) },
  );
  say("processor time of a call");
  const cpu = await measureCpu(path, floor2, plan.cpuMs);
  say("batches: five calls at once, and one by one");
  const batches = await measureBatches(path, plan.batchPairs);
  say("costs: each turn is counted until its last alarm has run");
  const costs = await measureCosts(dir, processes, plan.cost);
  say(`memory: the agents are left alone for ${plan.idleMs / 1_000} s`);
  const memory = await measureMemory(dir, mqttUrl, plan.idleMs, processes, NODE_STARTS);
  say("processor time of the Worker's start");
  const start = await measureWorkerStart(dir);
  return { measured, cpu, batches, costs, memory, start, sizes: await workerSizes() };
}

async function benchAmong(): Promise<Among> {
  say("agents among themselves: two Workers, a bridge and six agents");
  return await measureAmong(dir, processes, plan.among, (round) =>
    say(`round ${round} of ${plan.among.rounds}`),
  );
}

async function benchFronts(): Promise<Fronts> {
  say("front doors: webhooks' acknowledgements, streams' first tokens");
  return await measureFronts(dir, plan.fronts);
}

async function benchSentences(): Promise<Sentences> {
  say("plain sentences: the demo home, and a new workerd for each first sentence");
  return await measureSentences(dir, processes, plan.sentences);
}

async function benchPage(): Promise<FirstPaint> {
  say("the console's first paint: 200 devices, and an empty page");
  return await measureFirstPaint(dir, processes, plan.page);
}

try {
  const parts = ["calls", "among", "fronts", "scale", "sentences", "page"] as const;
  const isAll = parts.every((part) => !options[part]) && !options["home-assistant"];
  const calls = isAll || options.calls ? await benchCalls() : undefined;
  const among = isAll || options.among ? await benchAmong() : undefined;
  const fronts = isAll || options.fronts ? await benchFronts() : undefined;
  const scale = isAll || options.scale ? await measureScale(dir, plan.scale, say) : undefined;
  const sentences = isAll || options.sentences ? await benchSentences() : undefined;
  const page = isAll || options.page ? await benchPage() : undefined;
  const homeAssistant = options["home-assistant"]
    ? await measureHomeAssistant(dir, processes, plan.homeAssistant, say)
    : undefined;
  const counts = calls && scale && countsOf(calls.costs, scale.fleets);
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
    ...(calls ? [...NOTES, ...COST_NOTES] : []),
    ...(among ? AMONG_NOTES : []),
    ...(fronts ? FRONT_NOTES : []),
    ...(scale ? SCALE_NOTES : []),
    ...(sentences ? SENTENCES_NOTES : []),
    ...(page ? PAGE_NOTES : []),
    ...(homeAssistant ? HOME_ASSISTANT_NOTES : []),
  ];
  const limits = judge({ calls, scale, sentences, homeAssistant });
  const tables = [
    ...(calls ? [table(calls), costTable(calls.costs)] : []),
    ...(among ? [amongTable(among)] : []),
    ...(fronts ? [frontTable(fronts)] : []),
    ...(scale ? [scaleTables(scale)] : []),
    ...(sentences ? [sentencesTable(sentences)] : []),
    ...(page ? [pageTable(page)] : []),
    ...(homeAssistant ? [homeAssistantTable(homeAssistant)] : []),
    ...(counts ? [modelTables(counts, USUAL_USE)] : []),
    ...(limits.length > 0 ? [limitLines(limits)] : []),
  ];
  console.log(`\n${[...tables, notes.join("\n")].join("\n\n")}`);
  if (options.json !== undefined) {
    const json = {
      ...about,
      notes,
      limits,
      ...calls,
      among,
      fronts,
      scale,
      sentences,
      page,
      homeAssistant,
      counts,
    };
    writeFileSync(options.json, `${JSON.stringify(json, null, 2)}\n`);
  }
} catch (error) {
  failed(error);
}
for (const end of stops.reverse()) await end().catch(() => {});
await processes.endAll();
// Miniflare and mqtt.js leave timers running.
process.exit();
