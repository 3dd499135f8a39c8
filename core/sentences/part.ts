/** What a part of a sentence means: an act or a question. Each of its roles is used, or it means nothing. Pure. */
import { act } from "./act.ts";
import type { Target } from "./frame.ts";
import { type Built, Roles } from "./part-roles.ts";
import { question } from "./question.ts";
import type { Item, Role } from "./roles.ts";
import { TARGET_ROLES, targetOf } from "./target.ts";

export type PartContext = { hasQuestionMark: boolean };

const ASKING: ReadonlySet<Role> = new Set<Role>(["ask", "be", "exist", "show"]);
/** "set" and "make sure" act whatever stands beside them. */
const ACTING: ReadonlySet<Role> = new Set<Role>(["act", "particle", "change", "ensure", "do"]);

function isQuestionPart(items: readonly Item[], { hasQuestionMark }: PartContext): boolean {
  const has = (roles: ReadonlySet<Role>) => items.some(({ role }) => roles.has(role));
  const isDoubted = hasQuestionMark && !items.some(({ role }) => role === "request");
  if (items.some(({ role }) => role === "ensure")) return isDoubted;
  if (isDoubted || has(ASKING)) return true;
  return !has(ACTING) && !items.some(({ role }) => role === "value");
}

export function partOf(said: readonly Item[], context: PartContext): Built {
  const items = said.filter((item) => !isImplied(item, said) && !isExpletive(item, said));
  const targetItems = items.filter(({ role }) => TARGET_ROLES.has(role));
  const roles = new Roles(items.filter(({ role }) => !TARGET_ROLES.has(role)));
  const found = targetOf(targetItems);
  const isAsked = isQuestionPart(items, context);
  if (found === undefined) return undefined;
  if (isAsked) return question(roles, found.targets, found.any, targetItems, context.hasQuestionMark);
  // "turn the volume up on the TV", "set blue for all lights".
  const sets = items.some(({ role }) => role === "value" || role === "change");
  if (!sets && targetItems.some(({ role }) => role === "prep")) return undefined;
  const acts = found.targets.map((target) => act(roles, singular(target)));
  return merged(acts);
}

function merged(built: readonly Built[]): Built {
  const frames = built.flatMap((one) => (one && "frames" in one ? one.frames : []));
  return frames.length > 0 ? { frames } : built.find((one) => one !== undefined);
}

/** "turn on a light" is one of several, as "the light". */
function singular(target: Target): Target {
  return target.of === "type" && target.number === "any" ? { ...target, number: "one" } : target;
}

/** "light up the kitchen" means its lights, "light up the lamp" this one. */
function isImplied(item: Item, items: readonly Item[]): boolean {
  return isOfVerb(item, items) && items.some((other) => other !== item && THINGS.has(other.role));
}

/** The verb says that it is a light. */
export function isOfVerb(item: Item, items: readonly Item[]): boolean {
  if (item.role !== "type" || item.value.type !== "light") return false;
  return items.some(({ role, at }) => role === "act" && at === item.at);
}

/** "make it brighter in the kitchen", "make it blue in here": "it" is no thing. */
function isExpletive({ role }: Item, items: readonly Item[]): boolean {
  if (role !== "it" || !items.some((item) => PLACES.has(item.role))) return false;
  const has = (wanted: Role) => items.some((item) => item.role === wanted);
  return (
    (has("change") && has("reading")) ||
    items.some((item) => item.role === "value" && "color" in item.value.value)
  );
}

const PLACES: ReadonlySet<Role> = new Set<Role>(["area", "floor", "here"]);

const THINGS: ReadonlySet<Role> = new Set<Role>(["name", "type", "it", "everything", "all", "each"]);
