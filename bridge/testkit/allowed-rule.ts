/** A rule that acts as an owner would have allowed it and the gateway signed it, with what a test needs of it. */
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { automationBytes, withSignature } from "@edgecall/core/protocol/signing.ts";
import type { KeyPair } from "@edgecall/node/keypair.ts";

const DAY_MS = 86_400_000;

export type Device = { id: string; key: string; allow: string };
export type Step = AllowedAutomation["do"][number];
export type Condition = AllowedAutomation["when"][number];

/** A condition; without more it is about a thermometer. */
export function readingOf({ id, key }: Device, more: Partial<Condition["condition"]>): Condition {
  return {
    of: "hosted",
    key,
    agent: id,
    condition: {
      id: "w-0001",
      version: 1,
      reading: "Temperature",
      type: "number",
      is: "above",
      hysteresis: 1,
      hold_ms: 0,
      clear_hold_ms: 0,
      repeat: "each_time",
      tell_own: false,
      ...more,
    },
  };
}

export function stepOf(
  { id, key, allow }: Device,
  parameters: Step["parameters"] = { on: true },
  more: Partial<Step> = {},
): Step {
  return { of: "hosted", key, agent: id, action: "set", parameters, allow, ...more };
}

/** @param n its number, from 1: of it are made its id and its name */
export function allowedRule(
  n: number,
  more: Pick<AllowedAutomation, "when" | "do"> & Partial<AllowedAutomation>,
): AllowedAutomation {
  return {
    id: `a-${n.toString(16).padStart(4, "0")}`,
    version: 1,
    name: `Rule ${n}`,
    match: "all",
    over: "leave",
    end: [],
    go_on: false,
    pause_ms: 60_000,
    an_hour: 60,
    zone: "Europe/Berlin",
    home: "h1",
    allowed: { by: "anna", at: Date.now(), until: Date.now() + 30 * DAY_MS },
    ...more,
  };
}

/** @returns the text that a bridge takes, if the key is its gateway's */
export function signedRule(pair: KeyPair, rule: object): string {
  const body = JSON.stringify(rule);
  return withSignature(body, pair.sign(automationBytes(body)));
}
