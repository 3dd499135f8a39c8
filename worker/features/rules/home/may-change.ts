/** Who may change a rule in a conversation, and what it is called there. */
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { seesAll } from "../../../kernel/api/may-see.ts";
import type { RuleRow } from "./rule-store.ts";

type From = Pick<HomeToolRequest, "viewer"> & { from: Pick<HomeToolRequest["from"], "conversation"> };

export function mayChange({ maker }: RuleRow, { viewer, from }: From): boolean {
  const isHere = from.conversation !== null && maker.conversation === from.conversation;
  return seesAll(viewer) || maker.principal === viewer.name || isHere;
}

export function nameOf(row: RuleRow): string {
  return row.kind === "watch" ? row.rule.name : row.rule.text;
}
