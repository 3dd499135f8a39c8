/** Reproducible random numbers: the same seed and name give the same sequence. */

export type Dice = {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns a whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns true with this probability, 0 to 1. */
  chance(share: number): boolean;
  shuffled<T>(from: readonly T[]): T[];
};

/** @param name the purpose of the numbers: each name has its own sequence, so turns do not depend on each other */
export function dice(seed: number, name: string): Dice {
  let state = hash(`${seed}/${name}`);
  // mulberry32: 32 bits of state are enough to scatter faults, and need no dependency.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    whole,
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) throw new Error("nothing to pick from");
      return from[whole(0, from.length - 1)] as T;
    },
    chance: (share) => next() < share,
    shuffled<T>(from: readonly T[]): T[] {
      const left = [...from];
      return from.map(() => left.splice(whole(0, left.length - 1), 1)[0] as T);
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value;
}
