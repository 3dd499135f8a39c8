/** A workerd of its own for one measurement, with one Worker, so that nothing in it has run before. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "smol-toml";

/** The workerd that Miniflare runs. */
const WORKERD: string = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd").default;
/** Of the Worker of today. */
export const TODAYS_SETTINGS = new URL("../wrangler.toml", import.meta.url);

/** Milliseconds of processor time: `main` of the thread that runs the Worker, `all` with those that compile and collect beside it. */
export type CpuMs = { main: number; all: number };
export type FreshWorkerd = {
  url: string;
  /** Of V8's inspector; undefined: it was not asked for. */
  inspector: string | undefined;
  /** Since its start. */
  cpuMs(): CpuMs;
  stop(): Promise<void>;
};

/** @param dir is made @param settings a wrangler.toml with date and flags @returns the path of workerd's config */
export function writeWorker(dir: string, code: string, settings: URL | string): string {
  mkdirSync(dir);
  writeFileSync(join(dir, "worker.js"), code);
  writeFileSync(join(dir, "config.capnp"), workerdConfig(readFileSync(settings, "utf8")));
  return join(dir, "config.capnp");
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

type Event = { event: string; port: number };

/** Resolves when it listens: by then it has run the Worker's modules. @throws Error when it ends before */
export async function startFreshWorkerd(config: string, { inspects = false } = {}): Promise<FreshWorkerd> {
  const workerd = spawn(
    WORKERD,
    ["serve", "--control-fd=3", ...(inspects ? ["--inspector-addr=127.0.0.1:0"] : []), config],
    { stdio: ["ignore", "inherit", "inherit", "pipe"] },
  );
  const gone = once(workerd, "exit");
  const stop = async () => {
    workerd.kill("SIGKILL");
    await gone.catch(() => {});
  };
  const ports = new Map<string, number>();
  // SAFETY: the fourth of stdio is a pipe.
  const said = createInterface({ input: workerd.stdio[3] as NodeJS.ReadableStream });
  const listening = new Promise<void>((resolve) => {
    said.on("line", (line) => {
      const { event, port } = JSON.parse(line) as Event;
      ports.set(event, port);
      if (ports.has("listen") && (!inspects || ports.has("listen-inspector"))) resolve();
    });
  });
  try {
    await Promise.race([
      listening,
      gone.then(([code]) => Promise.reject(new Error(`workerd ended with ${code}`))),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  const { pid = 0 } = workerd;
  return {
    url: `http://127.0.0.1:${ports.get("listen")}`,
    inspector: inspects ? `ws://127.0.0.1:${ports.get("listen-inspector")}/main` : undefined,
    cpuMs: () => cpuMsOf(pid),
    stop,
  };
}

/** From the scheduler: /proc/PID/stat counts in steps of 10 ms. */
function cpuMsOf(pid: number): CpuMs {
  const tasks = `/proc/${pid}/task`;
  const spent = new Map(
    readdirSync(tasks).map((task) => [
      Number(task),
      Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]) / 1_000_000,
    ]),
  );
  return { main: spent.get(pid) ?? Number.NaN, all: [...spent.values()].reduce((sum, one) => sum + one, 0) };
}
