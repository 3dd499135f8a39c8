import type { Genome } from "../evoclaw/genome.ts";

/** A plain genome, for tests that change one part of it. */
export function genome(more: Partial<Genome> = {}): Genome {
  return {
    identity: { name: "Alex", persona: "calm", voice: "concise" },
    skills: {},
    behavior: { risk_tolerance: 0.5, verbosity: 0.5, autonomy: 0.5 },
    constraints: {},
    ...more,
  };
}
