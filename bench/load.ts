/** The load generator. It shares the machine's cores with the measured programs, for every row alike. */
import { type Figures, figuresOf } from "./stats.ts";

/** Does the work once. @returns the milliseconds of each operation in it that counts */
export type Work = (slot: number) => Promise<number[]>;

/**
 * Keeps this many at a time running: each slot starts again when it is done (a closed loop), and none starts after
 * `forMs`. Work that is running then is waited for, and counts too.
 */
export async function load(work: Work, atOnce: number, forMs: number): Promise<Figures> {
  const samples: number[] = [];
  const began = performance.now();
  const slots = Array.from({ length: atOnce }, async (_, slot) => {
    while (performance.now() < began + forMs) samples.push(...(await work(slot)));
  });
  await Promise.all(slots);
  return figuresOf(samples, performance.now() - began);
}
