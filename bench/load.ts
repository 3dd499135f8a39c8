/** The load generator. It shares the machine's cores with what it measures, for every row alike. */
import { type Figures, figuresOf } from "./stats.ts";

/** Does the work once. @returns the ms of each operation in it that counts */
export type Work = (slot: number) => Promise<number[]>;

/**
 * Keeps so many at a time under way: each slot begins anew when it is done (a closed loop), and none begins
 * after `forMs`. What is under way then is waited for, and counts like the rest.
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
