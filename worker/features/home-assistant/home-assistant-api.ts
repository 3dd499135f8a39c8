/** Methods of a home about its Home Assistant. */
import type { AssistantAnswer, AssistantQuestion } from "@edgecall/core/protocol/assistant.ts";
import type { Person } from "../../kernel/api/devices.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

export interface HomeAssistantApi {
  /** Asks the bridge, which alone knows. What changes there stands in the record. @returns why it did not answer */
  ask(question: AssistantQuestion, by: Person): Promise<AssistantAnswer | "offline" | "too_old">;
}

/** This home, as to Home Assistant. */
export const homeAssistantAt = (env: Env, home: string): HomeAssistantApi =>
  topicAt(env, home, "home_assistant");
