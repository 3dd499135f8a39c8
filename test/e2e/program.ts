/** One of our programs as a real child process: its output, its signals, its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { until } from "../wait.ts";

/** The repository's root. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A program that does not end within this time is killed, so that a failed test does not leave it running. */
const STOP_WITHIN_MS = 4_000;
/** A program is back at its broker or gateway after a back-off of 30 s at most, and a busy machine starts it slowly. */
const LOGGED_WITHIN_MS = 45_000;

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type ProgramOptions = {
  name: string;
  /** A path below the repository's root, or an absolute one. */
  script: string;
  args?: string[];
  env?: Record<string, string | undefined>;
};

export class Program {
  readonly name: string;
  /** All lines that it wrote. */
  readonly lines: string[] = [];
  /** Its first `{ready: true}`; rejects when it ends before that. */
  readonly ready: Promise<Record<string, unknown>>;
  readonly gone: Promise<Exit>;
  readonly #child: ChildProcess;

  constructor({ name, script, args = [], env = {} }: ProgramOptions) {
    this.name = name;
    // When the test's own process is killed, the IPC channel closes and the program stops.
    this.#child = spawn(process.execPath, [programFile(script), ...args], {
      env: { ...plainEnvironment(), ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    this.gone = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      // 'close' comes after its streams, so all lines have arrived.
      this.#child.once("close", (code, signal) => resolve({ code, signal }));
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.on("message", (message: Record<string, unknown>) => {
        if (message.ready === true) resolve(message);
      });
      this.gone.then(
        ({ code, signal }) =>
          reject(new Error(`${name} ended (${signal ?? code}): ${this.lines.join("\n")}`)),
        reject,
      );
    });
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal. SIGKILL and SIGTERM resolve `gone` when it has ended. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Returns its JSON log lines with this event. */
  events(event: string): Array<Record<string, unknown>> {
    return this.lines.flatMap((line) => {
      try {
        const read = JSON.parse(line) as Record<string, unknown>;
        return read.event === event ? [read] : [];
      } catch {
        return [];
      }
    });
  }

  /** Waits until it has written such a log line. */
  logged(event: string, fits: (line: Record<string, unknown>) => boolean = () => true) {
    const options = { within: LOGGED_WITHIN_MS, what: `${this.name} logs ${event}` };
    return until(() => this.events(event).find(fits), options);
  }

  async kill(): Promise<Exit> {
    this.signal("SIGKILL");
    return await this.gone;
  }

  async stop(): Promise<void> {
    if (!this.running) return;
    this.signal("SIGCONT");
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), STOP_WITHIN_MS);
    await this.gone;
    clearTimeout(timer);
  }
}

/** The file that the run's setup built of a program, as it is installed; without one, the script as it is. */
export function programFile(script: string): string {
  const folder = process.env.EDGECALL_BUILT;
  const file = {
    "pi-agent/main.ts": "agent.cjs",
    "bridge/main.ts": "bridge.mjs",
    "local/worker.ts": "worker.mjs",
  }[script];
  return folder && file ? join(folder, file) : resolve(ROOT, script);
}

/** The environment without the personal settings of this user. */
export function plainEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, LANG, EDGECALL_BUILT } = process.env;
  // Each program is started a hundred times in a run, and is compiled once.
  const NODE_COMPILE_CACHE = EDGECALL_BUILT && join(EDGECALL_BUILT, "compiled");
  return { PATH, HOME, TMPDIR, LANG, EDGECALL_BUILT, NODE_COMPILE_CACHE };
}
