/**
 * The danger of a command that a rule would send while nobody looks on. Rules may end what is dangerous, as they close the water; what
 * opens a way in asks a person at that moment.
 */
import type { Danger } from "@edgecall/core/protocol/automation.ts";
import type { Command, Entity, Parameters } from "../entity/entity.ts";
import { namesOf } from "./danger.ts";
import { type DangerKind, dangerKinds } from "./danger-words.ts";

/**
 * @property why the reason for which a person who calls it is asked each time; undefined: none is
 * @property words the owner's own
 */
export type JudgedCommand = {
  entity: Entity;
  command: Command;
  deviceName: string;
  why: string | undefined;
  words: ReadonlySet<string>;
};

/** @returns undefined: the card alone is enough */
export function ruleDanger(judged: JudgedCommand, parameters: Parameters): Danger | undefined {
  const { entity, command, why } = judged;
  const isEnd = switchesOff(entity, command, parameters);
  // What another thing with the same target would do is not known.
  if (isOthers(judged)) return "way_in";
  if (entity.kind === "water_heater") return isEnd ? undefined : "heat";
  if (why === undefined || command.harmless) return undefined;
  switch (entity.kind) {
    case "siren":
      return "noise";
    case "alarm_control_panel":
      return /^arm(_|$)/.test(command.action) ? undefined : "way_in";
    case "cover":
      return isEnd && command.action !== "stop" && WAYS.includes(entity.class ?? "")
        ? "way_closes"
        : "way_in";
    case "valve":
      if (isEnd) return undefined;
      return entity.class === "water" ? "heat" : "way_in";
    default:
      return ofWords(judged, isEnd);
  }
}

/** Covers on which people and cars may stand. */
const WAYS: readonly string[] = ["garage", "gate", "door"];
/** The order counts: what asks comes before what is allowed. */
const BY_WORD: readonly (readonly [DangerKind, on: Danger, off: Danger | undefined])[] = [
  ["machine", "way_in", "way_in"],
  ["way", "way_in", "way_in"],
  // Switched off, it may be disarmed.
  ["alarm", "noise", "way_in"],
  ["fire", "way_in", undefined],
  ["heat", "heat", undefined],
  ["noise", "noise", undefined],
];

function ofWords({ entity, deviceName, words }: JudgedCommand, isEnd: boolean): Danger | undefined {
  if (["gas", "water"].includes(entity.class ?? "")) return isEnd ? undefined : "way_in";
  const kinds = namesOf(entity, deviceName).flatMap((name) => dangerKinds(name, entity.kind, words));
  const found = BY_WORD.find(([kind]) => kinds.includes(kind));
  // A scene, a script, a mower, and what an owner has named.
  if (!found || entity.danger !== undefined || kinds.includes(undefined)) return "way_in";
  const [, on, off] = found;
  return isEnd ? off : on;
}

/** It shares a topic with something dangerous, or is a group that has it. */
function isOthers({ why = "" }: JudgedCommand): boolean {
  return why.startsWith("it shares a topic") || why.endsWith("(one of its members)");
}

/** True if it switches off, closes or silences, and does nothing else. */
export function switchesOff(entity: Entity, { action }: Command, parameters: Parameters): boolean {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const [only] = given;
  if (given.length === 0) return action === "close" || action === "stop";
  if (given.length > 1 || !only) return false;
  const [name, value] = only;
  if (action === "set_position") return value === 0 && entity.kind !== "light";
  return action === "set" && ((name === "on" && value === false) || (name === "mode" && value === "off"));
}
