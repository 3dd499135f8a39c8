/** The skills of this agent as they are now: read once, and again when a file of them has changed. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { loadSkills, NO_SKILLS, type SkillSet, type SkillsOptions } from "./load-skills.ts";
import type { Skipped } from "./skill-file.ts";
import type { Stamps } from "./stamps.ts";

/** A person who has just saved a skill looks whether it is there; sooner is not worth the wake-ups. */
const LOOK_EVERY_MS = 5_000;

export type ChangeListener = (set: SkillSet) => void;

export class Skills {
  readonly #options: SkillsOptions;
  readonly #listeners = new Set<ChangeListener>();
  #set: SkillSet = NO_SKILLS;
  #stamps: Stamps | undefined;
  #stale = false;
  #looking: Promise<SkillSet> | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(options: SkillsOptions) {
    this.#options = options;
  }

  /** Reads them. Never rejects: what is wrong with a skill stands in `skipped`. */
  static async open(options: SkillsOptions): Promise<Skills> {
    const skills = new Skills(options);
    await skills.look();
    return skills;
  }

  /** As of the last look. */
  get current(): SkillSet {
    return this.#set;
  }

  /** Looks for changes, and tells the listeners before it resolves. For every listing, and every few seconds. */
  look(): Promise<SkillSet> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Reads them again though no file has changed: what they need may be there now. */
  async reload(): Promise<SkillSet> {
    await this.#looking;
    this.#stale = true;
    return await this.look();
  }

  /**
   * Called with the new set whenever a look found a change: the time for a new registry and a new advert.
   * @returns takes that back
   */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Looks by itself from now on. @returns ends it */
  watch(everyMs = LOOK_EVERY_MS): () => void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.look(), everyMs);
    this.#timer.unref();
    return () => clearInterval(this.#timer);
  }

  async #look(): Promise<SkillSet> {
    const first = this.#stamps === undefined;
    if (this.#stamps && !this.#stale && !(await this.#stamps.changed())) return this.#set;
    this.#stale = false;
    const { set, stamps } = await loadSkills(this.#options);
    this.#set = set;
    this.#stamps = stamps;
    if (!first) for (const listener of this.#listeners) listener(set);
    return set;
  }
}

/** All tools of this device: its own win over those of skills. `skipped` says which did not get their name. */
export function withSkills(
  own: readonly Tool[],
  set: SkillSet,
): { registry: ToolRegistry; skipped: readonly Skipped[] } {
  const names = new Set(own.map(({ name }) => name));
  const taken = set.tools.filter(({ tool }) => names.has(tool.name));
  const versions = [...set.versions].filter(([, { name }]) => !names.has(name));
  return {
    registry: new ToolRegistry([...set.tools.map(({ tool }) => tool), ...own], new Map(versions)),
    skipped: [
      ...set.skipped,
      ...taken.map(({ tool, metadata }) => ({
        skill: metadata.skill,
        tool: tool.name,
        reason: `the agent has a '${tool.name}' of its own`,
      })),
    ],
  };
}
