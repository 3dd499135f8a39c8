/** Doubles, repeats and reorders MQTT messages on their way through a link. */
import { asNewPublish, topicOfPublish } from "./mqtt-packets.ts";

export type Direction = "toServer" | "toClient";

export type Meddling = {
  kind: "duplicate" | "reorder" | "replay";
  /** It applies to messages whose topic ends in this. */
  topic: "commands" | "reports";
};

/** Commands go to the agent, reports come from it. */
const DIRECTION: Record<Meddling["topic"], Direction> = { commands: "toClient", reports: "toServer" };
/** A second copy arrives at most this many ms later. */
const DUPLICATE_WITHIN_MS = 400;
/** A repetition arrives this many ms later, when the call is normally over. */
const REPLAY_FROM_MS = 1_000;
const REPLAY_TO_MS = 5_000;
/** A message that no other message follows is sent after this many ms. */
const HELD_FOR_MS = 700;
/** Packet ids that neither a broker nor a client reaches by itself with so few messages. */
const OWN_IDS_FROM = 60_000;
const OWN_IDS = 5_000;

/** Writes to the current connection; drops the packet when there is none. */
export type SendNow = (direction: Direction, packet: Buffer) => void;

export class Meddler {
  readonly #sendNow: SendNow;
  readonly #random: () => number;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Wait for the next message on a topic. */
  #watchers: Array<{ topic: Meddling["topic"]; seen: () => void }> = [];
  #meddling: Meddling | undefined;
  #held: { direction: Direction; release: () => void } | undefined;
  #count = 0;

  constructor(sendNow: SendNow, random: () => number) {
    this.#sendNow = sendNow;
    this.#random = random;
  }

  /** The number of messages that were changed. */
  get count(): number {
    return this.#count;
  }

  begin(meddling: Meddling): void {
    this.#meddling = meddling;
  }

  /** Resolves when the next message on such a topic passes. */
  next(topic: Meddling["topic"]): Promise<void> {
    return new Promise((seen) => this.#watchers.push({ topic, seen }));
  }

  #notify(direction: Direction, topic: string | undefined): void {
    const isSeen = (watched: Meddling["topic"]) =>
      DIRECTION[watched] === direction && topic?.endsWith(`/${watched}`) === true;
    for (const watcher of this.#watchers.filter(({ topic }) => isSeen(topic))) watcher.seen();
    this.#watchers = this.#watchers.filter(({ topic }) => !isSeen(topic));
  }

  /** Stops changing messages. Copies that are already on their way still arrive. */
  end(): void {
    this.#meddling = undefined;
    this.#release();
  }

  /** Sends nothing more. */
  stop(): void {
    this.end();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Handles a packet on its way. @param send writes a packet to the connection that this one came from */
  packet(direction: Direction, packet: Buffer, send: (packet: Buffer) => void): void {
    const meddling = this.#meddling;
    const topic = topicOfPublish(packet);
    this.#notify(direction, topic);
    const isMeant =
      meddling !== undefined &&
      DIRECTION[meddling.topic] === direction &&
      topic?.endsWith(`/${meddling.topic}`) === true;
    if (!isMeant) {
      send(packet);
      return;
    }
    this.#count += 1;
    if (meddling.kind === "reorder") {
      this.#reorder(direction, packet, send);
      return;
    }
    send(packet);
    const copy = asNewPublish(packet, OWN_IDS_FROM + (this.#count % OWN_IDS));
    const after =
      meddling.kind === "duplicate"
        ? this.#random() * DUPLICATE_WITHIN_MS
        : REPLAY_FROM_MS + this.#random() * (REPLAY_TO_MS - REPLAY_FROM_MS);
    this.#later(after, () => this.#sendNow(direction, copy));
  }

  /** The held message follows directly after the one that overtook it. */
  #reorder(direction: Direction, packet: Buffer, send: (packet: Buffer) => void): void {
    if (this.#held) {
      send(packet);
      this.#release();
      return;
    }
    const held = { direction, release: () => send(packet) };
    this.#held = held;
    this.#later(HELD_FOR_MS, () => {
      if (this.#held === held) this.#release();
    });
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.release();
  }

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}
