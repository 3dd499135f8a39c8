/**
 * `npm run chaos`: runs the real stack with a fault in each turn. Exits with 0 when every turn was answered once and no
 * call took effect twice or was reported as done without a result; otherwise with 1, the seed and the folder of the
 * logs. With `--firings` it runs rules that fire, with faults around them, and exits with 0 when each was told once. With
 * `--acting` it runs rules that act. With `--home-assistant` it commands devices of a real Home Assistant.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPrograms } from "../gateway-setup.ts";
import { actingTable, isSoundActing } from "./acting/report.ts";
import { actingRun } from "./acting/run.ts";
import { assistantRun, assistantTable, isSoundAssistant } from "./assistant/run.ts";
import { dice } from "./dice.ts";
import { allOnline, exercise, gather } from "./exercise.ts";
import { missingFor } from "./faults.ts";
import { firingTable, isSoundReport } from "./firings/report.ts";
import { firingRun } from "./firings/run.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { planTurn } from "./plan.ts";
import { isSound, type Report, reportOf, tableOf } from "./report.ts";
import { type ChaosStack, makeStack } from "./stack.ts";
import { judge } from "./verdict.ts";

/** Exit codes for wrong usage and for Ctrl-C, as shells have them. */
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function optionsOrExit(): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (read) return read;
    process.stdout.write(USAGE);
    process.exit(0);
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

async function chaos(options: Options, stack: ChaosStack, dir: string, died: string[]): Promise<Report> {
  const began = performance.now();
  const { seed, atOnce, limitMs } = options;
  const skipped = options.faults.flatMap((fault) => {
    const why = missingFor(fault, stack);
    return why === undefined ? [] : [{ fault, why }];
  });
  // A skipped fault keeps its place, so that the other faults of this seed are the same on every machine.
  const plans = options.turns
    .map((k) => planTurn(seed, k, options.faults))
    .filter(({ fault }) => skipped.every((one) => one.fault !== fault.name));
  say("starting two homes: Mosquitto, Worker, bridge and agents of each");
  await stack.start();
  await allOnline(stack);
  const done = await exercise({ stack, plans, atOnce, limitMs, dir, say });
  const history = await gather(stack, done, died, say);
  const seconds = Math.round((performance.now() - began) / 1_000);
  return reportOf(done, history, { seed, seconds, skipped, violations: judge(history) });
}

type Run = {
  /** @returns whether all is well, the table, and the figures */
  result(): Promise<{ sound: boolean; table: string; figures: object }>;
  stop(): Promise<unknown>;
  /** The arguments that run one part again. */
  again: string;
};

async function turnsRun(options: Options, dir: string): Promise<Run> {
  const died: string[] = [];
  const stack = await makeStack({
    dir,
    random: dice(options.seed, "links").next,
    onDied: (name, how) => died.push(`${name}: ${how}`),
  });
  return {
    async result() {
      const report = await chaos(options, stack, dir, died);
      return { sound: isSound(report), table: tableOf(report), figures: report };
    },
    stop: () => stack.stop(),
    again: "--only K",
  };
}

function firingsRun(options: Options, firings: NonNullable<Options["firings"]>, dir: string): Run {
  const run = firingRun({ ...firings, seed: options.seed, dir, say });
  return {
    async result() {
      const report = await run.report();
      return { sound: isSoundReport(report), table: firingTable(report), figures: report };
    },
    stop: run.stop,
    again: `--firings ${firings.count} --seasons K`,
  };
}

function actsRun(options: Options, acting: NonNullable<Options["acting"]>, dir: string): Run {
  const run = actingRun({ ...acting, seed: options.seed, dir, say });
  return {
    async result() {
      const report = await run.report();
      return { sound: isSoundActing(report), table: actingTable(report), figures: report };
    },
    stop: run.stop,
    again: `--acting ${acting.count} --only K`,
  };
}

function commandsRun(options: Options, assistant: NonNullable<Options["assistant"]>, dir: string): Run {
  const run = assistantRun({ ...assistant, seed: options.seed, dir, say });
  return {
    async result() {
      const report = await run.report();
      return { sound: isSoundAssistant(report), table: assistantTable(report), figures: report };
    },
    stop: run.stop,
    again: `--home-assistant ${assistant.count}`,
  };
}

async function runOf(options: Options, dir: string): Promise<Run> {
  if (options.acting) return actsRun(options, options.acting, dir);
  if (options.firings) return firingsRun(options, options.firings, dir);
  return options.assistant ? commandsRun(options, options.assistant, dir) : await turnsRun(options, dir);
}

/** Each start of the Worker would build it again, and some of them come while all else starts. */
async function build({ acting }: Options, dir: string): Promise<void> {
  say(`building the programs, with ${acting ? "the short times of tests" : "their true times"}`);
  const folder = mkdtempSync(join(dir, "built-"));
  await buildPrograms(folder, acting !== undefined);
  process.env.EDGECALL_BUILT = folder;
}

const options = optionsOrExit();
const dir = mkdtempSync(join(tmpdir(), "edgecall-chaos-"));
say(`seed ${options.seed}; logs in ${dir}`);
await build(options, dir);
const run = await runOf(options, dir);
let stopping: Promise<unknown> | undefined;
const stop = () => {
  stopping ??= run.stop().catch((error: unknown) => say(String(error)));
  return stopping;
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void stop().then(() => process.exit(EXIT_INTERRUPTED)));

let sound = false;
try {
  const result = await run.result();
  sound = result.sound;
  console.log(`\n${result.table}`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result.figures, null, 2)}\n`);
} catch (error) {
  if (!stopping) say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
await stop();
if (sound && !options.keep) rmSync(dir, { recursive: true, force: true });
else say(`\nagain: npm run chaos -- --seed ${options.seed} ${run.again}\nlogs: ${dir}`);
// Miniflare, fetch and mqtt leave timers running.
process.exit(sound ? 0 : 1);
