/** `/v1/questions`: the open questions and approvals of a home, and their answers. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { approvalView, type OpenQuestion } from "../api/questions.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope, requireValid } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { SSE, socketEventStream } from "../http/object-stream.ts";
import { pathName, readBody, UUID } from "../http/request.ts";

export const questions = newRoutes();

questions.get("/v1/questions", async (c) => c.json(await openQuestions(c)));
questions.get("/v1/questions/events", followQuestions);
questions.post("/v1/questions/:id", answerQuestion);

const QuestionAnswer = z.strictObject({
  answer: z.string().check(z.trim(), z.minLength(1), z.maxLength(4_000)),
});

/** Streams the list of open questions, again after each change. The stream does not end by itself. */
function followQuestions(c: Context<App>): Response {
  const token = requireScope(c, "ask");
  const recheck = () => requireValid(c.env, token);
  const eventsOf = async () => {
    await recheck();
    return `event: questions\ndata: ${JSON.stringify(await openQuestions(c))}\n\n`;
  };
  const stream = socketEventStream(
    homeOf(c.env, token.home),
    "/questions",
    eventsOf,
    c.req.raw.signal,
    recheck,
  );
  return c.body(stream, 200, SSE);
}

/** Answers a question or an approval that the caller may see (may-see.ts). */
async function answerQuestion(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  const id = pathName(c, "id", UUID, "a question's id, a UUID");
  const { answer } = await readBody(c, QuestionAnswer);
  const answered = await homeOf(c.env, token.home).answer(id, answer, token);
  if (!answered.ok) throw new HttpError(answered.status, answered.code, answered.message);
  return c.json(questionView(answered.question));
}

/** Questions in one answer, the oldest; `total` says how many there are. The others follow as these are answered. */
const QUESTIONS_MAX = 200;

async function openQuestions(c: Context<App>) {
  const token = requireScope(c, "ask");
  const { questions, total } = await homeOf(c.env, token.home).questions(token, QUESTIONS_MAX);
  return { questions: questions.map(questionView), total };
}

/** Converts a question for the API: it has the conversation's id in place of the object's name. */
function questionView(question: OpenQuestion) {
  const {
    id,
    call,
    agent,
    via,
    text,
    options,
    approval,
    expiresAt: expires_at,
    answer,
    answeredBy,
  } = question;
  const [, channel, ...conversation] = question.conversation.split("/");
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
  };
  return {
    ...asked,
    ...(question.title !== undefined && { title: question.title }),
    ...(approval && { approval: approvalView(approval) }),
    ...(answer !== null && { answer }),
    ...(answeredBy !== null && { answered_by: answeredBy }),
  };
}
