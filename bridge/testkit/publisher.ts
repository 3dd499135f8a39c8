/** A real MQTT client that plays a publisher of devices, as Zigbee2MQTT or ESPHome do: retained configs, states, and commands that it carries out. */
import { connectAsync, type MqttClient } from "mqtt";

export type SwitchOptions = {
  /** It takes commands and never says so. */
  silent?: boolean;
  /** Its state topic is the one of its commands. */
  sameTopic?: boolean;
  retain?: boolean;
  more?: Record<string, unknown>;
};

export class PlayedPublisher {
  readonly client: MqttClient;
  /** Messages on command topics, in order. */
  readonly commands: { topic: string; payload: string }[] = [];
  readonly #answers = new Map<string, (payload: string) => unknown>();

  private constructor(client: MqttClient) {
    this.client = client;
  }

  static async connect(
    url: string,
    clientId = `publisher-${crypto.randomUUID().slice(0, 8)}`,
  ): Promise<PlayedPublisher> {
    const client = await connectAsync(url, { clientId, protocolVersion: 4, reconnectPeriod: 50 });
    client.on("error", () => {});
    const publisher = new PlayedPublisher(client);
    client.on("message", (topic, payload) => {
      const text = payload.toString("utf8");
      publisher.commands.push({ topic, payload: text });
      void publisher.#answers.get(topic)?.(text);
    });
    return publisher;
  }

  async say(topic: string, payload: object | string, retain = false): Promise<void> {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    await this.client.publishAsync(topic, text, { qos: 1, retain });
  }

  /** A retained config; an empty text removes it. */
  async config(topic: string, config: object | ""): Promise<void> {
    await this.say(`homeassistant/${topic}/config`, config, true);
  }

  /** Answers commands on a topic. */
  async on(topic: string, answer: (payload: string) => unknown): Promise<void> {
    this.#answers.set(topic, answer);
    await this.client.subscribeAsync(topic, { qos: 1 });
  }

  /** Announces a switch `Plug NAME`, says that it is there, and carries out its commands. @returns its agent's id */
  async plug(name: string, { silent, sameTopic, retain, more }: SwitchOptions = {}): Promise<string> {
    const base = `plugs/${name}`;
    const state = sameTopic ? `${base}/set` : `${base}/state`;
    await this.on(`${base}/set`, (payload) => (silent || sameTopic ? undefined : this.say(state, payload)));
    await this.say(`${base}/up`, "online", true);
    await this.config(`switch/${name}`, {
      name: null,
      unique_id: `plug-${name}`,
      command_topic: `${base}/set`,
      state_topic: state,
      availability_topic: `${base}/up`,
      ...(retain && { retain }),
      device: { identifiers: [`plug-${name}`], name: `Plug ${name}`, suggested_area: "Kitchen" },
      ...more,
    });
    return `plug-${name}`;
  }

  /** The commands that came for a plug. */
  sentTo(name: string): string[] {
    return this.commands.flatMap(({ topic, payload }) => (topic === `plugs/${name}/set` ? [payload] : []));
  }

  stop(): Promise<void> {
    return this.client.endAsync(true);
  }
}
