/**
 * Rules that act on each other: a graph of readings that an action may change, and of readings that conditions look at. It is looked at
 * when a rule is made. At run time the rules that led to a run stop what passes it (run.ts).
 */

import type { z } from "../protocol/parse.ts";
import type { RuleValue, WatchCondition } from "../protocol/rules.ts";
import { isTrue } from "../rules/evaluate.ts";

type Value = z.infer<typeof RuleValue>;

/** A reading that a step of `do` or of the end may change. `to`: the value that it gets; absent: not known. */
type ChangedReading = { key: string; reading: string; to?: Value | undefined };

/** A rule as a node. `reads`: its conditions, with the devices' keys. */
export type RuleNode = {
  id: string;
  reads: readonly { key: string; condition: WatchCondition }[];
  changes: readonly ChangedReading[];
};

/**
 * @property own a reading by which the rule makes its own condition true, without a hold: it is refused
 * @property circles rules that make each other run, each from the new rule on; the shortest first
 * @property against other rules that bring the same reading to another value
 */
export type Loops = {
  own?: { key: string; reading: string };
  circles: string[][];
  against: { id: string; key: string; reading: string }[];
};

/** A home has 100 rules that act; a card names no more. */
const CIRCLES_MAX = 3;

/** Finds what a rule would set off: itself, circles with others, and rules against it. */
export function loopsOf(rule: RuleNode, others: readonly RuleNode[]): Loops {
  const own = rule.reads.find(
    ({ key, condition }) => condition.hold_ms === 0 && makesTrue(rule, key, condition, false),
  );
  const against = others.flatMap(({ id, changes }) => {
    const other = changes.find((one) => rule.changes.some((ours) => isOpposite(ours, one)));
    return other ? [{ id, key: other.key, reading: other.reading }] : [];
  });
  return {
    ...(own && { own: { key: own.key, reading: own.condition.reading } }),
    circles: circlesOf(rule, others),
    against,
  };
}

/** By breadth, so the shortest circles come first. Each other rule closes one at most, and the rule alone one. */
function circlesOf(rule: RuleNode, others: readonly RuleNode[]): string[][] {
  const isOwn = rule.reads.some(({ key, condition }) => makesTrue(rule, key, condition, false));
  const circles: string[][] = isOwn ? [[rule.id]] : [];
  const seen = new Set([rule.id]);
  let paths: RuleNode[][] = [[rule]];
  while (paths.length > 0) {
    const next: RuleNode[][] = [];
    for (const path of paths) {
      const last = path.at(-1) ?? rule;
      if (path.length > 1 && runs(last, rule)) circles.push(path.map(({ id }) => id));
      for (const other of others) {
        if (seen.has(other.id) || !runs(last, other)) continue;
        seen.add(other.id);
        next.push([...path, other]);
      }
    }
    paths = next;
  }
  return circles.slice(0, CIRCLES_MAX);
}

/** Tells whether the acts of one rule may make a condition of the other true. */
function runs(from: RuleNode, to: RuleNode): boolean {
  return to.reads.some(({ key, condition }) => makesTrue(from, key, condition, true));
}

/** @param unknown what is said of a reading that gets a value which is not known */
function makesTrue({ changes }: RuleNode, key: string, condition: WatchCondition, unknown: boolean): boolean {
  return changes.some((change) => {
    if (change.key !== key || change.reading !== condition.reading) return false;
    if (condition.is === "changes") return true;
    return change.to === undefined ? unknown : isTrue(condition, change.to);
  });
}

/** A value that is not known may be the same. */
function isOpposite(a: ChangedReading, b: ChangedReading): boolean {
  const isSame = a.key === b.key && a.reading === b.reading;
  return isSame && a.to !== undefined && b.to !== undefined && a.to !== b.to;
}
