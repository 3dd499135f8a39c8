/** A button below a question: who may press it, and what then happens. */
import { mayAnswer } from "../../../kernel/api/may-see.ts";
import { conversationOf, homeOf } from "../../../kernel/api/stubs.ts";
import type { Env } from "../../../kernel/env.ts";
import { logInfo } from "../../../kernel/log.ts";
import type { Incoming, PressedRule } from "../platforms/chat-platform.ts";
import { answerOf, givenOf, isTooLong, TOO_LONG } from "../platforms/question-text.ts";
import type { Admitted } from "./admission.ts";

/** "Snooze 1 h" */
const SNOOZE_MINUTES = 60;

type Press = Pick<Incoming, "sender"> & { act: Incoming["act"] & { do: "press" } };

/**
 * The question has to be of this conversation, and is answered once.
 * @param name `home/channel/id` of the conversation
 * @param privateChat the conversation in which rules tell this person, where that is another one
 * @returns words for the person where the press does nothing
 */
export async function pressButton(
  env: Env,
  name: string,
  admitted: Admitted & { ok: true },
  { act, sender: { name: displayName } }: Press,
  privateChat: string | undefined,
): Promise<{ refused?: string }> {
  if ("rule" in act) return await pressRule(env, name, { ...admitted, displayName }, act.rule, privateChat);
  const { principal, mayApprove, role } = admitted;
  // What another person's call needs stands in the chat in which rules tell this person.
  const asked =
    (await conversationOf(env, name).asked(act.question)) ??
    (privateChat === undefined ? undefined : await conversationOf(env, privateChat).asked(act.question));
  const answer = asked && answerOf(asked.question, act.choice);
  if (!asked || answer === undefined) return { refused: "This question is not open any more." };
  const scopes = mayApprove ? (["ask", "approve"] as const) : (["ask"] as const);
  const person = { name: principal, role, scopes, displayName };
  const isApproval = asked.question.approval !== undefined;
  // Everybody in the chat reads the question. Only the person asked may answer it, or somebody who may approve.
  const sharedWith = mayApprove ? [principal] : [];
  if (!mayAnswer(person, { kind: isApproval ? "approval" : "conversation", by: asked.principal, sharedWith }))
    return {
      refused: isApproval
        ? `Only somebody who is allowed to approve may decide this.`
        : "This question is not yours.",
    };
  if (isApproval && answer !== "deny" && isTooLong(asked.question)) return { refused: TOO_LONG };
  const home = homeOf(env, name.split("/", 1)[0] ?? "");
  const given = givenOf(answer);
  const answered = await home.questions.answer(
    act.question,
    given.answer,
    person,
    { by: "chat" },
    given.keep,
  );
  if (answered.ok) {
    logInfo("question.pressed", { question: act.question, role });
    return {};
  }
  return { refused: answered.message };
}

/** Home decides who may press it. What came of it stands below the message, for everybody who reads it; elsewhere one person is told. */
async function pressRule(
  env: Env,
  name: string,
  { principal, ownRole: role, displayName }: Admitted & { ok: true } & { displayName: string },
  pressed: PressedRule,
  privateChat: string | undefined,
): Promise<{ refused?: string }> {
  const by = { principal, displayName, role, conversation: name, privateChat };
  const minutes = pressed.do === "snooze" ? { minutes: SNOOZE_MINUTES } : {};
  const home = homeOf(env, name.split("/", 1)[0] ?? "");
  const { done, text } = await home.notices.pressRule({ ...pressed, ...minutes, by });
  logInfo("rule.pressed", { rule: pressed.rule, do: pressed.do, role });
  if (!done) return { refused: text };
  // In both names of the chat: nothing tells where the message of the button stands.
  const shown = [name, privateChat ?? []]
    .flat()
    .map((one) => conversationOf(env, one).pressed(pressed, text));
  return (await Promise.all(shown)).includes(true) ? {} : { refused: text };
}
