/** The target of a part of a sentence: its names, types and places. Pure. */
import type { Place, Target } from "./frame.ts";
import { type Item, type Named, type Role, type RoleValues, valuesOf } from "./roles.ts";

/** Roles that say whose it is. */
export const TARGET_ROLES: ReadonlySet<Role> = new Set<Role>([
  ..."name type area floor here all each everything it a in prep".split(" "),
] as Role[]);

export type Found =
  /** `any`: an indefinite article stands before it. Two targets: a person is asked which was meant. */
  | { targets: readonly Target[]; any: boolean }
  /** What was said makes no target: two names, "all" beside a name, an area alone with "all". */
  | undefined;

/** @param items of one part, all of which are of `TARGET_ROLES` */
export function targetOf(items: readonly Item[]): Found {
  if (!articlesFit(items)) return undefined;
  const names = valuesOf(items, "name");
  const types = sameTypes(valuesOf(items, "type"));
  const its = valuesOf(items, "it");
  const [isAll, isEach, isEverything] = (["all", "each", "everything"] as const).map((role) =>
    items.some((item) => item.role === role),
  );
  const places = placesOf(items);
  const isTyped = names.length === 1 && types.length === 1 && areBeside(items);
  const things = names.length + types.length + its.length + (isEverything ? 1 : 0);
  if (places.length > 1 || things > (isTyped ? 2 : 1)) return undefined;
  const [place] = places;
  const at = place && { place };
  const [name, type, it] = [names[0], types[0], its[0]];
  const any = items.some(({ role }) => role === "a");
  const found = (...targets: Target[]): Found => ({ targets, any });
  if (name) {
    if (isAll || isEach) return undefined;
    const ids = idsIn(name, place);
    return ids.length === 0
      ? undefined
      : found({ of: "named", ids, name: name.name, ...(type && { type: type.type }), ...at });
  }
  if (type) {
    const typed = (number: "one" | "many" | "all" | "any"): Target => ({
      of: "type",
      type: type.type,
      number,
      ...(type.named && { named: idsIn(type.named, place) }),
      ...at,
    });
    // A pair that is sold as one device is called "Speakers", and a television is a speaker too.
    const isPair = type.type === "speaker" && type.number === "many";
    const isMeant = type.named?.own === true || isPair;
    const ids = type.named && isMeant && !isAll && !isEach && !any ? idsIn(type.named, place) : [];
    if (ids.length > 0 && type.named) {
      const named: Target = { of: "named", ids, name: type.named.name, ...at };
      return type.number === "many" && !isPair ? found(named, typed("many")) : found(named);
    }
    if (any) return isAll || isEach || type.number === "many" ? undefined : found(typed("any"));
    if (isEach) return type.number === "many" ? undefined : found(typed("all"));
    // "all light" may be a slip of a name, so both are asked back.
    if (isAll) return type.number === "one" ? found(typed("all"), typed("one")) : found(typed("all"));
    return found(typed(type.number === "many" ? "many" : "one"));
  }
  if (it) return place || isEach ? undefined : found({ of: "earlier", many: it === "many" });
  if (isEverything) return isEach ? undefined : found({ of: "everything", ...at });
  if (isAll || isEach || any) return undefined;
  return found(place ? { of: "place", place } : { of: "unsaid" });
}

/** "the lamp's lights": one type, said twice. */
function sameTypes(types: readonly RoleValues["type"][]): RoleValues["type"][] {
  const [first, second, third] = types;
  if (!first || !second || third || first.type !== second.type || first.named || second.named)
    return [...types];
  return [first.number === "one" ? second : first];
}

/** "the Clippy mower", "Lampe Leselampe": nothing stands between name and type. */
function areBeside(items: readonly Item[]): boolean {
  const at = items.findIndex(({ role }) => role === "name" || role === "type");
  const [first, second] = [items[at], items[at + 1]];
  if (first === undefined || second === undefined || first.role === second.role) return false;
  // "lock the hall lock": the first word is the verb.
  if (first.role === "type" && first.value.isVerb) return false;
  return (second.role === "name" || second.role === "type") && first.to === second.at;
}

/** An article stands before what it belongs to, and a preposition too. */
function articlesFit(items: readonly Item[]): boolean {
  const after: ReadonlySet<Role> = new Set<Role>([
    "name",
    "type",
    "area",
    "floor",
    "here",
    "all",
    "it",
    "each",
  ]);
  return items.every(({ role }, at) => {
    const next = items[at + 1]?.role;
    if (role === "a") return next === "type" || next === "name";
    // "厨房里": it stands behind the room.
    const isBehind = role === "in" && items[at - 1]?.role === "area" && next === undefined;
    return isBehind || (role !== "in" && role !== "prep") || (next !== undefined && after.has(next));
  });
}

function placesOf(items: readonly Item[]): Place[] {
  const places = items.flatMap((item): Place[] => {
    if (item.role === "area" || item.role === "floor")
      return [{ is: item.role, ids: item.value.ids, name: item.value.name }];
    return item.role === "here" ? [{ is: item.value, ids: [], name: "" }] : [];
  });
  // "the house lights everywhere".
  return places.every(({ is }) => is === "home") ? places.slice(0, 1) : places;
}

/** Those in the place, where their areas are known. */
function idsIn(name: Named, place: Place | undefined): readonly string[] {
  if (place?.is !== "area") return name.ids;
  return name.ids.filter((_, at) => {
    const area = name.areas[at];
    return area === undefined || place.ids.includes(area);
  });
}
