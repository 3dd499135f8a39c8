/** Writes a question or an approval for a chat: its text, its buttons and its outcome. */

import { approvalText } from "@edgecall/core/approvals/approval-text.ts";
import { boundsText } from "@edgecall/core/approvals/kept-text.ts";
import { askedText } from "@edgecall/core/phrases/asked-text.ts";
import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { betweenText, headAndTail, hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { TurnQuestion } from "../../../kernel/api/answers.ts";
import type { Keep, PermissionOffer } from "../../../kernel/api/permissions.ts";
import { ACCEPT, CLOSED, EXPIRED } from "../../../kernel/api/questions.ts";
import { type Button, buttonData } from "./chat-platform.ts";

/** More buttons than a chat app shows well. */
const CHOICES_MAX = 20;
/** A longer answer is cut: the person's own message has it. */
const SHOWN_MAX = 200;
const APPROVAL = ["approve", "deny"] as const;
/** Answers where agents' own words are a reason to ask: `accept` accepts these, too. */
const WITH_ACCEPT = [...APPROVAL, ACCEPT] as const;
/** The answer that approves, and keeps what the card offers. */
const ALWAYS = "always";
const MARKS_MAX = 5;
/** Characters of an agent's description. */
const UNREAD_MAX = 300;
/**
 * Characters of an approval's arguments, as JSON, that fit a few messages. Longer arguments are shown by head and tail. They can be
 * denied in the chat, but approved only in the console, which shows all of them.
 */
const WHOLE_MAX = 16_000;
const CUT_MAX = 3_000;
export const TOO_LONG =
  "This is too long to be shown whole in a chat. Read and approve it in the console; it can be denied here.";

/** @returns the answers of the buttons, by index */
export function answersOf(question: TurnQuestion): readonly string[] {
  const { approval, options } = question;
  if (!approval) return options.slice(0, CHOICES_MAX);
  if (approval.unread) return WITH_ACCEPT;
  return offerOf(question) ? [...APPROVAL, ALWAYS] : APPROVAL;
}

/**
 * What a chat offers to keep with a yes: for this action on this device within bounds that a line says whole. What another's text or
 * another device led to is kept in the console alone, and so is what takes a passkey.
 */
function offerOf({ approval, members, offers = [] }: TurnQuestion): PermissionOffer | undefined {
  if (!approval?.card || members) return undefined;
  return offers.find(
    ({ id, bounds, level, tainted, chain }) =>
      id === ALWAYS &&
      level !== "verified" &&
      !tainted &&
      !chain &&
      boundsText(bounds, ENGLISH) !== undefined,
  );
}

/** The gateway's part of a choice. */
export function givenOf(answer: string): { answer: string; keep?: Keep } {
  return answer === ALWAYS ? { answer: "approve", keep: { offer: ALWAYS } } : { answer };
}

/** @param phrases of the conversation's language */
export function choicesOf(question: TurnQuestion, phrases = ENGLISH): Button[] {
  return answersOf(question).flatMap((answer, choice) =>
    answer !== "deny" && question.approval && isTooLong(question)
      ? []
      : [
          {
            label: question.approval ? labelOf(answer, question.approval, phrases) : visible(answer),
            data: buttonData(question.id, choice),
            answer,
          },
        ],
  );
}

/** The words of the card; a gateway before 0.4 made none. */
function labelOf(answer: string, { card }: NonNullable<TurnQuestion["approval"]>, phrases: Phrases): string {
  const { verb = "Approve", decline = "Deny", accept = "Accept text and approve" } = card ?? {};
  if (answer === ALWAYS) return phrases.say("verbAlways", { verb });
  return answer === "deny" ? decline : answer === ACCEPT ? accept : verb;
}

/** The answer that a press gives, or undefined: the question has no such answer. */
export function answerOf(question: TurnQuestion, choice: number | string): string | undefined {
  const answers = answersOf(question);
  if (typeof choice === "number") return answers[choice];
  const known = answers.find((answer) => answer.toLowerCase() === choice.toLowerCase());
  // A question without options is answered in any words.
  return known ?? (answers.length === 0 ? choice : undefined);
}

/** True if a chat does not show all that would be approved: then nobody approves it there. */
export function isTooLong({ approval, members }: TurnQuestion): boolean {
  if (!approval) return false;
  const { lines = [], rest } = approvalText({ approval, members }, 1);
  return lines.join("\n").length + rest.length > WHOLE_MAX;
}

/**
 * The text that is decided on: an approval is for exactly this.
 * @param console its address, where the gateway knows it
 * @param phrases of the conversation's language
 */
export function questionText(question: TurnQuestion, console?: string, phrases = ENGLISH): string {
  const { approval, options } = question;
  if (!approval) {
    const agent = shown(question.agent);
    const text = shown(question.text);
    const list = options.map((option, at) => `${at + 1}. ${shown(option)}`).join("\n");
    const how =
      options.length > 0
        ? `${list}\n\n(or /answer and a number)`
        : "Please answer with /answer and your words.";
    return `**${agent}**${askedBy(question)} asks: ${text}\n\n${how}`;
  }
  const { reason, card, cwd } = approval;
  const hidden = hiddenNotice({ ...approval, card: undefined });
  return [
    `**${plain(question.text.split("\n", 1)[0] ?? "")}**`,
    ...(card ? [plain(card.asker)] : []),
    ...(card?.facts ?? []).map(({ label, text }) => `${label}: ${plain(text)}`),
    // A card has it among the facts.
    ...(cwd === undefined || card ? [] : [`in ${shown(cwd)}`]),
    // They say all of it.
    ...(card?.lines?.map(plain) ?? argumentLines(question, approval, console)),
    ...marksIn(approval),
    shown(reason),
    ...unreadLines(approval.unread),
    ...keptLines(question, phrases),
    ...(hidden === undefined ? [] : [`⚠ ${hidden}`]),
    ...describeApprovers(question, phrases),
  ].join("\n");
}

/** All of what would be run, or its head and tail. @param console its address */
function argumentLines(
  question: TurnQuestion,
  approval: NonNullable<TurnQuestion["approval"]>,
  console: string | undefined,
): string[] {
  // A sentence that says all of it needs no more than a line.
  const isSaid = approval.card !== undefined && !approval.card.partial;
  const { lines, rest } = approvalText({ approval, members: question.members }, isSaid ? undefined : 1);
  const parts = [...(lines ? [fenced(lines.join("\n"), "sh")] : []), ...(rest === "" ? [] : [fenced(rest)])];
  if (!isTooLong(question)) return parts;
  const whole = [...(lines ?? []), rest].join("\n");
  const cut = headAndTail(whole, { chars: CUT_MAX });
  return cut
    ? [
        fenced(cut.head),
        betweenText(cut).trim(),
        fenced(cut.tail),
        `⚠ ${TOO_LONG}${console ? ` ${console}` : ""}`,
      ]
    : parts;
}

/** The lines of a script that do harm. */
function marksIn({ card }: NonNullable<TurnQuestion["approval"]>): string[] {
  return (card?.marks ?? []).slice(0, MARKS_MAX).map(({ line, why }) => `⚠ ${line + 1}: ${plain(why)}`);
}

/** The permission of the button "always". */
function keptLines(question: TurnQuestion, phrases: Phrases): string[] {
  const offer = offerOf(question);
  const { verb, own } = question.approval?.card ?? {};
  if (!offer || verb === undefined || isTooLong(question)) return [];
  const bounds = boundsText(offer.bounds, phrases) || verb;
  const [button, date] = [phrases.say("verbAlways", { verb }), phrases.date(offer.until, "UTC")];
  const who = own?.name ?? holderText(offer);
  return [plain(phrases.say("keptAlways", { button, who, date, bounds }))];
}

/** Whose calls it is for, where the card has no name. */
function holderText({ who: [who] }: PermissionOffer): string {
  return typeof who === "object" && "person" in who ? who.person : "";
}

/** Lines for a person who may not decide it: who was asked. */
function describeApprovers({ asked }: TurnQuestion, phrases: Phrases): string[] {
  if (asked === undefined) return [];
  const who = asked.length > 0 ? shown(askedText(asked, phrases)) : phrases.say("nobodyTold");
  return [phrases.sentences(phrases.say("cannotDecide"), who)];
}

/** Lines that show what `accept` accepts. */
function unreadLines(unread: NonNullable<TurnQuestion["approval"]>["unread"] = []): string[] {
  return unread.map(({ agent, line, was, actions, group }) => {
    const parts = [
      ...(line === undefined ? [] : [`says of itself: ${shownLine(line)}`]),
      ...(was === undefined ? [] : [`before: ${shownLine(was)}`]),
      ...(actions.length === 0 ? [] : [`new actions: ${shownLine(actions.join(", "))}`]),
      ...(group === undefined ? [] : [`its group: ${shownLine(group)}`]),
    ];
    return `${shown(agent)} ${parts.join("; ")}`;
  });
}

/** Puts a text into a code span, so nothing in it is markup. */
function shownLine(text: string): string {
  const whole = visible(text).replaceAll("`", "'").replace(/\s+/g, " ");
  return `\`${cutText(whole, UNREAD_MAX)}\``;
}

/** Visible, also after Markdown is read: `&#8238;` stays as it is written. */
function shown(text: string): string {
  return visible(text).replace(/&(?=#?\w{1,40};)/g, "\\&");
}

/** A text of the card, in which nothing is markup, and no bare address a link. */
function plain(text: string): string {
  return visible(text).replace(/\\(?=[!-/:-@[-`{-~])|[`*_[\]<>~|&@]|:(?=\/\/)|(?<=www)\.|^[#+>-]/gi, "\\$&");
}

/** The chain of agents, where other agents asked for the call. */
function askedBy({ via = [] }: TurnQuestion): string {
  return via.length === 0 ? "" : ` (asked by ${shown(via.join(" → "))})`;
}

/** A fence that the text cannot close. */
function fenced(text: string, language = "json"): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** @param question as it stands now; undefined: it was forgotten @param mentions the platform that shows its own ids as names, if it is shown there */
export function closedText(question: TurnQuestion | undefined, mentions = ""): string {
  const { answer, answered_by: by, answered_by_name: name = by, approval, asked = [] } = question ?? {};
  if (answer === undefined || answer === CLOSED) return "⏹ No longer needed.";
  if (answer === EXPIRED)
    return `⌛ Nobody answered in time; nothing was run. ${shown(askedText(asked))}`.trim();
  const person = by?.startsWith(`${mentions}:`) ? by : name;
  const who = person === undefined ? "" : ` by ${person}`;
  if (!approval) return `✔ Answered${who}: ${visible(cutText(answer, SHOWN_MAX))}`;
  return answer === "approve" ? `✔ Approved${who}.` : `✖ Denied${who}.`;
}
