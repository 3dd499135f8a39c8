/** Asks the bridge what hosted devices reported last. It answers from its memory at once, and nothing of it is stored here. */

import type { DeviceReadings, LeftOut } from "@edgecall/core/protocol/devices.ts";
import { DEVICES_A_FRAME_MAX, DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { BridgeQuestions } from "../bridge/bridge-questions.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { slot } from "../slot.ts";

/** A bridge that takes longer is busy or its line is dead. Whoever asks goes on without. */
const WITHIN_MS = 1_000;

export type States = ReadonlyMap<string, DeviceReadings>;

/** @property leftOut null: the bridge does not say, as older ones */
export type BridgeAnswer = { states: States; leftOut: LeftOut[] | null };

export class DeviceStates {
  readonly #questions: BridgeQuestions<BridgeAnswer>;
  /** What came of answers that are not whole, by their ids. */
  readonly #parts = new Map<string, DeviceReadings[]>();

  constructor(bridge: Pick<BridgeSocket, "has" | "send">) {
    this.#questions = new BridgeQuestions(bridge, DEVICES_FEATURE, WITHIN_MS);
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
    let asked = "";
    // Of more than a frame names, all are asked for.
    const isListed = ids !== undefined && ids.length <= DEVICES_A_FRAME_MAX;
    const answer = await this.#questions.ask((id) => {
      asked = id;
      return { t: "states", id, ...(isListed && { agents: [...ids] }), ...(all && { all }) };
    });
    this.#parts.delete(asked);
    return answer;
  }

  /** A part of an answer. One that nobody waits for any more is dropped. */
  onAnswer({ id, devices, last, left_out }: BridgeFrame & { t: "states" }): void {
    if (!this.#questions.isOpen(id)) return;
    const parts = [...(this.#parts.get(id) ?? []), ...devices];
    this.#parts.set(id, parts);
    if (!last) return;
    const states = new Map(parts.map((device) => [device.id, device]));
    this.#questions.answered(id, { states, leftOut: left_out ?? null });
  }
}

/** Reports of hosted devices; the bridge alone has them. */
export const deviceStatesOf = slot((home) => new DeviceStates(bridgeOf(home)));
