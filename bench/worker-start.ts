/** The processor time of a Worker's start in workerd, today's beside a kept release's: every request to a new instance waits for it. */
import { join } from "node:path";
import { bundleWorker } from "../local/bundles.ts";
import { keptWorker } from "../test/kept/programs.ts";
import { startFreshWorkerd, TODAYS_SETTINGS, writeWorker } from "./fresh-workerd.ts";
import { median } from "./stats.ts";

/** Milliseconds of processor time, without those that workerd itself needs to start. */
export type WorkerStart = { kept: number; today: number; ratio: number };

export const KEPT = "0.3.0";
const EMPTY = "export class Home {}\nexport class Conversation {}\nexport default {};";
/** With fifteen a single measurement was off by a twentieth. */
const ROUNDS = 31;

/** @param dir for the Workers' files @returns medians, the ratio of those of the rounds; the starts take turns, so that other work of the machine meets all of them */
export async function measureWorkerStart(dir: string): Promise<WorkerStart> {
  const kept = keptWorker(KEPT);
  const minified = await bundleWorker({ minify: true, program: `${"0".repeat(64)} 700000` });
  const workers = [
    { dir: join(dir, "empty"), code: EMPTY, settings: TODAYS_SETTINGS },
    { dir: join(dir, "kept"), code: kept.bundle, settings: kept.config },
    { dir: join(dir, "today"), code: minified, settings: TODAYS_SETTINGS },
  ];
  const spent = workers.map(({ dir, code, settings }) => ({
    config: writeWorker(dir, code, settings),
    ms: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { config, ms } of spent) ms.push(await startMs(config));
  const [empties = [], ofKept = [], ofToday = []] = spent.map(({ ms }) => ms);
  const empty = median(empties);
  // Of each round: what slows the machine down for a while slows both of a round down.
  const ratios = ofToday.map((ms, round) => (ms - empty) / ((ofKept[round] ?? Number.NaN) - empty));
  return { kept: median(ofKept) - empty, today: median(ofToday) - empty, ratio: median(ratios) };
}

/** @returns milliseconds of processor time until workerd listens: by then it has run the Worker's modules */
async function startMs(config: string): Promise<number> {
  const workerd = await startFreshWorkerd(config);
  try {
    return workerd.cpuMs().all;
  } finally {
    await workerd.stop();
  }
}
