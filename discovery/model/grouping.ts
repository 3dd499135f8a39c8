/** Entities that share an identifier or a connection are parts of one device, also those that do so through others. */
import type { DeviceInfo, Part } from "./source.ts";

/** `also`: the same device as other sources describe it, whose parts are left out. */
export type Group = { identities: string[]; parts: Part[]; also?: DeviceInfo[] };

/** 6 or 8 bytes in hex, with separators or without. */
const MAC = /^(?:0x)?(?:[0-9a-f]{2}[:.-]?){5}(?:[0-9a-f]{2}[:.-]?){0,2}[0-9a-f]{2}$/i;

/** An identity in one spelling, for comparison: a MAC has several, and stands in `identifiers` as in `connections`. */
export function canonical(identity: string): string {
  const at = identity.indexOf(" ");
  const [type, value] = [identity.slice(0, at), identity.slice(at + 1)];
  if ((type !== "id" && type !== "mac") || !MAC.test(value)) return identity;
  return `mac ${value.toLowerCase().replace(/^0x|[:.-]/g, "")}`;
}

/** In the order in which their first parts came. */
export function groupsOf(parts: readonly Part[]): Group[] {
  const parent = new Map<string, string>();
  const rootOf = (identity: string): string => {
    let root = identity;
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) root = up;
    parent.set(identity, root);
    return root;
  };
  for (const { device } of parts) {
    const [first, ...others] = device.identities.map(canonical);
    if (first === undefined) continue;
    const root = rootOf(first);
    for (const other of others) parent.set(rootOf(other), root);
  }
  const groups = new Map<string, { identities: Set<string>; parts: Part[] }>();
  for (const part of parts) {
    const { identities } = part.device;
    const root = rootOf(canonical(identities[0] ?? ""));
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
