/**
 * The time that is left to carry out a command.
 *
 * A Pi may have no clock, so the budget counts from receipt, on the monotonic clock. The time of receipt may be wrong: a
 * process that was stopped (SIGSTOP, overload, a full SD card) finds messages in its socket that came at any moment of the
 * stop. So the length of a stop is subtracted from the budgets of messages that are read right after it.
 */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { CallTimer } from "@edgecall/core/tools/call-timer.ts";

type Now = () => number;

/** The time left for a command, on the monotonic clock. Infinite for a command without a budget. */
export type Budget = CallTimer;

export type BudgetClocks = {
  now: Now;
  /** Epoch ms, or undefined when this device's clock is not synchronised. */
  wallClock: () => number | undefined;
};

/**
 * Computes how far this device's clock is ahead of its gateway's, if that alone makes a command too late.
 * @returns ms; undefined: the command is too late for another reason, or in time
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

/** @param maxMs the largest budget, whatever the command says */
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
