/** Methods of a home about plain sentences. */
import type { Frame } from "@edgecall/core/sentences/frame.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

/** Questions that stand behind an act in one sentence. @property earlier ids of what the sentence is about @property reach as in `RosterQuestion` */
export type LaterQuestions = {
  frames: readonly Frame[];
  language: Language;
  earlier: readonly string[];
  reach?: readonly string[] | undefined;
};

export interface SentencesApi {
  /** @returns an answer to each, from what devices report now */
  answer(questions: LaterQuestions): Promise<string[]>;
}

/** This home, as to sentences. */
export const sentencesAt = (env: Env, home: string): SentencesApi => topicAt(env, home, "sentences");
