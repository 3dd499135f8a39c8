/**
 * A shared connection for all calls to a machine, so that a call costs a round trip instead of a handshake. It is optional:
 * without it, ssh connects for each call.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { cleanEnv } from "../clean-env.ts";

/** As long as ssh's own connect time-out. */
const UP_MS = 10_000;
const LOOK_EVERY_MS = 10;
/** A connection that is stopped or hangs in the network does not end by itself. */
const CLOSE_MS = 2_000;
const SOCKET = "s";

type Running = { child: ChildProcess; folder: string; ended: Promise<void>; up: Promise<boolean> };

export class SshMaster {
  readonly #program: string;
  readonly #line: readonly string[];
  readonly #host: string;
  #running: Promise<Running> | undefined;
  #closed = false;

  /** @param line the result of `sshArguments` */
  constructor(program: string, line: readonly string[], host: string) {
    this.#program = program;
    this.#line = line;
    this.#host = host;
  }

  /** Connects if needed. @returns the arguments with which ssh uses the connection */
  async socket(signal: AbortSignal): Promise<string[]> {
    if (this.#closed) return [];
    const starting = this.#running ?? this.#start();
    this.#running = starting;
    const { up, folder } = await starting;
    const aborted = new Promise<false>((resolve) =>
      signal.addEventListener("abort", () => resolve(false), { once: true }),
    );
    if (await Promise.race([up, aborted])) return ["-S", join(folder, SOCKET)];
    return [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = await this.#running;
    if (!running) return;
    const { child, ended } = running;
    // The connection does not keep this process alive while it serves, but now its end is awaited.
    child.ref();
    child.kill("SIGTERM");
    const over = new AbortController();
    const late = delay(CLOSE_MS, true, { signal: over.signal }).catch(() => false);
    if (await Promise.race([ended.then(() => false), late])) child.kill("SIGKILL");
    over.abort();
    await ended;
  }

  async #start(): Promise<Running> {
    // Short, because a socket's path has at most 107 bytes; no other user may enter the folder.
    const folder = await mkdtemp(join(tmpdir(), "edgecall-ssh-"));
    const socket = join(folder, SOCKET);
    // It ends when its stdin ends, and so with this process, however that ends.
    const args = [...this.#line, "-M", "-S", socket, "--", this.#host, "read -r end"];
    const child = spawn(this.#program, args, {
      cwd: "/",
      env: cleanEnv(),
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    child.stdin.on("error", () => {});
    child.unref();
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    }).then(async () => {
      over.abort();
      this.#running = undefined;
      await rm(folder, { recursive: true, force: true });
    });
    return { child, folder, ended, up: appears(socket, over.signal) };
  }
}

async function appears(path: string, over: AbortSignal): Promise<boolean> {
  const end = performance.now() + UP_MS;
  while (!over.aborted && performance.now() < end) {
    if (existsSync(path)) return true;
    await delay(LOOK_EVERY_MS);
  }
  return false;
}
