/** Chances that a seed repeats. */
export type Random = {
  /** From 0 to below `end`. */
  below(end: number): number;
  pick<One>(list: readonly One[]): One;
};

/** mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    pick(list) {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error("random: there is nothing to pick from");
      return one;
    },
  };
}
