/** A rule as a node of the graph of what rules change and look at (loops.ts). */
import type { Automation, AutomationStep } from "../protocol/automation.ts";
import type { Foreseen } from "./device.ts";
import type { RuleNode } from "./loops.ts";

/**
 * @param changesOf what a step changes; undefined: its device is not there now
 * @param whole with its ends. Without them two rules that switch off again what they switched on are not against each other
 */
export function ruleNode(
  rule: Automation,
  changesOf: (step: AutomationStep) => Foreseen["changes"] | undefined,
  whole: boolean,
): RuleNode {
  const { id, when, do: steps, end, over } = rule;
  const changed = (step: AutomationStep) =>
    (changesOf(step) ?? []).map((change) => ({ key: step.key, ...change }));
  const done = steps.flatMap(changed);
  // The values before are any.
  const undone = over === "undo" ? done.map(({ key, reading }) => ({ key, reading })) : [];
  return {
    id,
    reads: when.map(({ key, condition }) => ({ key, condition })),
    changes: whole ? [...done, ...end.flatMap(changed), ...undone] : done,
  };
}
