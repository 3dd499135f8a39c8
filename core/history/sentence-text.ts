/** An answer about the past as one sentence for a person, in their language, and how much of the time is not known. */
import type { Phrases } from "../phrases/phrases.ts";
import type { PastAsk } from "../protocol/past.ts";
import type { PastAnswer } from "./answer.ts";
import { isNothingKnown } from "./facts.ts";

/** Shorter ones are not told: a bridge that is updated is away for some seconds. */
const SHORT_MS = 60_000;

type SentenceParts = {
  /** The device's. */
  name: string;
  /** What is asked, in this language: `open`. */
  state: string;
  ask: PastAsk;
  phrases: Phrases;
  zone: string;
  now: number;
};

export function sentenceText(answer: PastAnswer, parts: SentenceParts): string {
  const { name, state, ask, phrases, zone, now } = parts;
  const { facts, from, to, unknown_ms, earlier = from } = answer;
  const time = (at: number) => phrases.time(at, zone, now);
  if (isNothingKnown(facts)) return phrases.say("pastNothing", { name });
  const period = phrases.say("fromTo", { from: time(from), to: time(to) });
  const isMissing = unknown_ms >= SHORT_MS && ask !== "last";
  const unknown = isMissing ? phrases.say("pastUnknown", { span: phrases.span(unknown_ms) }) : "";
  const isEarlier = (ask === "last" ? (facts.last?.at ?? from) : from) < earlier;
  return phrases.sentences(factText(), unknown, isEarlier ? "(Home Assistant)" : "");

  function factText(): string {
    const { last, count = 0, ms = 0 } = facts;
    if (ask === "count") return phrases.say("pastCount", { name, state, count, period });
    if (ask === "duration")
      return phrases.say("pastDuration", { name, state, span: phrases.span(ms), period });
    if (!last) return phrases.say("pastNever", { name, state, time: time(from) });
    const begun = time(last.at);
    if (!last.is_over)
      return phrases.say("pastSince", { name, state, time: begun, span: phrases.span(to - last.at) });
    if (last.to === null) return phrases.say("pastUnseen", { name, state, time: begun });
    return phrases.say("pastLast", { name, state, from: begun, to: time(last.to) });
  }
}
