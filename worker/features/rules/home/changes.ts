/** Changes of watches come in from the places that evaluate them. Each is stored before its place learns so, and comes again until then. */

import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import type { RuleChange } from "@edgecall/core/protocol/rules.ts";
import { isNoisy } from "@edgecall/core/rules/limits.ts";
import { deviceText } from "@edgecall/core/rules/plain-text.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import { keysOf, nameOfKey } from "../../../kernel/home/agents/agent-keys.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { acknowledgeReport } from "../../../kernel/home/calls/acks.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { logInfo } from "../../../kernel/log.ts";
import { rulesDue } from "./alarm-part.ts";
import { recipientsOf } from "./recipients.ts";
import { phrasesFor, readLanguages } from "./rule-languages.ts";
import type { RuleRow, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { applyChange, sendDueNotices } from "./send-notices.ts";

type ChangeEvent = Extract<AgentEvent, { type: "event" }>;

/** A clock that was never set says a time before this. */
const OLDEST = Date.UTC(2020, 0, 1);

/** The bridge says what became of rules on hosted devices. */
export async function onHostedChanges(
  home: HomeContext,
  { changes, lost }: BridgeFrame & { t: "changes" },
): Promise<void> {
  await readLanguages(home);
  const now = Date.now();
  if (lost !== undefined) logInfo("rules.changes_lost", { count: lost });
  const upto: Record<string, number> = {};
  for (const change of changes) {
    const row = rulesOf(home).get(change.rule);
    if (isActive(row) && row.rule.source.of === "hosted") applyChange(home, row, inTime(change, now), now);
    upto[change.rule] = Math.max(upto[change.rule] ?? 0, change.seq);
  }
  bridgeOf(home).send({ t: "changed", upto }, now);
  await rulesDue(home);
}

/** An agent says what became of a rule on its readings. The event was verified to be the agent's. */
export async function onAgentEvent(home: HomeContext, agent: string, event: ChangeEvent): Promise<void> {
  await readLanguages(home);
  const { request_id: id, change, text } = event;
  const now = Date.now();
  const row = change && rulesOf(home).get(change.rule);
  if (change && isActive(row) && isOf(home, row, agent)) {
    noteNoise(home, row, agent, change, now);
    const noted = rulesOf(home).get(row.id);
    const words = text === undefined ? undefined : deviceText(text);
    if (isActive(noted)) applyChange(home, noted, inTime(change, now), now, words);
  }
  keysOf(home).storeCounters(agent);
  await acknowledgeReport(home, id, agent, undefined);
  await rulesDue(home);
}

function isActive(row: RuleRow | undefined): row is WatchRow {
  return row?.kind === "watch" && row.status === "active";
}

function isOf(home: HomeContext, { rule: { source } }: WatchRow, agent: string): boolean {
  return source.of === "agent" && source.key === nameOfKey(home, agent);
}

/** An agent that fires all the time is told of once. What its watches fire then waits for an hour (limits.ts). */
function noteNoise(home: HomeContext, row: WatchRow, agent: string, change: RuleChange, now: number): void {
  const rules = rulesOf(home);
  if (change.state !== "firing" || change.seq <= row.record.seq) return;
  const all = rules.all().filter((one): one is WatchRow => one.kind === "watch" && isOf(home, one, agent));
  const ids = all.map(({ id }) => id);
  const times = rules.acceptedSince(ids, now - HOUR_MS);
  if (!isNoisy(times, now) || all.some(({ said }) => (said.noisy_at ?? 0) > now - HOUR_MS)) return;
  // What waited for the hour before is told before the next one begins.
  sendDueNotices(home, now);
  for (const one of ids.map((id) => rules.get(id)))
    if (isActive(one)) rules.put({ ...one, said: { ...one.said, noisy_at: now } });
  const text = phrasesFor(row).say("firesTooOften", { agent, count: times.length });
  const notice = { id: crypto.randomUUID(), text, rules: [row.id], buttons: [], critical: false, at: now };
  sendNotice(home, recipientsOf(home, row).recipients, notice, row.maker.conversation);
}

/** By this clock, where the device's own is ahead or was never set. */
function inTime(change: RuleChange, now: number): RuleChange {
  const { at, since, until } = change;
  const shift = at < OLDEST || at > now ? now - at : 0;
  const fixed = (time: number) => Math.min(time + shift, now);
  return {
    ...change,
    at: fixed(at),
    ...(since !== undefined && { since: fixed(since) }),
    ...(until !== undefined && { until: fixed(until) }),
  };
}
