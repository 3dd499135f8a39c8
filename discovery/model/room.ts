/** Room for devices and their parts. It goes by what they are, and not by the order in which their sources tell of them. */
import type { Entity } from "./entity/entity.ts";
import type { Group } from "./grouping.ts";
import type { Part } from "./source.ts";

export const ENTITIES_A_DEVICE_MAX = 256;

/** Those that take commands come first, then values that are offered: it is what a device's line begins with. */
export function commandsFirst(parts: readonly Part[]): Part[] {
  return [...parts].sort((a, b) => rankOf(a.entity) - rankOf(b.entity));
}

/**
 * The parts for which a device has room, in the order in which they came here, and the others. Those that take commands come first,
 * then values that are offered; each in the order of their unique ids.
 */
export function bounded(
  parts: readonly Part[],
  max: number,
): { kept: readonly Part[]; beyond: readonly Part[] } {
  if (parts.length <= max) return { kept: parts, beyond: [] };
  const ranked = parts.map((part) => ({ part, rank: rankOf(part.entity) }));
  ranked.sort(
    (a, b) =>
      a.rank - b.rank ||
      compare(a.part.entity.unique, b.part.entity.unique) ||
      compare(a.part.entity.kind, b.part.entity.kind),
  );
  const beyond = ranked.slice(max).map(({ part }) => part);
  const left = new Set(beyond);
  return { kept: parts.filter((part) => !left.has(part)), beyond };
}

function rankOf({ aside, commands, isSetting }: Entity): number {
  if (commands.length > 0 && aside === undefined) return 0;
  if (commands.length > 0 && isSetting) return 1;
  return aside === undefined ? 2 : 3;
}

/** Devices that are known come first, the oldest before the others, so a new one takes no device's place. */
export function oldestFirst(
  groups: readonly Group[],
  ageOf: (identities: readonly string[]) => number,
): Group[] {
  const ranked = groups.map((group) => ({
    group,
    age: ageOf(group.identities),
    first: [...group.identities].sort()[0] ?? "",
  }));
  ranked.sort((a, b) => (a.age === b.age ? compare(a.first, b.first) : a.age - b.age));
  return ranked.map(({ group }) => group);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
