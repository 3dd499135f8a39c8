/** A rule whose device, or whose maker's access, is gone: it stops, and its maker learns why. */
import { plainWords } from "@edgecall/core/rules/plain-words.ts";
import type { HomeContext } from "../context.ts";
import { tell } from "./hand-over.ts";
import { makersOwn } from "./recipients.ts";
import type { RuleRow } from "./rule-store.ts";
import { agentOf } from "./watched.ts";

const WHY_MAX = 200;
const NAME_MAX = 60;

/** @param why for people. A device's own words may be in it */
export function orphan(home: HomeContext, row: RuleRow, why: string): void {
  if (row.status === "orphaned") return;
  const reason = plainWords(why, WHY_MAX);
  home.rules.put({ ...row, status: "orphaned", why: reason, due: null });
  if (home.rules.beingMade.has(row.id)) return;
  const name = plainWords(row.kind === "watch" ? row.rule.name : row.rule.text, NAME_MAX);
  const text = `⚠ “${name}” (${row.id}) has stopped: ${reason}.`;
  const id = crypto.randomUUID();
  const notice = { id, text, rules: [row.id], buttons: [], critical: false, at: Date.now() };
  tell(home, makersOwn(home, row.maker), notice, row.maker.conversation);
}

/** After a device was taken off the list. */
export function orphanGone(home: HomeContext): void {
  for (const row of home.rules.all())
    if (
      row.kind === "watch" &&
      row.status === "active" &&
      row.rule.source.of !== "bridge" &&
      agentOf(home, row.rule.source) === undefined
    )
      orphan(home, row, "its device is gone from this home");
}
