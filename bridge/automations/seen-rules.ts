/**
 * The newest that this bridge has ever seen of each rule that acts, also of one that is gone: an older signed text of it is a repetition, and an id of
 * an action never comes twice.
 */
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import type { Seen } from "./automations-file.ts";

/** Rules that are gone, whose versions are remembered. */
const SEEN_MAX = 500;

export class SeenRules {
  /** Rules that were seen, in the order of their last change. */
  readonly #seen: Map<string, Seen>;

  constructor(seen: Readonly<Record<string, Seen>>) {
    this.#seen = new Map(Object.entries(seen));
  }

  /** True where no rule was ever here. */
  get isEmpty(): boolean {
    return this.#seen.size === 0;
  }

  /** The part of the file. */
  get content(): Record<string, Seen> {
    return Object.fromEntries(this.#seen);
  }

  /** The newest that was seen of a rule; undefined: nothing. */
  of(id: string): Seen | undefined {
    return this.#seen.get(id);
  }

  /** @returns why a rule is an old text; undefined: it is none */
  problemOf({ id, version, allowed }: AllowedAutomation): string | undefined {
    const seen = this.#seen.get(id);
    if (seen && (version < seen.version || (version === seen.version && allowed.at < seen.at)))
      return "an older one than was seen";
    if (seen?.dropped && version === seen.version && allowed.at === seen.at)
      return "it was dropped, and was not allowed again since";
    return undefined;
  }

  /** @param isHeld whether a rule is held: one that is held is never forgotten */
  remember(id: string, seen: Seen, isHeld: (id: string) => boolean): void {
    this.#seen.delete(id);
    this.#seen.set(id, seen);
    for (const old of [...this.#seen.keys()].slice(0, Math.max(0, this.#seen.size - SEEN_MAX)))
      if (!isHeld(old)) this.#seen.delete(old);
  }

  /** A firing has this number. */
  fired({ id, version }: AllowedAutomation, firing: number): void {
    const seen = this.#seen.get(id);
    if (seen && seen.version === version) seen.firing = Math.max(seen.firing, firing);
  }
}
