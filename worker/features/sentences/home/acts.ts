/** Makes calls of acts: the device's own action, with a value that fits its schema. Pure but for the question for states. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { Act, Action, Setting, Value } from "@edgecall/core/sentences/frame.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import type { AskContext } from "./asks.ts";
import { actionOf, fitted, optionOf, parameterOf, settingsFor, settingsOf, switchOf } from "./parameters.ts";
import { readingsOf, stateIn } from "./readings.ts";
import { choices, findTarget, isDoor, lockOf, type Problem } from "./targets.ts";
import { isOfType, type Thing } from "./things.ts";

/** @property things those of the calls, in their order @property left names of those that are offline */
export type MadeCalls = { calls: PlannedCall[]; things: Thing[]; left: string[] };

/** Devices that one sentence may change. */
const ACTS_MAX = 20;

/** Steps of "brighter" and "louder", in the setting's own unit. */
const STEPS: Readonly<Partial<Record<Setting, number>>> = {
  brightness: 25,
  position: 25,
  speed: 25,
  volume: 10,
  humidity: 5,
  temperature: 1,
  color_temperature: 500,
};
const CHANGED: readonly Setting[] = ["brightness", "temperature", "volume", "position", "speed", "humidity"];

export async function makeCalls(act: Act, context: AskContext): Promise<MadeCalls | { problem: Problem }> {
  const { phrases } = context;
  const changed = context.things.filter((thing) => thing.hosted && !thing.readOnly);
  const fits = (thing: Thing) => canDo(act, thing);
  const found = findTarget(byAction(act, context, changed), { ...context, things: changed }, fits);
  if ("problem" in found) return unchanged(act, context.things, phrases) ?? found;
  const able = found.things.filter(fits);
  const [first] = found.things;
  if (able.length === 0)
    return { problem: first ? cannot(first, phrases) : { text: phrases.say("nothingToDo") } };
  const online = able.filter((thing) => thing.online);
  // One that is offline is called all the same: presence may be old, and the outcome says it.
  const called = able.length === 1 || online.length === 0 ? able : online;
  if (called.length > ACTS_MAX)
    return {
      problem: { text: phrases.say("tooMany", { count: called.length, max: String(ACTS_MAX) }), asks: true },
    };
  const needsStates =
    ["toggle", "raise", "lower"].includes(act.action) || (act.action === "set" && isOther(act.value));
  const states = needsStates ? await context.states(called.map(({ id }) => id)) : undefined;
  const calls: PlannedCall[] = [];
  for (const thing of called) {
    const made = callOf(act, thing, states?.get(thing.id)?.readings ?? [], phrases);
    if ("problem" in made) return made;
    calls.push({ name: EDGE_CALL, args: { agent_id: thing.id, action: made.action, params: made.params } });
  }
  return { calls, things: called, left: choices(able.filter((thing) => !called.includes(thing))) };
}

/** "Lock the door" means its lock, and so does "open the door" where none moves by itself. */
function byAction({ action, target }: Act, context: AskContext, things: readonly Thing[]): Act["target"] {
  if (target.of !== "type" || !isDoor(target.type)) return target;
  if (action === "lock" || action === "unlock") return lockOf(target);
  const moves = (thing: Thing) => isOfType(thing, target.type, context.called) && doneBy("open", thing, true);
  const isUnlocked = action === "open" && target.type !== "window" && !things.some(moves);
  return isUnlocked ? lockOf(target) : target;
}

/** What was named is there, and not for this person, or for no person, to change. @returns undefined: it was not named, or is not there */
function unchanged(
  { target }: Act,
  things: readonly Thing[],
  phrases: Phrases,
): { problem: Problem } | undefined {
  const [first, other] = target.of === "named" ? things.filter(({ id }) => target.ids.includes(id)) : [];
  if (!first || other || (first.hosted && !first.readOnly)) return undefined;
  return {
    problem: { text: phrases.say(first.hosted ? "notAllowed" : "cannotActAtAll", { name: first.name }) },
  };
}

type Done = { action: string; params: Record<string, unknown> };

function canDo(act: Act, thing: Thing): boolean {
  if (act.action === "set") {
    const { setting, value } = act;
    if ("option" in value && setting === undefined) return optionOf(thing, value.option) !== undefined;
    return (setting === undefined ? settingsFor(value) : [setting]).some((one) => parameterOf(thing, one));
  }
  if (act.action === "raise" || act.action === "lower")
    return movedBy(act, thing) !== undefined || changedSetting(act.setting, thing) !== undefined;
  if (unlockedBy(act, thing)) return true;
  return [act.action, ...("or" in act && act.or !== undefined ? [act.or] : [])].some((one) =>
    doneBy(one, thing, true),
  );
}

function callOf(
  act: Act,
  thing: Thing,
  readings: readonly Reading[],
  phrases: Phrases,
): Done | { problem: Problem } {
  if (act.action === "set") {
    const [present] = isOther(act.value) ? readingsOf(readings, "color") : [];
    return setCall(act, thing, phrases, present && String(present.value));
  }
  if (act.action === "raise" || act.action === "lower")
    return movedBy(act, thing) ?? changeCall(act, thing, readings, phrases);
  const isOn = stateIn(readings, "on")?.so;
  const or = "or" in act ? act.or : undefined;
  const done =
    doneBy(act.action, thing, isOn) ??
    unlockedBy(act, thing) ??
    (or === undefined ? undefined : doneBy(or, thing, isOn));
  if (act.action === "toggle" && isOn === undefined)
    return { problem: { text: phrases.say("unknownNow", { name: thing.name }) } };
  return done ?? { problem: cannot(thing, phrases) };
}

/** "change the colour". */
function isOther(value: Value): boolean {
  return "color" in value && value.color === "other";
}

/** "Raise the blinds" opens them. @returns undefined: it is a setting that changes, or the device does not move */
function movedBy(act: Act & { action: "raise" | "lower" }, thing: Thing): Done | undefined {
  const isWhole = act.setting === undefined && act.by === undefined && thing.kinds.has("cover");
  return isWhole ? doneBy(act.action === "raise" ? "open" : "close", thing, undefined) : undefined;
}

/** "Open the front door" unlocks it, where the lock itself was meant: never as one of everything. */
function unlockedBy(act: Act, thing: Thing): Done | undefined {
  const { action, target } = act;
  const opens = action === "open" || ("or" in act && act.or === "open");
  const isMeant =
    target.of === "named" ||
    target.of === "earlier" ||
    (target.of === "type" && target.type === "lock") ||
    (target.of === "type" && isDoor(target.type));
  return opens && isMeant && thing.kinds.has("lock") ? doneBy("unlock", thing, undefined) : undefined;
}

/** The device's own action. @param isOn its state, for `toggle` @returns undefined: it has none */
function doneBy(action: Action, thing: Thing, isOn: boolean | undefined): Done | undefined {
  const plain = (...names: string[]): Done | undefined => {
    const name = names.find((one) => actionOf(thing, one));
    return name === undefined ? undefined : { action: name, params: {} };
  };
  const has = (...kinds: string[]) => kinds.some((one) => thing.kinds.has(one));
  switch (action) {
    case "turn_on":
      return (
        switched(thing, true) ??
        mode(thing, "heat", "auto", "cool") ??
        (has("vacuum", "lawn_mower") ? plain("start") : has("scene") ? plain("activate") : undefined)
      );
    case "turn_off":
      return (
        switched(thing, false) ??
        mode(thing, "off") ??
        (has("siren") ? plain("stop") : has("vacuum", "lawn_mower") ? plain("dock", "stop") : undefined)
      );
    case "toggle":
      return isOn === undefined ? undefined : switched(thing, !isOn);
    case "open":
    case "close":
      return plain(action) ?? positioned(thing, action === "open" ? 100 : 0);
    case "stop":
      return plain("stop") ?? (has("fan") ? switched(thing, false) : undefined);
    case "start":
      return plain("start") ?? (has("fan") ? switched(thing, true) : undefined);
    case "press":
      return plain("press", "activate");
    default:
      return plain(action);
  }
}

function switched(thing: Thing, on: boolean): Done | undefined {
  const action = switchOf(thing);
  return action === undefined ? undefined : { action, params: { on } };
}

/** Heating without a switch of its own has a mode `off`. */
function mode(thing: Thing, ...options: string[]): Done | undefined {
  const parameter =
    thing.kinds.has("climate") || thing.kinds.has("water_heater") ? parameterOf(thing, "mode") : undefined;
  const list = parameter && Array.isArray(parameter.schema.enum) ? parameter.schema.enum : [];
  const option = options.find((one) => list.includes(one));
  return parameter && option !== undefined
    ? { action: parameter.action, params: { [parameter.name]: option } }
    : undefined;
}

function positioned(thing: Thing, position: number): Done | undefined {
  const parameter = parameterOf(thing, "position");
  return parameter && { action: parameter.action, params: { [parameter.name]: position } };
}

function setCall(
  { setting, value }: Act & { action: "set" },
  thing: Thing,
  phrases: Phrases,
  present: string | undefined,
): Done | { problem: Problem } {
  const option = "option" in value && setting === undefined ? optionOf(thing, value.option) : undefined;
  if (option && "option" in value) return { action: option.action, params: { [option.name]: value.option } };
  const [parameter] = (setting === undefined ? settingsFor(value) : [setting]).flatMap(
    (one) => parameterOf(thing, one) ?? [],
  );
  if (!parameter) return { problem: cannot(thing, phrases) };
  const fit = fitted(thing, parameter, value, phrases, present);
  return fit.ok
    ? { action: parameter.action, params: fit.params }
    : { problem: { text: fit.text, asks: true } };
}

function changedSetting(setting: Setting | undefined, thing: Thing): Setting | undefined {
  return (setting === undefined ? CHANGED : [setting]).find(
    (one) => STEPS[one] !== undefined && parameterOf(thing, one),
  );
}

function changeCall(
  { action, setting, by }: Act & { action: "raise" | "lower" },
  thing: Thing,
  readings: readonly Reading[],
  phrases: Phrases,
): Done | { problem: Problem } {
  const changed = changedSetting(setting, thing);
  const parameter = changed && parameterOf(thing, changed);
  if (!changed || !parameter) return { problem: cannot(thing, phrases) };
  const { minimum, maximum } = parameter.schema;
  const asked = changed === "temperature" ? "target_temperature" : changed === "tilt" ? "position" : changed;
  const present = readingsOf(readings, asked).find(({ value }) => typeof value === "number")?.value;
  // A lamp that is off has no brightness.
  const isOff = stateIn(readings, "on")?.so === false;
  const from = typeof present === "number" ? present : isOff && changed === "brightness" ? 0 : undefined;
  if (from === undefined || typeof minimum !== "number" || typeof maximum !== "number")
    return {
      problem: {
        text: phrases.say("readingUnknown", { name: thing.name, reading: phrases.reading(changed) }),
      },
    };
  const step = (by?.number ?? STEPS[changed] ?? 1) * (action === "raise" ? 1 : -1);
  const wanted = Math.min(maximum, Math.max(minimum, from + step));
  const fit = fitted(thing, parameter, { number: wanted }, phrases);
  return fit.ok ? { action: parameter.action, params: fit.params } : { problem: { text: fit.text } };
}

/** What it can do, in words. */
function cannot(thing: Thing, phrases: Phrases): Problem {
  const { name } = thing;
  const acts = [
    ...(
      [
        "turn_on",
        "turn_off",
        "open",
        "close",
        "stop",
        "lock",
        "unlock",
        "start",
        "pause",
        "dock",
        "press",
      ] as const
    ).flatMap((one) => (doneBy(one, thing, undefined) ? phrases.act(one) : [])),
    ...settingsOf(thing).map((setting) => `${phrases.act("set")} ${phrases.reading(setting)}`),
  ];
  return {
    text:
      acts.length > 0
        ? phrases.say("cannotAct", { name, acts: phrases.list(acts, "plain") })
        : phrases.say("cannotActAtAll", { name }),
  };
}
