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
  const groups = new Map<string, { identities: Set<string>; parts: LiveEntity[] }>();
  for (const part of parts) {
    const { identities } = part.component.device;
    const root = rootOf(identities[0] ?? "");
    const group = groups.get(root) ?? { identities: new Set(), parts: [] };
    groups.set(root, group);
    for (const identity of identities) group.identities.add(identity);
    group.parts.push(part);
  }
  return [...groups.values()].map(({ identities, parts: own }) => ({
    identities: [...identities],
    parts: own,
  }));
}
