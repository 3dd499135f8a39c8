/** Questions that the bridge answers at once, from what it has at home. Nothing of them is stored here. */
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import type { BridgeSocket } from "./bridge-socket.ts";

/** Questions to the bridge at once. */
const WAITING_MAX = 50;

type Feature = Parameters<BridgeSocket["has"]>[0];

export class BridgeQuestions<Answer> {
  readonly #bridge: Pick<BridgeSocket, "has" | "send">;
  readonly #feature: Feature;
  readonly #withinMs: number;
  readonly #waiting = new Map<string, (answer: Answer | undefined) => void>();

  /** @param withinMs a bridge that takes longer is busy or its line is dead, and no answer is waited for */
  constructor(bridge: Pick<BridgeSocket, "has" | "send">, feature: Feature, withinMs: number) {
    this.#bridge = bridge;
    this.#feature = feature;
    this.#withinMs = withinMs;
  }

  /** @param frame the question with this id @returns undefined: the bridge did not answer */
  async ask(frame: (id: string) => HomeFrame): Promise<Answer | undefined> {
    const now = Date.now();
    if (this.#waiting.size >= WAITING_MAX || !this.#bridge.has(this.#feature, now)) return undefined;
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    this.#waiting.set(id, resolve);
    const timer = setTimeout(() => resolve(undefined), this.#withinMs);
    if (!this.#bridge.send(frame(id), now)) resolve(undefined);
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return answer;
  }

  /** False for an answer that nothing waits for any more. */
  isOpen(id: string): boolean {
    return this.#waiting.has(id);
  }

  answered(id: string, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
  }
}
