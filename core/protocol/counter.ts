/** The numbers of agents' messages (pi-agent/link/counter.ts makes them): blocks of a connection, ahead of the clock. */

/** More messages than one connection sends: at ten a second this lasts 29 hours. */
export const COUNTER_BLOCK = 2 ** 20;
/**
 * Numbers per millisecond of the clock. A block is then used up in a second, and no device reconnects that often for long.
 * So the clock stays ahead of the file, and after a loss of the file a set clock is enough.
 */
export const COUNTER_PER_MS = 1_024;

/** @returns the time at which a device's clock reaches this number, epoch ms */
export function counterTime(n: number): number {
  return Math.ceil(n / COUNTER_PER_MS);
}
