/** Parts of a sentence that "and" joins: each is a frame by itself, or takes from its neighbours what it lacks. Pure. */
import type { Frame, Target } from "./frame.ts";
import { isOfVerb, type PartContext, partOf } from "./part.ts";
import type { Built } from "./part-roles.ts";
import type { Item, Role } from "./roles.ts";
import { TARGET_ROLES } from "./target.ts";

const PARTS_MAX = 3;

/** @returns several lists of frames where a person has to say which was meant */
export type BuiltParts = { meanings: ReadonlyArray<readonly Frame[]> } | Exclude<Built, { frames: unknown }>;

export function partsOf(items: readonly Item[], context: PartContext): BuiltParts {
  const parts = split(items);
  if (parts.length === 1) {
    const built = partOf(items, context);
    return built && "frames" in built ? { meanings: built.frames.map((frame) => [frame]) } : built;
  }
  if (parts.some((part) => part.length === 0)) return undefined;
  if (parts.length > PARTS_MAX) return { refused: { because: "too_long" } };
  const one = chained(parts, context);
  if (one && "meanings" in one) return one;
  // "schalte die Lampe und den Ventilator aus und öffne das Tor".
  for (let count = parts.length; count > 1; count -= 1) {
    const around = shared(parts.slice(0, count), context);
    const rest = count < parts.length ? chained(parts.slice(count), context) : { meanings: [[]] };
    if (!around || !("meanings" in around) || !rest || !("meanings" in rest)) continue;
    return { meanings: around.meanings.flatMap((first) => rest.meanings.map((then) => [...first, ...then])) };
  }
  return one;
}

function split(said: readonly Item[]): Item[][] {
  const parts: Item[][] = [[]];
  const items = said.some(({ role }) => role === "and")
    ? said.filter((item, at) => !isBoth(item, said[at + 1]))
    : said;
  const mayBegin = items.filter(({ role }) => VERBS.has(role)).length > 1;
  for (const [at, item] of items.entries()) {
    if (item.role === "and" || (mayBegin && beginsNext(items, at, parts.at(-1) ?? []))) parts.push([]);
    if (item.role !== "and") parts.at(-1)?.push(item);
  }
  return parts;
}

/** "both the lamp and the fan". */
function isBoth({ role }: Item, next: Item | undefined): boolean {
  return role === "both" && next?.role === "name";
}

const DOING: ReadonlySet<Role> = new Set<Role>(["act", "change", "particle"]);
const VERBS: ReadonlySet<Role> = new Set<Role>(["do", "act", "change"]);

/** What is named by itself. "la" of "allume la" may be an article, and an area alone is no target. */
const THINGS: ReadonlySet<Role> = new Set<Role>(["name", "type", "everything"]);

/** "close the blinds turn on the lamp": a verb and its thing behind a verb and its own, as it is heard without a comma. */
function beginsNext(items: readonly Item[], at: number, part: readonly Item[]): boolean {
  const role = items[at]?.role;
  if (role === undefined || !VERBS.has(role)) return false;
  const verb = part.findIndex((item) => VERBS.has(item.role));
  const isDone = part.some((item) => DOING.has(item.role));
  if (verb < 0 || !isDone || (role === "do" && part[verb]?.role === "change")) return false;
  const isSaid = (item: Item) => isThing(item) && !isOfVerb(item, part);
  if (part.findIndex(isTarget) < verb || !part.some(isSaid)) return false;
  const end = items.findIndex((item, place) => place > at && item.role === "and");
  return items.slice(at + 1, end < 0 ? items.length : end).some(isThing);
}

function isThing({ role }: Item): boolean {
  return THINGS.has(role);
}

function isTarget({ role }: Item): boolean {
  return TARGET_ROLES.has(role);
}

/** Each part by itself; a later one may lack what is done, or to which. */
function chained(parts: readonly Item[][], context: PartContext): BuiltParts {
  const frames: Frame[] = [];
  let doing: readonly Item[] = [];
  let isBorrowed = false;
  let refused: BuiltParts;
  // "turn on the lamp and is the door locked?": the sign is that of its question.
  const asksLast = parts.at(-1)?.some(({ role }) => role === "ask" || role === "be") ?? false;
  for (const part of parts) {
    const own = part.filter((item) => !isTarget(item));
    const borrows = own.length === 0 && frames.length > 0;
    const wanted = borrows ? placed(part, doing, parts) : part;
    const built = partOf(wanted, part === parts.at(-1) || !asksLast ? context : { hasQuestionMark: false });
    if (built && "refused" in built) refused = built;
    const [frame, other] = built && "frames" in built ? built.frames : [];
    const before = frames.at(-1);
    const whole = frame ?? (before && !part.some(isTarget) ? targetless(part, before, context) : undefined);
    if (whole === undefined || other !== undefined) return refused;
    frames.push(before ? withEarlier(whole, before) : whole);
    if (!borrows) doing = own;
    isBorrowed ||= borrows;
  }
  // "the TV and the lights in the kitchen": the place may be that of both.
  const [first, last] = [frames[0], frames.at(-1)];
  const place =
    last && "target" in last && last.target && "place" in last.target ? last.target.place : undefined;
  if (
    isBorrowed &&
    place &&
    first &&
    "target" in first &&
    first.target?.of === "type" &&
    !first.target.place
  ) {
    const target: Target = { ...first.target, place };
    // SAFETY: only the target is another one of its kind.
    return { meanings: [frames, [{ ...first, target } as Frame, ...frames.slice(1)]] };
  }
  return { meanings: [frames] };
}

/** "the lights in the kitchen and in the hall": a place alone takes the rest of the target too. */
function placed(part: readonly Item[], doing: readonly Item[], parts: readonly Item[][]): Item[] {
  const isPlace = ({ role }: Item) => ["in", "area", "floor", "here"].includes(role);
  const first = parts[0] ?? [];
  const things = part.every(isPlace) ? first.filter((item) => isTarget(item) && !isPlace(item)) : [];
  return [...doing, ...things, ...part];
}

/** "open the blinds and stop them", "dim the lamp and make it red": "it" is the target of the part before. */
function withEarlier(frame: Frame, before: Frame): Frame {
  if (!("target" in frame) || !("target" in before) || before.target === undefined) return frame;
  if (frame.target?.of !== "earlier") return frame;
  // SAFETY: only the target is another one.
  return { ...frame, target: before.target } as Frame;
}

/** A later part without a target has that of the part before. */
function targetless(part: readonly Item[], before: Frame, context: PartContext): Frame | undefined {
  const it: Item = { role: "it", value: "one", at: 0 };
  const built = partOf([...part, it], context);
  if (!built || !("frames" in built)) return undefined;
  const [frame] = built.frames;
  return frame && withEarlier(frame, before);
}

/** "schalte die Lampe und den Ventilator aus": what is done stands around all targets. */
function shared(parts: readonly Item[][], context: PartContext): BuiltParts {
  const [first, last] = [parts[0] ?? [], parts.at(-1) ?? []];
  const leading = first.slice(0, Math.max(0, first.findIndex(isTarget)));
  const end = last.findLastIndex(isTarget) + 1;
  const trailing = last.slice(end);
  const targets = [first.slice(leading.length), ...parts.slice(1, -1), last.slice(0, end)];
  if (trailing.length === 0 || end === 0 || !targets.every((part) => part.length > 0 && part.every(isTarget)))
    return undefined;
  const frames: Frame[] = [];
  for (const target of targets) {
    const built = partOf([...leading, ...target, ...trailing], context);
    if (!built || !("frames" in built)) return built;
    const [frame, other] = built.frames;
    if (frame === undefined || other !== undefined) return undefined;
    frames.push(frame);
  }
  return { meanings: [frames] };
}
