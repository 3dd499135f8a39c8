/** What the conversations of a home ask it about sentences. */
import type { HomePart } from "../../../kernel/home/part.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import type { SentencesApi } from "../sentences-api.ts";
import { answerContextOf } from "./ask-context.ts";
import { calledFor } from "./called.ts";
import { namesOf } from "./names.ts";
import { answerNow } from "./resolve.ts";

export const sentencesRpc: HomePart<SentencesApi> = {
  async answer({ home }, { frames, language, earlier, reach }) {
    const now = Date.now();
    const phrases = await readLanguage(home.env, language);
    const called = await calledFor(home.env, [frames], language);
    const { things } = namesOf(home).of(reach, now);
    const context = { ...answerContextOf(home, { things, phrases, earlier, called, now }), past: undefined };
    const answers = await Promise.all(frames.map((frame) => answerNow(frame, context)));
    return answers.map((one) => (one && "answer" in one ? one.answer : (one?.problem.text ?? "")));
  },
};
