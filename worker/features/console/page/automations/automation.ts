/** A rule that acts, as the API gives it. */
import type { AnswerOf } from "@edgecall/client/client.ts";

export type Automation = AnswerOf<"GET /v1/automations">["automations"][number];

/** The card without its question, which names the rule: a warning may stand before it. */
export function wordsOf(card: readonly string[], name: string): string[] {
  return card.filter((line, at) => at > 1 || !line.includes(name));
}
