/**
 * Every route that changes something is in one of two lists: it widens rights, or it does not, and why. A route that widens refuses all
 * that a program can have of a person: the session's cookie, a token that it made with that, and its own token.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { heldRights } from "../test/held-rights.ts";
import { device, hosting, READ, SET, UNLOCK } from "../test/hosted-device.ts";
import { pkce, SignIn } from "../test/oauth-sign-in.ts";
import { PasskeyBrowser } from "../test/passkey-browser.ts";
import { TOKENS } from "../test/tokens.ts";
import { openQuestions } from "../test/turns.ts";
import { until } from "../test/wait.ts";
import { ask } from "../test/workerd.ts";
import app from "./index.ts";

const ID = "00000000-0000-4000-8000-000000000000";
const ALL = { role: "owner", scopes: ["ask", "command", "approve", "admin"] };
/** RFC 8032's first. */
const KEY = { public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", name: "x" };
const LENT = { label: "x", agents: ["pi"], scopes: ["ask"], reads_only: true, expires_in_days: 1 };
const CONNECTION = { channel: "telegram", connection: "x", token: `1:${"x".repeat(35)}` };
const MODEL = { base_url: "https://evil.example/v1", model: "x" };
const CLIENT = { name: "x", redirect_uris: ["https://app.example/cb"], secret: false };

/** Bodies that widen, by the route as it is declared. */
const WIDENS: Record<string, unknown[]> = {
  "POST /v1/tokens": [
    { name: "x", ...ALL },
    { name: "x", role: "guest", scopes: ["ask"] },
  ],
  "POST /v1/tokens/rotate": [undefined],
  "POST /v1/passkeys/registrations": [undefined, {}, { wait: true }, { code: "ABCDEFGHJK" }],
  "POST /v1/passkeys/codes": [undefined],
  "DELETE /v1/passkeys/:id": [undefined, {}, { code: "ABCDEFGHJK" }],
  "PUT /v1/passkeys/taps/:account": [undefined],
  "PATCH /v1/devices/:device": [
    { mode: "allowed", allow: "x" },
    { mode: "ask" },
    { mode: null },
    { settings: true },
    { settings: true, mode: "off" },
  ],
  "PUT /v1/profile": [
    { profile: "act", devices: [{ id: "front-door", allow: "x" }] },
    { profile: "ask", devices: [{ id: "front-door", allow: "x" }] },
  ],
  "PATCH /v1/automations/:automation": [
    { status: "active" },
    { status: "active", allow: "x" },
    { status: "active", name: "x" },
  ],
  "POST /v1/agents/:agent/accept-text": [undefined, {}],
  "POST /v1/agents/:agent/key": [KEY],
  "POST /v1/agents/:agent/readmit": [undefined],
  "POST /v1/device-codes": [{}, { agent: "@bridge" }],
  "POST /v1/pairings": [{}],
  "POST /v1/senders/requests/:code": [undefined, { role: "owner" }, { role: "guest" }],
  "POST /v1/pairings/:code": [{ role: "owner" }],
  "POST /v1/connections": [CONNECTION],
  "POST /v1/oauth/clients": [CLIENT],
  "POST /v1/lending": [LENT],
  "POST /v1/borrowing": [{ invitation: "ecl_x", name: "x" }],
  "POST /v1/borrowing/:name/accept-text": [undefined, {}],
  "POST /v1/import": [{}],
  "PUT /v1/model": [MODEL, { ...MODEL, api_key: null }],
  "POST /v1/model/try": [undefined, {}, MODEL],
  "POST /v1/home-assistant": [{ url: "http://ha.local:8123" }],
  "POST /v1/questions/:id": [
    { answer: "approve" },
    { answer: "accept" },
    { answer: "approve", keep: { offer: "always" } },
  ],
};

/** Those that a session may use, and why that gives nobody more rights. */
const OTHERS: Record<string, string> = {
  "POST /oauth/authorize": "widens, by a form of its own: tested below",
  "POST /oauth/register": "a client's name, which gives nothing before a person allows it",
  "POST /oauth/token": "for a client's code, which is made of a confirmed form",
  "POST /oauth/revoke": "takes away",
  "PUT /v1/media/:id": "takes the token of one upload",
  "POST /v1/relay/:home/chat/completions": "takes a device's signature",
  "POST /v1/chat/completions": "asks; what needs an approval asks a person",
  "POST /v1/responses": "asks; what needs an approval asks a person",
  "POST /v1/responses/:id/cancel": "ends a turn",
  "DELETE /v1/responses/:id": "takes away",
  "POST /v1/console/session": "takes a token",
  "DELETE /v1/console/session": "takes away",
  "POST /webhooks/:channel/:connection": "takes the platform's signature",
  "POST /pair": "takes a code of POST /v1/device-codes",
  "POST /v1/peer/:home/:kind": "takes another home's signature",
  "POST /v1/push/press/:link": "takes a signed link; as a press, it answers what is harmless",
  "POST /v1/conversations/:id/share": "shows one's own conversation",
  "PATCH /v1/conversations/:id": "a title",
  "DELETE /v1/conversations/:id": "takes away",
  "POST /v1/conversations/:id/messages": "asks; what needs an approval asks a person",
  "POST /v1/conversations/:id/turns/:turn/cancel": "ends a turn",
  "POST /ask": "asks; what needs an approval asks a person",
  "DELETE /v1/agents/:agent": "takes away",
  "DELETE /v1/devices/:device": "takes away, with what was decided about it",
  "PATCH /v1/rules/:rule": "a rule's own words and times; what it does is allowed anew",
  "DELETE /v1/rules/:rule": "takes away",
  "POST /v1/automations/:automation/card": "shows the rule that would be allowed",
  "DELETE /v1/automations/:automation": "takes away",
  "POST /v1/automations/:automation/undo": "brings back what was before; nothing dangerous can be undone",
  "PUT /v1/presence": "one of the sources of who is at home, for rules that an owner allowed",
  "POST /v1/rules/:rule/press": "answers a notice",
  "PATCH /v1/home/clock": "the time zone and quiet hours",
  "POST /v1/agents/:agent/commands": "the device's policy, or a person, approves it",
  "POST /v1/questions/:id/elsewhere": "asks in other places",
  "POST /v1/passkeys": "ends a registration, which was begun with more than a session (passkeys.test.ts)",
  "POST /v1/passkeys/challenges": "asks for a passkey",
  "PATCH /v1/passkeys/:id": "a name",
  "DELETE /v1/passkeys/taps/:account": "takes away",
  "DELETE /v1/permissions/:id": "takes away",
  "DELETE /v1/permissions": "takes away",
  "DELETE /v1/model": "takes away",
  "DELETE /v1/home-assistant": "takes away",
  "POST /v1/home-assistant/code": "ends what was confirmed at its begin",
  "DELETE /v1/agents/:agent/key": "takes away",
  "DELETE /v1/tokens/:id": "takes away",
  "DELETE /v1/oauth/grants/:id": "takes away",
  "DELETE /v1/oauth/clients/:id": "takes away",
  "POST /v1/bridge/update": "the release that the gateway has",
  "DELETE /v1/senders/requests/:code": "takes away",
  "DELETE /v1/pairings/:code": "takes away",
  "DELETE /v1/senders/:channel/:connection/:sender": "takes away",
  "DELETE /v1/lending/:grant": "takes away",
  "DELETE /v1/borrowing/:name": "takes away",
  "POST /v1/connections/:channel/:connection/webhook": "sets the platform's webhook to this gateway",
  "DELETE /v1/connections/:channel/:connection": "takes away",
  "POST /v1/push/browsers": "tells the person elsewhere; its buttons count as presses",
  "POST /v1/push/topics": "tells the person elsewhere; its buttons count as presses",
  "PATCH /v1/push/:outlet": "what it tells",
  "DELETE /v1/push/:outlet": "takes away",
};

let anna: PasskeyBrowser;
/** An owner who has no passkey, in a home where others have. */
let otto: PasskeyBrowser;
/** A token that a session made before there was a passkey, and a connected program's. */
const bearers = { made: "", program: "" };
let question = "";
let passkey = "";
const signIn = new SignIn((path, init = {}) => ask(path, { token: null, ...init }), "https://gateway");

beforeAll(async () => {
  const lock = device("front-door", { line: "lock", tools: [READ, UNLOCK, { ...SET, name: "lock" }] });
  const bridge = await hosting([lock]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
  anna = await PasskeyBrowser.signIn(TOKENS.owner);
  cookie = await signIn.cookie(TOKENS.owner);
  bearers.made = String((await anna.send("POST /v1/tokens", { name: "anna", ...ALL })).body.token);
  bearers.program = (await signIn.connect(TOKENS.owner, { command: "yes" })).access_token;
  const made = await ask("/v1/tokens", { method: "POST", body: JSON.stringify({ name: "otto", ...ALL }) });
  otto = await PasskeyBrowser.signIn(((await made.json()) as { token: string }).token);
  passkey = String((await anna.register({ token: TOKENS.owner })).body.id);
  void ask("/v1/agents/front-door/commands", {
    method: "POST",
    body: JSON.stringify({ command: "tool", payload: { tool: "unlock", parameters: { on: true } } }),
  });
  const open = async () => (await openQuestions()) as Array<{ id: string }>;
  question = (await until(async () => (await open())[0], { what: "the lock's question" })).id;
}, 60_000);

const VALUES: Record<string, () => string> = {
  ":account": () => "telegram:1",
  ":agent": () => "front-door",
  ":automation": () => "a-7f2c",
  ":device": () => "front-door",
  ":code": () => "ABCDEF",
  ":name": () => "x",
};

/** The route with values: of a passkey and a question those that are there. */
function filled(route: string): string {
  const path = route === "POST /v1/import" ? `${route}?replace=yes` : route;
  return path.replaceAll(/:[a-z]+/g, (name) => {
    if (name === ":id")
      return route.includes("passkeys") ? passkey : route.includes("questions") ? question : ID;
    return VALUES[name]?.() ?? ID;
  });
}

/** What the browser says of a request that is not of the console's own page; empty: nothing. */
const FOREIGN: Array<Record<string, string>> = [
  { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  { origin: "https://evil.example", "sec-fetch-site": "" },
  { origin: "null" },
  { origin: "" },
  { "x-edgecall-console": "" },
  { "sec-fetch-site": "same-site" },
];
let cookie = "";
let attempts = 0;

/** Refused as what it is, not for a fault of the request. */
const CODES = [
  "needs_passkey",
  "needs_other_device",
  "needs_more",
  "not_confirmed",
  "forbidden",
  "unauthorized",
  "not_found",
];

describe("a control that widens rights", () => {
  test("every route that changes something is in one of the two lists", () => {
    const served = app.routes
      .filter(({ method }) => !["GET", "HEAD", "ALL"].includes(method))
      .map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(served)].sort()).toEqual([...Object.keys(WIDENS), ...Object.keys(OTHERS)].sort());
  });

  const rows = Object.entries(WIDENS).flatMap(([route, bodies]) =>
    bodies.map((body) => [route, body] as const),
  );

  test.each(rows)("%s %j: no session, no token of one, no program", async (route, body) => {
    const before = await heldRights();
    const path = filled(route);
    const proof = await anna.proof(
      await anna.challenge("POST /v1/tokens", { name: "y", role: "guest", scopes: ["ask"] }),
    );
    const answers = [
      await anna.send(path, body),
      await anna.send(path, body, "e30"),
      await anna.send(path, body, proof),
      await otto.send(path, body),
      await otto.send(path, body, proof),
    ].map(({ status, body }) => ({ status, code: body.error?.code }));
    const [method = "", at = ""] = path.split(" ");
    for (const token of Object.values(bearers)) {
      const init = { method, token, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await ask(at, init);
      const { error } = (await response.json()) as { error?: { code: string } };
      answers.push({ status: response.status, code: error?.code });
    }
    for (const [at, { status, code }] of answers.entries()) {
      expect([400, 401, 403, 404, 409], `${at}: ${code}`).toContain(status);
      // A proof that is none is a fault of its header; a code that is none, or a first passkey that is not the first, of the body.
      if (status === 400) expect(code, `${at}`).toBe("invalid_header");
      else if (status === 409) expect(["conflict", "nobody_hears"], `${at}`).toContain(code);
      else expect(CODES, `${at}: ${code}`).toContain(code);
    }
    // A page of another site, a form, a frame: with the cookie, and even with a confirmation for exactly this request.
    const own = { origin: "https://gateway", "x-edgecall-console": "1", "sec-fetch-site": "same-origin" };
    const exact = await anna.proof(await anna.challenge(path, body));
    for (const change of FOREIGN) {
      const headers = { cookie, ...own, ...change, "x-edgecall-proof": exact };
      const present = Object.entries(headers).filter(([, value]) => value !== "");
      const init = { method, token: null, headers: Object.fromEntries(present) };
      const response = await ask(at, { ...init, ...(body !== undefined && { body: JSON.stringify(body) }) });
      expect(response.status, JSON.stringify(change)).toBe(403);
      attempts += 1;
    }
    attempts += answers.length;
    expect(await heldRights()).toBe(before);
  });

  test("was tried often enough", () => expect(attempts).toBeGreaterThan(400));

  test("a program is not connected by a session alone", async () => {
    const cookie = await signIn.cookie(TOKENS.owner);
    const { client_id } = await signIn.register();
    const { form } = await signIn.open(signIn.authorizePath(client_id, pkce().challenge), cookie);
    expect(form).not.toBe("");
    for (const fields of [{}, { proof: "e30" }, { command: "yes" }, { proof: "" }]) {
      const { location, status } = await signIn.press(form, cookie, fields);
      expect(location?.searchParams.get("code") ?? null).toBeNull();
      expect(status).toBeGreaterThanOrEqual(400);
    }
  });

  test("with the person's own passkey it is done", async () => {
    const token = { name: "z", role: "guest", scopes: ["ask"] };
    expect((await anna.confirmed("POST /v1/tokens", token)).status).toBe(201);
    expect((await anna.confirmed(`POST /v1/questions/${question}`, { answer: "approve" })).status).toBe(200);
  });
});
