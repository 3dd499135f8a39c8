/** Bounds in processor time, on machines that are not equally fast. */

/** Milliseconds that `pieceOfWork` takes on the machine on which the tests' bounds were set. */
const REFERENCE_MS = 150;

/** @returns milliseconds of this thread's processor time: what else the machine does hardly changes it */
export function costOf(work: () => unknown): number {
  const begun = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}

/** @returns how many times as long as that machine this one takes at present; at least 1 */
export function slowness(): number {
  return Math.max(1, Math.min(costOf(pieceOfWork), costOf(pieceOfWork), costOf(pieceOfWork)) / REFERENCE_MS);
}

/** Texts, sorting, JSON: what the bridge does with a publisher's messages. */
function pieceOfWork(): number {
  const texts = Array.from({ length: 200_000 }, (_, n) => `k${(n * 7_919) % 100_003}`).sort();
  return JSON.stringify(JSON.parse(JSON.stringify(texts))).length;
}
