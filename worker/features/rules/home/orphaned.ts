/**
 * A rule whose device, or whose maker's access, is gone: it stops, and its maker learns why. The access is looked at when the rule
 * is made and each time that it fires.
 */

import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { roleNow } from "../../../kernel/home/people/roles.ts";
import { logInfo } from "../../../kernel/log.ts";
import { makersOwn } from "./recipients.ts";
import { phrasesFor } from "./rule-languages.ts";
import type { RuleRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { agentOf } from "./watched.ts";

const WHY_MAX = 200;
const NAME_MAX = 60;

/**
 * The rule as its maker may have it now. A critical one of somebody who is no owner any more goes on as a warning: it was important.
 * @returns undefined: it has ended
 */
export function heldBy<Row extends RuleRow>(home: HomeContext, row: Row): Row | undefined {
  const role = roleNow(home, row.maker);
  if (role === undefined) {
    // Nobody is told: the conversation is that person's.
    logInfo("rule.orphaned", { rule: row.id });
    rulesOf(home).put({
      ...row,
      status: "orphaned",
      why: phrasesFor(row).say("makerHasNoAccess"),
      due: null,
    });
    return undefined;
  }
  if (role === "guest") {
    orphan(home, row, phrasesFor(row).say("makerIsGuest"));
    return undefined;
  }
  if (role === "owner" || row.kind !== "watch" || row.rule.severity !== "critical") return row;
  // All but the severity stays: what it tells, it goes on to tell.
  const next = { ...row, rule: { ...row.rule, severity: "warning" as const } };
  rulesOf(home).put(next);
  notifyMaker(home, row, phrasesFor(row).say("ruleIsWarning", namesOf(row)));
  return next;
}

/** @param why for people. A device's own words may be in it */
export function orphan(home: HomeContext, row: RuleRow, why: string): void {
  if (row.status === "orphaned") return;
  const reason = plainText(why, WHY_MAX);
  rulesOf(home).put({ ...row, status: "orphaned", why: reason, due: null });
  const text = phrasesFor(row).say("ruleStopped", { ...namesOf(row), why: reason });
  if (!rulesOf(home).beingMade.has(row.id)) notifyMaker(home, row, text);
}

function namesOf(row: RuleRow): { name: string; id: string } {
  return { name: plainText(row.kind === "watch" ? row.rule.name : row.rule.text, NAME_MAX), id: row.id };
}

function notifyMaker(home: HomeContext, row: RuleRow, text: string): void {
  const id = crypto.randomUUID();
  const notice = { id, text, rules: [row.id], buttons: [], critical: false, at: Date.now() };
  sendNotice(home, makersOwn(home, row.maker), notice, row.maker.conversation);
}

/** After a device was taken off the list. */
export function orphanGone(home: HomeContext): void {
  for (const row of rulesOf(home).all())
    if (row.status === "active" && isGone(home, row)) orphan(home, row, phrasesFor(row).say("deviceIsGone"));
}

/** @returns why the rule cannot be resumed, in words; undefined: it can */
export function whyNotResumed(
  home: HomeContext,
  row: RuleRow,
  phrases: Phrases = ENGLISH,
): string | undefined {
  const role = roleNow(home, row.maker);
  if (role === undefined) return phrases.say("makerHasNoAccess");
  if (role === "guest") return phrases.say("makerIsGuest");
  return isGone(home, row) ? phrases.say("deviceIsGone") : undefined;
}

function isGone(home: HomeContext, row: RuleRow): boolean {
  if (row.kind !== "watch") return false;
  const { source } = row.rule;
  return source.of !== "bridge" && agentOf(home, source) === undefined;
}
