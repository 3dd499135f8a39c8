/** A home's page for Prometheus: its counters and its present state. */

import { counter, exposition, gauge, type Sample } from "@edgecall/core/metrics/exposition.ts";
import { callFamilies, turnFamilies } from "@edgecall/core/metrics/tally.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { auditOf } from "../../../kernel/home/audit/audit-store.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { questionsOf } from "../../../kernel/home/ledger/questions.ts";
import { countersOf } from "../../../kernel/home/usage/usage-counters.ts";

const STATES = ["asking", "waiting", "sent", "taken"];

export function metricsPage(context: HomeContext): string {
  const counters = countersOf(context);
  const { ctx, name: home } = context;
  const now = Date.now();
  const outlet = auditOf(context).sinkState();
  const { calls, turns } = counters.counts();
  const open = ledgerOf(context)
    .open()
    .map(({ state }) => state);
  const here = (name: string, help: string, samples: Sample[]) =>
    gauge(
      `edgecall_gateway_${name}`,
      help,
      samples.map(({ labels, value }) => ({ labels: { home, ...labels }, value })),
    );
  return exposition([
    gauge("edgecall_build_info", "The program's version.", [
      { labels: { program: "gateway", version: VERSION }, value: 1 },
    ]),
    ...callFamilies(
      "gateway",
      calls.map(({ agent, tool, counts }) => ({ labels: { home, agent, tool }, counts })),
    ),
    ...turnFamilies(
      "gateway",
      turns.map(({ channel, counts }) => ({ labels: { home, channel }, counts })),
    ),
    here("bridge_online", "Whether the home's bridge is connected.", [
      { value: bridgeOf(context).lastSeenAt(now) !== null ? 1 : 0 },
    ]),
    counter(
      "edgecall_gateway_bridge_connections_total",
      "How often a bridge connected; each but the first is a reconnect.",
      [{ labels: { home }, value: counters.bridgeConnections() }],
    ),
    counter(
      "edgecall_gateway_unannounced_jobs_total",
      "Results of jobs that no call's result had announced; they were dropped.",
      [{ labels: { home }, value: counters.droppedJobs() }],
    ),
    here(
      "agent_online",
      "Whether an agent can be called.",
      servedAgentsOf(context)
        .roster(now)
        .map(({ id, online }) => ({ labels: { agent: id }, value: online ? 1 : 0 })),
    ),
    here(
      "calls_open",
      "Calls that are not settled, by their state.",
      STATES.map((state) => ({ labels: { state }, value: open.filter((it) => it === state).length })),
    ),
    here("outcomes_undelivered", "Results that their conversation does not have yet.", [
      { value: ledgerOf(context).undelivered().length },
    ]),
    here("questions_open", "Questions and approvals that wait for a person.", [
      { value: questionsOf(context).open().length },
    ]),
    here(
      "audit_waiting_bytes",
      "The part of the record that its outside store does not have yet.",
      outlet ? [{ value: outlet.waiting }] : [],
    ),
    here(
      "audit_waiting_seconds",
      "How long the oldest line has waited for the record's outside store.",
      outlet ? [{ value: outlet.since === null ? 0 : (now - outlet.since) / 1_000 }] : [],
    ),
    counter(
      "edgecall_gateway_audit_lost_lines_total",
      "Lines of the record that were forgotten before the outside store took them.",
      outlet ? [{ labels: { home }, value: outlet.lost }] : [],
    ),
    here("database_bytes", "Size of the home's rows.", [{ value: ctx.storage.sql.databaseSize }]),
  ]);
}
