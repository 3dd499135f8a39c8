/** What a rule has to know of a command before it is allowed to send it: what it changes, how it ends, and the way back. */
import type { Foreseen, ForeseenCall } from "@edgecall/core/automations/device.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Command, Entity, Parameter, Parameters, SlotValue, Values } from "./entity/entity.ts";
import { wrongParameter } from "./parameters.ts";
import { type PlanContext, prepare } from "./plan.ts";
import { type JudgedCommand, ruleDanger, switchesOff } from "./trust/rule-danger.ts";

/** @property name the action's, where it is offered @property why the reason for which a person who calls it is asked each time */
type NamedCommand = { name: string; command: Command; why: string | undefined };

/** @property siblings the offered commands of the same entity, with this one */
export type ForeseenContext = PlanContext & {
  why: string | undefined;
  siblings: readonly NamedCommand[];
  words: ReadonlySet<string>;
};

/** A parameter's slot, where it has another name. */
const SLOTS: Readonly<Record<string, string>> = { brightness_pct: "brightness", kelvin: "temperature" };
/** They say how it is done, and are no values. */
const MANNERS: ReadonlySet<string> = new Set(["transition_s"]);
const OPPOSITES: Readonly<Record<string, string>> = {
  open: "close",
  open_tilt: "close_tilt",
  sound: "stop",
  start: "dock",
  unlock: "lock",
};
/** Its direction is what is asked for: what was closed is opened again. */
const MOVES: readonly string[] = ["open", "close", "set_position"];

/** @param now epoch ms */
export function foreseenOf(
  context: ForeseenContext,
  parameters: Parameters,
  now: number,
): (Omit<Foreseen, "allow" | "changes" | "readings"> & { slots: ChangedSlot[] }) | { error: string } {
  const prepared = prepare(context, parameters, now, true);
  if ("error" in prepared) return prepared;
  const { command, deviceName, why, words, siblings } = context;
  const { part, before, isJudged, waitMs } = prepared;
  const { entity } = part;
  const back = undoOf(entity, command, parameters, before, siblings);
  // What it was before may be another state when the rule runs.
  const mayHarm = why !== undefined || entity.kind === "water_heater";
  const isBack = typeof back !== "object" || isHarmless(back, { entity, deviceName, words, siblings });
  return {
    isConfirmed: isJudged,
    waitMs,
    changesOthers: command.changesOthers === true,
    danger: ruleDanger({ entity, deviceName, words, command, why }, parameters),
    isEnd: switchesOff(entity, command, parameters),
    end: endOf(entity, command, parameters, siblings),
    undo: back !== undefined && (mayHarm || !isBack) ? "dangerous" : back,
    before: valuesBefore(entity, command, parameters, before),
    units: unitsOf(command),
    slots: changedSlots(entity, command, parameters),
  };
}

/** A slot that a command changes. `to`: the value that it gets, as it is told; absent: not known. */
type ChangedSlot = { slot: string; to?: string | number | boolean };

const ENDS_IN: Readonly<Record<string, readonly ChangedSlot[]>> = {
  open: [
    { slot: "state", to: "open" },
    { slot: "position", to: 100 },
  ],
  close: [
    { slot: "state", to: "closed" },
    { slot: "position", to: 0 },
  ],
  lock: [{ slot: "state", to: "locked" }],
  unlock: [{ slot: "state", to: "unlocked" }],
  sound: [{ slot: "on", to: true }],
};

/** What it is asked for, and what follows from it. Of other commands only the entity is known. */
function changedSlots(entity: Entity, { action }: Command, parameters: Parameters): ChangedSlot[] {
  const all = entity.slots.map(({ name }) => ({ slot: name }));
  if (entity.kind === "siren" && action === "stop") return [{ slot: "on", to: false }];
  const known = Object.hasOwn(ENDS_IN, action) ? ENDS_IN[action] : undefined;
  if (known) return [...known];
  if (!action.startsWith("set")) return all;
  const asked = Object.entries(parameters).flatMap(([name, value]): ChangedSlot[] => {
    const to = typeof value === "number" || typeof value === "string" || typeof value === "boolean";
    return value === undefined || MANNERS.has(name) ? [] : [{ slot: slotOf(name), ...(to && { to: value }) }];
  });
  const names = asked.map(({ slot }) => slot);
  const isLit = entity.kind === "light" && !names.includes("on") && asked.length > 0;
  const followed =
    action === "set_position" ? ["state"] : [...FOLLOWS, ...(names.includes("on") ? ["mode"] : [])];
  return [
    ...asked,
    ...(isLit ? [{ slot: "on", to: true }] : []),
    ...all.filter(({ slot }) => followed.includes(slot) && !names.includes(slot)),
  ];
}

/** A thermostat heats, or is idle. */
const FOLLOWS: readonly string[] = ["action"];

/**
 * The call that brings back values from before a command.
 * @param given by the names of readings, as `Plan.readings` has them @param named the readings of the entity, by their slots
 * @returns `dangerous`: it would need a person at that moment; undefined: there is none
 */
export function undoTo(
  context: ForeseenContext,
  parameters: Parameters,
  given: Readonly<Record<string, unknown>>,
  named: ReadonlyMap<string, string>,
): ForeseenCall | "dangerous" | undefined {
  const { part, command, deviceName, siblings, words } = context;
  const { entity } = part;
  const before: Values = (slot) => {
    const value = given[named.get(slot) ?? ""];
    const plain = typeof value === "number" ? Quantity.of(value) : value;
    const isValue = plain instanceof Quantity || typeof plain === "boolean" || typeof plain === "string";
    return isValue ? { value: plain, at: null, heard: 0, message: 0, retained: false } : undefined;
  };
  const back = undoOf(entity, command, parameters, before, siblings);
  if (typeof back !== "object") return undefined;
  return isHarmless(back, { entity, deviceName, words, siblings }) ? back : "dangerous";
}

/** @returns whether the values of now are what a command asks for; undefined: they are not known, or nothing reports them */
export function isAsAsked(context: PlanContext, parameters: Parameters, now: number): boolean | undefined {
  const prepared = prepare(context, parameters, now, true);
  if ("error" in prepared || !prepared.isJudged) return undefined;
  const { before: present, expects } = prepared;
  const isKnown = expects.every(({ slots }) => slots.some((slot) => (present(slot)?.value ?? null) !== null));
  return isKnown ? expects.every(({ met }) => met(present, () => undefined)) : undefined;
}

function isHarmless(
  { action, parameters }: ForeseenCall,
  {
    siblings,
    ...judged
  }: Pick<JudgedCommand, "entity" | "deviceName" | "words"> & Pick<ForeseenContext, "siblings">,
): boolean {
  const found = siblings.find(({ name }) => name === action);
  if (!found) return false;
  const { command, why } = found;
  return ruleDanger({ ...judged, command, why }, parameters) === undefined;
}

function endOf(
  entity: Entity,
  command: Command,
  parameters: Parameters,
  siblings: readonly NamedCommand[],
): ForeseenCall | undefined {
  if (switchesOff(entity, command, parameters)) return undefined;
  const named = (action: string) => siblings.find((one) => one.command.action === action)?.name;
  const opposite = Object.hasOwn(OPPOSITES, command.action) ? OPPOSITES[command.action] : undefined;
  if (opposite !== undefined) {
    const action = named(opposite);
    return action === undefined ? undefined : { action, parameters: {} };
  }
  const action = named("set");
  if (command.action !== "set" || action === undefined) return undefined;
  const { on, mode } = command.parameters;
  const switchesOn = parameters.on === true || (parameters.mode !== undefined && parameters.mode !== "off");
  // An aim alone switches nothing on, except that of a light.
  if (!switchesOn && entity.kind !== "light") return undefined;
  if (on) return { action, parameters: { on: false } };
  return hasOption(mode, "off") ? { action, parameters: { mode: "off" } } : undefined;
}

function undoOf(
  entity: Entity,
  command: Command,
  parameters: Parameters,
  before: Values,
  siblings: readonly NamedCommand[],
): ForeseenCall | "unknown" | undefined {
  const own = siblings.find((one) => one.command === command);
  if (!own || command.changesOthers) return undefined;
  if (MOVES.includes(command.action)) return moveBack(entity, before, siblings);
  if (command.action !== "set" && command.action !== "set_tilt") return undefined;
  const names = Object.keys(parameters).filter(
    (name) => parameters[name] !== undefined && !MANNERS.has(name),
  );
  const isReported = (name: string) => entity.readings.some(({ slot }) => slot === slotOf(name));
  if (Object.hasOwn(command.parameters, "on") && isReported("on")) {
    const { value } = before("on") ?? {};
    // Everything else was not there while it was off.
    if (value === false) return { action: own.name, parameters: { on: false } };
    if (value !== true) return names.every(isReported) ? "unknown" : undefined;
  }
  if (!names.every(isReported)) return undefined;
  const values = names.map((name) => [name, plainIn(command.parameters[name], before(slotOf(name))?.value)]);
  if (values.some(([, value]) => value === undefined)) return "unknown";
  const back: Record<string, unknown> = Object.fromEntries(values);
  return wrongParameter(command, back) === undefined ? { action: own.name, parameters: back } : "unknown";
}

/** A position is more than "open". */
function moveBack(
  entity: Entity,
  before: Values,
  siblings: readonly NamedCommand[],
): ForeseenCall | "unknown" | undefined {
  const named = (action: string) => siblings.find((one) => one.command.action === action)?.name;
  const position = before("position")?.value;
  const toPosition = named("set_position");
  if (toPosition !== undefined && position instanceof Quantity)
    return { action: toPosition, parameters: { position: Math.round(position.value) } };
  const state = before("state")?.value;
  const action = state === "open" ? named("open") : state === "closed" ? named("close") : undefined;
  if (action !== undefined) return { action, parameters: {} };
  const isReported = entity.readings.some(({ slot }) => slot === "state" || slot === "position");
  return isReported ? "unknown" : undefined;
}

function valuesBefore(
  entity: Entity,
  command: Command,
  parameters: Parameters,
  before: Values,
): Foreseen["before"] {
  const names = Object.keys(parameters);
  // What has no values has a state.
  const told = names.length === 0 ? ["state"] : names;
  const known = told.flatMap((name) => {
    const slot = slotOf(name);
    const spec = entity.readings.find((one) => one.slot === slot && !one.secret && !one.free);
    const { value: reported } = before(slot) ?? {};
    const state = typeof reported === "string" && isLabel(reported) ? reported : undefined;
    const value = spec && (names.length === 0 ? state : plainIn(command.parameters[name], reported));
    if (value === undefined) return [];
    return [[name, { value, ...(spec?.unit !== undefined && { unit: spec.unit }) }]];
  });
  return Object.fromEntries(known);
}

function unitsOf({ parameters }: Command): Foreseen["units"] {
  const known = Object.entries(parameters).flatMap(([name, { description = "" }]) => {
    const degrees = /°[CF]/.exec(description)?.[0];
    return degrees === undefined ? [] : [[name, degrees]];
  });
  return Object.fromEntries(known);
}

function slotOf(parameter: string): string {
  return Object.hasOwn(SLOTS, parameter) ? (SLOTS[parameter] ?? parameter) : parameter;
}

/** A reported value as the parameter takes it. A colour is in the light's own space. */
function plainIn(
  parameter: Parameter | undefined,
  value: SlotValue | undefined,
): string | number | boolean | undefined {
  if (!parameter || value === undefined || value === null) return undefined;
  if (value instanceof Quantity) {
    if (parameter.type === "integer") return Math.round(value.value);
    return parameter.type === "number" ? value.value : undefined;
  }
  if (typeof value === "boolean") return parameter.type === "boolean" ? value : undefined;
  return typeof value === "string" && parameter.type === "string" ? value : undefined;
}

function hasOption(parameter: Parameter | undefined, option: string): boolean {
  return parameter !== undefined && "enum" in parameter && parameter.enum.includes(option);
}
