/** A person answers a firing: by a button, a command, or the model's tool. */
import { acknowledge, deliveryDue, snooze } from "@edgecall/core/rules/delivery.ts";
import { plainWords } from "@edgecall/core/rules/plain-words.ts";
import { timeWords } from "@edgecall/core/rules/time-words.ts";
import type { PressClaims } from "../../api/push.ts";
import type { Pressed, RulePress } from "../../api/rules.ts";
import { readSettings } from "../../settings/settings.ts";
import type { HomeContext } from "../context.ts";
import type { RuleRow, WatchRow } from "./rule-store.ts";

const SNOOZE_MINUTES = 60;
const OVER = "This is over already.";

/** Whoever was told may answer, the maker, and owners. */
export async function pressRule(home: HomeContext, press: RulePress): Promise<Pressed> {
  const { rule, by } = press;
  const row = home.rules.get(rule);
  if (!row) return { done: true, text: "This rule is not there any more." };
  const { maker } = row;
  const mayPress =
    by.role === "owner" ||
    by.principal === maker.principal ||
    (by.role !== "guest" && by.conversation === maker.conversation);
  if (!mayPress) return { done: false, text: "Only whoever is told of this may answer." };
  const text = answerTo(home, row, press);
  await home.alarm.arm();
  return { done: true, text };
}

/** The button of a message outside the conversations. @returns undefined: the link was used, or its topic was removed */
export async function pressLinked(
  home: HomeContext,
  { outlet, once, until, do: what, rule, occurrence }: PressClaims,
): Promise<Pressed | undefined> {
  const owner = home.outlets.get(outlet)?.principal;
  if (owner === undefined || !home.outlets.useLink(once, until, Date.now())) return undefined;
  return await pressRule(home, { do: what, rule, occurrence, by: { principal: owner, role: "member" } });
}

function answerTo(home: HomeContext, row: RuleRow, press: RulePress): string {
  const by = press.by.principal;
  if (press.do === "stop") {
    home.rules.remove(row.id);
    return `✔ Stopped by ${by}: ${nameWords(row)}.`;
  }
  if (row.kind !== "watch" || isOld(row, press.occurrence)) return OVER;
  return press.do === "ack"
    ? acknowledgeRule(home, row, by)
    : snoozeRule(home, row, press.minutes ?? SNOOZE_MINUTES);
}

/** The button is of an earlier firing. */
function isOld({ record }: WatchRow, occurrence: number | undefined): boolean {
  return (
    occurrence !== undefined &&
    occurrence < record.occurrence &&
    record.told?.firing.occurrence !== occurrence
  );
}

/** @returns what came of it, in words */
export function acknowledgeRule(home: HomeContext, row: WatchRow, by: string): string {
  const { record, result, more } = acknowledge(row.record, by, Date.now());
  if (result === "over") return OVER;
  if (result === "already") return `${row.record.told?.acked?.by ?? "Somebody"} has answered already.`;
  put(home, { ...row, record });
  home.rules.acked(row.id, record.occurrence, by);
  const again = more > 1 ? ` It happened ${more} times since.` : "";
  return `✔ Answered by ${by}: ${nameWords(row)}.${again}`;
}

/** @returns what came of it, in words */
export function snoozeRule(home: HomeContext, row: WatchRow, minutes: number): string {
  const until = Date.now() + Math.round(minutes * 60_000);
  put(home, { ...row, record: snooze(row.record, until) });
  const { zone } = readSettings(home.env).clock;
  return `💤 ${nameWords(row)}: silent until ${timeWords(until, zone, Date.now())}.`;
}

function put(home: HomeContext, row: WatchRow): void {
  home.rules.put({ ...row, due: deliveryDue(row.rule, row.record) ?? null });
}

function nameWords(row: RuleRow): string {
  return plainWords(row.kind === "watch" ? row.rule.name : row.rule.text, 60);
}
