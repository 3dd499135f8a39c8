/** The names and places of the played agents. */

const AREAS = [
  "kitchen",
  "garage",
  "garden",
  "cellar",
  "attic",
  "office",
  "nursery",
  "hall",
  "porch",
  "barn",
];

/** @param n from 0 */
export function agentName(n: number): string {
  return `agent-${String(n + 1).padStart(5, "0")}`;
}

export function areaOf(n: number): string {
  return `${AREAS[n % AREAS.length]} ${Math.floor(n / AREAS.length) + 1}`;
}
