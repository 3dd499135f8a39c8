/**
 * How long a command may still be acted upon.
 *
 * A Pi may have no clock, so the budget counts from receipt on the monotonic one. Receipt itself can lie:
 * a process that was stopped (SIGSTOP, overload, a full SD card) finds messages in its socket that came at
 * any moment of the stop. So after a stop, its length is taken off the budgets of what is read then.
 */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { CallTimer } from "@edgecall/core/tools/call-timer.ts";

/** How often the event loop looks at the clock. */
const TICK_MS = 1_000;
/** A tick this late is a stop and not just a busy moment. */
const STOP_MS = 2_000;
/** Messages read this soon after a stop may have come during it. */
const AFTER_STOP_MS = 2_000;

export type Now = () => number;

/** Notices that this process did not run for a while. */
export class FreezeDetector {
  readonly #now: Now;
  #lastTick: number;
  #gap = { ms: 0, endedAt: Number.NEGATIVE_INFINITY };
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(now: Now = () => performance.now()) {
    this.#now = now;
    this.#lastTick = now();
  }

  start(): void {
    this.#lastTick = this.#now();
    this.#timer ??= setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  tick(): void {
    const now = this.#now();
    const gap = now - this.#lastTick;
    // Stops in quick succession add up: a message may have waited through all of them.
    if (gap > STOP_MS) {
      this.#gap = {
        ms: gap + (now - gap - this.#gap.endedAt < AFTER_STOP_MS ? this.#gap.ms : 0),
        endedAt: now,
      };
    }
    this.#lastTick = now;
  }

  /** How old a message that is read now may be at most, in ms, beyond its time on the network. */
  unknownAgeMs(): number {
    // After a stop libuv hands out the socket's data before it runs timers, so the tick comes too late.
    this.tick();
    return this.#now() - this.#gap.endedAt <= AFTER_STOP_MS ? this.#gap.ms : 0;
  }
}

/** What is left of a command's time, on the monotonic clock; Infinity for one without a budget. */
export type Budget = CallTimer;

export type BudgetClocks = {
  now: Now;
  /** Epoch ms, or undefined when this device's clock is not synchronised. */
  wallClock: () => number | undefined;
};

/**
 * The lead of this device's clock over its gateway's, where that alone makes a command too late.
 * @returns ms; undefined: it is too late for another reason, or not at all
 */
export function clockAhead(
  { expires_in_ms, expires_at }: Pick<Command, "expires_in_ms" | "expires_at">,
  unknownAgeMs: number,
  wall: number | undefined,
): number | undefined {
  if (expires_in_ms === undefined || expires_at === undefined || wall === undefined) return undefined;
  const isLateByClockAlone = wall >= expires_at && expires_in_ms > unknownAgeMs;
  return isLateByClockAlone ? wall - (expires_at - expires_in_ms) : undefined;
}

/** @param maxMs at most so much, whatever the command says */
export function budgetOf(
  command: Pick<Command, "expires_in_ms" | "expires_at">,
  unknownAgeMs: number,
  { now, wallClock }: BudgetClocks,
  maxMs = Number.POSITIVE_INFINITY,
): Budget {
  let ms = maxMs;
  if (command.expires_in_ms !== undefined) ms = Math.min(ms, command.expires_in_ms - unknownAgeMs);
  if (command.expires_at !== undefined) {
    const wall = wallClock();
    if (wall !== undefined) ms = Math.min(ms, command.expires_at - wall);
  }
  return new CallTimer(ms, now);
}
