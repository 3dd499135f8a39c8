import type { Genome } from "../evoclaw/genome.ts";

/** A genome in which nothing stands out, for tests that change what they are about. */
export function genome(more: Partial<Genome> = {}): Genome {
  return {
    identity: { name: "Alex", persona: "calm", voice: "concise" },
    skills: {},
    behavior: { risk_tolerance: 0.5, verbosity: 0.5, autonomy: 0.5 },
    constraints: {},
    ...more,
  };
}
