/**
 * Brings watches to the places where their values are: the bridge for hosted devices, and agents for their own readings. A place says
 * in its hello or its presence which rules it has, as a hash; so a reconnect costs nothing, and a command that was lost comes again.
 */

import { RULES_FEATURE, type WatchSetCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { knownState } from "@edgecall/core/rules/delivery.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { conditionOf } from "@edgecall/core/rules/watch-rule.ts";
import { nameOfKey } from "../../../kernel/home/agents/agent-keys.ts";
import { agentRowsOf } from "../../../kernel/home/agents/agent-rows.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { askAgent } from "../../../kernel/home/calls/ask-agent.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { featuresOf } from "../../../kernel/home/feature.ts";
import { logError, logInfo } from "../../../kernel/log.ts";
import { orphan } from "./orphaned.ts";
import { isPlaced, rulesOf, type WatchRow } from "./rule-store.ts";
import { agentOf } from "./watched.ts";

/** Rules in one command, and in one frame: both stay far below what a message may have. */
const AT_ONCE = 16;
/** An agent reads each new rule's reading once before it answers. */
const SET_WITHIN_MS = 25_000;

const WatchSetAnswer = z.looseObject({
  rules: z.record(z.string(), z.int()),
  refused: z.optional(z.array(z.looseObject({ id: z.string(), why: z.string() }))),
});

/** Tells the places of rules that were made, paused, resumed or removed since the last time. A place that is away learns it later. */
export async function bringRules(home: HomeContext): Promise<void> {
  const changed = rulesOf(home).drainMoved();
  if (changed.size === 0) return;
  const hosted: string[] = [];
  const ofAgents = new Map<string, string[]>();
  for (const [id, source] of changed) {
    const agent = source.of === "agent" ? agentOf(home, source) : undefined;
    if (source.of === "hosted") hosted.push(id);
    else if (agent !== undefined) ofAgents.set(agent, [...(ofAgents.get(agent) ?? []), id]);
  }
  if (hosted.length > 0) sendToBridge(home, placed(home, hosted), unplaced(home, hosted));
  const sent = [...ofAgents].map(([agent, ids]) =>
    knowsRules(home, agent)
      ? setAt(home, agent, placed(home, ids).map(placedAt), unplaced(home, ids))
      : undefined,
  );
  await Promise.all(sent);
}

function placed(home: HomeContext, ids: readonly string[]): WatchRow[] {
  return ids.flatMap((id) => {
    const row = rulesOf(home).get(id);
    return row && isPlaced(row) ? [row] : [];
  });
}

function unplaced(home: HomeContext, ids: readonly string[]): string[] {
  const there = new Set(placed(home, ids).map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
}

/** The bridge has come. @param hash of the rules that it has; undefined: it knows none ever */
export async function syncBridge(home: HomeContext, hash: string | undefined): Promise<void> {
  const rows = rulesOf(home)
    .all()
    .filter(isPlaced)
    .filter(({ rule }) => rule.source.of === "hosted");
  if (hash === undefined || hash === (await hashOf(rows.map(({ rule }) => rule)))) return;
  sendToBridge(home, rows, [], true);
}

function sendToBridge(
  home: HomeContext,
  rows: readonly WatchRow[],
  drop: readonly string[],
  all = false,
): void {
  const now = Date.now();
  if (!bridgeOf(home).has(RULES_FEATURE, now)) return;
  const set = rows.flatMap(({ rule, record }) =>
    rule.source.of === "hosted"
      ? [{ condition: conditionOf(rule), device: rule.source.key, known: knownState(rule, record) }]
      : [],
  );
  bridgeOf(home).send({ t: "rules", set, drop: [...drop], ...(all && { all }) }, now);
}

/** An agent has said which rules it has. @param isOther it is to have others: its word may be an old one */
async function syncAgent(home: HomeContext, agent: string, isOther: boolean): Promise<void> {
  const { rules: hash } = agentRowsOf(home).textsOf(agent);
  if (hash === undefined || !knowsRules(home, agent)) return;
  const { syncing } = rulesOf(home);
  const isBusy = syncing.has(agent);
  if (isOther || !isBusy) syncing.set(agent, isOther && isBusy);
  if (isBusy) return;
  // By its key: a snapshot may have thousands of agents.
  const key = nameOfKey(home, agent);
  const rows = rulesOf(home)
    .all()
    .filter(isPlaced)
    .filter(({ rule: { source } }) => source.of === "agent" && source.key === key);
  const acting = featuresOf(home)
    .flatMap((feature) => feature.conditions?.(home) ?? [])
    .filter((one) => one.of === "agent" && one.key === key);
  const wanted = [...rows.map(placedAt), ...acting.map(({ condition }) => ({ condition, acts: true }))];
  try {
    if (!isOther && hash === (await hashOf(wanted.map(({ condition }) => condition)))) return;
    const there = await setAt(home, agent, wanted, []);
    const ids = new Set(wanted.map(({ condition }) => condition.id));
    const tooMany = there?.filter((id) => !ids.has(id)) ?? [];
    if (tooMany.length > 0) await setAt(home, agent, [], tooMany);
  } finally {
    const isAgain = syncing.get(agent);
    syncing.delete(agent);
    if (isAgain) syncAgentLater(home, agent, true);
  }
}

function knowsRules(home: HomeContext, agent: string): boolean {
  return (
    servedAgentsOf(home).isOnline(agent, Date.now()) &&
    agentRowsOf(home).features(agent).includes(RULES_FEATURE)
  );
}

/** Of no rules, which nearly every agent has. */
let emptyHash: string | undefined;

async function hashOf(rules: ReadonlyArray<{ id: string; version: number }>): Promise<string> {
  if (rules.length === 0) {
    emptyHash ??= await rulesHash([]);
    return emptyHash;
  }
  return await rulesHash(rules);
}

type Placed = NonNullable<WatchSetCommand["set"]>[number];

function placedAt({ rule, record }: WatchRow): Placed {
  return {
    condition: conditionOf(rule),
    ...(rule.check_s !== undefined && { check_s: rule.check_s }),
    known: knownState(rule, record),
  };
}

/** @returns the ids of the rules that the agent has; undefined: it did not answer. It says at its next birth what it has */
async function setAt(
  home: HomeContext,
  agent: string,
  rows: readonly Placed[],
  drop: readonly string[],
): Promise<string[] | undefined> {
  let there: string[] | undefined;
  for (let at = 0; at === 0 || at < rows.length; at += AT_ONCE) {
    const set = rows.slice(at, at + AT_ONCE);
    const payload = { set, ...(at === 0 && drop.length > 0 && { drop }) };
    const reply = await askAgent(home, agent, "watch_set", payload, SET_WITHIN_MS);
    const answer = reply && check(WatchSetAnswer, reply);
    if (!answer?.ok) {
      logInfo("rules.not_set", { agent, problem: answer?.error ?? "no answer" });
      return undefined;
    }
    for (const { id, why } of answer.value.refused ?? []) {
      const row = rulesOf(home).get(id);
      if (row?.kind === "watch") orphan(home, row, why);
    }
    there = Object.keys(answer.value.rules);
  }
  return there;
}

/** The same beside whatever goes on, since an agent takes its time to answer. */
export function syncAgentLater(home: HomeContext, agent: string, isOther = false): void {
  home.ctx.waitUntil(
    syncAgent(home, agent, isOther).catch((error: unknown) =>
      logError("rules.sync_failed", error, { agent }),
    ),
  );
}
