/** `POST /ask`: plain text in, plain text out, for shortcuts, shells and buttons. Each question stands alone. */
import type { NewTurn } from "../api/turns.ts";
import { newRoutes } from "../http/app.ts";
import { requireValid } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { readText } from "../http/request.ts";
import { as, route } from "../http/route.ts";
import { startTurn } from "../http/start-turn.ts";
import { turnResult } from "../http/turn-stream.ts";

export const ask = newRoutes();

/** A caller that gets text cannot look again later, so it may wait longer. */
const ASK_PATIENCE_MS = 120_000;

/** Asks one question as plain text and answers with plain text. Each question stands alone. */
route(ask, "POST /ask", { scope: "ask", raw: "text/plain" }, async (c, { token }) => {
  const text = (await readText(c)).trim();
  if (text === "" || text.length > 32_000)
    throw new HttpError(400, "invalid_body", "expected the question as text, 1 to 32,000 characters");
  const name = `${token.home}/ask/${crypto.randomUUID()}`;
  const asked: NewTurn = {
    id: crypto.randomUUID(),
    idempotency: undefined,
    text,
    images: [],
    origin: { principal: token.name, role: token.role, channel: "ask" },
  };
  const started = await startTurn(c.env, name, asked, "any", false);
  if (!started) throw new Error("a conversation of one question did not take it");
  const recheck = () => requireValid(c.env, token);
  const { signal } = c.req.raw;
  const result = await turnResult(c.env, name, started, ASK_PATIENCE_MS, signal, undefined, recheck);
  if (!result) await recheck();
  if (!result)
    return as<string, 504, "text/plain">(
      c.text(
        "This takes longer than I can keep you waiting here; ask over /v1/conversations instead.\n",
        504,
      ),
    );
  const isDone = result.status === "done";
  return as<string, 200 | 502, "text/plain">(c.text(`${result.answer ?? ""}\n`, isDone ? 200 : 502));
});
