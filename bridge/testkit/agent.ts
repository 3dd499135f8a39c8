/** Real MQTT clients that play agents, for tests. */
import { type TopicKind, topicOf } from "@edgecall/core/protocol/names.ts";
import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";

export type PlayedCommand = { command: string; payload: Record<string, unknown>; request_id: string };

export class PlayedAgent {
  readonly id: string;
  readonly commands: PlayedCommand[] = [];
  readonly client: MqttClient;

  private constructor(id: string, client: MqttClient) {
    this.id = id;
    this.client = client;
  }

  /** One of ours: will, subscription, advert, birth. */
  static async own(id: string, url: string): Promise<PlayedAgent> {
    const payload = JSON.stringify({ state: "offline", boot_id: "b1", reason: "last will" });
    const will = { topic: topicOf("evoclaw", id, "presence"), payload, qos: 1 as const, retain: true };
    const agent = await PlayedAgent.#connect(id, url, { will });
    const advert = { agent_id: id, capabilities: `${id} measures`, features: ["v1"] };
    await agent.say("capabilities", advert, true);
    await agent.say("presence", { state: "online", boot_id: "b1" }, true);
    return agent;
  }

  /** A connected client that publishes nothing by itself. */
  static async silent(id: string, url: string): Promise<PlayedAgent> {
    return await PlayedAgent.#connect(id, url, {});
  }

  /** EvoClaw's: no will, no features, a heartbeat. `deaf`: it does not subscribe. */
  static async foreign(
    id: string,
    url: string,
    { line = `${id} measures`, ...options }: { deaf?: boolean; line?: string } = {},
  ): Promise<PlayedAgent> {
    const agent = await PlayedAgent.#connect(id, url, options);
    await agent.say("capabilities", { agent_id: id, capabilities: line }, true);
    await agent.heartbeat();
    return agent;
  }

  static async #connect(
    id: string,
    url: string,
    { deaf, ...will }: { deaf?: boolean } & Pick<IClientOptions, "will">,
  ): Promise<PlayedAgent> {
    const client = await connectAsync(url, {
      clientId: id,
      protocolVersion: 4,
      reconnectPeriod: 50,
      ...will,
    });
    client.on("error", () => {});
    const agent = new PlayedAgent(id, client);
    client.on("message", (_, payload) => agent.commands.push(JSON.parse(payload.toString("utf8"))));
    if (!deaf) await client.subscribeAsync(topicOf("evoclaw", id, "commands"), { qos: 1 });
    return agent;
  }

  async say(kind: TopicKind, payload: object | string, retain = false): Promise<void> {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    await this.client.publishAsync(topicOf("evoclaw", this.id, kind), text, { qos: 1, retain });
  }

  heartbeat(): Promise<void> {
    return this.report("heartbeat", { uptime_sec: 30 });
  }

  report(report_type: string, payload: Record<string, unknown>): Promise<void> {
    return this.say("reports", { agent_id: this.id, agent_type: "test", report_type, payload, timestamp: 1 });
  }

  /** Ends like after kill -9: the broker publishes the will. */
  kill(): void {
    this.client.options.reconnectPeriod = 0;
    this.client.stream.destroy();
  }

  stop(): Promise<void> {
    return this.client.endAsync(true);
  }
}
