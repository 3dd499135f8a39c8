/**
 * Asks devices for their values after a connect, since many publishers do not retain states: what changed while the bridge was away
 * is unknown. A few at a time, as each question goes over the radio.
 */
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { HostedAgents } from "./hosted-agents.ts";
import type { Sender } from "./sender.ts";

/** In a second. */
const DEVICES_AT_ONCE = 2;
/** A connection that is lost again and again must not keep the radio busy. */
const AGAIN_AFTER_MS = 600_000;
const EXPIRES_MS = 10_000;

export type FirstReadsParts = {
  clock: Clock;
  /** Home Assistant tells all its states after a connect, so only the broker's devices are asked. */
  sender: Sender;
  catalog: DeviceCatalog;
  agents: HostedAgents;
};

export class FirstReads {
  readonly #parts: FirstReadsParts;
  #queue: string[] = [];
  /** Epoch ms of the connect. */
  #since = 0;
  /** Monotonic ms. */
  #last = Number.NEGATIVE_INFINITY;

  constructor(parts: FirstReadsParts) {
    this.#parts = parts;
  }

  /** The devices of a new connection are known. */
  begin(): void {
    const { agents, clock } = this.#parts;
    const now = clock.now();
    if (now - this.#last < AGAIN_AFTER_MS || agents.ids().length === 0) return;
    this.#last = now;
    this.#since = clock.wall();
    this.#queue = agents.ids();
  }

  /** Call it every second. */
  tick(): void {
    const { catalog, clock, sender } = this.#parts;
    for (let asked = 0; asked < DEVICES_AT_ONCE && sender.problem() === undefined; ) {
      const id = this.#queue.shift();
      if (id === undefined) return;
      const device = catalog.device(id, clock.wall());
      const lastSeen = device?.source === "mqtt" ? device.lastSeen : undefined;
      if (lastSeen === undefined || (lastSeen ?? 0) >= this.#since) continue;
      const asks = catalog.asks(id, clock.wall()).filter((step) => sender.forbidden(step) === undefined);
      for (const step of asks) void sender.send(step, EXPIRES_MS);
      if (asks.length > 0) asked += 1;
    }
  }
}
