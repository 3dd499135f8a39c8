/** Asks the bridge about Home Assistant, and waits for its answer. */
import {
  ASSISTANT_FEATURE,
  type AssistantAnswer,
  type AssistantQuestion,
} from "@edgecall/core/protocol/assistant.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { BridgeQuestions } from "../../../kernel/home/bridge/bridge-questions.ts";
import { type BridgeSocket, bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { slot } from "../../../kernel/home/slot.ts";

/** It signs in at Home Assistant meanwhile, and waits for the first devices. */
const WITHIN_MS = 15_000;

class AssistantQuestions {
  readonly #bridge: Pick<BridgeSocket, "has" | "send" | "takesUpdates">;
  readonly #questions: BridgeQuestions<AssistantAnswer>;

  constructor(bridge: Pick<BridgeSocket, "has" | "send" | "takesUpdates">) {
    this.#bridge = bridge;
    this.#questions = new BridgeQuestions(bridge, ASSISTANT_FEATURE, WITHIN_MS);
  }

  async ask(question: AssistantQuestion): Promise<AssistantAnswer | "offline" | "too_old"> {
    const now = Date.now();
    if (!this.#bridge.has(ASSISTANT_FEATURE, now))
      return this.#bridge.takesUpdates(now) === null ? "offline" : "too_old";
    return (await this.#questions.ask((id) => ({ t: "assistant", id, question }))) ?? "offline";
  }

  onAnswer({ id, answer }: BridgeFrame & { t: "assistant" }): void {
    this.#questions.answered(id, answer);
  }
}

export const assistantOf = slot((home) => new AssistantQuestions(bridgeOf(home)));
