/** The profile as the other parts of the agent see it. */
import { DEFAULT_STYLE, type ProfileInForce, type Tunable } from "../calls/profile-in-force.ts";
import { blocks, characterText, leavesEnabled } from "./genome.ts";
import type { Profile } from "./profile.ts";
import { tuned } from "./tuning.ts";

export function profileInForce(profile: Profile, settings: Tunable): ProfileInForce {
  return {
    get version() {
      return profile.version;
    },
    get tuned() {
      return tuned(settings, profile.taught.agent);
    },
    get style() {
      return profile.genome ? characterText(profile.genome) : DEFAULT_STYLE;
    },
    leavesEnabled: (skill) => leavesEnabled(profile.genome, skill),
    blocks: (tool, called) => blocks(profile.genome, tool, called),
  };
}
