/** The Pi firmware's throttling word: bits for now, and the same 16 higher for "since the start". */

const CAUSES = [
  { bit: 0, words: "under-voltage" },
  { bit: 1, words: "CPU clock capped" },
  { bit: 2, words: "throttled" },
  { bit: 3, words: "soft temperature limit" },
] as const;

/** @param hex as in /sys/devices/platform/soc/soc:firmware/get_throttled, e.g. `50005` */
export function throttlingWords(hex: string): string | undefined {
  const bits = Number.parseInt(hex.replace(/^(throttled=)?(0x)?/, ""), 16);
  if (!Number.isFinite(bits)) return undefined;
  const at = (shift: number) =>
    CAUSES.filter(({ bit }) => (bits >>> (bit + shift)) & 1).map(({ words }) => words);
  const now = at(0);
  const before = at(16).filter((words) => !(now as string[]).includes(words));
  const parts = [
    now.length > 0 && `now: ${now.join(", ")}`,
    before.length > 0 && `earlier since the start: ${before.join(", ")}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join("; ") : "none";
}
