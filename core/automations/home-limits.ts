/** Limits of all rules of a home that act. The bridge keeps them in its file: a short absence resets no counter. */
import type { AutomationStep } from "../protocol/automation.ts";
import { z } from "../protocol/parse.ts";
import { windowMs } from "../test-clock.ts";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";

/** Commands of rules in an hour: of all, and to one device. */
const HOME_MAX = 300;
const DEVICE_MAX = 60;
/** Between two commands of rules to a device that are not the same. */
const OPPOSITE_MS = windowMs(10_000, 500);
/** The same where one of them is of a heater, a pump or a compressor. */
const OPPOSITE_HEAT_MS = windowMs(5 * MINUTE_MS, 1_000);
/** Between the beginnings of two runs of the home. */
const BEGIN_MS = windowMs(1_000, 100);

export const HomeCommands = z.object({
  /** When the last run of any rule began. */
  begun: z.number(),
  /** Of the last hour, oldest first. */
  sent: z.array(z.object({ at: z.number(), key: z.string(), what: z.string(), heat: z.boolean() })),
});
export type HomeCommands = z.infer<typeof HomeCommands>;

export const NO_COMMANDS: HomeCommands = { begun: 0, sent: [] };

/** @returns when the next run may begin, for `begin_from` of a step's surroundings */
export function beginFrom({ begun }: HomeCommands): number {
  return begun + BEGIN_MS;
}

/** @returns when this step may go, for `held_until`; not after `at`: now */
export function heldUntil({ sent }: HomeCommands, step: AutomationStep, at: number): number {
  const own = sent.filter(({ key }) => key === step.key);
  const last = own.at(-1);
  const isOther = last !== undefined && last.what !== whatOf(step);
  const apart = last?.heat || step.danger === "heat" ? OPPOSITE_HEAT_MS : OPPOSITE_MS;
  return Math.max(
    freeAt(sent, HOME_MAX, at),
    freeAt(own, DEVICE_MAX, at),
    isOther ? Math.min(last.at, at) + apart : 0,
  );
}

/** A run has begun. */
export function withBeginning(commands: HomeCommands, at: number): HomeCommands {
  return { ...commands, begun: at };
}

/** A step is given out. Ends count too, though nothing holds them back. */
export function withCommand({ begun, sent }: HomeCommands, step: AutomationStep, at: number): HomeCommands {
  const one = { at, key: step.key, what: whatOf(step), heat: step.danger === "heat" };
  return { begun, sent: [...sent.filter((before) => before.at > at - HOUR_MS), one].slice(-HOME_MAX) };
}

/**
 * The bridge began anew, with a clock that may be before what the file has. What was then is as if it were of now: else nothing would begin
 * until that time comes.
 */
export function withHomeRestart({ begun, sent }: HomeCommands, at: number): HomeCommands {
  return {
    begun: Math.min(begun, at),
    sent: sent.map((one) => ({ ...one, at: Math.min(one.at, at) })),
  };
}

/** The clock was set by so many ms. */
export function withHomeClockSet({ begun, sent }: HomeCommands, by: number): HomeCommands {
  return { begun: begun + by, sent: sent.map((one) => ({ ...one, at: one.at + by })) };
}

function freeAt(sent: HomeCommands["sent"], max: number, at: number): number {
  const recent = sent.filter((one) => one.at > at - HOUR_MS && one.at <= at);
  const oldest = recent.at(-max);
  return oldest === undefined ? 0 : oldest.at + HOUR_MS;
}

function whatOf({ action, parameters }: AutomationStep): string {
  return JSON.stringify([action, parameters]);
}
