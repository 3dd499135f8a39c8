/** The text that an allowance covers: all that the sources of the entities name as covered. */
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Entity } from "../entity/entity.ts";

type Covered = Pick<Entity, "kind" | "unique" | "covered" | "coveredBefore">;

/**
 * @param entities those whose commands are offered
 * @param dangerous names of the actions that ask each time: one that stops asking, by a new name or by what became of another device, is
 * another one than that which was allowed
 * @param named which part has which action, where several have the same one and their names tell them apart
 */
export function allowText(
  identities: readonly string[],
  entities: readonly Covered[],
  dangerous: readonly string[],
  named: readonly string[] = [],
): string {
  const parts = entities.map(({ kind, unique, covered }) => canonicalJson({ kind, unique, ...covered() }));
  return textOf(identities, parts, dangerous, named);
}

/** @returns the text of 0.3, where it allows the same as the one of now; undefined: it may have allowed something else */
export function allowTextBefore(
  identities: readonly string[],
  entities: readonly Covered[],
  dangerous: readonly string[],
): string | undefined {
  const parts: string[] = [];
  for (const { kind, unique, coveredBefore } of entities) {
    const covered = coveredBefore();
    if (covered === undefined) return undefined;
    parts.push(canonicalJson({ kind, unique, ...covered }));
  }
  return textOf(identities, parts, dangerous, []);
}

function textOf(
  identities: readonly string[],
  parts: readonly string[],
  dangerous: readonly string[],
  named: readonly string[],
): string {
  return canonicalJson({
    identities: [...identities].sort(),
    entities: [...parts].sort(),
    dangerous: [...dangerous].sort(),
    ...(named.length > 0 && { named: [...named].sort() }),
  });
}
