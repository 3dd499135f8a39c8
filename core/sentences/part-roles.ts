/** The roles of a part of a sentence, and what acts and questions share. Pure. */
import { type Frame, type Reason, type Target, THING_TYPES, type ThingType } from "./frame.ts";
import { type Either, type Item, type Role, type RoleValues, valuesOf } from "./roles.ts";

/** Several frames: a person is asked which was meant. */
export type Built = { frames: readonly Frame[] } | { refused: Reason } | undefined;

/** Items of a part by their roles. What is never taken was not used. */
export class Roles {
  readonly #left: Map<Role, Item[]>;

  constructor(items: readonly Item[]) {
    this.#left = Map.groupBy(items, ({ role }) => role);
  }

  has(role: Role): boolean {
    return this.#left.has(role);
  }

  take<R extends Role>(role: R): RoleValues[R][] {
    const items = this.#left.get(role) ?? [];
    this.#left.delete(role);
    return valuesOf(items, role);
  }

  /** @returns the one value of the role; undefined where there is none, null where there are several */
  one<R extends Role>(role: R): NonNullable<RoleValues[R]> | undefined | null {
    const values = this.take(role);
    // "mach die Lautstärke lauter" says it twice.
    if (values.every((value) => value === values[0])) values.length = Math.min(1, values.length);
    return values.length > 1 ? null : (values[0] ?? undefined);
  }

  items(): Item[] {
    return [...this.#left.values()].flat();
  }

  isUsed(): boolean {
    return this.#left.size === 0;
  }
}

const OPENING: ReadonlySet<ThingType> = new Set(
  THING_TYPES.filter((type) =>
    "cover blind shutter curtain awning window door garage_door gate valve".split(" ").includes(type),
  ),
);

export function opens(target: Target): boolean | undefined {
  return target.of === "type" ? OPENING.has(target.type) : undefined;
}

/** Of two acts that are one word, that of the type. */
export function fitting<Word>(either: Either<Word>, target: Target): Word {
  return either.or !== undefined && opens(target) === true ? either.or : either.is;
}

export function or<Word>(either: Either<Word>, target: Target): { or?: Word } {
  return either.or !== undefined && opens(target) === undefined ? { or: either.or } : {};
}
