/** Serves /healthz and /readyz, for a container's health check and a person with curl, and /metrics for Prometheus. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { METRICS_CONTENT_TYPE } from "@edgecall/core/metrics/exposition.ts";
import type { Log } from "@edgecall/node/log.ts";

export type Readiness = {
  gateway: boolean;
  /** Undefined: the settings name none; so of Home Assistant. */
  broker: boolean | undefined;
  homeAssistant?: boolean | undefined;
  /** The reason why the gateway is not connected or does not fit, for a person. */
  problem: string | undefined;
};

/**
 * The gateway has welcomed the bridge, and what it reaches devices by is connected: the broker, or Home Assistant. A bridge with neither
 * waits for a sign-in in the console.
 */
export function isReady({ gateway, broker, homeAssistant }: Readiness): boolean {
  const isWaiting = broker === undefined && homeAssistant === undefined;
  return gateway && (isWaiting || broker === true || homeAssistant === true);
}

export type HealthServer = {
  /** The port; undefined while the server does not listen. */
  port(): number | undefined;
  stop(): void;
};

/**
 * Serves `/metrics`, `/healthz` (200 while the process lives) and `/readyz` (200 when the gateway has welcomed the bridge
 * and the broker or Home Assistant is connected; else 503). The body says which is not.
 * If the port is taken, that is logged, and the bridge serves the home without it.
 */
export function serveHealth(
  where: { port: number; host: string },
  readiness: () => Readiness,
  metrics: () => string,
  log: Log,
): HealthServer {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0];
    if (path === "/metrics") {
      response.writeHead(200, { "content-type": METRICS_CONTENT_TYPE }).end(metrics());
      return;
    }
    if (path !== "/healthz" && path !== "/readyz") {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not found"}');
      return;
    }
    const links = readiness();
    const { gateway, broker, homeAssistant, problem } = links;
    const ready = isReady(links);
    const status = path === "/healthz" || ready ? 200 : 503;
    const body = {
      ready,
      gateway: gateway ? "welcomed" : "offline",
      ...(broker !== undefined && { broker: broker ? "connected" : "offline" }),
      ...(homeAssistant !== undefined && { home_assistant: homeAssistant ? "connected" : "offline" }),
      ...(problem !== undefined && { problem }),
    };
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(path === "/healthz" ? { alive: true } : body));
  });
  server.on("error", (error) => log("error", "health.failed", { error: error.message, set: "HEALTH_PORT" }));
  server.listen(where.port, where.host);
  return {
    port: () => (server.address() as AddressInfo | null)?.port,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
