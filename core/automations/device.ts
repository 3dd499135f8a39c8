/** A device as it is looked at when a rule about it is made. The place that makes rules fills it from what it knows of its devices. */
import type { AutomationStep, Danger } from "../protocol/automation.ts";
import type { ReadingOption } from "../rules/make-watch.ts";

export type RuleDevice = Pick<AutomationStep, "of" | "key"> & {
  id: string;
  /** As people call it. */
  name: string;
  area?: string | undefined;
  /** Other words by which it is found. */
  aliases?: readonly string[] | undefined;
  /** The values that a rule may look at. */
  readings: readonly ReadingOption[];
  /** Its changes by their names. */
  actions: readonly string[];
  /** Other actions of it, with the reason why no rule has them. */
  withheld?: Readonly<Record<string, string>> | undefined;
  /** A person with the broker's password can write its values. */
  isOnBroker?: boolean | undefined;
  /** Why no rule may change it now; undefined: it may. */
  unchangeable?: string | undefined;
  /** @returns what a rule has to know of the action before it is allowed, or what is wrong with the parameters */
  foresee(action: string, parameters: Readonly<Record<string, unknown>>): Foreseen | { error: string };
};

/** A call that a rule may make of the same device. */
export type ForeseenCall = { action: string; parameters: Record<string, unknown> };

/** Facts about a call that a rule needs before it is allowed. Nothing is sent. */
export type Foreseen = {
  /** Of what decides what the action does; the step is not run when it is another one by then. */
  allow: string;
  /** Names of all readings of what it changes. */
  readings: readonly string[];
  /** The readings that it changes. `to`: the value that it gets; absent: not known. */
  changes: readonly { reading: string; to?: string | number | boolean }[];
  /** False: nothing reports whether it was done. */
  isConfirmed: boolean;
  /** How long a confirmation is waited for. */
  waitMs: number;
  /** It may change other devices too. */
  changesOthers: boolean;
  danger?: Danger | undefined;
  /** It switches off, closes or silences, and does nothing else. */
  isEnd: boolean;
  /** Ends what it began: switches off what it switches on. Absent: it begins nothing that can be ended so. */
  end?: ForeseenCall | undefined;
  /**
   * Brings back the values of now. `unknown`: these are not known now. `dangerous`: that would need a person at that moment. Absent: nothing
   * reports them.
   */
  undo?: ForeseenCall | "unknown" | "dangerous" | undefined;
  /** The values of now of what it changes, by its parameters. */
  before: Readonly<Record<string, { value: string | number | boolean; unit?: string }>>;
  /** Units of its parameters. */
  units: Readonly<Record<string, string>>;
};
