/** Finds ids that are written almost like an unknown one: another separator, a slip, a part too many or too few. Pure. */
import { slips } from "../text/closest.ts";
import { lettersApart } from "./near-words.ts";
import { fold } from "./words.ts";

/** One letter in three may differ. */
const LETTERS_PER_SLIP = 3;
/** Longer ids are compared up to there. */
const ID_MAX = 64;

/**
 * @param known all ids
 * @returns at most `count` of them, the nearest first. An id is near if at most a third of its letters differ, or if it shares at
 * least half of the parts (pi4-garage: pi, 4, garage); separators and case do not count.
 */
export function closestIds(id: string, known: Iterable<string>, count = 3): string[] {
  const wanted = partsOf(id);
  const letters = wanted.join("");
  const found: Array<{ id: string; near: number }> = [];
  for (const one of known) {
    const parts = partsOf(one);
    const near = Math.max(likeness(letters, parts.join("")), partsShared(wanted, parts));
    if (near === 0 || near <= (found[count - 1]?.near ?? 0)) continue;
    found.push({ id: one, near });
    found.sort((a, b) => b.near - a.near || (a.id < b.id ? -1 : 1));
    found.length = Math.min(found.length, count);
  }
  return found.map((near) => near.id);
}

/** 1: the same letters, 0: more than a third of them differ. */
function likeness(wanted: string, known: string): number {
  const length = Math.max(wanted.length, known.length);
  const allowed = Math.floor(length / LETTERS_PER_SLIP);
  if (Math.abs(wanted.length - known.length) > allowed || lettersApart(wanted, known) > 2 * allowed) return 0;
  const distance = slips(wanted, known, allowed);
  return distance > allowed ? 0 : 1 - distance / length;
}

/** 1: all parts in any order, 0: fewer than half. Slightly less than letters, which also tell the order. */
function partsShared(wanted: readonly string[], known: readonly string[]): number {
  let shared = 0;
  for (const part of wanted) if (known.includes(part)) shared += 1;
  const share = (2 * shared) / (wanted.length + known.length);
  return share >= 0.5 ? share * 0.95 : 0;
}

/** Letters and digits apart, without leading zeros. */
function partsOf(id: string): string[] {
  return fold(id.slice(0, ID_MAX)).match(/\p{L}+|[1-9]\d*|0(?!\d)/gu) ?? [];
}
