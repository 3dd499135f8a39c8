/**
 * The agent's connection to the broker. Each attempt uses a fresh MQTT 3.1.1 client, which keeps nothing from the one before:
 * what must survive is in the ledger.
 */
import { readFileSync } from "node:fs";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { ReconnectSchedule, type RetryPolicy } from "@edgecall/node/backoff.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { endMqtt, mqttFault, openMqtt, refusedTopic } from "@edgecall/node/mqtt-client.ts";
import type { IClientOptions, MqttClient } from "mqtt";
import type { MqttSettings } from "../config/settings.ts";

const RETRIES: RetryPolicy = { baseMs: 500, capMs: 30_000, stableMs: 2_000, jitter: "half" };
/** If the broker does not take the goodbye within this, the last will replaces it. */
const GOODBYE_MS = 2_000;

export type ConnectionOptions = {
  mqtt: MqttSettings;
  clientId: string;
  /** Returns the last will. Called before each connection. */
  will(): { topic: string; payload: string };
  log: Log;
  /** Called first on every connect: subscribe and advertise. */
  onConnected(): Promise<void>;
  onMessage(topic: string, payload: Buffer, retained: boolean): void;
};

export class Connection {
  readonly #options: ConnectionOptions;
  /** Monotonic ms; undefined while there is no connection. */
  #connectedAt: number | undefined;
  readonly #retries = new ReconnectSchedule(RETRIES);
  readonly #pending = new Set<(ok: boolean) => void>();
  #client: MqttClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connects = 0;
  #stopped = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The number of connections since the start. Each but the first is a reconnect. */
  get connects(): number {
    return this.#connects;
  }

  get connected(): boolean {
    return this.#client?.connected === true;
  }

  start(): void {
    if (!this.#stopped) this.#open();
  }

  /** Breaks the connection and makes it again, with a will that is newer than all earlier messages. */
  restart(): void {
    this.#client?.end(true);
  }

  /** Leaves the broker without a will or a goodbye, until `start`. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client) await endMqtt(client);
    for (const settle of this.#pending) settle(false);
  }

  #open(): void {
    const { mqtt, log } = this.#options;
    let client: MqttClient;
    try {
      const { topic, payload } = this.#options.will();
      const will = { topic, payload: Buffer.from(payload), qos: 1, retain: true } as const;
      client = openClient(mqtt, { clientId: this.#options.clientId, will });
    } catch (error) {
      // For instance the certificate file cannot be read. It may be there at the next attempt.
      log("error", "mqtt.connect_failed", { error: messageOf(error) });
      this.#redial();
      return;
    }
    this.#client = client;
    let failure: { reason: string; hint?: string } | undefined;
    client.on("error", (error) => {
      const { text, hint } = mqttFault(error, "ca in [mqtt]");
      failure = { reason: text, ...(hint && { hint }) };
      // After a refused CONNECT (a bad password) the socket stays open, and nothing else would close it.
      client.end(true);
    });
    client.on("connect", () => this.#onConnect(client));
    client.on("message", (topic, payload, packet) => this.#onMessage(topic, payload, packet.retain));
    client.on("close", () => {
      if (this.#client !== client) return;
      this.#client = undefined;
      client.end(true);
      for (const settle of this.#pending) settle(false);
      this.#redial(failure);
    });
  }

  #onConnect(client: MqttClient): void {
    this.#connectedAt = performance.now();
    this.#connects += 1;
    this.#options.log("info", "mqtt.connected", { url: withoutLogin(this.#options.mqtt.url) });
    this.#options.onConnected().catch((error: unknown) => {
      this.#options.log("warn", "mqtt.advertise_failed", { error: messageOf(error) });
      client.end(true);
    });
  }

  #onMessage(topic: string, payload: Buffer, retained: boolean): void {
    try {
      this.#options.onMessage(topic, payload, retained);
    } catch (error) {
      // An exception in a handler of mqtt.js would end the process.
      this.#options.log("error", "mqtt.message_failed", { topic, error: messageOf(error) });
    }
  }

  #redial(failure?: { reason: string; hint?: string }): void {
    if (this.#stopped) return;
    const workedMs = this.#connectedAt === undefined ? 0 : performance.now() - this.#connectedAt;
    this.#connectedAt = undefined;
    const delayMs = this.#retries.lost(workedMs);
    this.#options.log("warn", "mqtt.offline", { retry_in_ms: delayMs, ...failure });
    this.#timer = setTimeout(() => this.#open(), delayMs);
  }

  /** @throws when the broker does not take the subscriptions */
  async subscribe(topics: string[]): Promise<void> {
    const client = this.#client;
    if (!client) throw new Error("not connected");
    await this.#settled((settle, fail) => {
      client.subscribe(topics, { qos: 1 }, (error, granted) => {
        const refused = refusedTopic(granted);
        if (error || refused) fail(error ?? new Error(`the broker refused ${refused}`));
        else settle(true);
      });
    });
  }

  /** Publishes with QoS 1. Without a connection nothing is queued. @returns true if the broker took it */
  async publish(topic: string, text: string, { retain = false } = {}): Promise<boolean> {
    const client = this.#client;
    if (!client?.connected) return false;
    try {
      return await this.#settled((settle, fail) => {
        client.publish(topic, text, { qos: 1, retain }, (error) => (error ? fail(error) : settle(true)));
      });
    } catch (error) {
      this.#options.log("warn", "mqtt.publish_failed", { topic, error: messageOf(error) });
      return false;
    }
  }

  /** When the connection breaks, a callback of mqtt.js may never come. Then the end of the connection settles the promise. */
  #settled(work: (settle: (ok: boolean) => void, fail: (error: Error) => void) => void): Promise<boolean> {
    return new Promise<boolean>((resolve, reject) => {
      this.#pending.add(resolve);
      const forget = () => this.#pending.delete(resolve);
      work(
        (ok) => {
          forget();
          resolve(ok);
        },
        (error) => {
          forget();
          reject(error);
        },
      );
    });
  }

  /** Publishes the goodbye if connected, and ends for good. */
  async stop(goodbye: { topic: string; payload: string }): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    if (client?.connected) {
      await Promise.race([this.publish(goodbye.topic, goodbye.payload, { retain: true }), after(GOODBYE_MS)]);
    }
    this.#client = undefined;
    if (!client) return;
    await endMqtt(client);
    for (const settle of this.#pending) settle(false);
  }
}

/** Makes a fresh client of this agent. @throws when the certificate cannot be read or the URL cannot be used */
export function openClient(mqtt: MqttSettings, options: IClientOptions & { clientId: string }): MqttClient {
  const ca = mqtt.ca === undefined ? undefined : readFileSync(mqtt.ca);
  return openMqtt({ ...mqtt, ca }, { keepalive: mqtt.keepAliveSecs, ...options });
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
