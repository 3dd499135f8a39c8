/** Plans each command to a device of Home Assistant from the seed: the fault around it, and its moment. */
import { dice } from "../dice.ts";

export const ASSISTANT_FAULTS = [
  "kill:bridge",
  "kill:workerd",
  "restart:assistant",
  "freeze:assistant",
  "freeze:bridge",
  "cut:gateway",
  "half-open:gateway",
  "slow:gateway",
  "cut:assistant",
  "half-open:assistant",
  "slow:assistant",
] as const;
export type AssistantFault = (typeof ASSISTANT_FAULTS)[number];

export type PlannedCommand = {
  k: number;
  fault: AssistantFault;
  /** Milliseconds after the question was sent. */
  at: number;
  /** Milliseconds, for faults with a duration. */
  lasts: number;
  /** Milliseconds that a slow link adds to each piece. */
  slow: number;
  /** It is asked when its device answers; the others are asked during any fault. */
  patient: boolean;
};

/** A device answers after 250 ms, so most faults meet a command that is under way. */
const AT_MAX_MS = 700;
const LASTS_MIN_MS = 200;
const LASTS_MAX_MS = 3_000;
const SLOW_MAX_MS = 800;
const PATIENT = 0.8;
/** Home Assistant takes ten seconds and more to be back. */
const RESTART_EVERY = 30;

export function planCommand(seed: number, k: number, faults: readonly AssistantFault[]): PlannedCommand {
  const throws = dice(seed, `command ${k}`);
  const quick = faults.filter((fault) => fault !== "restart:assistant");
  const isRestart = quick.length < faults.length && (k % RESTART_EVERY === 1 || quick.length === 0);
  return {
    k,
    fault: isRestart ? "restart:assistant" : throws.pick(quick),
    at: throws.whole(0, AT_MAX_MS),
    lasts: throws.whole(LASTS_MIN_MS, LASTS_MAX_MS),
    slow: throws.whole(50, SLOW_MAX_MS),
    patient: throws.chance(PATIENT),
  };
}

/** At most one fault is at a target at a time. */
export function targetOf(fault: AssistantFault): string {
  return fault === "kill:workerd" ? "worker" : (fault.split(":")[1] ?? fault);
}
