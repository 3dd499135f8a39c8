/**
 * The machine of a rule that acts: it combines the conditions, begins runs, and carries their steps on. Pure: the caller stores the
 * state, does the effects, and calls again at the time that `nextDue` names.
 *
 * The order is the contract: state and what is to be told are on the disk, in one write, before any other effect is done.
 */
import type { Automation } from "../protocol/automation.ts";
import type { Advanced, AutomationInput, AutomationState, Surroundings } from "./state.ts";

/** Takes one step. */
export function advance(
  _rule: Automation,
  state: AutomationState,
  _input: AutomationInput,
  _now: Surroundings,
): Advanced {
  return { state, effects: [] };
}

/** When to call `advance` with a tick, epoch ms; undefined when nothing but an input can change anything. */
export function nextDue(
  _rule: Automation,
  _state: AutomationState,
  _now: Pick<Surroundings, "sure" | "begin_from">,
): number | undefined {
  return undefined;
}

/** Tells whether a person can undo this firing: values before are known, and it was not ended. */
export function canUndo(_rule: Automation, _state: AutomationState, _firing: number): boolean {
  return false;
}
