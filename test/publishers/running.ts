/** A program of others as a child process with a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "../wait.ts";

/** Generous: on a busy machine zigbee2mqtt takes half a minute. */
const START_WITHIN_MS = 120_000;
/** A program that does not end within this time is killed. */
const STOP_WITHIN_MS = 4_000;

/** The least that a publisher has. */
export type Publisher = {
  readonly name: string;
  /** Fits the topics of its configs. */
  readonly topics: RegExp;
  stop(): Promise<void>;
};

export type Command = { command: readonly string[]; env?: Record<string, string>; ipc?: boolean };

export class Running {
  readonly name: string;
  /** All lines that it wrote. */
  readonly lines: string[] = [];
  /** Its folder, which is removed with it. */
  readonly folder: string;
  readonly #command: Command;
  #child: ChildProcess;
  #gone: Promise<unknown>;

  /** @param prepare writes what the program needs into its folder, and says how it is started there */
  constructor(name: string, prepare: (folder: string) => Command) {
    this.name = name;
    this.folder = mkdtempSync(join(tmpdir(), `edgecall-${name}-`));
    this.#command = prepare(this.folder);
    [this.#child, this.#gone] = this.#start();
  }

  #start(): [ChildProcess, Promise<unknown>] {
    const { command, env = {}, ipc = false } = this.#command;
    const [program = "", ...args] = command;
    const { PATH, LANG } = process.env;
    // Without settings and caches of this user.
    const own = { PATH, LANG, HOME: this.folder, TMPDIR: this.folder, PYTHONDONTWRITEBYTECODE: "1" };
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { ...own, ...env },
      stdio: ["pipe", "pipe", "pipe", ...(ipc ? (["ipc"] as const) : [])],
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    // It may end before it has read all.
    child.stdin?.on("error", () => {});
    const gone = new Promise((resolve) => {
      child.once("error", (error) => resolve(this.lines.push(error.message)));
      child.once("close", resolve);
    });
    return [child, gone];
  }

  /** Ends it, and starts it again in the same folder. @param withinMs in which it has to have written its files */
  async again(withinMs: number): Promise<void> {
    await this.#end(withinMs);
    [this.#child, this.#gone] = this.#start();
  }

  get hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  /**
   * Resolves when the condition holds.
   * @throws when it does not or when the program ends, which is then stopped, with its last lines
   */
  async ready(condition: () => boolean | Promise<boolean>): Promise<void> {
    try {
      const met = async () => (await condition()) || this.hasEnded;
      await until(met, { within: START_WITHIN_MS, every: 50, what: `${this.name} is ready` });
      if (this.hasEnded) throw new Error(`${this.name} has ended`);
    } catch (error) {
      await this.stop();
      throw new Error(`${(error as Error).message}\n${this.lines.slice(-30).join("\n")}`);
    }
  }

  /** Writes a line to its input. */
  tell(message: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends it a message, if it was started with a channel for them. */
  send(message: object): void {
    this.#child.send(message);
  }

  /** Stops it where it is, until `thaw`. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async #end(withinMs = STOP_WITHIN_MS): Promise<void> {
    if (this.hasEnded) return;
    // A stopped one would not hear of it.
    this.#child.kill("SIGCONT");
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), withinMs);
    await this.#gone;
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
