/** Rules as a sentence may mean them: those that a person may change, by what they are about. */
import type { Asker, SpokenRule } from "../../../kernel/api/roster.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { mayChange, nameOf } from "./may-change.ts";
import { type RuleRow, rulesOf } from "./rule-store.ts";
import { agentOf } from "./watched.ts";

export function spokenRules(home: HomeContext, { viewer, conversation }: Asker): SpokenRule[] {
  return rulesOf(home)
    .all()
    .filter((row) => mayChange(row, { viewer, from: { conversation } }))
    .map((row) => {
      const agent = row.kind === "watch" ? agentOf(home, row.rule.source) : undefined;
      return {
        id: row.id,
        name: nameOf(row),
        of: kindOf(row),
        isPaused: row.status === "paused",
        ...(agent !== undefined && { agent }),
      };
    });
}

/** What people call it. */
export function kindOf(row: RuleRow): SpokenRule["of"] {
  if (row.kind === "watch") return "watch";
  return row.rule.do === "brief" ? "briefing" : "reminder";
}
