/**
 * A caller whose calls were denied again and again is not asked about for a while: people who are asked often enough say yes at
 * last. It follows from the rows of questions, and stores nothing.
 */

import type { Question } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { ownersHear } from "../notices/owners.ts";
import { personText } from "../people/person-name.ts";

const DENIALS = 3;
const WITHIN_MS = 10 * 60_000;
const REFUSED_FOR_MS = 60 * 60_000;
/** A call that was denied is known so long. */
const REPEAT_MS = 60 * 60_000;

/** @returns the end of the time in which this caller's calls are refused that need an approval, epoch ms; undefined: they are not */
function refusedUntil(home: HomeContext, call: LedgerCall, now: number): number | undefined {
  const caller = callerOf(call);
  const denied = questionsOf(home)
    .deniedSince(now - REFUSED_FOR_MS - WITHIN_MS)
    .filter((question) => counts(home, question, caller));
  // One "no" to a list is one.
  const byAnswer = new Map(denied.map(({ id, listedIn, answeredAt }) => [listedIn ?? id, answeredAt ?? 0]));
  const times = [...byAnswer.values()];
  const last = times.findLast((at, n) => n >= DENIALS - 1 && at - (times[n - DENIALS + 1] ?? 0) <= WITHIN_MS);
  const until = last === undefined ? 0 : last + REFUSED_FOR_MS;
  return until > now ? until : undefined;
}

/** @returns the words of the refusal; undefined: people may be asked about this call */
export function refusalAfterDenials(home: HomeContext, call: LedgerCall): string | undefined {
  const now = Date.now();
  const until = refusedUntil(home, call, now);
  return until === undefined
    ? undefined
    : `Not asked: people said no to ${DENIALS} calls of ${callerText(home, call)} within 10 minutes. Until ${timeText(home, until)} nobody is asked about its calls, so what needs an approval is refused`;
}

/** Tells the owners, once, when this answer is the denial that ends the asking. */
export async function tellOfDenials(home: HomeContext, question: Question): Promise<void> {
  const call = ledgerOf(home).get(question.members?.[0]?.call ?? question.call);
  const now = Date.now();
  const until = call && refusedUntil(home, call, now);
  // Of the denials that it follows from, this is the last one.
  if (!call || until === undefined || until !== (question.answeredAt ?? 0) + REFUSED_FOR_MS) return;
  const text = `${DENIALS} calls of ${callerText(home, call)} were denied within 10 minutes. Until ${timeText(home, until)} its calls that need an approval are refused, and nobody is asked.`;
  const notice = { id: `denials-${question.id}`, text, rules: [], buttons: [], critical: false, at: now };
  sendNotice(home, ownersHear(home), notice, null);
  await home.alarm.arm();
}

/** True if exactly this was denied a while ago. @param hash of the approval */
export function wasDenied(home: HomeContext, hash: string, now: number): boolean {
  return questionsOf(home)
    .deniedSince(now - REPEAT_MS)
    .some(({ approval, members }) =>
      (members ?? [{ approval }]).some((one) => one.approval?.hash === hash && hash !== ""),
    );
}

/** Who said no, where that is another person than the one who asked. Another home learns no names. @param asker a principal */
export function refuserText(
  home: HomeContext,
  { answeredBy, answeredByName }: Pick<Question, "answeredBy" | "answeredByName">,
  asker: string,
): string | undefined {
  if (answeredBy === null || answeredBy === asker || asker.startsWith("home:")) return undefined;
  return personText(home, { principal: answeredBy, displayName: answeredByName });
}

/** Why a call was not carried out, as the end of a sentence. @param refuser of `refuserText` */
export function refusalText(refuser: string | undefined): string {
  return refuser === undefined ? "it was not approved" : `${refuser} said no`;
}

/** Whether a denial counts against a caller: not where a person says no to what they asked for themselves. */
function counts(home: HomeContext, question: Question, caller: string): boolean {
  // A question that lists several has no call: its members have.
  const call = ledgerOf(home).get(question.call);
  if (!call || callerOf(call) !== caller) return false;
  const isOwn = question.answeredBy === call.caller.principal;
  const isByPerson = !call.flags.tainted && !call.caller.chain && call.caller.channel !== "mcp";
  return !(isOwn && isByPerson);
}

/** The agent that asked last, or the person over one way: a program is not refused for what its person does in the console. */
function callerOf({ caller: { principal, channel, chain } }: LedgerCall): string {
  return chain ? `agent ${chain.via.at(-1)}` : `${channel} ${principal}`;
}

function callerText(home: HomeContext, { caller: { principal, channel, chain } }: LedgerCall): string {
  const agent = chain?.via.at(-1);
  if (agent !== undefined) return `'${agent}'`;
  const person = personText(home, { principal });
  return channel === "mcp" ? `a program of ${person}` : person;
}

function timeText(home: HomeContext, at: number): string {
  return phrasesOf().time(at, clockOf(home).read().zone, Date.now());
}
