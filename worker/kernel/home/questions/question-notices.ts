/** Tells browsers and topics of an approval, and takes the notification back when it needs nobody any more. */

import { approvalText } from "@edgecall/core/approvals/approval-text.ts";
import { shortened, visible } from "@edgecall/core/tools/visible.ts";
import type { ApprovalCard } from "../../api/answers.ts";
import type { Notice, NoticeQuestion } from "../../api/notices.ts";
import type { Question } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { noticeRetriesOf } from "../notices/notice-retries.ts";
import { noticesOf } from "../notices/notice-store.ts";
import { callOf } from "./deciders.ts";
import { languageOf } from "./describe-approval.ts";
import { kindOf } from "./question-kind.ts";

/** What is decided by a button stands whole above it; more than this is read in the console. */
const WHOLE_MAX = 300;

/**
 * @param ids of browsers and topics
 * @param urgent it comes once more
 */
export async function notifyOutside(
  home: HomeContext,
  ids: readonly string[],
  question: Question,
  { urgent }: { urgent: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  const { approval, agent } = question;
  const words = wordsOf(question);
  const { isPlain } = kindOf(home, question);
  const isWhole = words.join("\n").length <= WHOLE_MAX;
  const answers = isPlain && isWhole && approval?.card ? answersOf(approval.card) : [];
  const title = approval ? [] : [`${visible(agent)}:`];
  const text = [...title, shortened(words.join("\n"), { chars: WHOLE_MAX })].join("\n");
  sendNotice(home, ids, noticeOf(home, question, { text, answers, urgent }), question.conversation);
  // Not awaited here: a server of pushes may be slow, and the person waits.
  await home.alarm.arm();
}

function answersOf({ verb, decline }: ApprovalCard): NoticeQuestion["answers"] {
  return [
    { label: decline, answer: "deny" },
    { label: verb, answer: "approve" },
  ];
}

/** The sentence, who asked, and the values that the sentence does not say. */
function wordsOf({ text, approval, members }: Question): string[] {
  if (!approval) return [visible(text)];
  const { card } = approval;
  const { lines = [], rest } = approvalText({ approval, members }, undefined);
  const values = card && !card.partial ? [] : [...lines, rest].filter((line) => line !== "");
  return [visible(text.split("\n", 1)[0] ?? ""), ...(card ? [visible(card.asker)] : []), ...values];
}

/** What nobody was sent yet is not sent, and what was shown goes. */
export async function withdrawOutside(
  home: HomeContext,
  ids: readonly string[],
  question: Question,
): Promise<void> {
  if (ids.length === 0) return;
  const prefix = idOf(question);
  // One that was tried may be there already.
  const waiting = noticesOf(home)
    .pending()
    .filter(({ id }) => id.startsWith(prefix) && noticeRetriesOf(home).dueAt(id) === 0);
  for (const { id } of waiting) noticesOf(home).remove(id);
  const unsent = new Set(waiting.map(({ recipient }) => recipient));
  const shown = [...new Set(ids)].filter((id) => !unsent.has(id));
  const over = noticeOf(home, question, { text: "", answers: [], urgent: false, isOver: true });
  sendNotice(home, shown, over, null);
  await home.alarm.arm();
}

function noticeOf(
  home: HomeContext,
  question: Question,
  {
    text,
    answers,
    urgent,
    isOver,
  }: { text: string; answers: NoticeQuestion["answers"]; urgent: boolean; isOver?: true },
): Notice {
  const { id, expiresAt } = question;
  const kind = phrasesOf(languageOf(callOf(home, question))).say("answerWaits");
  return {
    id: `${idOf(question)}${isOver ? "over" : urgent ? "again" : "first"}`,
    text,
    rules: [],
    buttons: [],
    critical: urgent,
    at: Date.now(),
    question: { id, answers, kind, expiresAt, ...(isOver && { isOver }) },
  };
}

function idOf({ id }: Question): string {
  return `question-${id}-`;
}
