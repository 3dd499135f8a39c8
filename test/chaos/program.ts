/** One program of the stack. It has its own process group, which is killed, frozen and started again as a whole. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { until } from "../wait.ts";

/** A start takes a second. On two cores, beside all that CI starts with, it took up to 9 s. */
const READY_WITHIN_MS = 30_000;
/** The number of log lines that are shown when a program does not start. */
const LOG_TAIL = 15;

/**
 * A shell that lives as long as the program, and kills it when this process is killed, because the kernel then closes
 * the shell's input. A background command has no input of its own, hence the copy. Our own programs notice the end of
 * their IPC channel by themselves.
 */
const LEASH = 'exec 3<&0; "$@" 3<&- & it=$!; (read -r _ <&3; kill -9 $it 2>/dev/null) & wait $it';

export type ProgramOptions = {
  name: string;
  /** The command; for one of our programs the arguments of `node`. */
  command: string[];
  env: Record<string, string | undefined>;
  log: string;
  /** Our programs send `{ready: true}` over IPC; any other program has a check. */
  ready: "says so" | (() => Promise<boolean>);
  /** Called when the program ended by itself. */
  onDied: (how: string) => void;
};

type Run = { child: ChildProcess; ready: Promise<void>; gone: Promise<void> };

export class Program {
  readonly #options: ProgramOptions;
  #run: Run | undefined;
  /** True while this class ends the program, so that its end is expected. */
  #ending = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get pid(): number | undefined {
    return this.#run?.child.pid;
  }

  /**
   * Starts it. Resolves when it is ready. @throws an error with the end of its log when it ended or was not ready in
   * time
   */
  async start(): Promise<void> {
    const { name, log } = this.#options;
    this.#ending = false;
    const began = performance.now();
    const run = this.#spawn();
    this.#run = run;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(
        new Error(`${name} was not ready within ${READY_WITHIN_MS / 1_000} s:\n${this.lastText()}`),
      );
    }, READY_WITHIN_MS);
    const ended = run.gone.then(() => {
      throw new Error(`${name} ended before it was ready (${log}):\n${this.lastText()}`);
    });
    ended.catch(() => {});
    try {
      await Promise.race([run.ready, ended, late.promise]);
      this.note(`ready after ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends SIGKILL to the whole group. Resolves when the group has ended. */
  async kill(why: string): Promise<void> {
    this.#ending = true;
    this.note(`killed: ${why}`);
    this.signal("SIGKILL");
    await this.#run?.gone;
  }

  freeze(why: string): void {
    this.note(`stopped: ${why}`);
    this.signal("SIGSTOP");
  }

  thaw(): void {
    this.signal("SIGCONT");
    this.note("goes on");
  }

  /** Adds a line to the program's log. */
  note(text: string): void {
    const file = openSync(this.#options.log, "a");
    writeSync(file, `──── ${new Date().toISOString()} ${text}\n`);
    closeSync(file);
  }

  /** Sends a signal to its group, if it runs. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#run?.child.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // No process of the group is left.
    }
  }

  lastText(): string {
    return readFileSync(this.#options.log, "utf8").trimEnd().split("\n").slice(-LOG_TAIL).join("\n");
  }

  #spawn(): Run {
    const { command, env, log, ready } = this.#options;
    const file = openSync(log, "a");
    const ours = ready === "says so";
    const [program, args, stdio]: [string, string[], StdioOptions] = ours
      ? [process.execPath, command, ["ignore", file, file, "ipc"]]
      : ["/bin/sh", ["-c", LEASH, "sh", ...command], ["pipe", file, file]];
    const child = spawn(program, args, { env, stdio, detached: true });
    closeSync(file);
    child.stdin?.on("error", () => {});
    const announced = Promise.withResolvers<void>();
    child.on("message", (message: { ready?: unknown }) => {
      if (message.ready === true) announced.resolve();
    });
    const gone = Promise.withResolvers<void>();
    const ended = (how: string) => {
      gone.resolve();
      if (this.#ending || this.#run?.child !== child) return;
      this.note(`ended by itself: ${how}`);
      this.#options.onDied(how);
    };
    child.once("error", (error) => ended(error.message));
    child.once("exit", (code, signal) => ended(signal ?? `exit code ${code}`));
    const isReady =
      ready === "says so"
        ? announced.promise
        : until(ready, { within: READY_WITHIN_MS, what: this.name }).then(() => {});
    isReady.catch(() => {});
    return { child, gone: gone.promise, ready: isReady };
  }
}
