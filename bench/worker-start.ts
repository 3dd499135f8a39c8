/** The processor time of a Worker's start in workerd, today's beside a kept release's: every request to a new instance waits for it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "smol-toml";
import { bundleWorker } from "../local/bundles.ts";
import { keptWorker } from "../test/kept/programs.ts";
import { median } from "./stats.ts";

/** Milliseconds of processor time, without those that workerd itself needs to start. */
export type WorkerStart = { kept: number; today: number; ratio: number };

export const KEPT = "0.3.0";
const EMPTY = "export class Home {}\nexport class Conversation {}\nexport default {};";
/** With seven a single measurement was off by a tenth and more. */
const ROUNDS = 15;
/** The workerd that Miniflare runs. */
const WORKERD: string = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd").default;

/** @param dir for the Workers' files @returns medians; the starts take turns, so that other work of the machine meets all of them */
export async function measureWorkerStart(dir: string): Promise<WorkerStart> {
  const today = new URL("../wrangler.toml", import.meta.url);
  const kept = keptWorker(KEPT);
  const minified = await bundleWorker({ minify: true, program: `${"0".repeat(64)} 700000` });
  const workers = [
    { dir: join(dir, "empty"), code: EMPTY, config: today },
    { dir: join(dir, "kept"), code: kept.bundle, config: kept.config },
    { dir: join(dir, "today"), code: minified, config: today },
  ];
  const spent = workers.map(({ dir, code, config }) => {
    mkdirSync(dir);
    writeFileSync(join(dir, "worker.js"), code);
    writeFileSync(join(dir, "config.capnp"), workerdConfig(readFileSync(config, "utf8")));
    return { config: join(dir, "config.capnp"), ms: [] as number[] };
  });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { config, ms } of spent) ms.push(await startMs(config));
  const [empty = Number.NaN, ofKept = Number.NaN, ofToday = Number.NaN] = spent.map(({ ms }) => median(ms));
  const own = { kept: ofKept - empty, today: ofToday - empty };
  return { ...own, ratio: own.today / own.kept };
}

function workerdConfig(wranglerToml: string): string {
  const { compatibility_date: date, compatibility_flags: flags } = parse(wranglerToml);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = ${JSON.stringify(date)},
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

/** @returns milliseconds of processor time until workerd listens: by then it has run the Worker's modules */
async function startMs(config: string): Promise<number> {
  const workerd = spawn(WORKERD, ["serve", "--control-fd=3", config], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const gone = once(workerd, "exit");
  try {
    // SAFETY: the fourth of stdio is a pipe.
    const said = createInterface({ input: workerd.stdio[3] as NodeJS.ReadableStream });
    await Promise.race([
      once(said, "line"),
      gone.then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`))),
    ]);
    return cpuMsOf(workerd);
  } finally {
    workerd.kill("SIGKILL");
    await gone.catch(() => {});
  }
}

/** Of all threads, from the scheduler: /proc/PID/stat counts in steps of 10 ms. */
function cpuMsOf({ pid }: ChildProcess): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000_000;
}
