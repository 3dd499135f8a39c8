/**
 * How long a command may still be acted upon.
 *
 * A Pi may have no clock, so the budget counts from receipt on the monotonic one. Receipt itself can lie:
 * a process that was stopped (SIGSTOP, overload, a full SD card) finds messages in its socket that came at
 * any moment of the stop. So after a stop, its length is taken off the budgets of what is read then.
 */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { CallTimer } from "@edgecall/core/tools/call-timer.ts";

export type Now = () => number;

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
