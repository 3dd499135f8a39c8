/** The tools that this agent offers now: its own, and those of skills that its genome does not disable. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type Genome, leavesEnabled } from "../evoclaw/genome.ts";
import type { Profile } from "../evoclaw/profile.ts";
import { type SkillSet, type SkillTool, withoutSkills, withSteps } from "../skills/load-skills.ts";
import { type Skipped, unavailableOf } from "../skills/skill-file.ts";
import type { Skills } from "../skills/skills.ts";
import { withSkills } from "../skills/skills.ts";
import type { Unavailable } from "./group.ts";

/** The part of the skills that is used here; skills change while the agent runs. */
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

/** The device's own tools. `tools` is the same list while nothing has changed. */
type OwnTools = { readonly tools: readonly Tool[]; readonly unavailable: readonly Unavailable[] };

export class ToolCatalog {
  readonly #own: OwnTools;
  readonly #source: SkillSource;
  readonly #profile: Profile;
  #made: Made | undefined;

  constructor(own: OwnTools, source: SkillSource, profile: Profile) {
    this.#own = own;
    this.#source = source;
    this.#profile = profile;
  }

  /** A snapshot; a new one after the skills or the genome change. */
  get registry(): ToolRegistry {
    return this.#now().registry;
  }

  /** Includes skills that the genome disables. */
  get installed(): SkillSet {
    return this.#source.current;
  }

  /** Only the enabled skills. */
  get skills(): SkillSet {
    return this.#now().skills;
  }

  /** Tools that this device cannot offer, each with what is missing. */
  get unavailable(): readonly Unavailable[] {
    return [...this.#own.unavailable, ...unavailableOf(this.skipped)];
  }

  /** Skills and tools that are not offered, and why. */
  get skipped(): readonly Skipped[] {
    return this.#now().skipped;
  }

  /** Returns the skill of a tool; undefined for the agent's own tools. */
  skillOf(tool: Tool): SkillTool | undefined {
    return this.skills.tools.find((one) => one.tool === tool);
  }

  /** Checks the skills for changes first; used for every listing. */
  async look(): Promise<void> {
    await this.#source.look();
  }

  #now(): Made {
    const from = this.#source.current;
    const { genome } = this.#profile;
    const own = this.#own.tools;
    const last = this.#made;
    if (last?.own === own && last.from === from && last.genome === genome) return last;
    const enabled = withoutSkills(from, (skill) => !leavesEnabled(genome, skill), DISABLED);
    const skills = withSteps(own, enabled);
    this.#made = { own, from, genome, skills, ...withSkills(own, skills) };
    return this.#made;
  }
}
