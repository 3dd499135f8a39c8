/** Methods of a home about questions. */
import type { Viewer } from "./may-see.ts";
import type { AnswerResult, OpenQuestions } from "./questions.ts";

export interface QuestionsApi {
  /** @param isThere the person reads the chat that shows the question, as the platform vouches */
  answer(id: string, answer: string, viewer: Viewer, isThere?: boolean): Promise<AnswerResult>;
  /** The oldest open questions that this caller may see. */
  questions(viewer: Viewer, limit: number): Promise<OpenQuestions>;
}
