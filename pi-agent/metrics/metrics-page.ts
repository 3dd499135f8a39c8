/** Serves this device's figures for Prometheus at /metrics (`[metrics] port`). */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exposition, METRICS_CONTENT_TYPE, type MetricFamily } from "@edgecall/core/metrics/exposition.ts";
import { processFamilies } from "@edgecall/core/metrics/process.ts";
import { callFamilies, type TurnCounts, turnFamilies } from "@edgecall/core/metrics/tally.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Metrics } from "../calls/metrics.ts";
import type { ToolMetrics } from "../calls/tool-metrics.ts";
import type { Settings } from "../config/settings.ts";

export type MetricsSource = {
  agentId: string;
  metrics: Metrics;
  toolMetrics: ToolMetrics;
  /** Counts of prompts since the start. */
  turns: TurnCounts;
  connection: { readonly connected: boolean; readonly connects: number };
  inbox: { readonly underWay: number };
  publisher: { readonly waiting: number };
  /** Questions that wait for a turn. */
  waiting(): number;
  /** Results that wait for an ack. */
  unacked(): number;
  log: Log;
};

export type MetricsServer = { port(): number | undefined; stop(): void };

/** If the port is taken, that is logged, and the agent works without it. */
export function serveMetrics({ port, host }: Settings["metrics"], source: MetricsSource): MetricsServer {
  const server = createServer((request, response) => {
    if (request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found; there is /metrics\n");
      return;
    }
    response.writeHead(200, { "content-type": METRICS_CONTENT_TYPE }).end(metricsPage(source));
  });
  server.on("error", (error) =>
    source.log("error", "metrics.failed", { error: error.message, set: "[metrics] port" }),
  );
  server.listen(port, host);
  // This server must not keep the process alive.
  server.unref();
  return {
    port: () => (server.address() as AddressInfo | null)?.port,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function metricsPage(source: MetricsSource): string {
  const { metrics, toolMetrics, turns, connection, inbox, publisher } = source;
  const labels = { agent: source.agentId };
  const { user, system } = process.cpuUsage();
  const { actions_success, actions_failed, memory_bytes } = metrics.read();
  const family = (
    type: "gauge" | "counter",
    name: string,
    help: string,
    values: Record<string, number> | number,
    label = "",
  ): MetricFamily => ({
    name: `edgecall_agent_${name}`,
    help,
    type,
    samples:
      typeof values === "number"
        ? [{ labels, value: values }]
        : Object.entries(values).map(([text, value]) => ({ labels: { ...labels, [label]: text }, value })),
  });
  return exposition([
    ...processFamilies("agent", {
      residentBytes: memory_bytes,
      cpuSeconds: (user + system) / 1_000_000,
      startedAt: performance.timeOrigin / 1_000,
    }),
    ...callFamilies(
      "agent",
      toolMetrics.counts().map(({ tool, counts }) => ({ labels: { ...labels, tool }, counts })),
    ),
    ...turnFamilies("agent", [{ labels, counts: turns }]),
    family(
      "counter",
      "commands_total",
      "Commands by result.",
      { success: actions_success, failed: actions_failed },
      "result",
    ),
    family("gauge", "broker_up", "1 while the broker is connected.", connection.connected ? 1 : 0),
    family(
      "counter",
      "connections_total",
      "Connections to the broker. Each but the first is a reconnect.",
      connection.connects,
    ),
    family(
      "gauge",
      "queue_length",
      "What waits: commands under way, questions for a turn, results for an ack, replies for the broker.",
      {
        commands: inbox.underWay,
        prompts: source.waiting(),
        results: source.unacked(),
        replies: publisher.waiting,
      },
      "queue",
    ),
  ]);
}
