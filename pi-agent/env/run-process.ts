/** Runs one process of this machine, from its start until its whole tree is gone. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { atMost } from "@edgecall/core/tools/execute.ts";
import { ExecError, type Ran, type RunOptions } from "./environment.ts";
import { killTree, MARK_VARIABLE, type ProcessTree, treeOf } from "./process-tree.ts";

/** Time after the program's end in which its children may still write output. */
const IDLE_GRACE_MS = 100;
/** Longest such time, for a child that writes without a pause. */
const GRACE_MAX_MS = 1_000;

export type ProcessOptions = Pick<RunOptions, "stdin" | "onStdin" | "signal" | "onOutput" | "onStarted"> & {
  cwd?: string;
  /** The complete environment. */
  env: Readonly<Record<string, string>>;
  /** Gets what the program writes to descriptor 3, which exists only with this callback. */
  onStatus?(chunk: Uint8Array): void;
  /** The text that it reads from descriptor 4; only together with `onStatus`. */
  script?: string;
  /**
   * For a program that works on another machine. Its stdin stays open until `done`, and closing it tells the other side to
   * stop everything. At the abort it has `stopMs` for that before it is killed.
   */
  lifeline?: { done: Promise<unknown>; stopMs: number };
};

/**
 * Runs to the end, or kills the whole tree at the abort. Processes that the program leaves running are killed too, so that
 * nothing outlives a call.
 * @throws ExecError `spawn_failed`
 */
export async function runProcess(
  argv: readonly [string, ...string[]],
  options: ProcessOptions,
): Promise<Ran> {
  if (options.signal.aborted) return { exitCode: null, signal: null, stopped: true };
  const mark = randomUUID();
  const child = start(argv, options, mark);
  const tree = child.pid === undefined ? undefined : treeOf(child.pid, mark);
  const running = new Running(child, options);
  if (!tree) throw spawnFailed(argv[0], await running.failure);
  options.onStarted?.(tree);
  const stop = () => running.stop(tree);
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    return await running.end(tree);
  } finally {
    options.signal.removeEventListener("abort", stop);
  }
}

function start([program, ...args]: readonly [string, ...string[]], options: ProcessOptions, mark: string) {
  const held = [options.stdin, options.onStdin, options.lifeline].some((it) => it !== undefined);
  try {
    return spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env, [MARK_VARIABLE]: mark },
      // Its own session, so that its group can be killed and it cannot reach a terminal.
      detached: true,
      stdio: [held ? "pipe" : "ignore", "pipe", "pipe", ...pipesFor(options.onStatus, options.script)],
    });
  } catch (error) {
    // A NUL in an argument, or an argument list that is too long.
    throw spawnFailed(program, error);
  }
}

function pipesFor(...uses: unknown[]): "pipe"[] {
  return uses.filter((use) => use !== undefined).map(() => "pipe");
}

/** Converts the error of a failed start. */
export function spawnFailed(program: string, error: unknown): ExecError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const why =
    code === "ENOENT"
      ? "there is no such program"
      : code === "EACCES"
        ? "it may not be run"
        : code === "E2BIG"
          ? "its arguments are too long"
          : (code ?? "it could not be started");
  return new ExecError("spawn_failed", `'${program}' could not be started: ${why}.`, {
    cause: error,
    absent: code === "ENOENT" || code === "EACCES",
  });
}

class Running {
  readonly #child: ChildProcess;
  readonly #options: ProcessOptions;
  readonly #exited: Promise<{ exitCode: number | null; signal: string | null }>;
  readonly #closed: Promise<void>;
  /** Resolves with the reason why it did not start. */
  readonly failure: Promise<Error>;
  #lastOutputAt = 0;
  #stopped = false;
  #hasExited = false;
  #killing: Promise<boolean> | undefined;

  constructor(child: ChildProcess, options: ProcessOptions) {
    this.#child = child;
    this.#options = options;
    this.failure = new Promise((resolve) => child.once("error", resolve));
    // A failed kill causes the same event, which must not end this process.
    child.on("error", () => {});
    this.#exited = new Promise((resolve) =>
      child.once("exit", (exitCode, signal) => {
        this.#hasExited = true;
        resolve({ exitCode, signal });
      }),
    );
    this.#closed = new Promise((resolve) => child.once("close", () => resolve()));
    this.#listen(child.stdout, "stdout");
    this.#listen(child.stderr, "stderr");
    const status = child.stdio[3] as Readable | null | undefined;
    status?.on("data", (chunk: Buffer) => options.onStatus?.(chunk));
    status?.on("error", () => {});
    const script = child.stdio[4] as Writable | null | undefined;
    script?.on("error", () => {});
    script?.end(options.script);
    this.#feed();
  }

  stop(tree: ProcessTree): void {
    if (this.#hasExited || this.#killing) return;
    this.#stopped = true;
    this.#killing = this.#kill(tree);
  }

  async end(tree: ProcessTree): Promise<Ran> {
    const ended = await this.#exited;
    await this.#restOfOutput();
    await this.#killing;
    await killTree(tree);
    for (const stream of this.#child.stdio) stream?.destroy();
    return { ...ended, stopped: this.#stopped };
  }

  async #kill(tree: ProcessTree): Promise<boolean> {
    const { lifeline } = this.#options;
    if (lifeline) {
      this.#child.stdin?.destroy();
      if (await atMost(lifeline.stopMs, this.#exited)) return true;
    }
    return await killTree(tree);
  }

  async #restOfOutput(): Promise<void> {
    const end = performance.now() + GRACE_MAX_MS;
    this.#lastOutputAt = performance.now();
    for (;;) {
      const idleMs = performance.now() - this.#lastOutputAt;
      const left = Math.min(IDLE_GRACE_MS - idleMs, end - performance.now());
      if (left <= 0 || (await atMost(Math.ceil(left), this.#closed))) return;
      // A process that was given no time sees its timers before it reads what is there.
      await nextTurn();
    }
  }

  /** The other side is done; a connection that a leftover process holds open is closed. */
  async #letGo(stopMs: number): Promise<void> {
    this.#child.stdin?.end();
    if (!(await atMost(stopMs, this.#exited))) this.#child.kill("SIGKILL");
  }

  #listen(stream: Readable | null, name: "stdout" | "stderr"): void {
    stream?.on("data", (chunk: Buffer) => {
      this.#lastOutputAt = performance.now();
      this.#options.onOutput?.(chunk, name);
    });
    stream?.on("error", () => {});
  }

  #feed(): void {
    const { stdin } = this.#child;
    // A program that reads nothing closes its end, which is not a failure.
    stdin?.on("error", () => {});
    if (this.#options.stdin !== undefined) stdin?.write(this.#options.stdin);
    const { lifeline } = this.#options;
    if (stdin && this.#options.onStdin) this.#options.onStdin(stdin);
    else if (lifeline) void lifeline.done.then(() => this.#letGo(lifeline.stopMs));
    else stdin?.end();
  }
}
