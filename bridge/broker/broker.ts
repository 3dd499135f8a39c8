/** The MQTT connection to the broker. Each time it is lost, it is made again with a fresh client. */
import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { ReconnectSchedule, type RetryPolicy } from "@edgecall/node/backoff.ts";
import type { Log } from "@edgecall/node/log.ts";
import { endMqtt, mqttFault, openMqtt, refusedTopic } from "@edgecall/node/mqtt-client.ts";
import type { IClientPublishOptions, MqttClient } from "mqtt";

/**
 * The result of a publish. `unsure`: it was written, but the connection was lost before the broker's PUBACK, so the agent
 * may have it. With `offline` and `rejected` the agent certainly does not have it.
 */
export type Published =
  | { kind: "delivered"; listening: boolean }
  | { kind: "offline" }
  | { kind: "rejected"; message: string }
  | { kind: "unsure" };

/**
 * Publishes with QoS 1.
 * @param expiresInMs the broker drops what it could not deliver by then (MQTT 5)
 * @param retain the broker keeps it for whoever subscribes later
 */
export type Publish = (
  topic: string,
  payload: string,
  expiresInMs?: number,
  retain?: boolean,
) => Promise<Published>;

export type BrokerMessage = { topic: string; payload: Buffer; retained: boolean };

export type BrokerOptions = {
  url: string;
  username: string | undefined;
  password: string | undefined;
  ca: string | undefined;
  clientId: string;
  topics: string[];
  log: Log;
  onMessage(message: BrokerMessage): void;
  /** Connected: the retained messages come again now, perhaps before the subscription's ack. */
  onConnect(): void;
  /** Subscribed: calls can be published. */
  onUp(): void;
  /** Lost after `onConnect`. */
  onDown(): void;
};

/** The broker is near and ours: quick enough to hide its restart (BROKER_GRACE_MS). */
const RETRIES: RetryPolicy = { baseMs: 250, capMs: 10_000, stableMs: 1_000, jitter: "full" };
/** An unplugged broker is noticed after 1.5 times this. */
const KEEPALIVE_S = 15;
/** mqtt.js has no limit of its own. With this many unacked the broker does not answer, and more would not help. */
const UNACKED_MAX = 1_000;
/** PUBACK reason 16, MQTT 5: the broker took it, and nobody subscribes to the topic. */
const NO_MATCHING_SUBSCRIBERS = 16;
/** CONNACK: "unacceptable protocol version" of MQTT 3.1.1, and of MQTT 5. */
const VERSION_REFUSED = [1, 0x84];
/** So many ends without a reason within this time are no restart of the broker: another client has our id, or it limits us. */
const CUTS_MAX = 4;
const CUTS_WITHIN_MS = 60_000;

/** The broker, for parts that only publish. */
export type Publisher = Pick<BrokerLink, "up" | "publish">;

export class BrokerLink {
  readonly #options: BrokerOptions;
  #client: MqttClient | undefined;
  #version: 4 | 5 = 5;
  #up = false;
  #upSince = 0;
  readonly #retries = new ReconnectSchedule(RETRIES);
  #unacked = 0;
  /** Ids of messages that the broker acked with "nobody subscribes", until their callback has run. */
  #unsubscribed = new Set<number | undefined>();
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Why it was not reached last. */
  #failure: string | undefined;
  /** When the broker ended the connection without a reason, monotonic ms. */
  #cuts: number[] = [];

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /** Connected and subscribed. */
  get up(): boolean {
    return this.#up;
  }

  start(): void {
    const { log, topics } = this.#options;
    // The handlers are set before the first packet can come: `connect` only starts to dial.
    const client = openMqtt(this.#options, {
      clientId: this.#options.clientId,
      protocolVersion: this.#version,
      keepalive: KEEPALIVE_S,
    });
    this.#client = client;
    const unsubscribed = new Set<number | undefined>();
    this.#unsubscribed = unsubscribed;
    let connected = false;
    let down = false;
    const lost = (wait?: number): void => {
      if (down) return;
      down = true;
      this.#lost(client, wait);
      if (connected && !this.#stopped) this.#options.onDown();
    };

    client.on("message", (topic, payload, packet) => {
      if (client === this.#client) this.#options.onMessage({ topic, payload, retained: packet.retain });
    });
    // mqtt.js treats reason 16 as success and hides it. This event comes just before the callback.
    client.on("packetreceive", (packet) => {
      if (packet.cmd === "puback" && packet.reasonCode === NO_MATCHING_SUBSCRIBERS) {
        unsubscribed.add(packet.messageId);
      }
    });
    client.on("connect", () => {
      connected = true;
      this.#options.onConnect();
      client.subscribe(topics, { qos: 1 }, (error, granted) => {
        const refused = refusedTopic(granted);
        if (error || refused) {
          log("error", "broker.subscribe_failed", { error: error?.message, topic: refused });
          lost();
          return;
        }
        if (down || this.#stopped) return;
        this.#up = true;
        this.#failure = undefined;
        this.#upSince = performance.now();
        log("info", "broker.up", { mqtt: this.#version });
        this.#options.onUp();
      });
    });
    client.on("error", (error) => {
      if (down) return;
      const { text, code, hint } = mqttFault(error, "MQTT_CA");
      this.#failure = text;
      if (this.#version === 5 && VERSION_REFUSED.includes(Number(code)) && !client.connected) {
        this.#version = 4;
        log("info", "broker.speaks_3_1_1");
        lost(0);
        return;
      }
      log("warn", "broker.error", { error: text, ...(hint && { hint }) });
      lost();
    });
    client.on("close", () => {
      if (!down && this.#up && client === this.#client) this.#cut();
      lost();
    });
  }

  /** What is wrong with the connection. */
  condition(): Condition | undefined {
    const url = withoutLogin(this.#options.url);
    this.#cuts = this.#cuts.filter((at) => at > performance.now() - CUTS_WITHIN_MS);
    if (this.#cuts.length >= CUTS_MAX)
      return conditionOf("broker_cuts", { url, times: String(this.#cuts.length) });
    if (this.#up || this.#failure === undefined) return undefined;
    return conditionOf("broker_unreachable", { url, error: this.#failure });
  }

  /** The broker ended the connection without a reason. */
  #cut(): void {
    this.#cuts.push(performance.now());
    if (this.#cuts.length === CUTS_MAX)
      this.#options.log("error", "broker.cuts", { client_id: this.#options.clientId, times: CUTS_MAX });
  }

  readonly publish: Publish = (topic, payload, expiresInMs, retain = false) => {
    const client = this.#client;
    if (!this.#up || client === undefined || !client.connected || this.#unacked >= UNACKED_MAX) {
      return Promise.resolve({ kind: "offline" });
    }
    const unsubscribed = this.#unsubscribed;
    this.#unacked += 1;
    return new Promise((resolve) => {
      client.publish(topic, payload, { ...this.#publishOptions(expiresInMs), retain }, (error, packet) => {
        this.#unacked -= 1;
        if (error) {
          const code = "code" in error ? Number(error.code) : 0;
          resolve(code >= 0x80 ? { kind: "rejected", message: error.message } : { kind: "unsure" });
          return;
        }
        resolve({ kind: "delivered", listening: !unsubscribed.delete(packet?.messageId) });
      });
    });
  };

  /**
   * Subscribes to further topics, for this connection.
   * @returns the topics that the broker refused; undefined: the connection was lost
   */
  subscribe(topics: ReadonlyMap<string, 0 | 1 | 2>): Promise<string[] | undefined> {
    const client = this.#client;
    if (!this.#up || client === undefined) return Promise.resolve(undefined);
    // `nl`, which MQTT 5 alone has: what this bridge publishes there does not come back as if a device had said it.
    const wanted = Object.fromEntries([...topics].map(([topic, qos]) => [topic, { qos, nl: true }]));
    return new Promise((resolve) => {
      client.subscribe(wanted, (_error, asked, packet) => {
        // A refusal of one is an error of all, and only the packet says which.
        const granted = packet?.granted;
        if (granted === undefined || client !== this.#client) resolve(undefined);
        else resolve((asked ?? []).flatMap(({ topic }, at) => (isRefused(granted[at]) ? [topic] : [])));
      });
    });
  }

  /** @returns false when the connection was lost */
  unsubscribe(topics: readonly string[]): Promise<boolean> {
    const client = this.#client;
    if (!this.#up || client === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      client.unsubscribe([...topics], (error) => resolve(!error && client === this.#client));
    });
  }

  /** Makes the broker send the retained messages once more. */
  readAgain(): void {
    if (this.#up) this.#client?.subscribe(this.#options.topics, { qos: 1 });
  }

  /** Ends the connection, within 2 s even if the broker does not answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    this.#up = false;
    if (client === undefined) return;
    await endMqtt(client);
  }

  #lost(client: MqttClient, wait: number | undefined): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    // This fails what is unacked, so that nothing is sent again on a later connection.
    client.end(true);
    if (this.#stopped) return;
    const wasUp = this.#up;
    this.#up = false;
    const delay = wait ?? this.#retries.lost(wasUp ? performance.now() - this.#upSince : 0);
    if (wasUp) this.#options.log("warn", "broker.down", { retry_in_ms: delay });
    this.#retry = setTimeout(() => this.start(), delay);
  }

  #publishOptions(expiresInMs: number | undefined): IClientPublishOptions {
    if (this.#version === 4 || expiresInMs === undefined) return { qos: 1 };
    const messageExpiryInterval = Math.max(1, Math.ceil(expiresInMs / 1_000));
    return { qos: 1, properties: { messageExpiryInterval } };
  }
}

/** @param granted a QoS, or from 0x80 on the reason of a refusal */
function isRefused(granted: unknown): boolean {
  return !(Number(granted) <= 2);
}
