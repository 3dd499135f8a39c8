/**
 * How sure the gateway has to be that a person decides, and how sure it is. A press in a session of the console may be that of a program
 * in the person's browser; a tap in a chat app, or in a second browser, is not; a passkey verifies the person. This file alone decides
 * which of them an answer needs, so that it can be reviewed alone; docs/explain/security.md has the same as a table.
 */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { type AnswerWay, HOW, NEEDS_OTHER_DEVICE, NEEDS_PASSKEY, type Refusal } from "../../api/passkeys.ts";
import { ACCEPT, type Question } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { connectionsOf, peopleOver, privateChatOf } from "../notices/reach.ts";
import { countsLater, verifyProof } from "../passkeys/confirmations.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { languageOf } from "./describe-approval.ts";
import { isOfProgram, kindOf } from "./question-kind.ts";

/** `tap`: in a chat app or in another browser, or a passkey. `verified`: a passkey, or the chat that an owner named. */
type Level = "press" | "tap" | "verified";

/** Who answers. @property name the principal */
type By = { name: string; mayApprove: boolean };

/** The answer may count. `use` is called in the same synchronous block as the answer. @property how for the record */
type Confirmed = { ok: true; how: string; use: () => Refusal | undefined };

const FREE = () => undefined;

/** What a yes to this question needs. */
function levelOf(home: HomeContext, question: Question): Level {
  if (!question.approval) return "press";
  if (kindOf(home, question).isDangerous) return "verified";
  const all = question.members ?? [question];
  return all.some((one) => isOthers(home, one)) ? "tap" : "press";
}

/** A program or another home asked, or a text of others may have. */
function isOthers(home: HomeContext, { call, approval }: Question): boolean {
  const asked = ledgerOf(home).get(call);
  return (
    asked?.flags.tainted === true ||
    approval?.unread !== undefined ||
    approval?.tainted === true ||
    (asked !== undefined && (isOfProgram(asked) || asked.caller.principal.startsWith("home:")))
  );
}

/** Whether this answer, given in this way, may count. */
export async function confirmAnswer(
  home: HomeContext,
  question: Question | undefined,
  { answer, by, way }: { answer: string; by: By; way: AnswerWay },
): Promise<Confirmed | Refusal> {
  const isYes = answer === "approve" || answer === ACCEPT;
  const isOpen = question?.answer === null && question.expiresAt > Date.now();
  // The question's own rules refuse what is closed, or not this person's to decide.
  if (!question?.approval || !isOpen || !isYes || !by.mayApprove)
    return { ok: true, how: howOf(way, by), use: FREE };
  const level = levelOf(home, question);
  if (way.by === "token") return { ok: true, how: HOW.token, use: FREE };
  if (way.by === "notification")
    return level === "press" ? pass(HOW.notification) : needed(home, question, by);
  if (way.by === "chat") return level === "verified" ? tapOf(home, question, by) : pass(tapText(by.name));
  if (way.proof) return await provenOf(home, question, { answer, by, way, proof: way.proof });
  // It accepts a text for good, so it widens rights.
  const widens = answer === ACCEPT && passkeysOf(home).any();
  return level === "press" && !widens ? pass(HOW.press) : pressOf(home, question, { by, way, level });
}

function pass(how: string): Confirmed {
  return { ok: true, how, use: FREE };
}

/** A dangerous call, answered in a chat app. */
function tapOf(home: HomeContext, question: Question, { name }: By): Confirmed | Refusal {
  const store = passkeysOf(home);
  if (!store.any() || store.trustedTaps().includes(name)) return pass(tapText(name));
  return {
    ok: false,
    status: 403,
    code: NEEDS_PASSKEY,
    message: phrasesFor(home, question).say("harmNeedsPasskey"),
  };
}

type Session = Extract<AnswerWay, { by: "session" }>;

async function provenOf(
  home: HomeContext,
  question: Question,
  {
    answer,
    by,
    way: { place, keep },
    proof,
  }: { answer: string; by: By; way: Session; proof: NonNullable<Session["proof"]> },
): Promise<Confirmed | Refusal> {
  if (!place) return needed(home, question, by);
  const about = question.id;
  const what = whatOf(question);
  const proven = await verifyProof(home, {
    person: by.name,
    place,
    proof,
    subject: { about, what, answer, keep },
  });
  if (!proven.ok) return proven;
  const isRisky = levelOf(home, question) === "verified" || answer === ACCEPT;
  if (isRisky && proven.passkey.harmAt > Date.now()) return countsLater(home, proven.passkey);
  return {
    ok: true,
    how: HOW.passkey,
    use: () => {
      const changed: Refusal = {
        ok: false,
        status: 409,
        code: "changed",
        message: "what is asked has changed meanwhile; read it again",
      };
      return proven.use() ? undefined : changed;
    },
  };
}

/** A press that is not enough. In a second browser it is a tap. */
function pressOf(
  home: HomeContext,
  question: Question,
  { by, way, level }: { by: By; way: Session; level: Level },
): Confirmed | Refusal {
  const store = passkeysOf(home);
  const hasPasskey = level === "verified" ? store.any() : store.has(by.name);
  if (!hasPasskey && !hasElsewhere(home)) return pass(HOW.press);
  const isTap = store.pressedElsewhere(question.id, way.id);
  if (isTap && !(level === "verified" && hasPasskey)) return pass(HOW.otherDevice);
  return needed(home, question, by, way.place?.host);
}

/** Says which ways are open. */
function needed(home: HomeContext, question: Question, { name }: By, host?: string): Refusal {
  const store = passkeysOf(home);
  const level = levelOf(home, question);
  const isHere = host !== undefined && store.of(name, host).length > 0;
  const others = [...new Set(store.list(name).map((one) => one.host))].filter((one) => one !== host);
  const phrases = phrasesFor(home, question);
  const chats = level === "verified" && store.any() ? trustedChats(home) : chatNames(home);
  const named = chats.map((chat) => chat ?? phrases.say("yourChat"));
  const ways = [
    ...(isHere ? [phrases.say("wayPasskey")] : []),
    ...(!isHere && others.length > 0 ? [phrases.say("wayHosts", { hosts: phrases.list(others, "or") })] : []),
    ...(named.length > 0 ? [phrases.say("wayChats", { chats: phrases.list(named, "or") })] : []),
    ...(level === "verified" && store.any() ? [] : [phrases.say("wayBrowser")]),
    ...(isHere || others.length > 0 ? [] : [phrases.say("wayAdd")]),
  ];
  return {
    ok: false,
    status: 403,
    code: isHere ? NEEDS_PASSKEY : NEEDS_OTHER_DEVICE,
    message: phrases.say(level === "verified" ? "pressHarm" : "pressOthers", {
      ways: phrases.list(ways, "or"),
    }),
  };
}

/** In the language in which it was asked for. */
function phrasesFor(home: HomeContext, { call }: Question): Phrases {
  return phrasesOf(languageOf(ledgerOf(home).get(call)));
}

/** The hash of the exact call; of several, all of them. */
export function whatOf({ approval, members }: Question): string {
  const open = members?.filter(({ answer }) => answer === null) ?? [];
  return members ? open.map((one) => `${one.id}:${one.approval?.hash}`).join(" ") : (approval?.hash ?? "");
}

function howOf(way: AnswerWay, { name }: By): string {
  if (way.by === "chat") return tapText(name);
  return { token: HOW.token, notification: HOW.notification, session: HOW.press }[way.by];
}

const APPS: Readonly<Record<string, string>> = {
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  whatsapp: "WhatsApp",
};

/** @param account `telegram:7` */
function tapText(account: string): string {
  const channel = account.split(":", 1)[0] ?? "";
  return `tap in ${APPS[channel] ?? "a chat"}`;
}

/** True if somebody who may approve has a chat with this home. */
function hasElsewhere(home: HomeContext): boolean {
  return approversChats(home).length > 0;
}

/** @returns undefined among them: a chat of another kind */
function chatNames(home: HomeContext): Array<string | undefined> {
  return [...new Set(approversChats(home).map(({ channel }) => APPS[channel]))];
}

function trustedChats(home: HomeContext): Array<string | undefined> {
  const accounts = passkeysOf(home).trustedTaps();
  return [...new Set(accounts.map((one) => APPS[one.split(":", 1)[0] ?? ""]))];
}

/** Accounts that may approve, and have a private chat. @property account `telegram:7` */
export function approversChats(home: HomeContext): Array<{ channel: string; account: string }> {
  return connectionsOf(home).flatMap((one) =>
    peopleOver(home, one, one.approve)
      .filter((sender) => privateChatOf(home, one, sender) !== undefined)
      .map((sender) => ({ channel: one.channel, account: `${one.channel}:${sender}` })),
  );
}
