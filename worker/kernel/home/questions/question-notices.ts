/** Tells browsers and topics of an approval, and takes the notification back when it needs nobody any more. */

import { approvalText } from "@edgecall/core/tools/approval-text.ts";
import { shortened, visible } from "@edgecall/core/tools/visible.ts";
import type { Notice, NoticeQuestion } from "../../api/notices.ts";
import type { Question } from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { noticeRetriesOf } from "../notices/notice-retries.ts";
import { noticesOf } from "../notices/notice-store.ts";
import { kindOf } from "./question-kind.ts";

/** What is decided by a button stands whole above it; more than this is read in the console. */
const WHOLE_MAX = 300;
const KIND = "Something waits for your answer.";

/**
 * @param ids of browsers and topics
 * @param asker who made the call, for people; "": nobody knows @param urgent it comes once more
 */
export async function notifyOutside(
  home: HomeContext,
  ids: readonly string[],
  question: Question,
  { asker, urgent }: { asker: string; urgent: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  const words = question.approval ? argumentsOf(home, question) : visible(question.text);
  const isWhole = words.length <= WHOLE_MAX;
  const { isPlain } = kindOf(home, question);
  const answers = isPlain && isWhole ? ANSWERS : [];
  const text = [titleOf(home, question, asker), shortened(words, { chars: WHOLE_MAX })].join("\n");
  sendNotice(home, ids, noticeOf(question, { text, answers, urgent }), question.conversation);
  // Not awaited here: a server of pushes may be slow, and the person waits.
  await home.alarm.arm();
}

const ANSWERS: NoticeQuestion["answers"] = [
  { label: "No", answer: "deny" },
  { label: "Yes", answer: "approve" },
];

function titleOf(home: HomeContext, question: Question, asker: string): string {
  if (!question.approval) return `${visible(question.agent)} asks:`;
  const { tool } = runs(home, question);
  const what = `${visible(tool)} on ${visible(question.agent)}`;
  return asker === "" ? `${what}?` : `${asker} asks: ${what}?`;
}

function argumentsOf(home: HomeContext, question: Question): string {
  const { parameters } = runs(home, question);
  return approvalText({ approval: { parameters }, members: question.members }, 0);
}

/** What would be run. An approval of the gateway's own names the command around the action. */
function runs(home: HomeContext, { call, approval, members }: Question) {
  const { tool = "", parameters = {} } = approval ?? {};
  const { command, payload } = ledgerOf(home).get(call) ?? {};
  if (members || command !== "tool" || tool !== command) return { tool, parameters };
  // SAFETY: the gateway made the payload of a tool's call.
  return payload as { tool: string; parameters: Record<string, unknown> };
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
  const over = noticeOf(question, { text: "", answers: [], urgent: false, isOver: true });
  sendNotice(home, shown, over, null);
  await home.alarm.arm();
}

function noticeOf(
  question: Question,
  {
    text,
    answers,
    urgent,
    isOver,
  }: { text: string; answers: NoticeQuestion["answers"]; urgent: boolean; isOver?: true },
): Notice {
  const { id, expiresAt } = question;
  return {
    id: `${idOf(question)}${isOver ? "over" : urgent ? "again" : "first"}`,
    text,
    rules: [],
    buttons: [],
    critical: urgent,
    at: Date.now(),
    question: { id, answers, kind: KIND, expiresAt, ...(isOver && { isOver }) },
  };
}

function idOf({ id }: Question): string {
  return `question-${id}-`;
}
