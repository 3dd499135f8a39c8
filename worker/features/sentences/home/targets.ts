/** Which things a target means: exactly those that were named, or one question back. Pure. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Place, State, Target, ThingType } from "@edgecall/core/sentences/frame.ts";
import type { RulesBack } from "../note.ts";
import { type IsCalled, isOfType, type Thing } from "./things.ts";

/** A sentence that cannot be carried out as it is. */
export type Problem = {
  text: string;
  /** The person is asked back, also where there is a model: it would not know either. */
  asks?: true;
  /** The person was asked which thing is meant, and may name it. */
  which?: true;
  /** There is no such thing in this home. */
  none?: true;
  /** The person was asked about rules. */
  back?: RulesBack;
};

export type Found = { things: readonly Thing[]; isPlural: boolean } | { problem: Problem };

export type TargetContext = {
  /** Those in the person's reach. */
  things: readonly Thing[];
  phrases: Phrases;
  /** What the conversation's last turn was about. */
  earlier: readonly string[];
  /** Tells types by names, in the languages that were read. */
  called: IsCalled;
};

/** Names in a question back, and in a list. */
const CHOICES_MAX = 8;

/**
 * @param fits true for a thing that has the action or the reading
 * @param many several may be meant where no name was said, as in a question
 */
export function findTarget(
  target: Target,
  context: TargetContext,
  fits: (thing: Thing) => boolean,
  many = false,
): Found {
  const { things, phrases, earlier } = context;
  const problem = (text: string, more: Omit<Problem, "text"> = {}): Found => ({ problem: { text, ...more } });
  const none = { none: true } as const;
  const asks = { asks: true, which: true } as const;
  // Nothing says yet where a conversation takes place.
  if ("place" in target && target.place?.is === "here") return problem(phrases.say("whichRoom"), asks);
  switch (target.of) {
    case "named": {
      const named = inPlace(
        target.ids.flatMap((id) => things.find((one) => one.id === id) ?? []),
        target.place,
      );
      if (named.length === 0) return problem(phrases.say("noSuchName", { name: target.name }), none);
      return oneOf(named, context, fits);
    }
    case "type": {
      const typed = inPlace(things, target.place).filter(
        (one) => isOfType(one, target.type, context.called) || target.named?.includes(one.id) === true,
      );
      if (typed.length === 0) {
        const kind = phrases.kind(target.type, 2);
        const area = target.place?.name;
        return problem(
          area ? phrases.say("noSuchKindIn", { kind, area }) : phrases.say("noSuchKind", { kind }),
          none,
        );
      }
      const able = typed.filter(fits);
      const found = able.length > 0 ? able : typed;
      if (target.number === "many" || target.number === "all" || many)
        return { things: found, isPlural: true };
      return oneOf(typed, context, fits);
    }
    case "everything": {
      const able = inPlace(things, target.place).filter(fits);
      return able.length > 0 ? { things: able, isPlural: true } : problem(phrases.say("nothingToDo"));
    }
    case "place": {
      const able = inPlace(things, target.place).filter(fits);
      if (able.length > 0 && many) return { things: able, isPlural: true };
      return able.length > 0 ? oneOf(able, context, fits) : problem(phrases.say("whichDevice"), asks);
    }
    case "earlier": {
      const spoken = things.filter(({ id }) => earlier.includes(id));
      if (spoken.length === 0) return problem(phrases.say("whichDevice"), asks);
      return target.many ? { things: spoken, isPlural: spoken.length > 1 } : oneOf(spoken, context, fits);
    }
    case "unsaid": {
      const spoken = things.filter((one) => earlier.includes(one.id) && fits(one));
      if (spoken.length === 1) return { things: spoken, isPlural: false };
      const able = things.filter(fits);
      if (able.length === 0) return problem(phrases.say("whichDevice"), asks);
      if (many) return { things: able, isPlural: true };
      return oneOf(able, context, fits);
    }
  }
}

/** One is meant. Of several the only one that can do it; else the person is asked. */
function oneOf(all: readonly Thing[], { phrases }: TargetContext, fits: (thing: Thing) => boolean): Found {
  const able = all.filter(fits);
  const found = able.length > 0 ? able : all;
  if (found.length === 1) return { things: found, isPlural: false };
  const names = choices(found);
  return {
    problem: { text: phrases.say("whichOne", { names: phrases.list(names, "or") }), asks: true, which: true },
  };
}

/** Names that tell them apart: those of one name have their area, or their id. */
export function choices(things: readonly Thing[], max = CHOICES_MAX): string[] {
  const counts = new Map<string, number>();
  for (const { name } of things) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = things.map(({ name, area, id }) =>
    (counts.get(name) ?? 0) > 1 ? `${name} (${area ?? id})` : name,
  );
  return names.length > max ? [...names.slice(0, max), "…"] : names;
}

const DOORS: readonly ThingType[] = ["door", "window", "gate", "garage_door"];

export function isDoor(type: ThingType): boolean {
  return DOORS.includes(type);
}

/** "Lock the door", "which doors are unlocked?" mean their locks. */
export function lockOf(target: Target): Target {
  return target.of === "type" && isDoor(target.type) ? { ...target, type: "lock" } : target;
}

/** The target of a question or of a watch, by the state of which it speaks. */
export function byState(target: Target, of: { state: State; or?: State } | object): Target {
  const isLock = "state" in of && (of.state === "locked" || of.state === "unlocked");
  return isLock ? lockOf(target) : target;
}

function inPlace(things: readonly Thing[], place: Place | undefined): Thing[] {
  if (!place || place.is === "home") return [...things];
  return things.filter(({ area }) => area !== undefined && place.ids.includes(area));
}
