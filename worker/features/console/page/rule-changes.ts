/** What a person changed of a rule. Only that is sent: of the other fields some may not fit this rule. Pure. */
import type { AnswerOf, RequestOf } from "@edgecall/client/client.ts";

export type Rule = AnswerOf<"GET /v1/rules">["rules"][number];
type RuleChange = RequestOf<"PATCH /v1/rules/{rule}">["body"];

/** As a person writes it; empty: none. */
export type Written = Record<
  "name" | "limit" | "minutes" | "repeat" | "hours" | "severity" | "say" | "second" | "after",
  string
>;

/** Minutes without an answer. */
const THEN_AFTER = 15;

export function writtenOf({
  name,
  value,
  for_minutes,
  repeat,
  only_between,
  severity,
  say,
  then_to,
}: Rule): Written {
  return {
    name,
    limit: value === undefined ? "" : String(value),
    minutes: String(for_minutes ?? ""),
    repeat: repeat ?? "",
    hours: only_between ?? "",
    severity: severity ?? "",
    say: say ?? "",
    second: then_to?.to ?? "",
    after: String(then_to?.after_minutes ?? THEN_AFTER),
  };
}

/** A comma and a long minus are what phones write. */
function numberOf(text: string): number {
  return Number(text.replace(",", ".").replace("−", "-"));
}

export function changesOf(rule: Rule, now: Written): RuleChange {
  const before = writtenOf(rule);
  const has = (...names: Array<keyof Written>) => names.some((name) => now[name].trim() !== before[name]);
  if (rule.kind === "remind") return has("name") ? { text: now.name } : {};
  const second = now.second.trim();
  return {
    ...(has("name") && { name: now.name }),
    ...(has("limit") && { value: typeof rule.value === "number" ? numberOf(now.limit) : now.limit }),
    ...(has("minutes") && { for_minutes: numberOf(now.minutes) }),
    // SAFETY of the next two: the page offers only these.
    ...(has("repeat") && { repeat: now.repeat as Rule["repeat"] & string }),
    ...(has("severity") && { severity: now.severity as Rule["severity"] & string }),
    ...(has("hours") && { only_between: now.hours.trim().replace("–", "-") || null }),
    ...(has("say") && { say: now.say.trim() || null }),
    ...(has("second", ...(second === "" ? [] : (["after"] as const))) && {
      then_to: second === "" ? null : { to: second, after_minutes: numberOf(now.after) },
    }),
  };
}
