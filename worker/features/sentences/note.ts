import type { Frame, Frames } from "@edgecall/core/sentences/frame.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { MachineAsk } from "./machines/text.ts";

/** What Home notes of a sentence for the answer to its calls, in the turn's rows. */
export type SentenceNote = {
  language: Language;
  /** Ids of what it was about: the next "it". */
  about: string[];
  /** What was asked back: the next sentence may answer it. */
  back?: Back;
  /** Names beside the calls of each step; null: the call's own text is the answer. */
  names?: Array<Array<string | null>>;
  /** What the machines of each step are asked; null: its calls ask no machine. */
  asked?: Array<MachineAsk | null>;
  /**
   * The parts of the answer where some are no calls: the number of a step, the answer to a question before the first act, or a question
   * behind an act, which is answered when the act is over. Absent: the steps.
   */
  parts?: Array<number | string | Frame>;
  /** Names of devices that are offline, and were left out. */
  left?: string[];
  /** A word that was taken for another one, in words. */
  said?: string;
};

/** `frames`: the sentence that was asked back, which may be about what the next one names. `rules`: see there. */
export type Back = { frames: Frames } | { rules: RulesBack };

/** Rules that are to be ended, if the person says yes, or names one. @property isOne one of them is meant */
export type RulesBack = {
  do: "cancel" | "pause" | "resume";
  of: Array<{ id: string; name: string }>;
  isOne?: true;
};
