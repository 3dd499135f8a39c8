/** `/v1/questions`: the open questions and approvals of a home, and their answers. */
import { canonicalHash } from "@edgecall/core/protocol/approval.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { OpenQuestion as OpenQuestionView } from "../api/answers.ts";
import { Keep } from "../api/permissions.ts";
import { approvalView, askedPeople, listedMembers, type OpenQuestion } from "../api/questions.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireValid } from "../http/auth.ts";
import { answerWay } from "../http/confirm.ts";
import { HttpError } from "../http/errors.ts";
import { text } from "../http/fields.ts";
import { SSE, socketEventStream } from "../http/object-stream.ts";
import { UUID } from "../http/request.ts";
import { json, route, typedAnswer } from "../http/route.ts";
import type { ApiToken } from "../settings/tokens.ts";

export const questions = newRoutes();

export const QuestionAnswer = z.strictObject({
  answer: z.string().check(z.trim(), z.minLength(1), z.maxLength(4_000)),
  /** What is kept of the question's `offers`, with the answer `approve`. */
  keep: z.optional(Keep),
});

/**
 * Lists the open questions and approvals that the caller may see, the oldest first. At most the 200 oldest. Approvals need
 * `approve` too. `approval` has exactly what would be run; `approval.card` has the words around it, all made of what is
 * hashed.
 */
route(questions, "GET /v1/questions", { scope: "ask" }, async (c, { token }) =>
  json(c, await openQuestions(c, token)),
);

/** Streams the list of open questions, again after each change. The stream does not end by itself. */
route(questions, "GET /v1/questions/events", { scope: "ask" }, (c, { token }) => {
  const recheck = () => requireValid(c.env, token);
  const eventsOf = async () => {
    await recheck();
    return `event: questions\ndata: ${JSON.stringify(await openQuestions(c, token))}\n\n`;
  };
  const stream = socketEventStream(
    homeOf(c.env, token.home),
    `/questions?by=${encodeURIComponent(token.name)}`,
    eventsOf,
    c.req.raw.signal,
    recheck,
  );
  return typedAnswer<QuestionsEvent, 200, "text/event-stream">(c.body(stream, 200, SSE));
});

/**
 * Answers a question or an approval that the caller may see. An approval needs the scope `approve`. Of a session of the
 * console some need a confirmation too (`POST /v1/passkeys/challenges`). `accept` accepts the words of agents about
 * themselves as shown, and approves; it needs `admin`. A question with `members` is several approvals of one reply: the
 * answer is for all that are open, and each can be answered by its own id. `keep` has one of `offers`, or less. 403
 * `needs_passkey`, `needs_other_device`, or others' calls, which are an owner's to allow; 409 `text_changed`,
 * `device_changed`, `too_many`.
 */
route(
  questions,
  "POST /v1/questions/:id",
  { scope: "ask", path: { id: text(UUID, "a question's id, a UUID") }, body: QuestionAnswer },
  async (c, { token, path: { id }, body }) => {
    const { answer, keep } = body;
    const way = answerWay(c, token, await keepHash(body));
    const answered = await homeOf(c.env, token.home).questions.answer(id, answer, token, way, keep);
    if (!answered.ok) throw new HttpError(answered.status, answered.code, answered.message);
    return json(c, questionView(answered.question, token.name));
  },
);

/** Asks where else the caller may answer: in chats of people who may approve. Then a press in another browser counts, too. */
route(
  questions,
  "POST /v1/questions/:id/elsewhere",
  { scope: "ask", path: { id: text(UUID, "a question's id, a UUID") } },
  async (c, { token, path: { id } }) => {
    const session = c.get("session")?.id;
    const asked = await homeOf(c.env, token.home).questions.askElsewhere(id, token, session);
    if (!asked.ok) throw new HttpError(asked.status, asked.code, asked.message);
    const answer: { asked: string[] } = { asked: asked.asked };
    return json(c, answer);
  },
);

/** The hash of what an answer gives beside its words; empty: nothing. */
export async function keepHash({ answer: _, ...more }: z.infer<typeof QuestionAnswer>): Promise<string> {
  return Object.keys(more).length === 0 ? "" : await canonicalHash({ domain: "edgecall keep v1", ...more });
}

/** Questions in one answer, the oldest; `total` says how many there are. The others follow as these are answered. */
const QUESTIONS_MAX = 200;

/** `total`: of all that the caller may see, in this answer or not. */
type QuestionList = { questions: OpenQuestionView[]; total: number };
type QuestionsEvent = { event: "questions"; data: QuestionList };

async function openQuestions(c: Context<App>, token: ApiToken): Promise<QuestionList> {
  const { questions, total } = await homeOf(c.env, token.home).questions.questions(token, QUESTIONS_MAX);
  return { questions: questions.map((question) => questionView(question, token.name)), total };
}

/** Converts a question for the API: it has the conversation's id in place of the object's name. @param reader a principal */
function questionView(question: OpenQuestion, reader: string): OpenQuestionView {
  const {
    id,
    agent,
    via,
    text,
    options,
    approval,
    expiresAt: expires_at,
    answer,
    answeredBy,
    answeredHow,
    asked: people,
  } = question;
  const [, channel = "", ...conversation] = question.conversation.split("/");
  const members = question.members && listedMembers(question.members);
  const call = members?.[0]?.call ?? question.call;
  const asked = {
    id,
    conversation: conversation.join("/"),
    channel,
    call,
    agent,
    via,
    text,
    options,
    expires_at,
    ...(members && { members }),
  };
  return {
    ...asked,
    ...(question.title !== undefined && { title: question.title }),
    ...(question.plain && { plain: true }),
    ...(approval && { approval: approvalView(approval, reader) }),
    ...(people && people.length > 0 && { asked: askedPeople(people) }),
    ...(question.offers && { offers: question.offers }),
    ...(answer !== null && { answer }),
    ...(answeredBy !== null && { answered_by: answeredBy }),
    ...(answeredHow !== null && { answered_how: answeredHow }),
  };
}
