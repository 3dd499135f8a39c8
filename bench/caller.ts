/**
 * The part of a gateway that agents need to be called: commands, reports, acknowledgements and adverts, directly over
 * MQTT.
 */
import type { MqttClient } from "mqtt";
import { connectBroker } from "./floor/broker-client.ts";

const AGENTS = "evoclaw/agents";

export type ToolCall = { tool: string; parameters: Record<string, unknown> };

export class Caller {
  readonly #reported = new Map<string, (report: Report) => void>();
  /** The `performance.now()` of each agent's first `tools` advert. */
  readonly advertised = new Map<string, number>();
  #client: MqttClient | undefined;
  #n = Date.now();

  static async connect(mqttUrl: string): Promise<Caller> {
    const caller = new Caller();
    const client = await connectBroker(mqttUrl, (payload, topic) => caller.#receive(topic, payload));
    caller.#client = client;
    await client.subscribeAsync([`${AGENTS}/+/tools`, `${AGENTS}/+/reports`], { qos: 1 });
    return caller;
  }

  /** Calls an agent and waits for its report. @throws when the tool failed, because then the time would mean nothing */
  async call(agent: string, { tool, parameters }: ToolCall): Promise<void> {
    const id = crypto.randomUUID();
    const { status, error } = await new Promise<Report>((resolve) => {
      this.#reported.set(id, resolve);
      this.#send(agent, id, "tool", { tool, parameters });
    });
    if (status !== "success") throw new Error(`agent ${agent}: ${tool} came to ${status}: ${error ?? ""}`);
    this.#send(agent, crypto.randomUUID(), "ack", { request_id: id });
  }

  async close(): Promise<void> {
    await this.#client?.endAsync(true);
  }

  #send(agent: string, id: string, command: string, payload: Record<string, unknown>): void {
    this.#n += 1;
    // Each tool has its own conversation, so that one tool's reads do not taint another's calls, which would then ask.
    const caller = {
      principal: "bench",
      role: "owner",
      channel: "bench",
      conversation: `bench-${String(payload.tool)}`,
    };
    const message = { command, payload, request_id: id, expires_in_ms: 60_000, caller, n: this.#n };
    this.#client?.publish(`${AGENTS}/${agent}/commands`, JSON.stringify(message), { qos: 1 });
  }

  #receive(topic: string, payload: Buffer): void {
    const now = performance.now();
    const [agent = "", kind] = topic.slice(AGENTS.length + 1).split("/");
    if (kind === "tools") {
      if (!this.advertised.has(agent)) this.advertised.set(agent, now);
      return;
    }
    const { payload: report } = JSON.parse(payload.toString()) as { payload?: Report };
    const id = report?.request_id;
    if (!report || id === undefined) return;
    this.#reported.get(id)?.(report);
    this.#reported.delete(id);
  }
}

type Report = { request_id?: string; status?: string; error?: string };
