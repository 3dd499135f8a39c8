/** A client of a broker that sees everything on it, also below Home Assistant's discovery prefix. */
import { connectAsync, type MqttClient } from "mqtt";
import { until } from "../wait.ts";

const PREFIX = "homeassistant";

export type Message = { topic: string; text: string; retained: boolean };
export type Config = { topic: string; kind: string; payload: Record<string, unknown> };

export class BrokerView {
  /** The messages on each topic, in their order. */
  readonly #messages = new Map<string, Message[]>();
  readonly client: MqttClient;

  private constructor(client: MqttClient) {
    this.client = client;
  }

  static async open(port: number): Promise<BrokerView> {
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
    const view = new BrokerView(client);
    client.on("message", (topic, payload, { retain }) => {
      const messages = view.#messages.get(topic) ?? [];
      messages.push({ topic, text: payload.toString("utf8"), retained: retain });
      view.#messages.set(topic, messages);
    });
    // Messages that are retained while it looks on have their flag, too.
    await client.subscribeAsync("#", { qos: 0, rap: true });
    return view;
  }

  /** The retained discovery configs, the one-component and the device form. */
  configs(): Config[] {
    return [...this.#messages].flatMap(([topic, messages]) => {
      const [prefix, kind = "", ...rest] = topic.split("/");
      const last = messages.findLast(({ retained }) => retained)?.text;
      if (prefix !== PREFIX || rest.at(-1) !== "config" || !last) return [];
      return [{ topic, kind, payload: JSON.parse(last) as Record<string, unknown> }];
    });
  }

  of(topic: string): readonly Message[] {
    return this.#messages.get(topic) ?? [];
  }

  last(topic: string): string | undefined {
    return this.of(topic).at(-1)?.text;
  }

  /** All topics with a message so far. */
  topics(): string[] {
    return [...this.#messages.keys()];
  }

  /** Waits for a message on the topic that fits. */
  async message(topic: string, fits: (text: string) => boolean = () => true): Promise<string> {
    const found = () => this.of(topic).findLast(({ text }) => fits(text));
    return (await until(found, { what: `a message on ${topic}` })).text;
  }

  close(): Promise<void> {
    return this.client.endAsync(true);
  }
}
