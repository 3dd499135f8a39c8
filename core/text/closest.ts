/** Finds the known word that is nearest to a mistyped one, for "Did you mean …?". Pure. */

/** One letter in three may differ, and at most two letters. */
const LETTERS_PER_SLIP = 3;
const SLIPS_MAX = 2;

/** @returns the nearest known word, or undefined when none is near enough */
export function closest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const allowed = Math.min(SLIPS_MAX, Math.max(1, Math.floor(wanted.length / LETTERS_PER_SLIP)));
  const near = known
    .map((name) => ({ name, slips: slips(wanted, name.toLowerCase(), allowed) }))
    .filter((known) => known.slips <= allowed)
    .sort((a, b) => a.slips - b.slips);
  return near[0]?.name;
}

/**
 * Counts the letters to add, remove, replace or swap with their neighbour (optimal string alignment).
 * @param enough words whose lengths differ by more are skipped, since they cannot be nearer
 */
export function slips(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) > enough) return enough + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(valueAt(row, j) + 1, valueAt(next, j - 1) + 1, valueAt(row, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, valueAt(before, j - 2) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return valueAt(row, b.length);
}

function valueAt(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
