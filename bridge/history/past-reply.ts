/** Puts what was found of the past in words: for a model in English, or as one sentence for a person. */
import type { PastAnswer } from "@edgecall/core/history/answer.ts";
import { pastText } from "@edgecall/core/history/answer-text.ts";
import { sentenceText } from "@edgecall/core/history/sentence-text.ts";
import { INLINE_MAX_CHARS } from "@edgecall/core/protocol/media.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { phrasesIn } from "./phrases.ts";

/** Readings that are named where the one that was asked for is not kept. */
const NAMED_MAX = 20;

/** @param now epoch ms @param picture a PNG */
export async function replyOf(
  answer: PastAnswer,
  question: PastQuestion,
  now: number,
  picture: Buffer | undefined,
): Promise<PastReply> {
  const { name, ask, by, zone, sentence } = question;
  const shared = { name, ask, zone, now };
  const drawn = picture?.toString("base64") ?? "";
  // A larger one would make the frame a wrong one.
  const hasPicture = drawn !== "" && drawn.length <= INLINE_MAX_CHARS;
  const text = sentence
    ? sentenceText(answer, { ...shared, state: sentence.state, phrases: await phrasesIn(sentence.language) })
    : pastText(answer, { ...shared, by, hasPicture });
  const { last } = answer.facts;
  return {
    text,
    ...(last && { last: last.at }),
    ...(!isOfLabels(answer) && { tainted: true }),
    ...(hasPicture && { picture: drawn }),
  };
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
