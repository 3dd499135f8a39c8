/** Watches of presence, which Home evaluates itself: whether devices and the bridge are online. */

import { nextDue, type StepInput, step, withMissedHold } from "@edgecall/core/rules/evaluate.ts";
import { conditionOf } from "@edgecall/core/rules/watch-rule.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import type { WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { applyChange } from "./send-notices.ts";
import { agentOf } from "./watched.ts";

/** After the presence of anything may have changed, and when a hold is over. Without a watch of presence it costs nothing. */
export function stepPresence(home: HomeContext, now: number): void {
  for (const row of rulesOf(home).all()) {
    if (row.kind !== "watch" || row.status !== "active" || !isOfPresence(row)) continue;
    const state = withMissedHold(conditionOf(row.rule), row.state, now);
    if (state !== row.state) rulesOf(home).put({ ...row, state });
    for (const input of presentOf(home, row, now)) stepOne(home, row.id, input, now);
  }
}

function stepOne(home: HomeContext, id: string, input: StepInput, now: number): void {
  const row = rulesOf(home).get(id);
  if (row?.kind !== "watch" || row.status !== "active") return;
  const { state, change } = step(conditionOf(row.rule), row.state, input);
  if (!change && sameState(row.state, state)) return;
  const next = { ...row, state };
  rulesOf(home).put(next);
  if (change) applyChange(home, next, change, now);
}

function isOfPresence({ rule: { source } }: WatchRow): boolean {
  return source.of === "presence" || source.of === "bridge";
}

/** Nothing is known of devices while the bridge is gone, and when it has come before it has said what there is. */
function presentOf(home: HomeContext, { rule: { source }, state }: WatchRow, at: number): StepInput[] {
  const bridge = bridgeOf(home);
  if (source.of === "bridge") {
    if (bridge.isConnected(at)) return [{ at, value: true }];
    // A dead line is found later than it died.
    const since = Math.min(bridge.goneAt() ?? at, at);
    return [
      { at: Math.max(since, state.at), value: false },
      { at, tick: true },
    ];
  }
  const id = agentOf(home, source);
  if (bridge.lastSeenAt(at) === null || id === undefined) return [{ at, missing: true }];
  return [{ at, value: servedAgentsOf(home).isOnline(id, at) }];
}

/** Without the times that change at each step: a row for them would be written with each frame. */
function sameState(a: WatchRow["state"], b: WatchRow["state"]): boolean {
  const kept = ({ at: _, last, ...state }: WatchRow["state"]) => JSON.stringify([last?.value, state]);
  return kept(a) === kept(b);
}

/**
 * When a hold of one of them is over, or its time of the day begins or ends, epoch ms. What time has changed since the last step is
 * due now: `nextDue` names only what comes after `now`.
 */
export function nextPresence(home: HomeContext, now: number): number | undefined {
  const times = rulesOf(home)
    .all()
    .flatMap((row) => {
      if (row.kind !== "watch" || row.status !== "active" || !isOfPresence(row)) return [];
      const condition = conditionOf(row.rule);
      const { state } = step(condition, row.state, { at: now, tick: true });
      return sameState(row.state, state) ? (nextDue(condition, state) ?? []) : now;
    });
  return times.length === 0 ? undefined : Math.min(...times);
}
