/** What an answer about the past says beside its figures: which of its words are a stranger's, and what is kept at all. */
import type { PastAnswer } from "@edgecall/core/history/answer.ts";
import { pastText } from "@edgecall/core/history/answer-text.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { isLabel } from "@edgecall/core/text/label.ts";

/** Readings that are named where the one that was asked for is not kept. */
const NAMED_MAX = 20;

/** @param hasPicture the person sees a chart @returns the answer in words for a model */
export function modelText(
  answer: PastAnswer,
  { name, ask, by, zone }: PastQuestion,
  now: number,
  { hasPicture = false, keeper = "bridge" }: { hasPicture?: boolean; keeper?: "bridge" | "agent" } = {},
): string {
  return pastText(answer, { name, ask, by, zone, now, hasPicture, keeper });
}

/** @param text the answer in words */
export function replyWith(text: string, answer: PastAnswer): Extract<PastReply, { text: string }> {
  const { last } = answer.facts;
  return { text, ...(last && { last: last.at }), ...(!isOfLabels(answer) && { tainted: true }) };
}

/** Names of readings are the publisher's words. One that reads like more than a label is left out. */
export function notKeptText(reading: string, names: readonly string[]): string {
  const named = names.filter(isLabel).slice(0, NAMED_MAX);
  const those = named.length > 0 ? `; it has ${named.join(", ")}` : "";
  return `reading: nothing is kept of '${reading}'${those}`;
}

/** Numbers and labels are no stranger's words. */
function isOfLabels({ reading, unit, is, facts, by = [], compare }: PastAnswer): boolean {
  const all = [facts, ...by.map((step) => step.facts), ...(compare ? [compare.facts] : [])];
  const values = all.flatMap(({ last, list = [] }) => [last?.value, ...list.map(({ value }) => value)]);
  const texts = [reading, unit, is, ...values].filter((text) => typeof text === "string");
  return texts.every((text) => isLabel(text.replace(/^[<>]|\p{Sc}/gu, "")));
}
