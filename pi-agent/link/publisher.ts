/** Publishes what this agent says: signed where it is paired, events once, reports until they are delivered. */
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import { type TopicKind, topicOf } from "@edgecall/core/protocol/names.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import type { Connection } from "./connection.ts";
import type { MessageSigner } from "./message-signer.ts";
import { type KeptResults, Redelivery } from "./redelivery.ts";

/** Reports whose caller acknowledges nothing wait for the broker: the newest so many. */
const OUTBOX_MAX = 100;
/** Events that nobody stores. All others are signed. */
const PASSING: ReadonlyArray<AgentEvent["type"]> = ["accepted", "progress"];

export type PublisherParts = {
  settings: Pick<Settings, "agentId" | "mqtt">;
  connection: Pick<Connection, "connected" | "publish">;
  signer: MessageSigner;
  results: KeptResults;
  log: Log;
};

export class Publisher {
  readonly #parts: PublisherParts;
  readonly #redelivery: Redelivery;
  readonly #outbox: string[] = [];

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#redelivery = new Redelivery(parts.results, (text) => this.publish("reports", text), parts.log);
  }

  /** The number of reports that wait for the broker. */
  get waiting(): number {
    return this.#outbox.length;
  }

  /** Publishes with a signature. @returns true if the broker took it; without a connection nothing is published, and no number used */
  async publish(kind: Exclude<TopicKind, "commands">, text: string): Promise<boolean> {
    const { connection, signer } = this.#parts;
    return connection.connected && (await connection.publish(this.topic(kind), signer.sign(kind, text)));
  }

  /** The same in the session with the gateway. */
  async #publishSealed(kind: "reports" | "events", text: string): Promise<boolean> {
    const { connection, signer } = this.#parts;
    return connection.connected && (await connection.publish(this.topic(kind), signer.seal(kind, text)));
  }

  /** Publishes an event, if there is a connection. */
  event(event: AgentEvent): void {
    const isPassing = PASSING.includes(event.type);
    const text = JSON.stringify(event);
    void (isPassing ? this.#publishSealed("events", text) : this.publish("events", text));
  }

  /** Publishes a report. @param acks true if the caller acknowledges it: then it is sent again until it does */
  async report(text: string, id?: string, acks = false): Promise<void> {
    const isAccepted = await this.#publishSealed("reports", text);
    if (acks && id !== undefined) this.#redelivery.add(id);
    else if (!isAccepted) this.#outbox.splice(0, Math.max(0, this.#outbox.push(text) - OUTBOX_MAX));
  }

  /** Publishes a report without a signature. */
  reportUnsigned(text: string): void {
    void this.#parts.connection.publish(this.topic("reports"), text);
  }

  /** The caller has the result. */
  acked(id: string): void {
    this.#redelivery.acked(id);
  }

  /** The agent is connected and advertised: sends what has waited. */
  async connected(): Promise<void> {
    for (const text of this.#outbox.splice(0)) await this.report(text);
    this.#redelivery.connected();
  }

  stop(): void {
    this.#redelivery.stop();
  }

  topic(kind: TopicKind): string {
    const { agentId, mqtt } = this.#parts.settings;
    return topicOf(mqtt.topicPrefix, agentId, kind);
  }
}
