/** What this agent offers now: its own tools, and the skills that its genome leaves enabled. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type Genome, leavesEnabled } from "../evoclaw/genome.ts";
import type { Profile } from "../evoclaw/profile.ts";
import { type SkillSet, type SkillTool, withoutSkills } from "../skills/load-skills.ts";
import type { Skipped } from "../skills/skill-file.ts";
import type { Skills } from "../skills/skills.ts";
import { withSkills } from "../skills/skills.ts";

/** What is asked of the skills; they change while the agent runs. */
export type SkillSource = Pick<Skills, "current" | "look" | "onChange">;

const DISABLED = "disabled by this agent's genome";

type Made = {
  own: readonly Tool[];
  from: SkillSet;
  genome: Genome | undefined;
  skills: SkillSet;
  registry: ToolRegistry;
  skipped: readonly Skipped[];
};

export class Offer {
  readonly #own: () => readonly Tool[];
  readonly #source: SkillSource;
  readonly #profile: Profile;
  #made: Made | undefined;

  /** @param own the same list while nothing has changed */
  constructor(own: () => readonly Tool[], source: SkillSource, profile: Profile) {
    this.#own = own;
    this.#source = source;
    this.#profile = profile;
  }

  /** A snapshot; another one as soon as the skills or the genome are others. */
  get registry(): ToolRegistry {
    return this.#now().registry;
  }

  /** Also those that the genome disables. */
  get installed(): SkillSet {
    return this.#source.current;
  }

  /** Those that are enabled. */
  get skills(): SkillSet {
    return this.#now().skills;
  }

  /** What of the skills is not offered, and why. */
  get skipped(): readonly Skipped[] {
    return this.#now().skipped;
  }

  /** The skill that a tool of the registry comes from; undefined for the agent's own. */
  skillOf(tool: Tool): SkillTool | undefined {
    return this.skills.tools.find((one) => one.tool === tool);
  }

  /** Looks for changes of the skills first: for every listing. */
  async look(): Promise<void> {
    await this.#source.look();
  }

  #now(): Made {
    const from = this.#source.current;
    const { genome } = this.#profile;
    const own = this.#own();
    const last = this.#made;
    if (last?.own === own && last.from === from && last.genome === genome) return last;
    const skills = withoutSkills(from, (skill) => !leavesEnabled(genome, skill), DISABLED);
    this.#made = { own, from, genome, skills, ...withSkills(own, skills) };
    return this.#made;
  }
}
