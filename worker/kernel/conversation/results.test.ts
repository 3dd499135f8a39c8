/** A closed question is told in this order. */
import { expect, test } from "vitest";
import type { ConversationContext } from "./context.ts";
import { onQuestionClosed } from "./results.ts";

test("the answer is told before the conversation above hears of it, since more may be written meanwhile", async () => {
  const told: string[] = [];
  const turn = { origin: { session: { parent: "above", call: "c" } } };
  const closeQuestion = async () => {
    told.push("the conversation above");
  };
  const context = {
    transcript: { closeQuestion: () => turn, question: () => undefined },
    subscribers: { changed: () => told.push("its clients") },
    chat: { closed: () => told.push("its chat") },
    env: { CONVERSATION: { getByName: () => ({ closeQuestion }) } },
  } as unknown as ConversationContext;
  await onQuestionClosed(context, "q", "yes", { by: "anna" });
  expect(told).toEqual(["its clients", "its chat", "the conversation above"]);
});
