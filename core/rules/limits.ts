/**
 * Until when a home holds a message back: quiet hours, the number of messages in an hour, and a moment in which others may
 * come that go into the same message. Pure.
 */

import type { TimeWindow } from "../protocol/rules.ts";
import { windowMs } from "../test-clock.ts";
import { HOUR_MS } from "../time/zone.ts";
import type { Severity } from "./watch-rule.ts";
import { isInside, nextEdge } from "./window.ts";

/** Messages of a home in an hour: all, and those that are not critical. */
const HOME_MAX = 60;
const HOME_NOT_CRITICAL_MAX = 20;
/** Firings of one agent's watches in an hour; beyond them it is noisy. */
const AGENT_MAX = 30;
/** After a message, others to the same people wait for so long and become one. */
const GATHER_MS = windowMs(30_000, 1_000);

/** A message that was sent, at epoch ms. */
export type SentMessage = { at: number; critical: boolean };

/**
 * @property sent messages of the home in the last hour, oldest first
 * @property quiet the home's quiet hours. A reminder has none: a person chose its time
 * @property lastAt when the same people were last told something
 * @property noisyAt of a firing: when its agent was last told of as noisy
 */
export type HomeLimits = {
  sent: readonly SentMessage[];
  quiet?: TimeWindow | undefined;
  lastAt?: number | undefined;
  noisyAt?: number | undefined;
};

/** @returns the time (epoch ms) at which a message of this severity may go out; undefined: now */
export function heldUntil(home: HomeLimits, severity: Severity, now: number): number | undefined {
  const times = [
    capEnd(home.sent, severity, now),
    quietEnd(home, severity, now),
    gatherEnd(home, severity, now),
    home.noisyAt === undefined || severity === "critical" ? undefined : home.noisyAt + HOUR_MS,
  ];
  const held = Math.max(...times.map((time) => time ?? 0));
  return held > now ? held : undefined;
}

/** Tells whether an agent's changes are more than it may send. @param times of its changes, epoch ms, oldest first */
export function isNoisy(times: readonly number[], now: number): boolean {
  return freeAt(times, AGENT_MAX, now) !== undefined;
}

/** @returns when the home has a message of this severity again, by the number that it sent in an hour; undefined: it has one */
export function capEnd(sent: readonly SentMessage[], severity: Severity, now: number): number | undefined {
  const all = freeAt(
    sent.map(({ at }) => at),
    HOME_MAX,
    now,
  );
  if (severity === "critical") return all;
  const others = freeAt(
    sent.filter(({ critical }) => !critical).map(({ at }) => at),
    HOME_NOT_CRITICAL_MAX,
    now,
  );
  return others === undefined ? all : Math.max(others, all ?? 0);
}

function quietEnd({ quiet }: HomeLimits, severity: Severity, now: number): number | undefined {
  return quiet && severity !== "critical" && isInside(quiet, now) ? nextEdge(quiet, now) : undefined;
}

/** The first message goes at once: who stands at the door that was opened need not wait for others. */
function gatherEnd({ lastAt }: HomeLimits, severity: Severity, now: number): number | undefined {
  if (lastAt === undefined || severity === "critical" || lastAt > now) return undefined;
  return lastAt + GATHER_MS;
}

/** @returns when there is room for one more within an hour; undefined: there is */
function freeAt(times: readonly number[], max: number, now: number): number | undefined {
  // A time to come is one from before the clock was set back.
  const recent = times.filter((at) => at > now - HOUR_MS && at <= now);
  const oldest = recent.length < max ? undefined : recent[recent.length - max];
  return oldest === undefined ? undefined : oldest + HOUR_MS;
}
