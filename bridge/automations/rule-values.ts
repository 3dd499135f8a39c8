/** The values of the conditions of rules that act, each given once: a repetition would count as a sign of life. */
import type { AutomationInput } from "@edgecall/core/automations/state.ts";
import type { AutomationCondition } from "@edgecall/core/protocol/automation.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import type { SourcedReading } from "@edgecall/discovery/model/device.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import type { AgentTruths } from "./agent-truths.ts";

type ValueInput = Extract<AutomationInput, { of: "value" }>;
type Given = { message: number; value: SourcedReading["value"] } | "missing";

/** Commands of which is remembered what led to them, until their values come. */
const LED_MAX = 500;

export class RuleValues {
  readonly #live: LiveReadings;
  readonly #truths: AgentTruths;
  /** The values that were given, by the rule's place and the condition's number. */
  readonly #given = new Map<string, Given>();
  /** The rules whose runs led to the values that a command of a rule causes, by its id. */
  readonly #led = new Map<string, readonly string[]>();

  constructor(live: LiveReadings, truths: AgentTruths) {
    this.#live = live;
    this.#truths = truths;
  }

  /** A command of a rule is sent. @param led the rules whose runs led to its run */
  commanded(id: string, rule: string, led: readonly string[]): void {
    this.#led.set(id, [...led, rule]);
    if (this.#led.size <= LED_MAX) return;
    for (const first of this.#led.keys()) {
      this.#led.delete(first);
      return;
    }
  }

  /** A rule is another one from now on, or gone. */
  forget(place: string): void {
    for (const of of this.#given.keys()) if (of.startsWith(`${place} `)) this.#given.delete(of);
  }

  /** @returns what is new of a condition; undefined: nothing */
  next(place: string, number: number, asked: AutomationCondition): ValueInput | undefined {
    const { of, key, condition } = asked;
    const at = `${place} ${number}`;
    if (of === "agent") return this.#said(at, number, asked);
    const reading = this.#live.of(key, condition.reading);
    const given = this.#given.get(at);
    if (!reading) {
      if (given === "missing") return undefined;
      this.#given.set(at, "missing");
      if (condition.is === "happens") return undefined;
      return { of: "value", condition: number, value: { missing: true } };
    }
    const { message, value, unit, isOld } = reading;
    if (given !== undefined && given !== "missing" && given.message === message && given.value === value)
      return undefined;
    this.#given.set(at, { message, value });
    // A value that was kept from before, or comes behind a gap, tells of no moment. It is the value with which the next one is compared.
    const isAcrossGap = condition.is === "changes" && (given === undefined || given === "missing");
    const isNoMoment = isMomentary(condition) && (isOld || isAcrossGap);
    if (isNoMoment && condition.is === "happens") return undefined;
    const led = reading.own && this.#led.get(reading.own.call);
    const own = led !== undefined || isNoMoment;
    return {
      of: "value",
      condition: number,
      value: { value, unit, own },
      ...(led && { led }),
    };
  }

  /** An agent says whether its condition is so. */
  #said(at: string, number: number, asked: AutomationCondition): ValueInput | undefined {
    const value = this.#truths.of(asked)?.so;
    const given = this.#given.get(at);
    if (given !== undefined && (given === "missing" ? undefined : given.value) === value) return undefined;
    this.#given.set(at, value === undefined ? "missing" : { message: 0, value });
    return { of: "value", condition: number, value: value === undefined ? { missing: true } : { value } };
  }
}
