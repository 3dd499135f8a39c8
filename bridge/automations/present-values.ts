/** The present values of the conditions of rules that act: whether they are so, and in words. */

import { combined, type Truth } from "@edgecall/core/automations/truth.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { plainText } from "@edgecall/core/phrases/reported-text.ts";
import type { Automation } from "@edgecall/core/protocol/automation.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";
import { valueText as conditionValue } from "@edgecall/core/rules/condition-text.ts";
import { isTrue } from "@edgecall/core/rules/evaluate.ts";
import { readValue } from "@edgecall/core/rules/value.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { LiveReading, LiveReadings } from "../devices/live-readings.ts";
import { phrasesReadIn } from "../history/phrases.ts";
import type { AgentTruths } from "./agent-truths.ts";

type PresentValuesParts = {
  catalog: DeviceCatalog;
  live: LiveReadings;
  truths: AgentTruths;
  clock: Pick<Clock, "wall">;
};

export class PresentValues {
  readonly #parts: PresentValuesParts;

  constructor(parts: PresentValuesParts) {
    this.#parts = parts;
  }

  /** Tells whether the conditions of a rule are so now, without their holds. */
  isSo({ match, when }: Pick<Automation, "match" | "when">): boolean {
    const truths = when.map((one): Truth => {
      const { of, key, condition } = one;
      if (of === "agent") return this.#parts.truths.of(one)?.so;
      const reading = this.#parts.live.of(key, condition.reading);
      const value = reading && readValue(reading, condition.type, condition.unit);
      return isMomentary(condition) ? false : value === undefined ? undefined : isTrue(condition, value);
    });
    return when.length > 0 && combined(match, truths) === true;
  }

  /** Each condition's present value, in the words of its maker's language. */
  inWords({ when, language }: Pick<Automation, "when" | "language">): string[] {
    const { catalog, clock, live, truths } = this.#parts;
    const phrases = phrasesReadIn(language);
    return when.map((one) => {
      const { of, key, agent, condition } = one;
      const { reading, field } = condition;
      const isAgents = of === "agent";
      const device = isAgents ? agent : (catalog.deviceOf(key, clock.wall())?.name ?? agent);
      const named = field === undefined ? phrases.readingName(reading) : `${reading}.${field}`;
      const name = phrases.list([device, named], "plain");
      const text = isAgents
        ? saidText(truths.of(one), condition.unit, phrases)
        : valueText(live.of(key, reading), phrases);
      return cutText(phrases.say("named", { name, text }), 200);
    });
  }
}

/** English has the device's own text. */
function valueText(reading: LiveReading | undefined, phrases: Phrases): string {
  if (!reading) return "?";
  const { value, text } = reading;
  return phrases.language === "en" || value === null ? text : plainText({ ...reading, value }, phrases);
}

/** An agent's last value; of one that is too long to be said, whether it is so. */
function saidText(said: Truths[string] | undefined, unit: string | undefined, phrases: Phrases): string {
  if (!said) return "?";
  return said.value === undefined
    ? conditionValue(said.so, {}, phrases)
    : conditionValue(said.value, { unit }, phrases);
}
