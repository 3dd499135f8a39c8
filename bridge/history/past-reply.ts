/** Puts what was found of the past in words: for a model in English, or as one sentence for a person. */
import type { PastAnswer } from "@edgecall/core/history/answer.ts";
import { sentenceText } from "@edgecall/core/history/sentence-text.ts";
import { INLINE_MAX_CHARS } from "@edgecall/core/protocol/media.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { modelText, replyWith } from "@edgecall/node/history/past-reply.ts";
import { phrasesIn } from "./phrases.ts";

/** @param now epoch ms @param picture a PNG */
export async function replyOf(
  answer: PastAnswer,
  question: PastQuestion,
  now: number,
  picture: Buffer | undefined,
): Promise<PastReply> {
  const { name, ask, zone, sentence } = question;
  const shared = { name, ask, zone, now };
  const drawn = picture?.toString("base64") ?? "";
  // A larger one would make the frame a wrong one.
  const hasPicture = drawn !== "" && drawn.length <= INLINE_MAX_CHARS;
  const text = sentence
    ? sentenceText(answer, { ...shared, state: sentence.state, phrases: await phrasesIn(sentence.language) })
    : modelText(answer, question, now, { hasPicture });
  return { ...replyWith(text, answer), ...(hasPicture && { picture: drawn }) };
}
