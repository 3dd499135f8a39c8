/** The text that an allowance covers, whatever keys of a config count. */
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Entity } from "../entity/entity.ts";

/**
 * @param entities those whose commands are offered
 * @param dangerous names of the actions that ask each time: one that stops asking, by a new name or by what became of another device, is
 * another one than that which was allowed
 * @param covers whether a key of the config counts
 * @param named which part has which action, where several have the same one and their names tell them apart
 */
export function coveredText(
  identities: readonly string[],
  entities: readonly Entity[],
  dangerous: readonly string[],
  covers: (key: string, config: Entity["config"]) => boolean,
  named: readonly string[] = [],
): string {
  const parts = entities
    .map(({ kind, unique, config, variables }) => ({
      kind,
      unique,
      config: Object.fromEntries(Object.entries(config).filter(([key]) => covers(key, config))),
      ...(variables && { variables }),
    }))
    .map((part) => canonicalJson(part));
  return canonicalJson({
    identities: [...identities].sort(),
    entities: parts.sort(),
    dangerous: [...dangerous].sort(),
    ...(named.length > 0 && { named: [...named].sort() }),
  });
}
