/** Asks the bridge about Home Assistant, and waits for its answer. */
import {
  ASSISTANT_FEATURE,
  type AssistantAnswer,
  type AssistantQuestion,
} from "@edgecall/core/protocol/assistant.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { type BridgeSocket, bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { slot } from "../../../kernel/home/slot.ts";

/** It signs in at Home Assistant meanwhile, and waits for the first devices. */
const WITHIN_MS = 15_000;
const WAITING_MAX = 20;

class AssistantQuestions {
  readonly #bridge: Pick<BridgeSocket, "has" | "send" | "takesUpdates">;
  readonly #waiting = new Map<string, (answer: AssistantAnswer) => void>();

  constructor(bridge: Pick<BridgeSocket, "has" | "send" | "takesUpdates">) {
    this.#bridge = bridge;
  }

  async ask(question: AssistantQuestion): Promise<AssistantAnswer | "offline" | "too_old"> {
    const now = Date.now();
    if (!this.#bridge.has(ASSISTANT_FEATURE, now))
      return this.#bridge.takesUpdates(now) === null ? "offline" : "too_old";
    if (this.#waiting.size >= WAITING_MAX) return "offline";
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<AssistantAnswer | "offline">();
    this.#waiting.set(id, resolve);
    const timer = setTimeout(() => resolve("offline"), WITHIN_MS);
    if (!this.#bridge.send({ t: "assistant", id, question }, now)) resolve("offline");
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return answer;
  }

  /** An answer for which nothing waits any more is dropped. */
  onAnswer({ id, answer }: BridgeFrame & { t: "assistant" }): void {
    this.#waiting.get(id)?.(answer);
  }
}

export const assistantOf = slot((home) => new AssistantQuestions(bridgeOf(home)));
