/** The rules that act which this bridge holds, with what the machine knows of each. */
import type { AutomationState } from "@edgecall/core/automations/state.ts";
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";

/** A rule that is held. */
export type HeldRule = {
  /** This entry's own name: a rule may be there twice, while a run of its former version ends. */
  readonly place: string;
  /** The signed text. */
  text: string;
  rule: AllowedAutomation;
  state: AutomationState;
  /** Runs that were done and not told, since the last news of it. */
  silent: number;
  /** The last firing that was news: how it ends is no silent run. */
  told?: number | undefined;
  /** The rule is gone, and only its present run is left. */
  isLeaving: boolean;
  /** The machine is to be asked again then, epoch ms. */
  due: number | undefined;
  /** Monotonic ms: since when a device of its steps is missing. */
  missing?: number | undefined;
};

type Kept = "silent" | "told" | "isLeaving";
type NewRule = Pick<HeldRule, "text" | "rule" | "state"> & Partial<Pick<HeldRule, Kept>>;

export class HeldRules {
  #all: HeldRule[] = [];
  #hash = "";
  #places = 0;

  /** All of them, also those of which only a run is left. The array is a copy. */
  get all(): HeldRule[] {
    return [...this.#all];
  }

  /** True where not even a run is left. */
  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Those that may begin a run. */
  get present(): HeldRule[] {
    return this.#all.filter(({ isLeaving }) => !isLeaving);
  }

  /** The hash of rules and versions, for the hello, as the last `updateHash` counted it. */
  get hash(): string {
    return this.#hash;
  }

  /** Counts the hash anew. Call it after rules came or went. */
  async updateHash(): Promise<void> {
    this.#hash = await rulesHash(this.present.map(({ rule: { id, version } }) => ({ id, version })));
  }

  /** The rule of this id that may begin a run. */
  find(id: string): HeldRule | undefined {
    return this.present.find(({ rule }) => rule.id === id);
  }

  /** Tells whether anything of a rule is held, also a run of it alone. */
  has(id: string): boolean {
    return this.#all.some(({ rule }) => rule.id === id);
  }

  /** Holds one more. Without more words it has told all and is not leaving. */
  add(held: NewRule): HeldRule {
    this.#places += 1;
    const added = { silent: 0, isLeaving: false, ...held, place: `${this.#places}`, due: undefined };
    this.#all.push(added);
    return added;
  }

  /** Lets one go. */
  remove(held: HeldRule): void {
    this.#all = this.#all.filter((one) => one !== held);
  }
}

/** @returns numbers of all steps of a rule; those of an undo are as many as those of `do` */
export function numbersOf({ do: steps, end }: AllowedAutomation): number[] {
  return Array.from({ length: steps.length + Math.max(steps.length, end.length) }, (_, number) => number);
}

/** @returns the keys of the hosted devices that a rule looks at or changes */
export function usesOf({ when, do: steps, end }: AllowedAutomation): string[] {
  return [...when, ...steps, ...end].flatMap(({ of, key }) => (of === "hosted" ? [key] : []));
}
