/** Finds the watch that a person has already. Pure. */
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { WatchRule } from "@edgecall/core/rules/watch-rule.ts";
import type { Maker, RuleRow, WatchRow } from "./rule-store.ts";

/** @returns an active one of the same name, that tells the same person the same in the same way, and that another call made */
export function sameWatch(
  rows: readonly RuleRow[],
  { rule, maker, to }: Pick<WatchRow, "rule" | "maker" | "to">,
): WatchRow | undefined {
  const wanted = keyOf(rule);
  return rows.find(
    (row): row is WatchRow =>
      row.kind === "watch" &&
      row.status === "active" &&
      row.maker.call !== maker.call &&
      row.to === to &&
      row.maker.principal === maker.principal &&
      placeOf(row.maker) === placeOf(maker) &&
      keyOf(row.rule) === wanted,
  );
}

function keyOf({ id: _, version: _v, language: _l, name, ...rule }: WatchRule): string {
  return canonicalJson({ ...rule, name: name.toLowerCase() });
}

/** The console shows a person the messages of all own conversations over the API. Each chat has its own. */
function placeOf({ conversation }: Maker): string | null {
  const [, channel] = conversation?.split("/") ?? [];
  return channel === "api" ? channel : conversation;
}
