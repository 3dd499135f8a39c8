/** Keeps the subscriptions of devices' topics as they are wanted: in batches, and anew after each connection. */
import type { Log } from "@edgecall/node/log.ts";
import type { BrokerLink } from "../broker/broker.ts";

/** A packet of so many topics of 200 characters is far below the 1 MiB that our broker takes. */
const BATCH = 200;
/** Refused topics that a log line names. */
const NAMED_MAX = 5;

type Qos = 0 | 1 | 2;

export class Subscriptions {
  readonly #broker: Pick<BrokerLink, "subscribe" | "unsubscribe">;
  readonly #log: Log;
  #wanted: ReadonlyMap<string, Qos> = new Map();
  /** Topics that this connection is subscribed to, or was refused. */
  readonly #done = new Map<string, Qos>();
  /** Rises with each connection. */
  #connection = 0;
  #isConnected = false;
  #work: Promise<void> | undefined;

  constructor(broker: Pick<BrokerLink, "subscribe" | "unsubscribe">, log: Log) {
    this.#broker = broker;
    this.#log = log;
  }

  /** True while a subscription is on its way. */
  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  want(topics: ReadonlyMap<string, Qos>): void {
    this.#wanted = topics;
    this.#start();
  }

  /** A new connection has no subscriptions. */
  connected(): void {
    this.#connection += 1;
    this.#isConnected = true;
    this.#done.clear();
    this.#start();
  }

  lost(): void {
    this.#isConnected = false;
  }

  /** Resolves when what is wanted now is subscribed to, or the connection is lost. */
  async settled(): Promise<void> {
    while (this.#work) await this.#work;
  }

  #start(): void {
    if (!this.#isConnected || this.#work) return;
    this.#work = this.#run(this.#connection).finally(() => {
      this.#work = undefined;
      if (this.#isConnected && (this.#missing().size > 0 || this.#surplus().length > 0)) this.#start();
    });
  }

  async #run(connection: number): Promise<void> {
    const isOver = () => !this.#isConnected || connection !== this.#connection;
    for (let topics = this.#missing(); topics.size > 0; topics = this.#missing()) {
      const refused = await this.#broker.subscribe(topics);
      if (refused === undefined || isOver()) return this.#failed(connection);
      for (const [topic, qos] of topics) this.#done.set(topic, qos);
      if (refused.length > 0)
        this.#log("warn", "devices.topics_refused", {
          count: refused.length,
          topics: refused.slice(0, NAMED_MAX),
        });
    }
    for (let topics = this.#surplus(); topics.length > 0; topics = this.#surplus()) {
      const isDone = await this.#broker.unsubscribe(topics);
      if (!isDone || isOver()) return this.#failed(connection);
      for (const topic of topics) this.#done.delete(topic);
    }
  }

  /** The broker's loss is reported by `lost` or `connected`. Until then nothing is tried again. */
  #failed(connection: number): void {
    if (connection === this.#connection) this.#isConnected = false;
  }

  /** The next ones to subscribe to. */
  #missing(): Map<string, Qos> {
    const missing = new Map<string, Qos>();
    for (const [topic, qos] of this.#wanted) {
      if (this.#done.get(topic) === qos) continue;
      missing.set(topic, qos);
      if (missing.size >= BATCH) break;
    }
    return missing;
  }

  /** The next ones to give up. */
  #surplus(): string[] {
    const surplus: string[] = [];
    for (const topic of this.#done.keys()) {
      if (this.#wanted.has(topic)) continue;
      surplus.push(topic);
      if (surplus.length >= BATCH) break;
    }
    return surplus;
  }
}
