import type { Frames } from "@edgecall/core/sentences/frame.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { MachineAsk } from "./machines/text.ts";

/** What Home notes of a sentence for the answer to its calls, in the turn's rows. */
export type SentenceNote = {
  language: Language;
  /** Ids of what it was about: the next "it". */
  about: string[];
  /** The sentence that was asked back: the next one may name what it is about. */
  back?: Frames;
  /** Names beside the calls of each step; null: the call's own text is the answer. */
  names?: Array<Array<string | null>>;
  /** What the machines of each step are asked; null: its calls ask no machine. */
  asked?: Array<MachineAsk | null>;
  /** Names of devices that are offline, and were left out. */
  left?: string[];
  /** A word that was taken for another one, in words. */
  said?: string;
};
