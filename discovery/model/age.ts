/** The age of a value, in words. */

const STEPS: ReadonlyArray<[ms: number, unit: string]> = [
  [86_400_000, "days"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** @param at epoch ms; null: unknown */
export function ageText(at: number | null, now: number): string {
  if (at === null) return "kept by the broker, age unknown";
  const age = Math.max(0, now - at);
  const [ms, unit] = STEPS.find(([step]) => age >= 2 * step) ?? [1_000, "s"];
  return `${Math.floor(age / ms)} ${unit} ago`;
}
