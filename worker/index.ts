/** The Worker: routes and who may use them. What they do is in the files that they name. */
import { AGENT_ID, VERSION } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { HTTPException } from "hono/http-exception";
import { conversationOf, homeOf, insist } from "./api/objects.ts";
import { mediaId, separateImages } from "./conversation/store/media.ts";
import type { NewOrigin, NewTurn } from "./conversation/store/transcript-rows.ts";
import { shownApproval } from "./conversation/turn-words.ts";
import { connections } from "./frontends/channels/connection-routes.ts";
import { channels } from "./frontends/channels/routes.ts";
import { consolePage } from "./frontends/console/routes.ts";
import { openai } from "./frontends/openai/routes.ts";
import { relayChat, relayKey } from "./frontends/relay/route.ts";
import type { Question } from "./home/questions/questions.ts";
import { AuthSettingsError } from "./http/auth.ts";
import { cors } from "./http/cors.ts";
import {
  errorBody,
  HttpError,
  newRoutes,
  noRoute,
  pathName,
  readBody,
  readText,
  requireScope,
} from "./http/http.ts";
import { shownToken } from "./http/rates.ts";
import { safeHeaders } from "./http/safe-headers.ts";
import {
  beginsTurn,
  followedEvent,
  JSON_PATIENCE_MS,
  roomStream,
  turnResult,
  turnStream,
} from "./http/waiting-room.ts";
import { logError } from "./log.ts";
import { exportAudit, showAudit } from "./routes/audit.ts";
import { exportHome, importHome } from "./routes/backup.ts";
import { takeBridge } from "./routes/bridge.ts";
import { updateBridge } from "./routes/bridge-update.ts";
import { runCommand, showCommand } from "./routes/commands.ts";
import {
  CONVERSATION_ID,
  CONVERSATION_ID_WORDS,
  forgetConversation,
  idInUse,
  listConversations,
  renameConversation,
  requireCounting,
  requireSeen,
  shareConversation,
  stillMay,
} from "./routes/conversations.ts";
import { joining, makeCode, showCode } from "./routes/device-codes.ts";
import { acceptText, putKey, removeAgent, revokeKey, showKeys } from "./routes/keys.ts";
import { getMedia, putMedia } from "./routes/media.ts";
import { getLinkedMedia } from "./routes/media-links.ts";
import { showMetrics } from "./routes/metrics.ts";
import { approvePairing, dismissPairing, removeSender, showPairings } from "./routes/senders.ts";
import { listTokens, makeToken, revokeToken } from "./routes/tokens.ts";
import { readSettings, SettingsError } from "./settings/settings.ts";

export { Conversation } from "./conversation/conversation.ts";
export { Home } from "./home/home.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const app = newRoutes();

app.use(safeHeaders, cors);

// ── no token ──────────────────────────────────────────────────────────────────────────────────────────

app.get("/healthz", (c) => c.json({ ok: true, version: VERSION }));

app.get("/bridge", takeBridge);

// MCP's clients ask here whether somebody else gives out tokens: nobody does, which 404 says and 401 would not.
app.all("/.well-known/*", (c) => {
  throw new HttpError(404, "not_found", `nothing is here: ${c.req.path}`);
});

app.put("/v1/media/:id", putMedia);
app.get("/v1/media/:id", getLinkedMedia);

// A device asks with a token of its own making.
app.post("/v1/relay/:home/chat/completions", relayChat);
app.get("/v1/relay/:home/key", relayKey);

// Looks at the token itself, since these clients know errors in one form only.
app.route("/", openai);
app.route("/", consolePage);
app.route("/", channels);
app.route("/", joining);

// ── everything else: a token, and its home only ───────────────────────────────────────────────────────

app.use(async (c, next) => {
  const token = await shownToken(c);
  if (!token) {
    c.header("www-authenticate", 'Bearer realm="edgecall"');
    const message =
      c.req.header("authorization") === undefined
        ? "a bearer token is needed: 'Authorization: Bearer …'"
        : "this bearer token is not known here: it is mistyped, has ended, or belongs to another gateway";
    return c.json(openAiError("unauthorized", message, "authentication_error"), 401);
  }
  c.set("token", token);
  return await next();
});

/** Of a conversation, in one answer. */
const TURNS_SHOWN = 100;
const TURNS_SHOWN_MAX = 200;

const Message = z.strictObject({
  text: z.string().check(z.trim(), z.minLength(1), z.maxLength(32_000)),
  /** One more of several messages in one breath, as people send them in a chat: joined to the turn that waits. */
  merge: z.optional(z.boolean()),
  /** One of the configured models, by name. */
  model: z.optional(z.string().check(z.maxLength(200))),
  /** Another one may answer when that one is down. */
  fallback: z.optional(z.boolean()),
  images: z.optional(
    z
      .array(
        z
          .string()
          .check(
            z.maxLength(512 * 1024),
            z.regex(/^(https:\/\/\S+|data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2})$/),
          ),
      )
      .check(z.maxLength(8)),
  ),
});

const QuestionAnswer = z.strictObject({
  answer: z.string().check(z.trim(), z.minLength(1), z.maxLength(4_000)),
});

app.get("/v1/conversations", listConversations);

app.post("/v1/conversations/:id/messages", async (c) => {
  const { name, origin, seen } = await conversation(c, "ask");
  const message = await readBody(c, Message);
  const { model } = message;
  if (model !== undefined) requireModel(c, model);
  const idempotency = c.req.header("idempotency-key");
  if (idempotency !== undefined && (idempotency === "" || idempotency.length > 200)) {
    throw new HttpError(400, "invalid_header", "Idempotency-Key: expected 1 to 200 characters");
  }
  const id = crypto.randomUUID();
  const pictures = await separateImages(message.images ?? [], (n) => mediaId(`${id}-${n}`, name)).catch(
    () => {
      throw new HttpError(400, "invalid_body", "images: a data: URL holds no base64");
    },
  );
  const turn: NewTurn = {
    id,
    idempotency,
    ...(message.merge && { merge: true }),
    text: message.text,
    images: pictures.images,
    media: pictures.added,
    origin: {
      ...origin,
      ...(model !== undefined && { model, ...(message.fallback && { replaceable: true as const }) }),
    },
  };
  const started = await insist(async () => {
    const stub = conversationOf(c.env, name);
    return await (seen === "own" ? stub.startOwn(turn) : stub.start(turn));
  });
  if (!started) throw idInUse();
  c.header("edgecall-turn", started.turn);
  if (c.req.header("edgecall-on-hangup") === "cancel") cancelOnHangup(c, name, started.turn);
  if (wantsEvents(c)) return events(c, name, started.turn, 0);
  const result = await turnResult(c.env, name, started.turn, JSON_PATIENCE_MS, c.req.raw.signal);
  return result ? c.json(result) : c.json({ turn: started.turn, status: "running" }, 202);
});

app.get("/v1/conversations/:id/turns/:turn", async (c) => {
  const { name } = await conversation(c, "ask");
  const result = await conversationOf(c.env, name).look(turnId(c));
  if (!result) throw new HttpError(404, "not_found", "no such turn");
  return c.json(result);
});

app.get("/v1/conversations/:id/turns/:turn/events", async (c) => {
  const { name } = await conversation(c, "ask");
  const turn = turnId(c);
  const after = Number(c.req.header("last-event-id") ?? 0);
  if (!Number.isSafeInteger(after) || after < 0)
    throw new HttpError(400, "invalid_header", "Last-Event-ID: expected the id of an event");
  if (!(await conversationOf(c.env, name).look(turn))) throw new HttpError(404, "not_found", "no such turn");
  return events(c, name, turn, after);
});

app.post("/v1/conversations/:id/turns/:turn/cancel", async (c) => {
  const { name } = await conversation(c, "ask");
  const result = await conversationOf(c.env, name).cancel(turnId(c));
  if (!result) throw new HttpError(404, "not_found", "no such turn");
  return c.json(result);
});

/** Every turn of a conversation as it goes, those to come too, wherever they begin. It never ends by itself, and costs nothing while nothing happens. */
app.get("/v1/conversations/:id/events", async (c) => {
  const { name } = await conversation(c, "ask");
  const said = async (message: string | undefined) => {
    // Somebody else may have begun what nobody had begun, or shared it no longer.
    if (message !== undefined && beginsTurn(message)) await stillMay(c, name)();
    return followedEvent(message);
  };
  const stream = roomStream(
    conversationOf(c.env, name),
    "/follow",
    said,
    c.req.raw.signal,
    stillMay(c, name),
  );
  return c.body(stream, 200, SSE);
});

app.get("/v1/conversations/:id", async (c) => {
  const { name } = await conversation(c, "ask");
  const before = wholeQuery(c, "before", { fallback: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  const limit = wholeQuery(c, "limit", { fallback: TURNS_SHOWN, max: TURNS_SHOWN_MAX });
  const page = await conversationOf(c.env, name).history({ before, limit });
  if (page.turns.length === 0) throw new HttpError(404, "not_found", "no such conversation");
  return c.json({ id: c.req.param("id"), ...page });
});

app.delete("/v1/conversations/:id", forgetConversation);
app.patch("/v1/conversations/:id", renameConversation);
app.post("/v1/conversations/:id/share", shareConversation);

/** Plain text in, plain text out: for shortcuts, shells and buttons. Each question stands alone. */
app.post("/ask", async (c) => {
  const token = requireScope(c, "ask");
  const text = (await readText(c)).trim();
  if (text === "" || text.length > 32_000)
    throw new HttpError(400, "invalid_body", "expected the question as text, 1 to 32,000 characters");
  const name = `${token.home}/ask/${crypto.randomUUID()}`;
  const origin: NewOrigin = { principal: token.name, role: token.role, channel: "ask" };
  const asked: NewTurn = {
    id: crypto.randomUUID(),
    idempotency: undefined,
    text,
    images: [],
    origin,
  };
  const { turn } = await insist(async () => await conversationOf(c.env, name).start(asked));
  const counting = () => requireCounting(c);
  const { signal } = c.req.raw;
  const result = await turnResult(c.env, name, turn, ASK_PATIENCE_MS, signal, undefined, counting);
  if (!result) await counting();
  if (!result)
    return c.text(
      "This takes longer than I can keep you waiting here; ask over /v1/conversations instead.\n",
      504,
    );
  return c.text(`${result.answer ?? ""}\n`, result.status === "done" ? 200 : 502);
});

/** Text callers cannot look again later, so they may wait longer. */
const ASK_PATIENCE_MS = 120_000;

app.get("/v1/media/:id", getMedia);

app.get("/v1/agents", async (c) => c.json({ agents: await home(c).agents() }));

app.get("/v1/agents/:agent", async (c) => {
  const id = pathName(c, "agent", AGENT_ID, "an agent's id");
  const agent = (await home(c).agents()).find((candidate) => candidate.id === id);
  if (!agent) throw new HttpError(404, "not_found", `no such agent: ${id}`);
  return c.json(agent);
});

app.post("/v1/agents/:agent/commands", runCommand);
app.get("/v1/agents/:agent/commands/:request", showCommand);

app.get("/v1/questions", async (c) => c.json(await openQuestions(c)));

/** The same list, and again whenever it is another. It never ends by itself. */
app.get("/v1/questions/events", (c) => {
  requireScope(c, "ask");
  const said = async () => {
    await requireCounting(c);
    return `event: questions\ndata: ${JSON.stringify(await openQuestions(c))}\n\n`;
  };
  const stream = roomStream(home(c), "/questions", said, c.req.raw.signal, () => requireCounting(c));
  return c.body(stream, 200, SSE);
});

async function openQuestions(c: Ctx) {
  return { questions: (await home(c).questions(requireScope(c, "ask"))).map(shownQuestion) };
}

/** Answers a question or an approval, as far as the caller may see it (may-see.ts). */
app.post("/v1/questions/:id", async (c) => {
  const token = requireScope(c, "ask");
  const id = pathName(c, "id", UUID, "a question's id, a UUID");
  const { answer } = await readBody(c, QuestionAnswer);
  const answered = await home(c).answer(id, answer, token);
  if (!answered.ok) throw new HttpError(answered.status, answered.code, answered.message);
  return c.json(shownQuestion(answered.question));
});

app.get("/v1/keys", showKeys);
app.post("/v1/agents/:agent/key", putKey);
app.delete("/v1/agents/:agent/key", revokeKey);
app.delete("/v1/agents/:agent", removeAgent);
app.post("/v1/agents/:agent/accept-text", acceptText);

app.get("/v1/tokens", listTokens);
app.post("/v1/tokens", makeToken);
app.delete("/v1/tokens/:id", revokeToken);

app.post("/v1/bridge/update", updateBridge);
app.get("/v1/audit", showAudit);
app.get("/v1/audit/export", exportAudit);
app.get("/metrics", showMetrics);
app.get("/v1/export", exportHome);
app.post("/v1/import", importHome);

app.get("/v1/pairings", showPairings);
app.post("/v1/pairings", makeCode);
app.get("/v1/pairings/:code", showCode);
app.post("/v1/pairings/:code", approvePairing);
app.delete("/v1/pairings/:code", dismissPairing);
app.delete("/v1/senders/:channel/:connection/:sender", removeSender);
app.route("/", connections);

// Built when somebody calls it: the SDK's schemas are half of what this Worker would take to start.
app.all("/mcp", async (c) => await (await import("./frontends/mcp/route.ts")).serveMcp(c));

app.get("/v1/status", async (c) =>
  c.json({ home: requireScope(c, "ask").home, ...(await home(c).status()) }),
);

app.notFound((c) => {
  const { code, message, status } = noRoute(app, c);
  return c.json(openAiError(code, message, "invalid_request_error"), status);
});

/** Ours, with what OpenAI's clients look for in an error: they ask below `/v1` for more than is served here. */
function openAiError(code: string, message: string, type: string) {
  return { error: { code, message, type, param: null } };
}

app.onError((error, c) => {
  if (error instanceof HttpError) return c.json(errorBody(error.code, error.message), error.status);
  if (error instanceof HTTPException)
    return c.json(errorBody("invalid_request", error.message), error.status);
  logError("request.failed", error, { path: c.req.path });
  if (error instanceof SettingsError) return c.json(errorBody("not_configured", error.message), 500);
  if (error instanceof AuthSettingsError) return c.json(errorBody("not_configured", error.message), 500);
  return c.json(errorBody("internal", "something went wrong in the gateway; its log has the reason"), 500);
});

type Ctx = Parameters<typeof requireScope>[0];

/** @throws HttpError 400 */
function wholeQuery(c: Ctx, name: string, { fallback, max }: { fallback: number; max: number }): number {
  const text = c.req.query(name);
  const value = text === undefined ? fallback : Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new HttpError(400, "invalid_query", `${name}: expected a whole number from 1 to ${max}`);
}

/**
 * A conversation that the caller may see, or that nobody has begun yet. Home and channel come from the token and the
 * route, never from the caller.
 */
async function conversation(
  c: Ctx,
  scope: "ask",
): Promise<{ name: string; origin: NewOrigin; seen: "own" | "any" }> {
  const token = requireScope(c, scope);
  const id = pathName(c, "id", CONVERSATION_ID, CONVERSATION_ID_WORDS);
  const name = `${token.home}/api/${id}`;
  const seen = await requireSeen(c, name);
  return {
    name,
    seen,
    origin: { principal: token.name, role: token.role, channel: "api" },
  };
}

function requireModel(c: Ctx, name: string): void {
  const names = readSettings(c.env).models.map((model) => model.name);
  if (names.includes(name)) return;
  throw new HttpError(
    400,
    "invalid_body",
    `model: there is no '${name}'; there are: ${names.join(", ") || "none"}`,
  );
}

/** For a one-shot client: when it hangs up nobody wants the answer any more. */
function cancelOnHangup(c: Ctx, name: string, turn: string): void {
  c.req.raw.signal.addEventListener("abort", () =>
    c.executionCtx.waitUntil(conversationOf(c.env, name).cancel(turn)),
  );
}

function turnId(c: Ctx): string {
  return pathName(c, "turn", UUID, "a turn's id, a UUID");
}

/** A question as a person sees it, with the conversation's own id instead of the object's name. */
function shownQuestion(question: Question & { title?: string }) {
  const { id, call, agent, text, options, approval, expiresAt: expires_at, answer, answeredBy } = question;
  const [, channel, ...conversation] = question.conversation.split("/");
  const asked = { id, conversation: conversation.join("/"), channel, call, agent, text, options, expires_at };
  return {
    ...asked,
    ...(question.title !== undefined && { title: question.title }),
    ...(approval && { approval: shownApproval(approval) }),
    ...(answer !== null && { answer }),
    ...(answeredBy !== null && { answered_by: answeredBy }),
  };
}

function home(c: Ctx) {
  return homeOf(c.env, requireScope(c, "ask").home);
}

function events(c: Ctx, name: string, turn: string, after: number): Response {
  const stream = turnStream(c.env, name, turn, after, c.req.raw.signal, stillMay(c, name));
  return c.body(stream, 200, SSE);
}

const SSE = { "content-type": "text/event-stream", "cache-control": "no-store" };

function wantsEvents(c: Ctx): boolean {
  return (c.req.header("accept") ?? "").includes("text/event-stream");
}

export default app;
