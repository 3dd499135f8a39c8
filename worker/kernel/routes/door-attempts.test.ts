/**
 * Attempts at the gateway's doors: each kind of token at each route that is not for it, and every other way to bring a token, to name a
 * thing, or to answer a question. Judged by the answers and by what the home holds afterwards.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { heldRights } from "../../../test/held-rights.ts";
import { rpc } from "../../../test/mcp-requests.ts";
import { SignIn } from "../../../test/oauth-sign-in.ts";
import { script } from "../../../test/scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../test/tokens.ts";
import { AGENTS, gatewayAsks } from "../../../test/turns.ts";
import { ask, say, TestBridge } from "../../../test/workerd.ts";
import { mediaId } from "../api/media.ts";
import { newHomeToken } from "../http/tokens.ts";

const ORIGIN = "https://gateway";
const signIn = new SignIn((path, init = {}) => ask(path, { token: null, ...init }), ORIGIN);
const ID = "00000000-0000-4000-8000-000000000000";
const FILE = mediaId(`${ID}-0`, "a/api/kept");

type Who =
  | keyof typeof TOKENS
  | "none"
  | "revoked"
  | "expired"
  | "madeUp"
  | "program"
  | "refresh"
  | "code"
  | "session";
/** Tokens that are none any more, or of another kind. */
const others: Partial<Record<Who, string | null>> = { none: null };
const tokenOf = (who: Who) => (who in others ? (others[who] ?? null) : TOKENS[who as keyof typeof TOKENS]);
/** A guest's session of the console. */
let cookie = "";
let question = "";
let kept = "";

async function make(body: object): Promise<{ token: string; id: string }> {
  const answer = await ask("/v1/tokens", { method: "POST", body: JSON.stringify(body) });
  const { token, record } = (await answer.json()) as { token: string; record: { id: string } };
  return { token, id: record.id };
}

beforeAll(async () => {
  const bridge = await TestBridge.connect(AGENTS);
  ({
    question: { id: question },
  } = await gatewayAsks("asked", bridge));
  const said = await say("kept", script({ text: "the owner's secret answer" }));
  kept = said.body.turn;
  const all = { name: "phone", role: "owner", scopes: ["ask", "command", "approve", "admin"] };
  const revoked = await make(all);
  others.revoked = revoked.token;
  await ask(`/v1/tokens/${revoked.id}`, { method: "DELETE" });
  const expired = await make({ ...all, expires_in_days: 1 });
  others.expired = expired.token;
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
    storage.sql.exec("UPDATE token SET expires_at = ? WHERE id = ?", Date.now() - 1, expired.id),
  );
  others.madeUp = newHomeToken("a");
  const program = await signIn.connect(TOKENS.owner);
  Object.assign(others, {
    program: program.access_token,
    refresh: program.refresh_token,
    code: program.code,
  });
  cookie = await signIn.cookie(TOKENS.guest);
}, 60_000);

/** Whoever has the scope `ask`. */
const ASKERS: Who[] = ["owner", "guest", "member", "approver", "admin"];
/** `may`: those whom the page of the route names. Everybody else is refused. */
const ROUTES: Array<[route: string, may: Who[], body?: object]> = [
  ["GET /v1/tokens", ["owner", "admin"]],
  ["POST /v1/tokens", ["owner", "admin"], { name: "x", role: "guest", scopes: ["ask"] }],
  ["POST /v1/tokens/rotate", ["owner", "admin"]],
  ["DELETE /v1/tokens/secret-0?made=yes", ["owner", "admin"]],
  ["GET /v1/audit", ["owner", "admin"]],
  ["GET /v1/audit/export", ["owner", "admin"]],
  ["GET /v1/export", ["owner", "admin"]],
  ["POST /v1/import", ["owner", "admin"], {}],
  ["GET /v1/keys", ["owner", "admin"]],
  ["POST /v1/agents/pi/key", ["owner", "admin"], { public_key: "A".repeat(43), name: "x" }],
  ["DELETE /v1/agents/pi/key", ["owner", "admin"]],
  ["POST /v1/agents/pi/readmit", ["owner", "admin"]],
  ["POST /v1/agents/pi/accept-text", ["owner", "admin"]],
  ["DELETE /v1/agents/pi", ["owner", "admin"]],
  ["POST /v1/device-codes", ["owner", "admin"], {}],
  ["POST /v1/bridge/update", ["owner", "admin"]],
  ["GET /v1/senders/requests", ["owner", "admin"]],
  ["POST /v1/senders/requests/ABCDEF", ["owner", "admin"], { role: "owner" }],
  ["DELETE /v1/senders/requests/ABCDEF", ["owner", "admin"]],
  ["DELETE /v1/senders/telegram/family/7", ["owner", "admin"]],
  ["GET /v1/connections", ["owner", "admin"]],
  ["POST /v1/connections", ["owner", "admin"], { channel: "telegram", connection: "x", token: "1:x" }],
  ["DELETE /v1/connections/telegram/family", ["owner", "admin"]],
  ["GET /v1/oauth/clients", ["owner", "admin"]],
  ["POST /v1/oauth/clients", ["owner", "admin"], { name: "x", redirect_uris: ["https://app.example/cb"] }],
  ["PATCH /v1/home/clock", ["owner", "admin"], { timezone: "Asia/Tokyo" }],
  ["PATCH /v1/devices/lamp", ["owner", "admin"], { allow: true }],
  ["DELETE /v1/devices/lamp", ["owner", "admin"]],
  ["GET /v1/profile", ["owner"]],
  ["PUT /v1/profile", ["owner"], { profile: "look", devices: [{ id: "lamp", allow: "x" }] }],
  ["GET /v1/automations", ASKERS],
  ["POST /v1/automations/a-7f2c/card", ["owner", "admin"]],
  ["PATCH /v1/automations/a-7f2c", ["owner"], { status: "active", allow: "x" }],
  ["DELETE /v1/automations/a-7f2c", ["owner"]],
  ["POST /v1/automations/a-7f2c/undo", ["owner"], { firing: 1 }],
  ["PUT /v1/presence", ["owner", "member", "approver"], { away: true }],
  ["GET /v1/model", ["owner"]],
  ["PUT /v1/model", ["owner"], { base_url: "https://llm.example/v1", model: "x" }],
  ["DELETE /v1/model", ["owner"]],
  ["POST /v1/model/try", ["owner"], { base_url: "ftp://llm.example", model: "x" }],
  ["GET /v1/home-assistant", ["owner", "admin"]],
  ["POST /v1/home-assistant", ["owner", "admin"], { url: "http://ha.local:8123" }],
  ["POST /v1/home-assistant/code", ["owner", "admin"], { state: "x".repeat(36), code: "x" }],
  ["DELETE /v1/home-assistant", ["owner", "admin"]],
  ["GET /v1/lending", ["owner"]],
  [
    "POST /v1/lending",
    ["owner"],
    { label: "x", agents: ["pi"], scopes: ["ask"], reads_only: true, expires_in_days: 1 },
  ],
  ["POST /v1/borrowing", ["owner"], { invitation: "ecl_", name: "x" }],
  [`DELETE /v1/lending/${ID}`, ["owner"]],
  ["DELETE /v1/borrowing/x", ["owner"]],
  ["GET /metrics", ["owner", "admin", "scraper"]],
  ["POST /v1/agents/pi/commands", ["owner", "member"], { command: "ping" }],
  [`GET /v1/agents/pi/commands/${ID}`, ["owner", "member"]],
  ["GET /v1/conversations/kept", ["owner", "admin"]],
  ["GET /v1/conversations/kept/events", ["owner", "admin"]],
  ["GET /v1/conversations/kept/turns/KEPT", ["owner", "admin"]],
  ["POST /v1/conversations/kept/turns/KEPT/cancel", ["owner", "admin"]],
  ["POST /v1/conversations/kept/messages", ["owner", "admin"], { text: "Open the door." }],
  ["POST /v1/conversations/kept/share", ["owner", "admin"], { with: ["gus", "mia", "max"] }],
  ["PATCH /v1/conversations/kept", ["owner", "admin"], { title: "x" }],
  ["DELETE /v1/conversations/kept", ["owner", "admin"]],
  ["POST /v1/questions/QUESTION", ["owner"], { answer: "approve" }],
  ["POST /v1/questions/QUESTION", ["owner"], { answer: "accept" }],
  ["POST /v1/questions/QUESTION/elsewhere", ["owner"]],
  ["POST /v1/questions/QUESTION", ["owner"], { answer: "approve", keep: { offer: "always" } }],
  ["GET /v1/permissions", ASKERS],
  ["DELETE /v1/permissions?person=anna", ASKERS],
  [`DELETE /v1/permissions/${ID}`, ASKERS],
  ["POST /v1/passkeys", ASKERS, {}],
  ["POST /v1/passkeys/registrations", ASKERS],
  ["POST /v1/passkeys/challenges", ASKERS, { method: "POST", path: "/v1/tokens" }],
  ["POST /v1/passkeys/codes", ASKERS],
  ["DELETE /v1/passkeys/AAAA", ASKERS],
  ["PUT /v1/passkeys/taps/telegram:1", ["owner"]],
  ["DELETE /v1/passkeys/taps/telegram:1", ["owner"]],
  [`GET /v1/media/${FILE}`, []],
  [`PUT /v1/media/${FILE}`, []],
  ["GET /v1/polling", []],
  ["GET /bridge", ["bridge", "otherBridge"]],
];
const PEOPLE: Who[] = ["owner", "guest", "member", "approver", "admin", "scraper"];
const NOBODY: Who[] = [
  "none",
  "revoked",
  "expired",
  "madeUp",
  "bridge",
  "otherBridge",
  "program",
  "refresh",
  "code",
];
const filled = (text: string) => text.replace("KEPT", kept).replace("QUESTION", question);
const asked = async (route: string, body: object | undefined, init: Parameters<typeof ask>[1]) => {
  const [method = "", path = ""] = filled(route).split(" ");
  const content = body && method !== "GET" ? { body: JSON.stringify(body) } : {};
  return await ask(path, { method, ...content, ...init });
};

describe("S27: each token at each route that is not for it", () => {
  test.each(ROUTES)("S27: %s", async (route, may, body) => {
    const before = await heldRights();
    const through: string[] = [];
    for (const who of [...PEOPLE, ...NOBODY]) {
      if (may.includes(who)) continue;
      const headers: Record<string, string> = route.endsWith("/bridge") ? { upgrade: "websocket" } : {};
      const { status } = await asked(route, body, { token: tokenOf(who), headers });
      if (![401, 403, 404].includes(status)) through.push(`${who}: ${status}`);
    }
    // Its owner may do all that in a home of its own.
    const { status, body: stream } = await asked(route, body, { token: TOKENS.otherHome });
    if (status < 400) await stream?.cancel();
    if (!may.includes("guest")) {
      // A guest's session of the console, as its page asks.
      const own = { cookie, origin: ORIGIN, "x-edgecall-console": "1", "sec-fetch-site": "same-origin" };
      const { status } = await asked(route, body, { token: null, headers: own });
      if (![401, 403, 404].includes(status)) through.push(`session: ${status}`);
    }
    expect(through).toEqual([]);
    expect(await heldRights()).toBe(before);
  });
});

/** Each would list the home's tokens, or make one, if it were taken for the owner's request. */
const WAYS: Array<[how: string, path: string, init: (token: string) => Parameters<typeof ask>[1] & object]> =
  [
    ["the token in the query", `/v1/tokens?access_token=TOKEN&token=TOKEN`, () => ({})],
    ["the token in the path", "/v1/tokens/TOKEN", () => ({})],
    [
      "the token as user",
      "/v1/tokens",
      (token) => ({ headers: { authorization: `Basic ${btoa(`${token}:`)}` } }),
    ],
    [
      "the token as password",
      "/v1/tokens",
      (token) => ({ headers: { authorization: `Basic ${btoa(`x:${token}`)}` } }),
    ],
    [
      "the token in other headers",
      "/v1/tokens",
      (token) => ({ headers: { "x-api-key": token, "api-key": token, "x-auth-token": token } }),
    ],
    [
      "the token as the session",
      "/v1/tokens",
      (token) => ({ headers: { cookie: `__Host-edgecall=${token}` } }),
    ],
    [
      "the token in a body",
      "/v1/tokens",
      (token) => ({
        method: "POST",
        body: `access_token=${token}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    ],
    [
      "two tokens",
      "/v1/tokens",
      (token) => ({ headers: { authorization: `Bearer ${TOKENS.guest}, Bearer ${token}` } }),
    ],
    ["the token's hash", "/v1/tokens", () => ({ token: "5".repeat(64) })],
    [
      "a proxy's word for who asks",
      "/v1/tokens",
      () => ({
        headers: {
          "x-forwarded-user": "anna",
          "remote-user": "anna",
          "x-real-ip": "127.0.0.1",
          "x-forwarded-for": "127.0.0.1",
        },
      }),
    ],
    [
      "Cloudflare Access without a setting",
      "/v1/tokens",
      () => ({
        headers: {
          "cf-access-jwt-assertion": "e30.e30.e30",
          "cf-access-authenticated-user-email": "anna@home.example",
        },
      }),
    ],
    [
      "another path in a header",
      "/healthz",
      () => ({ headers: { "x-original-url": "/v1/tokens", "x-rewrite-url": "/v1/tokens" } }),
    ],
    [
      "another method in a header",
      "/v1/tokens/secret-0",
      () => ({ token: TOKENS.guest, method: "POST", headers: { "x-http-method-override": "DELETE" } }),
    ],
    ["an upgrade", "/v1/tokens", () => ({ headers: { upgrade: "websocket" } })],
    ["a look at the head", "/v1/tokens", () => ({ method: "HEAD" })],
    ["what may be asked", "/v1/tokens", () => ({ method: "OPTIONS", token: null })],
    ...[
      "//v1/tokens",
      "/v1//tokens/",
      "/V1/tokens",
      "/v1/tokens/..",
      "/v1/./tokens",
      "/healthz/../v1/tokens",
      "/console.js/../v1/tokens",
    ].map((path) => [`by ${path}`, path, () => ({})] as [string, string, () => object]),
    ...[
      "/v1/%74okens",
      "/v1%2ftokens",
      "/v1/tokens%00",
      "/v1/tokens;x=1",
      "/mcp/../v1/tokens",
      "/oauth/../v1/tokens",
      "/webhooks/..%2fv1/tokens",
    ].map((path) => [`by ${path}`, path, () => ({})] as [string, string, () => object]),
    ...[
      "/v1/conversations/%2e%2e/tokens",
      "/v1/conversations/..%2ftokens",
      "/v1/agents/..%2f..%2fv1%2ftokens",
      "/v1/media/..%2ftokens",
    ].map((path) => [`by ${path}`, path, () => ({ token: TOKENS.guest })] as [string, string, () => object]),
    ...[
      "a%2Fapi%2Fkept",
      "..%2Fkept",
      "kept%00",
      "kept%20",
      "KEPT",
      "%6bept%2f",
      "api%2fkept",
      "a/api/kept",
      "__proto__",
      "constructor",
    ].map(
      (name) =>
        [`a conversation as ${name}`, `/v1/conversations/${name}`, () => ({ token: TOKENS.guest })] as [
          string,
          string,
          () => object,
        ],
    ),
    [
      "another page with the session",
      "/v1/tokens",
      () => ({
        method: "POST",
        body: "{}",
        token: null,
        headers: { cookie, origin: "https://evil.example", "x-edgecall-console": "1" },
      }),
    ],
    [
      "a page without an origin",
      "/v1/conversations/new/messages",
      () => ({
        method: "POST",
        body: '{"text":"x"}',
        token: null,
        headers: { cookie, origin: "null", "x-edgecall-console": "1" },
      }),
    ],
    [
      "a form of another page",
      "/v1/conversations/new/messages",
      () => ({
        method: "POST",
        body: '{"text":"x"}',
        token: null,
        headers: { cookie, origin: ORIGIN, "content-type": "text/plain" },
      }),
    ],
  ];

describe("S27: every other way to bring a token or name a thing", () => {
  test.each(WAYS)("S27: %s", async (_, path, init) => {
    const before = await heldRights();
    const answer = await ask(path.replaceAll("TOKEN", TOKENS.owner), { token: null, ...init(TOKENS.owner) });
    const text = await answer.text();
    expect(text).not.toMatch(/"(tokens|scopes|turns)"|secret answer/);
    if (path !== "/healthz" && answer.status !== 204) expect(answer.status, text).toBeGreaterThanOrEqual(400);
    expect(await heldRights()).toBe(before);
  });
});

const ADMIN = TOKENS.admin;
describe("S27: more rights than one has", () => {
  test.each<[how: string, token: string, body: object]>([
    ["a guest who administers makes an owner", ADMIN, { name: "x", role: "owner", scopes: ["ask"] }],
    ["a guest who administers makes a member", ADMIN, { name: "x", role: "member", scopes: ["ask"] }],
    ["a scope that the maker lacks", ADMIN, { name: "x", role: "guest", scopes: ["command"] }],
    [
      "a scope that the maker lacks, behind one that it has",
      ADMIN,
      { name: "x", role: "guest", scopes: ["ask", "approve"] },
    ],
    ["a scope that is none", TOKENS.owner, { name: "x", role: "guest", scopes: ["*"] }],
    ["no scope", TOKENS.owner, { name: "x", role: "guest", scopes: [] }],
    ["a role that is none", TOKENS.owner, { name: "x", role: "root", scopes: ["ask"] }],
    ["a home of another", TOKENS.owner, { name: "x", role: "guest", scopes: ["ask"], home: "b" }],
    ["the name of a sender of a chat", TOKENS.owner, { name: "telegram:7", role: "guest", scopes: ["ask"] }],
    ["the name of an agent", TOKENS.owner, { name: "agent:pi", role: "guest", scopes: ["ask"] }],
    ["a name with a line break", TOKENS.owner, { name: "a\nb", role: "guest", scopes: ["ask"] }],
    ["a name that is turned around", TOKENS.owner, { name: "a\u202eb", role: "guest", scopes: ["ask"] }],
    ["a name without an end", TOKENS.owner, { name: "x".repeat(65), role: "guest", scopes: ["ask"] }],
    [
      "a time that has passed",
      TOKENS.owner,
      { name: "x", role: "guest", scopes: ["ask"], expires_in_days: -1 },
    ],
    [
      "a time that never ends",
      TOKENS.owner,
      { name: "x", role: "guest", scopes: ["ask"], expires_in_days: 1e9 },
    ],
    ["a hash of its own", TOKENS.owner, { name: "x", role: "guest", scopes: ["ask"], hash: "0".repeat(64) }],
  ])("S27: %s", async (_, token, body) => {
    const before = await heldRights();
    expect(
      (await ask("/v1/tokens", { method: "POST", body: JSON.stringify(body), token })).status,
    ).toMatchObject(expect.toSatisfy((status: number) => status === 400 || status === 403));
    expect(await heldRights()).toBe(before);
  });

  test.each<[how: string, who: Who]>([
    ["another administrator", "admin"],
    ["an owner's token of the same name", "madeUp"],
    ["a program of the owner's", "program"],
    ["the other home's owner", "otherHome"],
  ])("S27: the machine's token is replaced by %s", async (_, who) => {
    const all = { name: "anna", role: "owner", scopes: ["ask", "command", "approve", "admin"] };
    const token = who === "madeUp" ? (await make(all)).token : tokenOf(who);
    expect([401, 403, 409]).toContain((await ask("/v1/tokens/rotate", { method: "POST", token })).status);
    expect((await ask("/v1/tokens")).status).toBe(200);
  });
});

/** A press of a button in a chat. */
const pressed = async (from: number, chat: number, data: string, secret: string = CHANNEL_SECRETS.telegram) =>
  await ask("/webhooks/telegram/family", {
    method: "POST",
    token: null,
    headers: { "x-telegram-bot-api-secret-token": secret, "content-type": "application/json" },
    body: JSON.stringify({
      update_id: Math.floor(Math.random() * 1e9),
      callback_query: {
        id: "1",
        from: { id: from, is_bot: false, first_name: "P" },
        data,
        message: { message_id: 1, date: 1, chat: { id: chat, type: chat < 0 ? "supergroup" : "private" } },
      },
    }),
  });

describe("S27: a question is answered by one who may not", () => {
  const isOpen = async () => {
    const { questions } = (await (await ask("/v1/questions")).json()) as { questions: Array<{ id: string }> };
    return questions.some(({ id }) => id === question);
  };
  const answered = (body: object | string, token: string | null) =>
    ask(`/v1/questions/${question}`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      token,
    });

  test.each<[how: string, attempt: () => Promise<unknown>]>([
    ["a button in the chat of the one whom it is not for", () => pressed(7, 7, `q:${question}:0`)],
    ["a button in an owner's own chat, of a conversation elsewhere", () => pressed(1, 1, `q:${question}:0`)],
    ["a button in a group", () => pressed(7, -100, `q:${question}:0`)],
    ["a button of a stranger", () => pressed(99, 99, `q:${question}:0`)],
    ["a button without the platform's secret", () => pressed(1, 1, `q:${question}:0`, "x")],
    ["a button whose number is none", () => pressed(1, 1, `q:${question}:-1`)],
    ["a button whose number is too large", () => pressed(1, 1, `q:${question}:99`)],
    ["a button of a rule by the question's id", () => pressed(1, 1, `r:${question}:ack`)],
    ["one who sees it and may not approve", () => answered({ answer: "approve" }, TOKENS.member)],
    ["one who approves others' questions", () => answered({ answer: "approve" }, TOKENS.approver)],
    ["an administrator without `approve`", () => answered({ answer: "approve" }, TOKENS.admin)],
    ["the owner's program", () => answered({ answer: "approve" }, tokenOf("program"))],
    ["an answer that is none", () => answered({ answer: "APPROVE " }, TOKENS.owner)],
    ["an answer by its number", () => answered({ answer: 0 }, TOKENS.owner)],
    ["two answers", () => answered('{"answer":"deny","answer":["approve"]}', TOKENS.owner)],
    [
      "a field that says who answers",
      () => answered({ answer: "approve", by: "anna", scopes: ["approve"] }, TOKENS.approver),
    ],
    [
      "a message in the conversation by a guest",
      () =>
        say("asked", "approve", { token: TOKENS.guest, method: "POST", body: '{"text":"approve"}' }).catch(
          () => {},
        ),
    ],
    [
      "MCP's answer of another's call",
      () =>
        rpc(
          "tools/call",
          {
            name: "ask",
            arguments: { text: "x" },
            requestState: question,
            inputResponses: { q: { action: "accept", content: { answer: "approve" } } },
          },
          { token: TOKENS.guest },
        ),
    ],
  ])("S27: %s", async (_, attempt) => {
    await attempt();
    expect(await isOpen()).toBe(true);
  });
});

test("S27: who may answer it does, so that the attempts above could", async () => {
  const body = JSON.stringify({ answer: "approve" });
  expect((await ask(`/v1/questions/${question}`, { method: "POST", body })).status).toBe(200);
});

describe("S27: programs that signed in", () => {
  test.each<[how: string, attempt: (at: Awaited<ReturnType<SignIn["connect"]>>) => Promise<number>]>([
    [
      "a refresh token as an access token",
      async ({ refresh_token }) => (await rpc("tools/list", {}, { token: refresh_token })).status,
    ],
    ["a code as an access token", async ({ code }) => (await rpc("tools/list", {}, { token: code })).status],
    [
      "an access token as a refresh token",
      async ({ clientId, access_token }) => (await signIn.refresh(clientId, access_token)).status,
    ],
    [
      "a code as a refresh token",
      async ({ clientId, code }) => (await signIn.refresh(clientId, code)).status,
    ],
    [
      "a refresh token as a code",
      async ({ clientId, refresh_token, verifier }) =>
        (await signIn.redeem(clientId, refresh_token, verifier)).status,
    ],
    [
      "another client with this one's refresh token",
      async ({ refresh_token }) =>
        (await signIn.refresh((await signIn.register({ client_name: "Another" })).client_id, refresh_token))
          .status,
    ],
    [
      "more scopes with a refresh",
      async ({ clientId, refresh_token }) =>
        Number(
          (
            await signIn.refresh(clientId, refresh_token, { scope: "ask command approve admin" })
          ).scope?.includes("admin")
            ? 200
            : 400,
        ),
    ],
    [
      "another resource with a refresh",
      async ({ clientId, refresh_token }) =>
        (await signIn.refresh(clientId, refresh_token, { resource: "https://evil.example/mcp" })).status,
    ],
    [
      "a secret of the client's own making",
      async ({ clientId, code, verifier }) =>
        (await signIn.redeem(clientId, code, verifier, { client_secret: "x" })).status,
    ],
    [
      "a person's password",
      async ({ clientId }) =>
        (
          await signIn.token({
            grant_type: "password",
            client_id: clientId,
            username: "anna",
            password: TOKENS.owner,
          })
        ).status,
    ],
    [
      "the client's own rights",
      async ({ clientId }) =>
        (await signIn.token({ grant_type: "client_credentials", client_id: clientId, scope: "admin" }))
          .status,
    ],
    [
      "a token in exchange for another",
      async ({ clientId, access_token }) =>
        (
          await signIn.token({
            grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
            client_id: clientId,
            subject_token: access_token,
          })
        ).status,
    ],
    [
      "its token in the address of /mcp",
      async ({ access_token }) =>
        (await ask(`/mcp?access_token=${access_token}`, { method: "POST", body: "{}", token: null })).status,
    ],
    [
      "its token at another door",
      async ({ access_token }) =>
        (await ask("/v1/chat/completions", { method: "POST", body: "{}", token: access_token })).status,
    ],
    [
      "its token for the console",
      async ({ access_token }) =>
        await signIn.cookie(access_token).then(
          () => 200,
          () => 401,
        ),
    ],
    [
      "its token to end others' connections",
      async ({ access_token }) =>
        (await ask(`/v1/oauth/grants/${ID}`, { method: "DELETE", token: access_token })).status,
    ],
  ])("S27: %s", async (_, attempt) => {
    const connected = await signIn.connect(TOKENS.owner);
    expect(await attempt(connected)).toBeGreaterThanOrEqual(400);
  });
});
