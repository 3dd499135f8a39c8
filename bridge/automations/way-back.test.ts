/** Which steps of a run an undo can bring back: what asks a person, heats, reports nothing or was changed since has no way back. */
import type { ValuesBefore } from "@edgecall/core/automations/state.ts";
import type { AutomationStep } from "@edgecall/core/protocol/automation.ts";
import { beforeEach, expect, test } from "vitest";
import type { DeviceCalls } from "../devices/calls.ts";
import { LiveReadings } from "../devices/live-readings.ts";
import type { GatewayActs } from "./gateway-acts.ts";
import { RuleCommands } from "./rule-commands.ts";
import type { Ending } from "./step-outcome.ts";
import { DraftHome, NOW } from "./testkit/draft-home.ts";

let home: DraftHome;
let commands: RuleCommands;
/** Home Assistant has not said since the start which devices it has. */
let isUnread: boolean;

beforeEach(() => {
  isUnread = false;
  home = new DraftHome();
  home.config("switch", "assumed", "Garden light", { command_topic: "assumed/set", name: null });
  home.config("switch", "radio", "Radio plug", {
    ...{ command_topic: "radio/set", state_topic: "radio", optimistic: true, name: null },
  });
  home.update();
  const { catalog, clock } = home;
  const live = new LiveReadings(
    { mark: () => ({ message: 0, at: NOW }), readingOf: catalog.readingOf.bind(catalog) },
    clock,
  );
  live.sourceUp("mqtt");
  const unused = {} as unknown;
  commands = new RuleCommands({
    ...{ catalog, live, clock, isBusy: () => false, isUnread: () => isUnread },
    // SAFETY: nothing is sent here.
    calls: unused as DeviceCalls,
    acts: unused as GatewayActs,
  });
});

function stepOf(agent: string, action: string, more: Partial<AutomationStep> = {}): AutomationStep {
  const device = home.agents.device(agent);
  return {
    of: "hosted",
    key: device?.key ?? "",
    agent,
    action,
    parameters: {},
    allow: device?.allowHash ?? "",
    ...more,
  };
}

const on = { parameters: { on: true } };
const off = { parameters: { on: false } };

/** A step is carried out: `topic` says something else. @returns the values before it */
function done(step: AutomationStep, topic: string, text: string): ValuesBefore | undefined {
  const before = commands.before(step);
  home.say(topic, text);
  return before;
}

/** The answer to an undo that sends nothing. */
function refusal(undoes: AutomationStep, before: ValuesBefore | undefined): Ending | undefined {
  let answer: Ending | undefined;
  commands.undo({ of: "undo", firing: 1, step: 1, id: "1", undoes, before, led: [] }, (ending) => {
    answer = ending;
  });
  return answer;
}

test("a light that was on comes back, unless somebody changed it since", () => {
  home.say("hall", "ON");
  const step = stepOf("hall-light", "set", off);
  expect(commands.isSo(step)).toBe(false);
  const before = done(step, "hall", "OFF") ?? expect.unreachable();
  expect(commands.isSo(step)).toBe(true);
  expect(commands.hasWayBack(step, before)).toBe(true);
  home.say("hall", "ON");
  expect(commands.hasWayBack(step, before)).toBe(false);
  expect(commands.asksForWayBack(step, before)).toBe(false);
  expect(refusal(step, before)).toEqual({
    outcome: "not_sent",
    text: "Hall light was changed since, so it stays.",
    kept: true,
  });
});

test.each([
  ["a valve that would be opened", "main-water", "close", {}, "water", "open", "closed"],
  ["a boiler that would heat", "boiler", "set", off, "boiler", "ON", "OFF"],
] as const)("%s is for a person to ask for", (_, agent, action, more, topic, was, is) => {
  home.say(topic, was);
  const step = stepOf(agent, action, more);
  const before = done(step, topic, is) ?? expect.unreachable();
  expect(commands.hasWayBack(step, before)).toBe(false);
  expect(commands.asksForWayBack(step, before)).toBe(true);
  expect(refusal(step, before)).toEqual({
    outcome: "not_sent",
    text: "A person has to ask for the way back.",
  });
  // Its device still reports what the step asked for: no change since is the reason.
  expect(commands.isSo(step)).toBe(true);
});

test("a boiler that was off is switched off again", () => {
  const step = stepOf("boiler", "set", on);
  const before = done(step, "boiler", "ON") ?? expect.unreachable();
  expect(commands.hasWayBack(step, before)).toBe(true);
});

test("without a value before, or a report of it, there is no way back", () => {
  const assumed = stepOf("garden-light", "set", on);
  expect(commands.before(assumed)).toBeUndefined();
  expect(commands.isSo(assumed)).toBe(false);
  expect(commands.hasWayBack(assumed, { switch: false })).toBe(false);
  expect(refusal(assumed, { switch: false })?.text).toBe("Nothing brings its value before back.");
  const light = stepOf("hall-light", "set", off);
  expect(refusal(light, undefined)?.text).toBe("Its value before is not known.");
});

test("a state that is assumed tells no change since, and never that a step changed nothing", () => {
  home.say("radio", "OFF");
  const step = stepOf("radio-plug", "set", on);
  const before = done(step, "radio", "ON") ?? expect.unreachable();
  expect(commands.isSo(step)).toBe(false);
  expect(commands.hasWayBack(step, before)).toBe(true);
  expect(commands.hasWayBack(step, {})).toBe(false);
});

test("a device that is not known yet after a start has a way back, and the undo waits for it", () => {
  const away = stepOf("hall-light", "set", { ...off, key: "away" });
  isUnread = true;
  expect(commands.hasWayBack(away, { switch: true })).toBe(true);
  expect(refusal(away, { switch: true })).toEqual({
    outcome: "not_sent",
    text: "Its device is not known here yet.",
    again: true,
  });
  // A step of the gateway has none in any case, nor has a device that is known and is another one.
  expect(commands.hasWayBack({ ...away, danger: "way_in" }, { switch: true })).toBe(false);
  const other = stepOf("hall-light", "set", { ...off, allow: "other" });
  expect(commands.hasWayBack(other, { switch: true })).toBe(false);
  isUnread = false;
  expect(commands.hasWayBack(away, { switch: true })).toBe(false);
});

test("what went through the gateway, and a device that is gone or another one, has no way back", () => {
  const before = { state: "open" };
  const asked = stepOf("garage", "open", { danger: "way_in" });
  expect(commands.hasWayBack(asked, before)).toBe(false);
  expect(refusal(asked, before)?.text).toMatch(/^A rule brings back nothing/);
  const gone = stepOf("hall-light", "set", { ...off, key: "gone" });
  expect(commands.hasWayBack(gone, { switch: true })).toBe(false);
  expect(refusal(gone, { switch: true })?.text).toBe("Its device is not known here any more.");
  const step = stepOf("hall-light", "set", { ...off, allow: "other" });
  expect(commands.hasWayBack(step, { switch: true })).toBe(false);
});
