/** For tests inside workerd of whom rules tell: people in a chat app, and the answers to what is asked first. */
import { env } from "cloudflare:workers";
import type { Role } from "../worker/kernel/settings/chat.ts";
import { ruleHome } from "./rule-clock.ts";
import { script } from "./scripted-model.ts";
import { rowsOf, storedTurns } from "./stopping.ts";
import { until } from "./wait.ts";
import { type Answer, ask, say } from "./workerd.ts";

/** The owner and the member of the Telegram connection (tokens.ts). */
export const OWNER = 1;
export const MEMBER = 7;

/** @param place of a private chat, the person's number */
export const chatOf = (place: number) => env.CONVERSATION.getByName(`a/telegram/family:${place}`);

/** A person writes in Telegram, and has the answer. @param place a group has a negative number */
export async function writes(sender: number, place = sender, text = script({ text: "hi" })): Promise<void> {
  const role: Role = sender === OWNER ? "owner" : "member";
  const reply = { connection: "family", chat: place };
  const before = (await storedTurns(chatOf(place))).length;
  await chatOf(place).receive({
    id: crypto.randomUUID(),
    origin: { principal: `telegram:${sender}`, role, channel: "telegram", reply },
    act: { do: "say", text, pictures: [], merge: false },
  });
  await until(async () => (await storedTurns(chatOf(place)))[before]?.status === "done", {
    what: "an answer",
  });
  const known = () =>
    rowsOf(ruleHome(), `SELECT name FROM conversation WHERE name = 'a/telegram/family:${place}'`);
  await until(async () => (await known()).length > 0, { what: "the home knows of the chat" });
}

/** @returns what rules said there */
export async function toldIn(place: number): Promise<string[]> {
  const turns = await storedTurns(chatOf(place));
  return turns.flatMap(({ origin, answer }) => (origin.event === "rule" ? [answer ?? ""] : []));
}

/** Asks in a conversation of the API; a person approves what has to be. @returns the reason that the person read */
export async function approved(
  conversation: string,
  text: string,
  init: Parameters<typeof say>[2] = {},
): Promise<{ body: Answer; reason: string }> {
  const turn = say(conversation, text, { ...init, body: JSON.stringify({ text }) });
  const asked = await until(
    async () => {
      const { questions } = (await (await ask("/v1/questions")).json()) as {
        questions: Array<{ id: string; approval?: { reason: string } }>;
      };
      return questions[0];
    },
    { what: "the question" },
  );
  await ask(`/v1/questions/${asked.id}`, { method: "POST", body: JSON.stringify({ answer: "approve" }) });
  return { body: (await turn).body, reason: asked.approval?.reason ?? "" };
}
