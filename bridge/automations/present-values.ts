/** The present values of the conditions of rules that act: whether they are so, and in words. */

import { combined, type Truth } from "@edgecall/core/automations/truth.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { plainText } from "@edgecall/core/phrases/reported-text.ts";
import type { Automation } from "@edgecall/core/protocol/automation.ts";
import { isTrue } from "@edgecall/core/rules/evaluate.ts";
import { readValue } from "@edgecall/core/rules/value.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { LiveReading, LiveReadings } from "../devices/live-readings.ts";
import { phrasesReadIn } from "../history/phrases.ts";

type PresentValuesParts = { catalog: DeviceCatalog; live: LiveReadings; clock: Pick<Clock, "wall"> };

export class PresentValues {
  readonly #parts: PresentValuesParts;

  constructor(parts: PresentValuesParts) {
    this.#parts = parts;
  }

  /** Tells whether the conditions of a rule are so now, without their holds. */
  isSo({ match, when }: Pick<Automation, "match" | "when">): boolean {
    const truths = when.map(({ key, condition }): Truth => {
      const reading = this.#parts.live.of(key, condition.reading);
      const value = reading && readValue(reading, condition.type, condition.unit);
      return isMomentary(condition) ? false : value === undefined ? undefined : isTrue(condition, value);
    });
    return when.length > 0 && combined(match, truths) === true;
  }

  /** Each condition's present value, in the words of its maker's language. */
  inWords({ when, language }: Pick<Automation, "when" | "language">): string[] {
    const { catalog, clock, live } = this.#parts;
    const phrases = phrasesReadIn(language);
    return when.map(({ key, agent, condition }) => {
      const device = catalog.deviceOf(key, clock.wall())?.name ?? agent;
      const name = phrases.list([device, phrases.readingName(condition.reading)], "plain");
      const text = valueText(live.of(key, condition.reading), phrases);
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
