/**
 * Approvals that a model's reply needs at the same time are asked for in one question, which lists them. They are gathered while
 * more may come, and for a short time only. A question that was shown never grows: what comes later is asked for anew.
 *
 * Joined is only what is decided alike: calls of one reply, so of one conversation and caller, with the same reason (which says what
 * is dangerous), the same taint and the same kind of action. Each keeps its own row, hash and check.
 */

import type { NewQuestion, Question, ShownApproval } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { readLanguage } from "../../phrases.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { listOf } from "../ledger/listed.ts";
import type { Gathering } from "../ledger/questions.ts";
import { questionsOf } from "../ledger/questions.ts";
import { deliverSoon } from "./deliver-question.ts";
import { describeTogether, languageOf } from "./describe-approval.ts";
import { repliesOf } from "./replies.ts";

/** More approvals are waited for this long after each, longer while calls of the reply are still to come, and this long at most. */
const QUIET_MS = 1_000;
const COMING_MS = 4_000;
const GATHER_MAX_MS = 10_000;
/** A question is a row of its conversation, which takes 2 MB, and a list of questions is one answer of Home. */
const LISTED_MAX_CHARS = 200_000;

/** @returns the key of the approvals that this one is asked for with; undefined: it stands alone */
export function groupKeyOf(call: LedgerCall, approval: NewQuestion["approval"]): string | undefined {
  // An agent that was asked in words makes calls of its own, and asks for several of them.
  const isAsked = call.command === "prompt";
  const { reply = isAsked && call.state !== "asking" ? call.id : undefined, tainted = false } = call.flags;
  if (reply === undefined || call.conversation === null || !approval) return undefined;
  const { reason, cwd, tool } = approval;
  const isText = isAsked && tool === "prompt";
  const kind = isText ? "words" : cwd === undefined ? "action" : "program";
  return JSON.stringify([reply, tainted, kind, reason]);
}

/** An approval has its row. It is shown now, or with others. */
export async function gather(home: HomeContext, call: LedgerCall, until: number): Promise<void> {
  // Before anything that is awaited: an object that is stopped here shows it later.
  const armed = home.alarm.arm();
  await Promise.all([armed, extendDeadline(home, call, until)]);
  await showIfComplete(home, call.flags.reply);
}

/** The conversation may make its next calls meanwhile, which may have to be approved too. */
async function extendDeadline(home: HomeContext, call: LedgerCall, until: number): Promise<void> {
  if (call.conversation === null) return;
  try {
    await conversationOf(home.env, call.conversation).waits(idInConversation(call), until);
  } catch (error) {
    logError("question.waits_failed", error, { call: call.id });
  }
}

/** A call of a reply was taken, refused or answered, or waits for a person: perhaps nothing more is to be asked. */
export async function showIfComplete(home: HomeContext, reply: string | undefined): Promise<void> {
  if (reply === undefined || repliesOf(home).mayAsk(reply, home)) return;
  for (const { key } of questionsOf(home).gathering()) if (replyOf(key) === reply) await show(home, key);
}

/** Returns when approvals that are being gathered have to be shown, epoch ms. */
export function nextShown(home: HomeContext): number | undefined {
  const times = questionsOf(home)
    .gathering()
    .map((group) => shownAt(home, group));
  return times.length > 0 ? Math.min(...times) : undefined;
}

export async function showDue(home: HomeContext, now: number): Promise<void> {
  for (const group of questionsOf(home).gathering())
    if (shownAt(home, group) <= now) await show(home, group.key);
}

function shownAt(home: HomeContext, { key, first, last }: Gathering): number {
  const quietMs = repliesOf(home).areComing(replyOf(key)) ? COMING_MS : QUIET_MS;
  return Math.min(last + quietMs, first + GATHER_MAX_MS);
}

function replyOf(key: string): string {
  // SAFETY: `groupKeyOf` wrote it.
  return (JSON.parse(key) as [string])[0];
}

async function show(home: HomeContext, key: string): Promise<void> {
  const now = Date.now();
  const [first] = questionsOf(home).ofGroup(key);
  await readLanguage(home.env, languageOf(ledgerOf(home).get(first?.call ?? "")) ?? "en");
  for (let open = questionsOf(home).ofGroup(key); open.length > 0; open = questionsOf(home).ofGroup(key)) {
    const shown = questionsOf(home).list(firstThatFit(open), now, (members) =>
      listOf(members, describeTogether(home, members.filter(isApproval))),
    );
    await deliverSoon(home, shown, now);
  }
}

function isApproval(question: Question): question is Question & { approval: ShownApproval } {
  return question.approval !== null;
}

/** The first ones, as many as one question takes. */
function firstThatFit(all: readonly Question[]): Question[] {
  let chars = 0;
  return all.filter(({ approval }, at) => {
    chars += JSON.stringify(approval).length;
    return at === 0 || chars <= LISTED_MAX_CHARS;
  });
}
