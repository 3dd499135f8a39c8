/** Entities that share an identifier or a connection are parts of one device, also those that do so through others. */
import type { LiveEntity } from "./states/live-entity.ts";

export type Group = { identities: string[]; parts: LiveEntity[] };

/** In the order in which their first parts came. */
export function groupsOf(parts: readonly LiveEntity[]): Group[] {
  const parent = new Map<string, string>();
  const rootOf = (identity: string): string => {
    let root = identity;
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) root = up;
    parent.set(identity, root);
    return root;
  };
  for (const { component } of parts) {
    const [first, ...others] = component.device.identities;
    if (first === undefined) continue;
    const root = rootOf(first);
    for (const other of others) parent.set(rootOf(other), root);
  }
  const groups = new Map<string, Group>();
  for (const part of parts) {
    const { identities } = part.component.device;
    const root = rootOf(identities[0] ?? "");
    const group = groups.get(root) ?? { identities: [], parts: [] };
    groups.set(root, group);
    for (const identity of identities)
      if (!group.identities.includes(identity)) group.identities.push(identity);
    group.parts.push(part);
  }
  return [...groups.values()];
}
