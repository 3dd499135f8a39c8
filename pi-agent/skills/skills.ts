/** The present skills of this agent. They are read once, and again when one of their files has changed. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { loadSkills, NO_SKILLS, type SkillSet, type SkillsOptions } from "./load-skills.ts";
import type { Skipped } from "./skill-file.ts";
import type { Stamps } from "./stamps.ts";

/** Short enough for a person who has just saved a skill; a shorter interval is not worth the wake-ups. */
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

  /** Reads the skills. Never rejects: problems are in `skipped`. */
  static async open(options: SkillsOptions): Promise<Skills> {
    const skills = new Skills(options);
    await skills.look();
    return skills;
  }

  /** The result of the last check. */
  get current(): SkillSet {
    return this.#set;
  }

  /** Checks for changes and calls the listeners before it resolves. Runs for every listing, and every few seconds. */
  look(): Promise<SkillSet> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Reads the skills again even without a change, since a missing requirement may be installed now. */
  async reload(): Promise<SkillSet> {
    await this.#looking;
    this.#stale = true;
    return await this.look();
  }

  /**
   * Calls the listener with the new set after each change, so that it can make a new registry and advert.
   * @returns a function that removes the listener
   */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Checks regularly from now on. @returns a function that ends it */
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

/** Returns all tools of this device. Its own take precedence over skills' tools of the same name, listed in `skipped`. */
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
