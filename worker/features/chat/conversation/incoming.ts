/** Takes each message and command of a chat once, and answers it over the chat. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import { maySee } from "../../../kernel/api/may-see.ts";
import type { NewOrigin } from "../../../kernel/api/turns.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { lastLanguage } from "../../../kernel/conversation/planned.ts";
import { forgetSessions, forgetTurns } from "../../../kernel/conversation/retention.ts";
import { drive } from "../../../kernel/conversation/turn-loop.ts";
import { beginTurn, cancelTurn } from "../../../kernel/conversation/turns.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import type { Accepted, ChatCommand, Delivery } from "../contract.ts";
import { platformOf } from "../platforms/all.ts";
import { answersOf } from "../platforms/question-text.ts";
import { AGENTS_SHOWN, agentsText, helpText, statusText } from "./commands.ts";
import { findDelivery, rememberDelivery } from "./deliveries.ts";
import { notePictures, noteThread } from "./pictures.ts";
import { describeQuoted } from "./quoted.ts";
import type { ChatSession } from "./session.ts";

/** Turns that wait; a person who goes on is told. */
const UNFINISHED_MAX = 20;
/** Some platforms show a message of ours at once, which becomes the answer. It needs a text also when there is nothing to say. */
const DONE = "Done.";

/** Takes what a person did, once. Durable when it returns. */
export async function receive(
  context: ConversationContext,
  chat: ChatSession,
  delivery: Delivery,
): Promise<Accepted> {
  const known = findDelivery(context, delivery.id);
  const { act } = delivery;
  if (known) return again(context, known.turn, act);
  if (act.do !== "tell") chat.outbox.personWrote();
  if (act.do === "say") return receiveMessage(context, chat, delivery, act);
  const words = act.do === "tell" ? act.text : await commandText(context, act, delivery);
  if (act.do === "command") await endTurns(context, act.command);
  // Two of the same may have come while Home was asked.
  if (findDelivery(context, delivery.id)) return {};
  // No await from here on: only what is done is remembered, or its repeat would not do it either.
  rememberDelivery(context, delivery.id, undefined);
  if (act.do === "command" && act.command.name === "new") forgetChat(context, chat);
  return reply(chat, delivery, words);
}

/** A repeat. Another message under the same id is none, as far as its turn still tells. */
function again({ transcript }: ConversationContext, id: string | null, act: Delivery["act"]): Accepted {
  const turn = id === null ? undefined : transcript.turn(id);
  const isMessage = act.do === "say";
  if ((id !== null) !== isMessage) return { differs: true };
  if (!turn || !isMessage) return id === null ? {} : { turn: turn?.id ?? id };
  const [first] = transcript.entriesOf(turn.n);
  const text = first?.role === "user" ? first.text : undefined;
  const isSame = text === undefined || text === messageText(act) || isLonger(text, act);
  return isSame ? { turn: turn.id } : { turn: turn.id, differs: true };
}

/** Tells whether a line below the message says what could not be fetched. */
function isLonger(text: string, act: Delivery["act"] & { do: "say" }): boolean {
  return act.pictures.length > 0 && text.startsWith(`${messageText(act)}\n`);
}

/** A picture alone has no words. */
function messageText({ text, pictures }: Delivery["act"] & { do: "say" }): string {
  return text.trim() === "" && pictures.length > 0 ? "(a picture)" : text;
}

function receiveMessage(
  context: ConversationContext,
  chat: ChatSession,
  delivery: Delivery,
  act: Delivery["act"] & { do: "say" },
): Accepted {
  const { origin } = delivery;
  const running = context.transcript.turns().filter(({ status }) => status === "running");
  // It is not done, so it is not remembered.
  if (running.length >= UNFINISHED_MAX)
    return reply(chat, delivery, `${running.length} questions wait already. /stop ends them.`);
  // No await from here on: the rows are written together or not at all.
  const isFirst = context.transcript.turns().length === 0;
  const said = messageText(act);
  const quote = act.quoted && describeQuoted(context, act.quoted);
  const turn = beginTurn(context, {
    id: crypto.randomUUID(),
    idempotency: undefined,
    merge: act.merge,
    text: quote ? `${said}\n\n${quote.words}`.trimStart() : said,
    images: [],
    sources: [...(act.sources ?? []), ...(quote?.sources ?? [])],
    origin,
  });
  rememberDelivery(context, delivery.id, turn.id);
  notePictures(context, turn, origin.reply, act.pictures);
  if (act.thread && isFirst) noteThread(context, turn, origin.reply);
  drive(context);
  if (origin.reply && act.notice !== undefined) {
    chat.outbox.say(origin.reply, act.notice, "plain");
    chat.outbox.go();
  }
  if (origin.reply) chat.outbox.typing(origin.reply);
  return { turn: turn.id };
}

/** Over the chat. Without an address for it, the words go back to the caller. */
function reply(chat: ChatSession, { origin }: Delivery, words: string | undefined): Accepted {
  if (!origin.reply) return words === undefined ? {} : { words };
  if (words === undefined && !platformOf(origin.channel)?.opening) return {};
  chat.outbox.say(origin.reply, words ?? DONE, "plain");
  chat.outbox.go();
  return {};
}

async function commandText(
  context: ConversationContext,
  { command, ownRole }: Delivery["act"] & { do: "command" },
  { origin }: Delivery,
): Promise<string | undefined> {
  const language = origin.language ?? lastLanguage(context.transcript) ?? "en";
  const phrases = await readLanguage(context.env, language);
  const running = context.transcript.turns().filter(({ status }) => status === "running");
  switch (command.name) {
    case "stop":
      return running.length === 0 ? phrases.say("nothingRuns") : undefined;
    case "new":
      return phrases.say("newBegun");
    case "status":
      return statusText(running, await context.home().status(), phrases);
    case "agents":
      return agentsText(
        await context.home().agents.agents({ limit: AGENTS_SHOWN, ids: origin.limits?.agents }),
        phrases,
      );
    case "rules":
      return await ruleCommandText(context, origin, "rules", { do: "list" });
    case "ack":
      return await ruleCommandText(
        context,
        { ...origin, language, role: ownRole ?? origin.role },
        "ack",
        ackArguments(command.argument),
      );
    case "away":
    case "back":
      return await ruleCommandText(context, { ...origin, language, role: ownRole ?? origin.role }, "rules", {
        do: command.name,
      });
    case "answer":
      return await answerText(context, command.argument, origin, phrases);
    case "approve":
      return "Only an owner can let somebody in, in a private chat.";
    case "help":
      return helpText(phrases);
  }
}

/** `/rules`, `/ack`: as the model's tools, with the person's own rights. */
async function ruleCommandText(
  context: ConversationContext,
  { principal, role, channel, privateChat, limits, reply, language }: NewOrigin,
  name: "rules" | "ack",
  args: Record<string, unknown>,
): Promise<string> {
  const id = crypto.randomUUID();
  const answered = await context.home().calls.runTool({
    id,
    name,
    args,
    viewer: { name: principal, role, scopes: ["ask"] },
    from: { conversation: context.name, privateChat, call: id, depth: 0 },
    origin: { principal, role, channel, ...(limits && { limits }), ...(reply && { reply }) },
    sources: [],
    ...(language && { language }),
  });
  return "outcome" in answered ? forPerson(answered.outcome) : DONE;
}

/** `/ack`, `/ack w-7f2c`, `/ack 60`, `/ack w-7f2c 60`: minutes make it a snooze. */
function ackArguments(argument: string): Record<string, unknown> {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const minutes = words.find((word) => /^\d+$/.test(word));
  const id = words.find((word) => word !== minutes);
  return {
    ...(id !== undefined && { id }),
    ...(minutes !== undefined && { snooze_minutes: Number(minutes) }),
  };
}

async function endTurns(context: ConversationContext, { name }: ChatCommand): Promise<void> {
  if (name !== "stop" && name !== "new") return;
  const running = context.transcript.turns().filter(({ status }) => status === "running");
  // All at once: those that wait behind one that is being ended must not begin after a crash.
  for (const { n } of running) context.transcript.cancelling(n);
  for (const turn of running) await cancelTurn(context, turn);
}

function forgetChat(context: ConversationContext, chat: ChatSession): void {
  context.later(forgetSessions(context));
  forgetTurns(context);
  chat.outbox.forgetTurns();
  if (context.tables.has("inbound")) context.ctx.storage.sql.exec("DELETE FROM inbound");
}

/** `/answer 2`, `/answer words`: for a question without buttons. An approval takes its buttons. */
async function answerText(
  context: ConversationContext,
  argument: string,
  origin: NewOrigin,
  phrases: Phrases,
): Promise<string | undefined> {
  const { transcript } = context;
  const open = transcript
    .turns()
    .flatMap((turn) => transcript.questionsOf(turn.n).map(({ question }) => ({ question, turn })))
    .filter(({ question }) => question.answer === undefined && !question.approval)
    // A session goes on after the turn that began it.
    .filter(
      ({ question, turn }) => turn.status === "running" || transcript.call(question.call)?.outcome?.job,
    );
  const person = { name: origin.principal, role: origin.role, scopes: ["ask" as const] };
  const asked = open.find(({ turn }) => maySee(person, { kind: "conversation", by: turn.origin.principal }));
  if (!asked) return phrases.say("nobodyAsks");
  if (argument === "") return phrases.say("writeAfter");
  const options = answersOf(asked.question);
  const answer = /^\d{1,2}$/.test(argument) ? (options[Number(argument) - 1] ?? argument) : argument;
  const answered = await context
    .home()
    .questions.answer(asked.question.id, cutText(answer, 4_000), person, { by: "chat" });
  return answered.ok ? undefined : answered.message;
}
