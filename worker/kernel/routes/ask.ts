/** `POST /ask`: plain text in, plain text out, for shortcuts, shells and buttons. Each question stands alone. */
import { maySee } from "../api/may-see.ts";
import { conversationOf } from "../api/stubs.ts";
import type { NewTurn } from "../api/turns.ts";
import { newRoutes } from "../http/app.ts";
import { requireValid } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { text } from "../http/fields.ts";
import { readText, UUID } from "../http/request.ts";
import { json, route, typedAnswer } from "../http/route.ts";
import { startAndWait } from "../http/start-turn.ts";
import { traceOf } from "../http/trace.ts";
import { JSON_PATIENCE_MS } from "../http/turn-stream.ts";
import { applyWait, originOf, PREFER, resultWithin } from "../http/wait.ts";

export const ask = newRoutes();

/** Without a preference of its own a caller that gets text waits longer than one that gets JSON. */
const ASK_PATIENCE_S = 120;

const ASKING = {
  scope: "ask",
  headers: {
    /** `wait=N`: how many seconds the caller waits for the answer. */
    prefer: PREFER,
  },
  raw: "text/plain",
} as const;

/**
 * Asks one question as plain text and answers with plain text. Each question stands alone. One that takes longer than the
 * caller waits is answered with what it waits for, and `Location` says where the answer will be. 502 when the turn failed;
 * the body says why. Without `Prefer: wait=N` it waits 120 s.
 */
route(ask, "POST /ask", ASKING, async (c, { token, headers: { prefer } }) => {
  const question = (await readText(c)).trim();
  if (question === "" || question.length > 32_000)
    throw new HttpError(400, "invalid_body", "expected the question as text, 1 to 32,000 characters");
  const id = crypto.randomUUID();
  const name = nameOf(token.home, id);
  const asked: NewTurn = {
    id,
    idempotency: undefined,
    text: question,
    images: [],
    origin: { principal: token.name, role: token.role, channel: "ask", ...traceOf(c) },
  };
  const seconds = prefer ?? ASK_PATIENCE_S;
  const heldMs = Math.min(seconds * 1_000, JSON_PATIENCE_MS);
  const started = await startAndWait(c, name, asked, "any", heldMs);
  if (!started) throw new Error("a conversation of one question did not take it");
  if (prefer !== undefined) applyWait(c, prefer);
  const recheck = () => requireValid(c.env, token);
  const place = `/v1/ask/${id}`;
  const patience = {
    seconds,
    ends: `The answer will be at ${originOf(c)}${place}`,
  };
  const result = await resultWithin(c, name, started, patience, c.req.raw.signal, recheck);
  if (result?.status === "running") {
    c.header("location", place);
    return typedAnswer<string, 202, "text/plain">(c.text(`${result.meanwhile ?? ""}\n`, 202));
  }
  const isDone = result?.status === "done";
  return typedAnswer<string, 200 | 502, "text/plain">(
    c.text(`${result?.answer ?? ""}\n`, isDone ? 200 : 502),
  );
});

const ASKED = { scope: "ask", path: { id: text(UUID, "the id of a question, a UUID") } } as const;

/**
 * Shows the turn of a question to `/ask`; while it runs, with what it waits for. It is kept for two days. 200 when it has
 * ended, 202 with `waiting` and `meanwhile` while it runs.
 */
route(ask, "GET /v1/ask/:id", ASKED, async (c, { token, path: { id } }) => {
  const conversation = () => conversationOf(c.env, nameOf(token.home, id));
  const belongs = await conversation().belongs();
  const isSeen = belongs && maySee(token, { kind: "conversation", by: belongs.principal });
  const result = isSeen ? await conversation().meanwhile(id, originOf(c)) : undefined;
  if (!result) throw new HttpError(404, "not_found", "no such question; they are kept for two days");
  return result.status === "running" ? json(c, result, 202) : json(c, result);
});

/** The conversation of a question, whose only turn has the same id. */
function nameOf(home: string, id: string): string {
  return `${home}/ask/${id}`;
}
