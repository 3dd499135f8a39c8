/** A home's page for Prometheus: its counters and its present state. */

import { exposition, type MetricFamily, type Sample } from "@edgecall/core/metrics/exposition.ts";
import { callFamilies, turnFamilies } from "@edgecall/core/metrics/tally.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { agentsOf } from "../../../kernel/home/agents/agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { ledgerOf } from "../../../kernel/home/calls/ledger.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { questionsOf } from "../../../kernel/home/questions/questions.ts";
import { auditOf } from "../../../kernel/home/record/audit.ts";
import { countersOf } from "../../../kernel/home/usage/usage-counters.ts";

const STATES = ["asking", "waiting", "sent", "taken"];

export function metricsPage(context: HomeContext): string {
  const bridge = bridgeOf(context);
  const agents = agentsOf(context);
  const ledger = ledgerOf(context);
  const questions = questionsOf(context);
  const counters = countersOf(context);
  const audit = auditOf(context);
  const { ctx, name: home } = context;
  const now = Date.now();
  const outlet = audit.sinkState();
  const { calls, turns } = counters.counts();
  const open = ledger.open().map(({ state }) => state);
  const gauge = (name: string, help: string, samples: Sample[]): MetricFamily => ({
    name: `edgecall_gateway_${name}`,
    help,
    type: "gauge",
    samples: samples.map(({ labels, value }) => ({ labels: { home, ...labels }, value })),
  });
  return exposition([
    {
      name: "edgecall_build_info",
      help: "The program's version.",
      type: "gauge",
      samples: [{ labels: { program: "gateway", version: VERSION }, value: 1 }],
    },
    ...callFamilies(
      "gateway",
      calls.map(({ agent, tool, counts }) => ({ labels: { home, agent, tool }, counts })),
    ),
    ...turnFamilies(
      "gateway",
      turns.map(({ channel, counts }) => ({ labels: { home, channel }, counts })),
    ),
    gauge("bridge_online", "Whether the home's bridge is connected.", [
      { value: bridge.lastSeenAt(now) !== null ? 1 : 0 },
    ]),
    {
      name: "edgecall_gateway_bridge_connections_total",
      help: "How often a bridge connected; each but the first is a reconnect.",
      type: "counter",
      samples: [{ labels: { home }, value: counters.bridgeConnections() }],
    },
    {
      name: "edgecall_gateway_unannounced_jobs_total",
      help: "Results of jobs that no call's result had announced; they were dropped.",
      type: "counter",
      samples: [{ labels: { home }, value: counters.droppedJobs() }],
    },
    gauge(
      "agent_online",
      "Whether an agent can be called.",
      agents.roster(now).map(({ id, online }) => ({ labels: { agent: id }, value: online ? 1 : 0 })),
    ),
    gauge(
      "calls_open",
      "Calls that are not settled, by their state.",
      STATES.map((state) => ({ labels: { state }, value: open.filter((it) => it === state).length })),
    ),
    gauge("outcomes_undelivered", "Results that their conversation does not have yet.", [
      { value: ledger.undelivered().length },
    ]),
    gauge("questions_open", "Questions and approvals that wait for a person.", [
      { value: questions.open().length },
    ]),
    gauge(
      "audit_waiting_bytes",
      "The part of the record that its outside store does not have yet.",
      outlet ? [{ value: outlet.waiting }] : [],
    ),
    gauge(
      "audit_waiting_seconds",
      "How long the oldest line has waited for the record's outside store.",
      outlet ? [{ value: outlet.since === null ? 0 : (now - outlet.since) / 1_000 }] : [],
    ),
    {
      name: "edgecall_gateway_audit_lost_lines_total",
      help: "Lines of the record that were forgotten before the outside store took them.",
      type: "counter",
      samples: outlet ? [{ labels: { home }, value: outlet.lost }] : [],
    },
    gauge("database_bytes", "Size of the home's rows.", [{ value: ctx.storage.sql.databaseSize }]),
  ]);
}
