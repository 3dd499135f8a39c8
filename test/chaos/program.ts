/** One program of the stack in a process group of its own: killed, frozen and started again as a group. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { until } from "../wait.ts";

/** Ready takes a second; with five others starting on two cores it takes some more. */
const READY_WITHIN_MS = 30_000;
/** Lines of a log that help when something did not come up. */
const LOG_TAIL = 15;

/**
 * A shell that lasts as long as the program, and kills it when our own process is killed: the kernel closes
 * the shell's input then (a background command has no input of its own, hence the copy). Programs of ours
 * notice the end of their IPC channel by themselves.
 */
const LEASH = 'exec 3<&0; "$@" 3<&- & it=$!; (read -r _ <&3; kill -9 $it 2>/dev/null) & wait $it';

export type ProgramOptions = {
  name: string;
  /** The command; for one of ours the arguments of `node`. */
  command: string[];
  env: Record<string, string | undefined>;
  log: string;
  /** Ours says `{ready: true}` over IPC; any other is asked whether it is ready. */
  ready: "says so" | (() => Promise<boolean>);
  /** It ended though nobody here ended it. */
  onDied: (how: string) => void;
};

type Run = { child: ChildProcess; ready: Promise<void>; gone: Promise<void> };

export class Program {
  readonly #options: ProgramOptions;
  #run: Run | undefined;
  /** We end it, or all: its end is no news. */
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

  /** Starts it; resolves when it is ready. @throws with its last words when it ended or was not ready in time */
  async start(): Promise<void> {
    const { name, log } = this.#options;
    this.#ending = false;
    const run = this.#spawn();
    this.#run = run;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(
        new Error(`${name} was not ready within ${READY_WITHIN_MS / 1_000} s:\n${this.lastWords()}`),
      );
    }, READY_WITHIN_MS);
    const ended = run.gone.then(() => {
      throw new Error(`${name} ended before it was ready (${log}):\n${this.lastWords()}`);
    });
    ended.catch(() => {});
    try {
      await Promise.race([run.ready, ended, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** SIGKILL of the whole group. Resolves when it is gone. */
  async kill(why: string): Promise<void> {
    this.#ending = true;
    this.note(`killed: ${why}`);
    this.#signal("SIGKILL");
    await this.#run?.gone;
  }

  freeze(why: string): void {
    this.note(`stopped: ${why}`);
    this.#signal("SIGSTOP");
  }

  thaw(): void {
    this.#signal("SIGCONT");
    this.note("goes on");
  }

  /** A line of ours among its own. */
  note(text: string): void {
    const file = openSync(this.#options.log, "a");
    writeSync(file, `──── ${new Date().toISOString()} ${text}\n`);
    closeSync(file);
  }

  lastWords(): string {
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
    const said = Promise.withResolvers<void>();
    child.on("message", (message: { ready?: unknown }) => {
      if (message.ready === true) said.resolve();
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
        ? said.promise
        : until(ready, { within: READY_WITHIN_MS, what: this.name }).then(() => {});
    isReady.catch(() => {});
    return { child, gone: gone.promise, ready: isReady };
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#run?.child.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }
}
