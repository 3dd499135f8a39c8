/**
 * Waits while another device with this agent's id is online, without taking its place at the broker. It uses another client
 * id, and only reads the agent's retained presence.
 */
import type { MqttClient } from "mqtt";
import type { MqttSettings } from "../config/settings.ts";
import { openClient } from "./connection.ts";

/** Longer than the other device needs to come back after the broker dropped it. */
const FREE_AFTER_MS = 10_000;
const RECONNECT_MS = 5_000;

export type StandbyOptions = {
  mqtt: MqttSettings;
  clientId: string;
  topic: string;
  /** True if a presence shows that the other device is online. */
  isAccepted(presence: string): boolean;
  freeAfterMs?: number;
};

export class Standby {
  /** Resolves when the other device has been away for a while; never after `stop`. */
  readonly free: Promise<void>;
  #client: MqttClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ mqtt, clientId, topic, isAccepted, freeAfterMs = FREE_AFTER_MS }: StandbyOptions) {
    const client = openClient(mqtt, { clientId, reconnectPeriod: RECONNECT_MS });
    this.#client = client;
    this.free = new Promise((resolve) => {
      const free = () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
          this.stop();
          resolve();
        }, freeAfterMs);
      };
      client.on("error", () => {});
      // If nothing is retained, no device is online.
      client.on("connect", () => client.subscribe(topic, { qos: 1 }, (error) => error ?? free()));
      client.on("message", (_, payload) => {
        if (isAccepted(payload.toString("utf8"))) clearTimeout(this.#timer);
        else free();
      });
      // While the broker is away, nothing is known of the other device.
      client.on("close", () => clearTimeout(this.#timer));
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#client?.end(true);
    this.#client = undefined;
  }
}
