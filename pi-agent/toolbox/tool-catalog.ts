/** The tools that this agent offers now: its own, and those of skills that its genome does not disable. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { OfferedTools, Unavailable } from "../calls/offered-tools.ts";
import type { ProfileInForce } from "../calls/profile-in-force.ts";
import { type SkillSet, type SkillTool, withoutSkills, withSteps } from "../skills/load-skills.ts";
import { type Skipped, unavailableOf } from "../skills/skill-file.ts";
import type { Skills } from "../skills/skills.ts";
import { withSkills } from "../skills/skills.ts";

/** The part of the skills that is used here; skills change while the agent runs. */
export type SkillSource = Pick<Skills, "current" | "look" | "onChange">;

const DISABLED = "disabled by this agent's genome";

type Made = {
  own: readonly Tool[];
  from: SkillSet;
  /** Of the profile. */
  version: number;
  skills: SkillSet;
  registry: ToolRegistry;
  skipped: readonly Skipped[];
};

/** The device's own tools. `tools` is the same list while nothing has changed. */
type OwnTools = { readonly tools: readonly Tool[]; readonly unavailable: readonly Unavailable[] };

type Skilled = Pick<ProfileInForce, "version" | "leavesEnabled">;

export class ToolCatalog implements OfferedTools {
  readonly #own: OwnTools;
  readonly #source: SkillSource;
  readonly #profile: Skilled;
  #made: Made | undefined;

  constructor(own: OwnTools, source: SkillSource, profile: Skilled) {
    this.#own = own;
    this.#source = source;
    this.#profile = profile;
  }

  /** A snapshot; a new one after the skills or the genome change. */
  get registry(): ToolRegistry {
    return this.#now().registry;
  }

  /** The names of all skills, also of those that the genome disables. */
  installedSkills(): string[] {
    const { tools, guides } = this.#source.current;
    return [...new Set([...tools.map(({ metadata }) => metadata.skill), ...guides.map(({ name }) => name)])];
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
    const { version } = this.#profile;
    const own = this.#own.tools;
    const last = this.#made;
    if (last?.own === own && last.from === from && last.version === version) return last;
    const enabled = withoutSkills(from, (skill) => !this.#profile.leavesEnabled(skill), DISABLED);
    const skills = withSteps(own, enabled);
    this.#made = { own, from, version, skills, ...withSkills(own, skills) };
    return this.#made;
  }
}
