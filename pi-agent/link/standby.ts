/**
 * Waits while another agent with this one's id is there, without taking its place at the broker: under a client id of
 * its own it only reads the presence that is retained for the agent.
 */
import type { MqttClient } from "mqtt";
import type { MqttSettings } from "../config/settings.ts";
import { openClient } from "./connection.ts";

/** Longer than the other one takes to come back after it was thrown out. */
const FREE_AFTER_MS = 10_000;
const RECONNECT_MS = 5_000;

export type StandbyOptions = {
  mqtt: MqttSettings;
  clientId: string;
  topic: string;
  /** True if a presence says that the other one is there. */
  isTaken(presence: string): boolean;
  freeAfterMs?: number;
};

export class Standby {
  /** Resolves when the other one has been away for a while; never after `stop`. */
  readonly free: Promise<void>;
  #client: MqttClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ mqtt, clientId, topic, isTaken, freeAfterMs = FREE_AFTER_MS }: StandbyOptions) {
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
      // Nothing may be retained: then nobody says that it is there.
      client.on("connect", () => client.subscribe(topic, { qos: 1 }, (error) => error ?? free()));
      client.on("message", (_, payload) => {
        if (isTaken(payload.toString("utf8"))) clearTimeout(this.#timer);
        else free();
      });
      // Nothing is known while the broker is away.
      client.on("close", () => clearTimeout(this.#timer));
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#client?.end(true);
    this.#client = undefined;
  }
}
