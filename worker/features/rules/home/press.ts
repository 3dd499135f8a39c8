/** A person answers a firing: by a button, a command, or the model's tool. */

import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { acknowledge, deliveryDue, snooze } from "@edgecall/core/rules/delivery.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { timeText } from "@edgecall/core/rules/time-text.ts";
import { maySee } from "../../../kernel/api/may-see.ts";
import type { Pressed, RulePress } from "../../../kernel/api/notices.ts";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { ownSubscriptions } from "../../../kernel/home/notices/reach.ts";
import { conversationListOf } from "../../../kernel/home/people/conversation-list.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";
import { logError } from "../../../kernel/log.ts";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { makersOwn } from "./recipients.ts";
import { phrasesFor, readLanguages } from "./rule-languages.ts";
import type { RuleRow, WatchRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";

const SNOOZE_MINUTES = 60;

/** Whoever was told may answer, the maker, and owners. */
export async function pressRule(home: HomeContext, press: RulePress): Promise<Pressed> {
  await readLanguages(home);
  const { rule, by } = press;
  const row = rulesOf(home).get(rule);
  const phrases = row ? phrasesFor(row) : phrasesOf();
  const notTold: Pressed = { done: false, text: phrases.say("notTold") };
  // A guest does not learn which rules there are.
  if (!row) return by.role === "guest" ? notTold : { done: true, text: phrases.say("ruleIsGone") };
  const { maker, said } = row;
  const here = placesOf(home, row, by);
  const isHere = here.some((one) => one === maker.conversation);
  // Those who are told by somebody else's rule do not end it.
  const isRecipient = press.do !== "stop" && here.some((one) => said.to.includes(one));
  const mayPress =
    by.role === "owner" ||
    by.principal === maker.principal ||
    (by.role !== "guest" && (isHere || isRecipient));
  if (!mayPress) return notTold;
  const text = answerTo(home, row, press, here);
  await home.alarm.arm();
  await showPressed(home, row, press, here, text);
  return { done: true, text };
}

/** @returns the chat or outlet of the press; the API names none, so there all conversations that had the notice and that this person may see */
function placesOf(
  home: HomeContext,
  { maker, said }: RuleRow,
  { principal, role, conversation, privateChat }: RulePress["by"],
): string[] {
  const { name } = home;
  if (conversation !== undefined) return [conversation, privateChat ?? []].flat();
  const viewer = { name: principal, role, scopes: ["ask"] } as const;
  return [...new Set([maker.conversation ?? [], said.to].flat())].filter(
    (one) =>
      one.startsWith(`${name}/api/`) &&
      maySee(viewer, {
        kind: "conversation",
        by: conversationListOf(home).principalOf(one),
        sharedWith: conversationListOf(home).sharedWith(one),
      }),
  );
}

/** Below what the rule said stands what came of it, wherever it was pressed. A chat in which it was shows that itself. */
async function showPressed(
  { env }: HomeContext,
  row: RuleRow,
  { do: what, rule, occurrence, by }: RulePress,
  here: readonly string[],
  text: string,
): Promise<void> {
  const of = occurrence ?? (row.kind === "watch" ? row.record.occurrence : 0);
  const own = by.conversation === undefined ? [] : here;
  for (const one of new Set([row.maker.conversation ?? [], here].flat())) {
    if (own.includes(one)) continue;
    try {
      await conversationOf(env, one).pressed({ do: what, rule, occurrence: of }, text);
    } catch (error) {
      // The button stays there, and says that there is an answer.
      logError("rule.press_not_shown", error, { rule });
    }
  }
}

function answerTo(home: HomeContext, row: RuleRow, press: RulePress, here: readonly string[]): string {
  const { principal, displayName } = press.by;
  const phrases = phrasesFor(row);
  if (press.do === "stop") {
    rulesOf(home).remove(row.id);
    return phrases.say("stoppedBy", { person: personText(home, press.by), name: nameText(row) });
  }
  const by = { principal, displayName, here };
  if (row.kind !== "watch" || isOld(row, press.occurrence)) return phrases.say("isOverAlready");
  if (press.do === "snooze" && isOver(row)) return phrases.say("isOverAlready");
  return press.do === "ack"
    ? acknowledgeRule(home, row, by)
    : snoozeRule(home, row, press.minutes ?? SNOOZE_MINUTES, by);
}

/** The button is of an earlier firing. */
function isOld({ record }: WatchRow, occurrence: number | undefined): boolean {
  return (
    occurrence !== undefined &&
    occurrence < record.occurrence &&
    record.told?.firing.occurrence !== occurrence
  );
}

/** What was told is over, and nothing waits to be told. */
function isOver({ record: { told, untold } }: WatchRow): boolean {
  return untold === undefined && told?.firing.over !== undefined;
}

/** @property here where it was answered: conversations, or the outlet */
type By = { principal: string; displayName?: string | undefined; here: readonly string[] };

/** Others who were told learn it too. @returns what came of it, in words */
export function acknowledgeRule(home: HomeContext, row: WatchRow, by: By): string {
  const { principal } = by;
  const phrases = phrasesFor(row);
  const { record, result, more } = acknowledge(row.record, principal, Date.now());
  if (result === "over") return phrases.say("isOverAlready");
  if (result === "already") {
    const first = row.record.told?.acked?.by;
    const person = first === undefined ? phrases.say("somebody") : personText(home, { principal: first });
    return phrases.say("answeredAlready", { person });
  }
  put(home, { ...row, record });
  rulesOf(home).acked(row.id, record.occurrence, principal);
  const words = phrases.sentences(
    phrases.say("answeredBy", { person: personText(home, by), name: nameText(row) }),
    more > 1 ? phrases.say("happenedSince", { count: more }) : "",
  );
  notifyOthers(home, row, by, words);
  // It was to be told this firing, and then to end.
  if (more > 0 && row.rule.repeat === "once") rulesOf(home).remove(row.id);
  return words;
}

/** Others who were told learn it too. @returns what came of it, in words */
export function snoozeRule(home: HomeContext, row: WatchRow, minutes: number, by: By): string {
  const now = Date.now();
  const until = now + Math.round(minutes * 60_000);
  put(home, { ...row, record: snooze(row.record, until) });
  const { zone } = clockOf(home).read();
  const phrases = phrasesFor(row);
  const time = timeText(until, zone, now, phrases);
  const words = phrases.say("silentUntil", { name: nameText(row), time });
  notifyOthers(home, row, by, words);
  return words;
}

/** Those who heard of it, but for who answered. The alarm hands it over. */
function notifyOthers(home: HomeContext, { id, maker, said }: WatchRow, by: By, text: string): void {
  const own = by.principal === maker.principal ? makersOwn(home, maker) : [];
  const answered = new Set([...by.here, ...own, ...ownSubscriptions(home, by.principal)]);
  const notice = { id: crypto.randomUUID(), text, rules: [id], buttons: [], critical: false, at: Date.now() };
  const others = said.to.filter((one) => !answered.has(one));
  const sources: Source[] = others.some((one) => one !== maker.conversation) ? [STRANGER] : [];
  sendNotice(home, others, { ...notice, sources }, maker.conversation);
}

function put(home: HomeContext, row: WatchRow): void {
  rulesOf(home).put({ ...row, due: deliveryDue(row.rule, row.record) ?? null });
}

function nameText(row: RuleRow): string {
  return plainText(row.kind === "watch" ? row.rule.name : row.rule.text, 60);
}
