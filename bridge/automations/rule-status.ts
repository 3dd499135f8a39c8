/** A rule that acts, as people are told of it, and what an "undo" did. */
import { combinedOf } from "@edgecall/core/automations/conditions.ts";
import { canUndo } from "@edgecall/core/automations/run.ts";
import type { AutomationState } from "@edgecall/core/automations/state.ts";
import { presentTruth } from "@edgecall/core/automations/truth.ts";
import type {
  Automation,
  AutomationOrdered,
  AutomationRun,
  AutomationStatus,
} from "@edgecall/core/protocol/automation.ts";
import { cutText } from "@edgecall/core/text/cut.ts";

const TEXT_MAX = 1_000;

/** @param now the present values in words @param at epoch ms */
export function statusOf(
  rule: Automation,
  state: AutomationState,
  runs: readonly AutomationRun[],
  now: string[],
  at: number,
): AutomationStatus {
  const { id, version } = rule;
  const shown = runs.map(({ undo: _, ...run }): AutomationRun => {
    const isNow = run.version === version && canUndo(rule, state, run.firing);
    return isNow ? { ...run, undo: true } : run;
  });
  return {
    ...{ rule: id, version, now },
    state: stateOf(rule, state, at),
    runs: shown,
    ...(state.next && state.stopped === undefined && { next: state.next.at }),
  };
}

function stateOf(rule: Automation, state: AutomationState, at: number): AutomationStatus["state"] {
  if (state.stopped !== undefined) return "stopped";
  if (state.run) return "running";
  if (state.resting !== undefined && at < state.resting) return "resting";
  if (rule.when.length === 0) return "armed";
  if (combinedOf(rule, state, presentTruth) === undefined) return "unknown";
  return state.armed ? "armed" : "waiting";
}

/** The answer to an "undo", by the run as it ended. */
export function undoneOf(run: AutomationRun | undefined, steps: number): AutomationOrdered {
  if (!run)
    return {
      error: "it cannot be undone: what it changed was changed since, or its values before are not known",
    };
  const undone = run.steps.filter(({ step }) => step >= steps);
  const text = undone.map((one) => one.text).join(" ");
  return {
    text: cutText(text === "" ? "nothing was to be undone" : text, TEXT_MAX),
    confirmed: undone.every(({ outcome }) => outcome === "confirmed" || outcome === "late"),
  };
}
