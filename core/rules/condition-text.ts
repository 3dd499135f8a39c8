/** What a watch waits for, in words. */
import { ENGLISH, type Phrases } from "../phrases/phrases.ts";
import type { WatchCondition } from "../protocol/rules.ts";
import { deviceText, plainText } from "./plain-text.ts";
import { figureText, spanText } from "./time-text.ts";
import type { Value } from "./value.ts";
import { isMomentary, PRESENCE, type WatchRule } from "./watch-rule.ts";

const UNIT_MAX = 32;
const READING_MAX = 64;

/** A value of the rule: a figure with its unit, a boolean in its words, or the device's own text. */
export function valueText(
  value: Value,
  { unit, words }: { unit?: string | undefined; words?: WatchRule["words"] },
  phrases: Phrases = ENGLISH,
): string {
  if (typeof value === "string") return deviceText(value);
  if (typeof value === "boolean" && words) {
    const [yes, no] = phrases.stateWordsOf(words.yes, words.no) ?? [words.yes, words.no];
    return plainText(value ? yes : no, READING_MAX);
  }
  return figureText(value, unit === undefined ? undefined : plainText(unit, UNIT_MAX), phrases);
}

/** A condition with a boolean's words. */
export type WordedCondition = WatchCondition & Pick<WatchRule, "words">;

/** `temperature is above −15 °C for 10 min`. */
export function conditionText(rule: WordedCondition, phrases: Phrases = ENGLISH): string {
  const condition = momentText(rule, phrases);
  if (isMomentary(rule) || rule.hold_ms === 0) return condition;
  return phrases.say("forSpan", { condition, span: spanText(rule.hold_ms, phrases) });
}

const COMPARED = { above: "isAbove", below: "isBelow", equal: "isEqual", not_equal: "isNotEqual" } as const;

function momentText(rule: WordedCondition, phrases: Phrases): string {
  const { is, value } = rule;
  const reading = readingText(rule, phrases);
  const limit = value === undefined ? "" : valueText(value, rule, phrases);
  switch (is) {
    case "offline":
      return phrases.say("isOffline");
    case "online":
      return phrases.say("isOnline");
    case "happens":
      return limit === "" ? phrases.say("happens", { reading }) : phrases.say("says", { reading, limit });
    case "changes":
      return phrases.say("changes", { reading });
    default:
      return phrases.say(COMPARED[is], { reading, limit });
  }
}

function readingText({ reading, field }: WordedCondition, phrases: Phrases): string {
  const name = plainText(phrases.readingName(reading), READING_MAX);
  return reading === PRESENCE || field === undefined
    ? name
    : `${name} (${plainText(phrases.readingName(field), READING_MAX)})`;
}
