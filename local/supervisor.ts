/** Runs child programs: restarts one that ends by itself, and stops all of them on request without leaving processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { type Backoff, backoffMs } from "@edgecall/core/backoff.ts";

/** Long enough for a bridge to deliver what it holds; SIGKILL follows. */
const STOP_WITHIN_MS = 4_000;
const RESTARTS: Backoff = { baseMs: 200, capMs: 10_000 };
/** After running this long, a child's restart delay begins again from the start. */
const STEADY_MS = 30_000;

export type Program = {
  name: string;
  /** Arguments of `node`, the script first. */
  args: readonly string[];
  env: Record<string, string | undefined>;
  /** Each line that the child writes, and each line about it. */
  say(line: string): void;
};

export type Child = {
  readonly pid: number | undefined;
  /**
   * Resolves with the child's first message `{ready: true}`. Rejects when it ended before, since restarting a program that
   * cannot start does not help.
   */
  ready: Promise<Record<string, unknown>>;
  /** Ends it for good; resolves when it is gone. */
  stop(): Promise<void>;
};

/**
 * Starts a program and keeps it running. It gets an IPC channel, whose end tells it to stop even if we are killed, and its own
 * process group, so that a Ctrl-C at the terminal reaches only us.
 */
export function supervise(program: Program): Child {
  const ready = Promise.withResolvers<Record<string, unknown>>();
  let process_: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  let wasReady = false;
  let stopped = false;
  let restarts = 0;
  let timer: NodeJS.Timeout | undefined;

  const run = () => {
    const began = performance.now();
    const child = spawn(process.execPath, program.args, {
      env: program.env,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    process_ = child;
    forward(child.stdout, program.say);
    forward(child.stderr, program.say);
    child.on("message", (message) => {
      if (!isReady(message)) return;
      wasReady = true;
      ready.resolve(message);
    });
    const ended = Promise.withResolvers<void>();
    gone = ended.promise;
    const onEnd = (how: string) => {
      // Its own children (workerd) must not outlive it, since they would hold the port of its successor.
      killGroup(child, "SIGKILL");
      ended.resolve();
      if (stopped) return;
      if (!wasReady) {
        ready.reject(new Error(`${program.name} ended before it was ready (${how})`));
        return;
      }
      if (performance.now() - began > STEADY_MS) restarts = 0;
      const wait = backoffMs(RESTARTS, restarts);
      restarts += 1;
      program.say(`${program.name} ended (${how}); it is started again in ${wait / 1000} s`);
      timer = setTimeout(run, wait);
    };
    child.once("error", (error) => onEnd(error.message));
    child.once("exit", (code, signal) => onEnd(signal ?? `exit code ${code}`));
  };
  run();
  // Avoids an unhandled rejection when it fails late.
  ready.promise.catch(() => {});

  return {
    get pid() {
      return process_?.pid;
    },
    ready: ready.promise,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      ready.reject(new Error(`${program.name} was stopped`));
      if (!process_) return;
      const child = process_;
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      const kill = setTimeout(() => killGroup(child, "SIGKILL"), STOP_WITHIN_MS);
      await gone;
      clearTimeout(kill);
    },
  };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has no process left.
  }
}

function forward(stream: Readable | null, say: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on("line", say);
}

function isReady(message: unknown): message is Record<string, unknown> {
  return typeof message === "object" && message !== null && "ready" in message && message.ready === true;
}
