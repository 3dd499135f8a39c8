/** An MQTT client of the test that sees every message on the broker. */
import { parseTopic } from "@edgecall/core/protocol/names.ts";
import { connectAsync, type MqttClient } from "mqtt";
import { until } from "../wait.ts";

export type Seen = {
  agent: string;
  kind: string;
  text: string;
  /** The payload, if it is a JSON object. */
  body: Record<string, unknown>;
  retained: boolean;
};

export class Observer {
  readonly seen: Seen[] = [];
  readonly client: MqttClient;

  private constructor(client: MqttClient) {
    this.client = client;
  }

  static async start(url: string): Promise<Observer> {
    const client = await connectAsync(url, { protocolVersion: 4, reconnectPeriod: 100 });
    if ("setNoDelay" in client.stream && typeof client.stream.setNoDelay === "function") {
      client.stream.setNoDelay(true);
    }
    // A broker that a test restarts is away for a moment.
    client.on("error", () => {});
    const observer = new Observer(client);
    client.on("message", (topic, payload, packet) => {
      const read = parseTopic("evoclaw", topic);
      if (!read) return;
      const text = payload.toString("utf8");
      observer.seen.push({
        agent: read.agentId,
        kind: read.kind,
        text,
        body: asObject(text),
        retained: packet.retain,
      });
    });
    await client.subscribeAsync("evoclaw/agents/#", { qos: 1 });
    return observer;
  }

  /** Returns the messages on the agent's topic of this kind. */
  of(agent: string, kind: string): Seen[] {
    return this.seen.filter((one) => one.agent === agent && one.kind === kind);
  }

  /** Returns the commands with this name that were sent to the agent. */
  commands(agent: string, command: string): Seen[] {
    return this.of(agent, "commands").filter((one) => one.body.command === command);
  }

  /** Waits for the report that answers a request. */
  answerTo(agent: string, requestId: unknown): Promise<Seen> {
    return until(() => this.answersTo(agent, requestId)[0], { what: `${agent} answers ${requestId}` });
  }

  answersTo(agent: string, requestId: unknown): Seen[] {
    return this.of(agent, "reports").filter(({ body }) => payloadOf(body).request_id === requestId);
  }

  stop(): Promise<void> {
    return this.client.endAsync(true);
  }
}

export function payloadOf(body: Record<string, unknown>): Record<string, unknown> {
  return (body.payload ?? {}) as Record<string, unknown>;
}

function asObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
