/** Methods of a home about questions. */
import type { Viewer } from "./may-see.ts";
import type { AnswerWay, Refusal } from "./passkeys.ts";
import type { Keep } from "./permissions.ts";
import type { AnswerResult, OpenQuestions } from "./questions.ts";

type Elsewhere = { ok: true; asked: string[] } | Refusal;

export interface QuestionsApi {
  /** @param way `chat`: the person reads the chat that shows the question, as the platform vouches @param keep of the question's offers */
  answer(id: string, answer: string, viewer: Viewer, way: AnswerWay, keep?: Keep): Promise<AnswerResult>;
  /**
   * The person wants to answer in another place.
   * @param session of the browser that asks; a press in another one then counts as a tap
   * @returns where others were asked, in words
   */
  askElsewhere(id: string, viewer: Viewer, session: string | undefined): Promise<Elsewhere>;
  /** The oldest open questions that this caller may see. */
  questions(viewer: Viewer, limit: number): Promise<OpenQuestions>;
}
