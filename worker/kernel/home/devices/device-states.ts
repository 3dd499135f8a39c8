/** Asks the bridge what hosted devices reported last. It answers from its memory at once, and nothing of it is stored here. */

import type { DeviceReadings, LeftOut } from "@edgecall/core/protocol/devices.ts";
import { DEVICES_A_FRAME_MAX, DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { slot } from "../slot.ts";

/** A bridge that takes longer is busy or its line is dead. Whoever asks goes on without. */
const WITHIN_MS = 1_000;
/** Questions to the bridge at once. */
const WAITING_MAX = 50;

export type States = ReadonlyMap<string, DeviceReadings>;

/** @property leftOut null: the bridge does not say, as older ones */
export type BridgeAnswer = { states: States; leftOut: LeftOut[] | null };
type Waiting = { parts: DeviceReadings[]; done: (answer: BridgeAnswer | undefined) => void };

export class DeviceStates {
  readonly #bridge: Pick<BridgeSocket, "has" | "send">;
  readonly #waiting = new Map<string, Waiting>();

  constructor(bridge: Pick<BridgeSocket, "has" | "send">) {
    this.#bridge = bridge;
  }

  /**
   * @param ids agents' ids; undefined: all hosted devices @param all also what is diagnostic or a setting, as batteries are
   * @returns by id; undefined: the bridge did not answer
   */
  async ask(ids: readonly string[] | undefined, all: boolean): Promise<States | undefined> {
    return (await this.answer(ids, all))?.states;
  }

  /** The same, with what the bridge left out. */
  async answer(ids: readonly string[] | undefined, all: boolean): Promise<BridgeAnswer | undefined> {
    const now = Date.now();
    if (this.#waiting.size >= WAITING_MAX || !this.#bridge.has(DEVICES_FEATURE, now)) return undefined;
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<BridgeAnswer | undefined>();
    this.#waiting.set(id, { parts: [], done: resolve });
    const timer = setTimeout(() => resolve(undefined), WITHIN_MS);
    // Of more than a frame names, all are asked for.
    const isListed = ids !== undefined && ids.length <= DEVICES_A_FRAME_MAX;
    const question = { t: "states", id, ...(isListed && { agents: [...ids] }), ...(all && { all }) } as const;
    if (!this.#bridge.send(question, now)) resolve(undefined);
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return answer;
  }

  /** A part of an answer. One that nobody waits for any more is dropped. */
  onAnswer({ id, devices, last, left_out }: BridgeFrame & { t: "states" }): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    waiting.parts.push(...devices);
    if (!last) return;
    const states = new Map(waiting.parts.map((device) => [device.id, device]));
    waiting.done({ states, leftOut: left_out ?? null });
  }
}

/** Reports of hosted devices; the bridge alone has them. */
export const deviceStatesOf = slot((home) => new DeviceStates(bridgeOf(home)));
