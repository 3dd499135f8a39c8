/**
 * Output lines that this agent holds. The kernel releases a line when the program that requested it ends, and the pin's state
 * is undefined afterwards. So one gpioset runs for each written line until the line is written again, its time is over, or
 * the agent ends.
 */
import type { ExecOps } from "../../env/environment.ts";
import { type Generation, gpioArgv, type Level } from "./gpio-lines.ts";
import { plain } from "./run-program.ts";

/** Longer than gpioset needs on the slowest board. After this time it will never hold the line. */
const READY_MS = 4_000;
const LOOK_AGAIN_MS = 25;
const STDERR_MAX = 4_096;

type Held = { value: Level; stop: AbortController; ended: Promise<void>; timer?: NodeJS.Timeout };
export type HoldOutcome = { held: true } | { held: false; stderr: string };

export class HeldLines {
  readonly #exec: ExecOps;
  readonly #lines = new Map<string, Held>();

  constructor(exec: ExecOps) {
    this.#exec = exec;
  }

  /** @returns the level to which this agent drives the line; undefined when it does not hold it */
  get(chip: string, pin: number): Level | undefined {
    return this.#lines.get(lineKey(chip, pin))?.value;
  }

  /**
   * Drives a line. A line that is already held is released first, and may be undriven for some milliseconds.
   * @param isDriven asks the kernel whether the line is held
   * @throws ExecError when gpioset cannot be started; the signal's reason
   */
  async hold(
    line: { generation: Generation; chip: string; pin: number; value: Level },
    isDriven: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<HoldOutcome> {
    const key = lineKey(line.chip, line.pin);
    await this.release(line.chip, line.pin);
    const stop = new AbortController();
    let stderr = "";
    let failure: unknown;
    let over = false;
    const run = this.#exec.run(gpioArgv.hold(line.generation, line.chip, line.pin, line.value), {
      // Not the call's own signal, because the line outlives the call.
      signal: stop.signal,
      env: { LC_ALL: "C.UTF-8" },
      onOutput(chunk, stream) {
        if (stream === "stderr" && stderr.length < STDERR_MAX) stderr += Buffer.from(chunk).toString();
      },
    });
    const held: Held = {
      value: line.value,
      stop,
      ended: run.then(
        () => {
          over = true;
          this.#forget(key, held);
        },
        (error: unknown) => {
          over = true;
          failure = error;
          this.#forget(key, held);
        },
      ),
    };
    this.#lines.set(key, held);
    const driven = await this.#driven(isDriven, () => over, signal).catch(async (error: unknown) => {
      await this.release(line.chip, line.pin);
      throw error;
    });
    if (driven) return { held: true };
    await this.release(line.chip, line.pin);
    await held.ended;
    if (failure !== undefined) throw failure;
    return { held: false, stderr: plain(stderr) };
  }

  /** Releases the line after `ms`, unless it is written again before. */
  releaseAfter(chip: string, pin: number, ms: number): void {
    const held = this.#lines.get(lineKey(chip, pin));
    if (!held) return;
    clearTimeout(held.timer);
    held.timer = setTimeout(() => held.stop.abort(), ms);
  }

  async release(chip: string, pin: number): Promise<void> {
    const held = this.#lines.get(lineKey(chip, pin));
    if (!held) return;
    clearTimeout(held.timer);
    held.stop.abort();
    await held.ended;
  }

  /** Releases all lines at the end of the agent. */
  async close(): Promise<void> {
    const all = [...this.#lines.values()];
    for (const { stop, timer } of all) {
      clearTimeout(timer);
      stop.abort();
    }
    await Promise.all(all.map(({ ended }) => ended));
  }

  #forget(key: string, held: Held): void {
    if (this.#lines.get(key) === held) this.#lines.delete(key);
  }

  /** Asks the kernel, because gpioset does not report when it has the line. */
  async #driven(
    isDriven: () => Promise<boolean>,
    isOver: () => boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const end = performance.now() + READY_MS;
    while (!isOver() && performance.now() < end) {
      signal.throwIfAborted();
      if ((await isDriven()) && !isOver()) return true;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    return false;
  }
}

function lineKey(chip: string, pin: number): string {
  return `${chip}/${pin}`;
}
