/**
 * A rule whose device, or whose maker's access, is gone: it stops, and its maker learns why. The access is looked at when the rule
 * is made and each time that it fires.
 */

import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { tell } from "../../../kernel/home/notices/hand-over.ts";
import { roleNow } from "../../../kernel/home/people/roles.ts";
import { logInfo } from "../../../kernel/log.ts";
import { makersOwn } from "./recipients.ts";
import type { RuleRow } from "./rule-store.ts";
import { rulesOf } from "./rule-store.ts";
import { agentOf } from "./watched.ts";

const NO_ACCESS = "whoever made it has no access any more";
const IS_GUEST = "whoever made it is a guest now";
const IS_GONE = "its device is gone from this home";

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
    rulesOf(home).put({ ...row, status: "orphaned", why: NO_ACCESS, due: null });
    return undefined;
  }
  if (role === "guest") {
    orphan(home, row, IS_GUEST);
    return undefined;
  }
  if (role === "owner" || row.kind !== "watch" || row.rule.severity !== "critical") return row;
  // All but the severity stays: what it tells, it goes on to tell.
  const next = { ...row, rule: { ...row.rule, severity: "warning" as const } };
  rulesOf(home).put(next);
  tellMaker(home, row, "is a warning from now on: whoever made it is no owner any more.");
  return next;
}

/** @param why for people. A device's own words may be in it */
export function orphan(home: HomeContext, row: RuleRow, why: string): void {
  if (row.status === "orphaned") return;
  const reason = plainText(why, WHY_MAX);
  rulesOf(home).put({ ...row, status: "orphaned", why: reason, due: null });
  if (!rulesOf(home).beingMade.has(row.id)) tellMaker(home, row, `has stopped: ${reason}.`);
}

function tellMaker(home: HomeContext, row: RuleRow, what: string): void {
  const name = plainText(row.kind === "watch" ? row.rule.name : row.rule.text, NAME_MAX);
  const text = `⚠ “${name}” (${row.id}) ${what}`;
  const id = crypto.randomUUID();
  const notice = { id, text, rules: [row.id], buttons: [], critical: false, at: Date.now() };
  tell(home, makersOwn(home, row.maker), notice, row.maker.conversation);
}

/** After a device was taken off the list. */
export function orphanGone(home: HomeContext): void {
  for (const row of rulesOf(home).all())
    if (row.status === "active" && isGone(home, row)) orphan(home, row, IS_GONE);
}

/** @returns why the rule cannot be resumed, in words; undefined: it can */
export function whyNotResumed(home: HomeContext, row: RuleRow): string | undefined {
  const role = roleNow(home, row.maker);
  if (role === undefined) return NO_ACCESS;
  if (role === "guest") return IS_GUEST;
  return isGone(home, row) ? IS_GONE : undefined;
}

function isGone(home: HomeContext, row: RuleRow): boolean {
  if (row.kind !== "watch") return false;
  const { source } = row.rule;
  return source.of !== "bridge" && agentOf(home, source) === undefined;
}
