/** A rule that acts, with what a test needs of it. */
import type { Automation, AutomationStep } from "../../protocol/automation.ts";
import type { WatchCondition } from "../../protocol/rules.ts";
import { MINUTE_MS } from "../../time/zone.ts";
import type { Surroundings } from "../state.ts";

/** A Sunday at 12:00 in Berlin. */
export const NOON = Date.parse("2026-11-22T11:00Z");

export function conditionOf(more: Partial<WatchCondition> = {}): Automation["when"][number] {
  const condition: WatchCondition = {
    ...{ id: "w-0001", version: 1, reading: "contact", type: "boolean", is: "equal", value: true },
    ...{ hysteresis: 0, hold_ms: 0, clear_hold_ms: 0, repeat: "each_time", tell_own: false },
    ...more,
  };
  return { of: "hosted", key: "door", agent: "front-door", condition };
}

/** A condition that is a moment: a button was pressed. */
export function pressed(): Automation["when"][number] {
  const { condition, ...rest } = conditionOf({ reading: "button", type: "text", is: "happens" });
  const { value: _, ...moment } = condition;
  return { ...rest, condition: moment };
}

export function stepOf(more: Partial<AutomationStep> = {}): AutomationStep {
  return {
    ...{ of: "hosted", key: "lamp", agent: "hall-lamp", action: "turn_on", parameters: {}, allow: "h" },
    ...more,
  };
}

export function ruleOf(more: Partial<Automation> = {}): Automation {
  return {
    ...{ id: "a-0001", version: 1, name: "Door open, light on", match: "all", when: [conditionOf()] },
    ...{ do: [stepOf()], over: "leave", end: [], go_on: false, pause_ms: MINUTE_MS, an_hour: 12 },
    zone: "Europe/Berlin",
    ...more,
  } as Automation;
}

export function around(at: number, more: Partial<Surroundings> = {}): Surroundings {
  return {
    ...{ at, sure: true, presence: "unknown", begin_from: 0 },
    because: () => ["Front door: open"],
    before: () => ({ state: false }),
    is_so: () => false,
    has_way_back: () => true,
    held_until: () => 0,
    ...more,
  };
}
