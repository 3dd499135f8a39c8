/** What is said here without a question: a notice is a turn that has ended, without a model; a briefing is a turn that only reads. */
import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { Briefing } from "../api/briefing.ts";
import type { Handed, Notice, PressedButton } from "../api/notices.ts";
import { type QuestionToPerson, turnQuestion } from "../api/questions.ts";
import type { Address, NewOrigin } from "../api/turns.ts";
import { noticeIn } from "../notice-language.ts";
import { readLanguage } from "../phrases.ts";
import type { ConversationContext } from "./context.ts";
import { lastLanguage } from "./planned.ts";
import type { Turn } from "./store/rows.ts";
import { drive } from "./turn-loop.ts";
import { beginTurn } from "./turns.ts";

/** Takes a notice, once for each id. Durable when it returns. */
export async function onNotice(context: ConversationContext, told: Notice): Promise<Handed> {
  const notice = await inOwnLanguage(context, told);
  const found = await originOf(context);
  if (!found.accepted) return found;
  // No await from here on: turn and message are written together or not at all.
  const { transcript, chat, subscribers } = context;
  const { id, text, rules, buttons, critical, sources = [], next } = notice;
  const turn = transcript.speak(
    {
      id: crypto.randomUUID(),
      idempotency: keyOf(id),
      text: "",
      images: [],
      note: `Without a question, the person was told${rules.length > 0 ? ` of ${rules.join(", ")}` : ""}:`,
      sources: [...sources],
      origin: { ...found.origin, notice: { rules, buttons, critical, ...(next && { next }) } },
    },
    text,
  );
  if (turn) {
    chat?.notify(turn, text, turn.id);
    subscribers.began(turn);
    subscribers.ended(turn);
    drive(context);
  }
  return { accepted: true };
}

async function inOwnLanguage(context: ConversationContext, notice: Notice): Promise<Notice> {
  const language = notice.said && lastLanguage(context.transcript);
  if (!notice.said || !language || language === "en") return notice;
  return noticeIn(notice, await readLanguage(context.env, language));
}

/** Asks the person here for an approval that another person's call needs, once. Durable when it returns. */
export async function onApproval(context: ConversationContext, asked: QuestionToPerson): Promise<Handed> {
  const found = await originOf(context);
  if (!found.accepted) return found;
  // No await from here on: turn and question are written together or not at all.
  const { transcript, chat, subscribers } = context;
  const by = asked.via?.[0] ?? "somebody else";
  const turn = transcript.speak(
    {
      id: crypto.randomUUID(),
      idempotency: `approval:${asked.id}`,
      text: "",
      images: [],
      note: "Without a question, the person was asked to decide an approval:",
      sources: [],
      origin: found.origin,
    },
    `${by} needs your decision on a call.`,
  );
  if (turn) {
    transcript.addQuestion(turnQuestion(asked), turn.n);
    chat?.asked(turn, asked.id);
    subscribers.began(turn);
    subscribers.ended(turn);
    drive(context);
  }
  return { accepted: true };
}

/** @param by who has to have written here; null: anybody @returns undefined: that person has not */
export async function canTell(context: ConversationContext, by: string | null): Promise<Handed | undefined> {
  const isBy = ({ origin }: Turn) => origin.event === undefined && origin.principal === by;
  if (by !== null && !context.transcript.turns().some(isBy)) return undefined;
  const found = await originOf(context);
  return found.accepted ? { accepted: true } : found;
}

/** Begins a turn that a rule asks for, once for each id. It only reads, for the rule's maker, and has none of the conversation before it. */
export async function onBriefing(
  context: ConversationContext,
  { id, text, rule, tainted, by }: Briefing,
): Promise<Handed> {
  const found = await originOf(context);
  if (!found.accepted) return found;
  const { origin } = found;
  const sources: Source[] = tainted ? [STRANGER] : [];
  beginTurn(context, {
    id: crypto.randomUUID(),
    idempotency: keyOf(id),
    text: "",
    images: [],
    note: `It is time for the briefing that the person asked for (${rule}). Look at the devices that it needs; you can only read. Then write it, and say what could not be read. They asked for:\n${text}`,
    sources,
    origin: { ...origin, ...by, limits: { ...by.limits, readsOnly: true } },
  });
  drive(context);
  return { accepted: true };
}

/** A button was pressed: it goes, and below its message stands what came of it. @returns false: there is no such message */
export function onPressed(
  { chat, transcript, subscribers }: ConversationContext,
  press: PressedButton,
  words: string,
): boolean {
  if (chat) return chat.pressed(press, words);
  const turns = transcript.pressRule(press, words);
  for (const turn of turns) subscribers.changedAfterEnd(turn);
  return turns.length > 0;
}

/** Apart from the keys of people's messages. */
function keyOf(id: string): string {
  return `rule:${id}`;
}

/** The person who wrote last, and the place where that was answered; in a private chat where nobody wrote yet, that chat. */
async function originOf(
  context: ConversationContext,
): Promise<{ accepted: true; origin: NewOrigin } | { accepted: false; why: string }> {
  const { transcript, chat, name } = context;
  const last = transcript.turns().findLast(({ origin }) => origin.event === undefined)?.origin;
  const channel = name.split("/")[1] ?? "";
  // SAFETY: only chats set it, from an Address.
  const found = chat && (await chat.unsolicitedPlace(last?.reply as Address | undefined));
  if (found && "refused" in found) return { accepted: false, why: found.refused };
  if (!last && !chat) return { accepted: false, why: "the conversation is not there any more" };
  const { principal = `${channel}:gateway`, role = "guest" as const, limits, model } = last ?? {};
  return {
    accepted: true,
    origin: {
      principal,
      role,
      channel,
      event: "rule",
      ...(limits && { limits }),
      ...(model !== undefined && { model }),
      // In a group it is no reply to what somebody wrote last.
      ...(found && { reply: { ...found.place, reply_to: undefined, late: true } }),
    },
  };
}
