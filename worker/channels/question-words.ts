/** A question or an approval in a chat: its words, its buttons, and what became of it. */

import type { TurnQuestion } from "../answers.ts";
import { CLOSED, EXPIRED } from "../home/questions.ts";
import { type Button, buttonData } from "./channel.ts";

export type ShownQuestion = TurnQuestion;

/** More than a keyboard shows. */
const CHOICES_MAX = 20;
/** Whoever wrote a longer answer has it above. */
const SHOWN_MAX = 200;
const APPROVAL = ["approve", "deny"] as const;

/** What a button answers, by its place. */
export function answersOf({ approval, options }: ShownQuestion): readonly string[] {
  return approval ? APPROVAL : options.slice(0, CHOICES_MAX);
}

export function choicesOf(question: ShownQuestion): Button[] {
  return answersOf(question).map((answer, choice) => ({
    label: !question.approval ? answer : answer === "approve" ? "Approve" : "Deny",
    data: buttonData(question.id, choice),
  }));
}

/** Everything that is decided on, in full: an approval is for exactly this. */
export function questionWords(question: ShownQuestion): string {
  const { agent, text, approval, options } = question;
  if (!approval) {
    const list = options.map((option, at) => `${at + 1}. ${option}`).join("\n");
    const how =
      options.length > 0
        ? `${list}\n\n(or /answer and a number)`
        : "Please answer with /answer and your words.";
    return `**${agent}** asks: ${text}\n\n${how}`;
  }
  const { tool, parameters, cwd, reason } = approval;
  const json = JSON.stringify(parameters, null, 1);
  const where = cwd === undefined ? "" : `\nin ${cwd}`;
  return `**${agent}** wants to run **${tool}**${where}\n${fenced(json)}\n${reason}`;
}

/** A fence that the text cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/** @param question as it stands now; undefined: it was forgotten */
export function closedWords(question: ShownQuestion | undefined): string {
  const { answer, answered_by: by, approval } = question ?? {};
  if (answer === undefined || answer === CLOSED) return "⏹ No longer needed.";
  if (answer === EXPIRED) return "⌛ Nobody answered in time; nothing was run.";
  const who = by === undefined ? "" : ` by ${by}`;
  if (!approval)
    return `✔ Answered${who}: ${answer.length > SHOWN_MAX ? `${answer.slice(0, SHOWN_MAX)} …` : answer}`;
  return answer === "approve" ? `✔ Approved${who}.` : `✖ Denied${who}.`;
}
