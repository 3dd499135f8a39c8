/**
 * Commands that ask a person each time. Danger belongs to the target of a command: whatever a "lamp" calls itself, what it sends to a
 * lock's target moves the lock.
 */
import type { Command, Entity } from "../entity/entity.ts";
import { dangerWord } from "./danger-words.ts";

/** An entity with the name of its device, which may say what a relay switches. */
type Named = { entity: Entity; deviceName: string };
/** `members` of a group: what its commands move. They may be no devices of their own, with no commands. */
type NamedGroup = Named & { members: readonly Named[] };

const NAME_MAX = 500;
const WORD_MAX = 40;

export type DangerOf = (entity: Entity, command: Command) => string | undefined;

/**
 * @param words the owner's own
 * @param alias a target in the one spelling by which its source compares it
 */
export function dangers(
  all: readonly NamedGroup[],
  words: ReadonlySet<string>,
  alias: (target: string) => string,
): DangerOf {
  const own = new Map<Command, string | undefined>();
  /** Targets of dangerous commands, with the entities that have them. */
  const targets = new Map<string, { entities: Set<Entity>; why: string; certain: boolean }>();
  for (const { entity, deviceName, members } of all)
    for (const command of entity.commands) {
      const [why, certain] = ownDanger(entity, command, deviceName, words);
      // Only its own danger goes over to what shares a target: a blind in a group with a garage door stays a blind.
      own.set(command, why ?? memberDanger(members, command, words));
      if (why === undefined) continue;
      for (const target of command.targets.map(alias)) {
        const known = targets.get(target);
        if (known) known.entities.add(entity);
        else targets.set(target, { entities: new Set([entity]), why, certain });
      }
    }

  const shared = (entity: Entity, target: string): string | undefined => {
    const parts = target.split("/");
    for (let length = parts.length; length > 0; length -= 1) {
      // Also the targets above it: `lamp/set/state` is a part of `lamp/set`.
      const found = targets.get(parts.slice(0, length).join("/"));
      if (found && isOthers(found.entities, entity)) return found.why;
    }
    return undefined;
  };
  const below = belowOf(
    [...targets]
      .filter(([, { certain }]) => certain)
      .map(([target, { entities, why }]) => ({ target, entities, why })),
  );
  return (entity, command) => {
    const why = own.get(command);
    if (why !== undefined) return why;
    for (const target of command.targets.map(alias)) {
      const other = shared(entity, target) ?? below(entity, target);
      if (other !== undefined) return `it shares a topic with something else: ${other}`;
    }
    return undefined;
  };
}

/** `lock/set/state` is dangerous, so `lock/set` is: its message may name the state. */
function belowOf(
  dangerous: readonly { target: string; entities: Set<Entity>; why: string }[],
): (entity: Entity, target: string) => string | undefined {
  const above = new Map<string, { entities: Set<Entity>; why: string }[]>();
  for (const { target, entities, why } of dangerous) {
    const parts = target.split("/");
    // One level: further up, targets belong to the whole house.
    const key = parts.slice(0, -1).join("/");
    above.set(key, [...(above.get(key) ?? []), { entities, why }]);
  }
  return (entity, target) => above.get(target)?.find(({ entities }) => isOthers(entities, entity))?.why;
}

/** A lock's own `lock` stays harmless although its `unlock` is sent to the same topic. */
function isOthers(entities: ReadonlySet<Entity>, entity: Entity): boolean {
  return entities.size > 1 || !entities.has(entity);
}

function memberDanger(
  members: readonly Named[],
  command: Command,
  words: ReadonlySet<string>,
): string | undefined {
  const all = members.map(({ entity, deviceName }) => ownDanger(entity, command, deviceName, words)[0]);
  const why = all.find((one) => one !== undefined);
  return why && `${why} (one of its members)`;
}

/** `certain`: by kind or class, not by a word. */
function ownDanger(
  entity: Entity,
  command: Command,
  deviceName: string,
  words: ReadonlySet<string>,
): [why: string | undefined, certain: boolean] {
  if (command.harmless) return [undefined, false];
  if (entity.danger !== undefined) return [entity.danger, true];
  if (["gas", "water"].includes(entity.class ?? "")) return [`it is for ${entity.class}`, true];
  const word = namesOf(entity, deviceName)
    .map((name) => dangerWord(name, entity.kind, words))
    .find((one) => one !== undefined);
  return [word && `its name has "${word.slice(0, WORD_MAX)}"`, false];
}

/** The names that may say what it switches, whole: what is shown of them is cut. */
export function namesOf(entity: Entity, deviceName: string): string[] {
  // A relay is named for its number, and its device for what it switches. A lamp of the boiler room is a lamp.
  const isDevice = entity.name === undefined || ["button", "cover", "switch"].includes(entity.kind);
  return [entity.name, entity.wholeName, isDevice ? deviceName : undefined].flatMap((name) =>
    name === undefined || name === "" ? [] : [name.slice(0, NAME_MAX)],
  );
}
