/** Clients have habits that other servers broke on: an address with a slash, no scope for refreshing, a stale id, forms and the like. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { rpc, tools } from "../../../../test/mcp-requests.ts";
import { pkce, SignIn } from "../../../../test/oauth-sign-in.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { agent, ask, CPU, TestBridge } from "../../../../test/workerd.ts";

const ORIGIN = "https://gateway";
const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
const signIn = new SignIn(send, ORIGIN);
const form = (body: string, type = "application/x-www-form-urlencoded") => ({
  method: "POST",
  headers: { "content-type": type },
  body,
});

beforeAll(async () => void (await tools()), 30_000);

beforeEach(async () => {
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
    for (const table of ["oauth_grant", "oauth_code", "oauth_client"])
      storage.sql.exec(`DELETE FROM ${table}`);
  });
});

test("an address that was typed with a slash at its end is led to the same documents and connects", async () => {
  const refused = await ask("/mcp/", { method: "POST", token: null, body: "{}" });
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining(`resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`),
  ]);
  const { verifier, challenge } = pkce();
  const { client_id } = await signIn.register();
  const resource = `${ORIGIN}/mcp/`;
  const path = signIn.authorizePath(client_id, challenge, { resource });
  const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
  const { access_token: token } = await signIn.redeem(client_id, code, verifier, { resource });
  for (const at of ["/mcp", "/mcp/"]) {
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    expect((await ask(at, { method: "POST", token, body: list, headers })).status).toBe(200);
  }
});

test.each(["ask", "ask offline_access", "offline_access", undefined])(
  "a client gets a refresh token whatever it asks for: scope %s",
  async (scope) => {
    const { verifier, challenge } = pkce();
    // It does not say that it refreshes, either.
    const { client_id } = await signIn.register({ grant_types: ["authorization_code"] });
    const path = signIn.authorizePath(client_id, challenge, { scope });
    const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
    const given = await signIn.redeem(client_id, code, verifier);
    expect(given).toMatchObject({ status: 200, scope: "ask" });
    expect((await signIn.refresh(client_id, given.refresh_token)).status).toBe(200);
  },
);

test.each([
  ["http://localhost/callback", "http://localhost:61234/callback"],
  ["http://127.0.0.1:33418/", "http://127.0.0.1:50001/"],
  ["http://[::1]:1/cb", "http://[::1]:2/cb"],
])(
  "a program on the person's machine listens at another port than it registered: %s, %s",
  async (known, redirect_uri) => {
    const { verifier, challenge } = pkce();
    const { client_id } = await signIn.register({ redirect_uris: [known] });
    const path = signIn.authorizePath(client_id, challenge, { redirect_uri });
    const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
    expect((await signIn.redeem(client_id, code, verifier, { redirect_uri })).status).toBe(200);
  },
);

test("an id from before the gateway's key changed, or of another gateway, gets 401, and the program registers anew", async () => {
  const { clientId, refresh_token, code, verifier } = await signIn.connect(TOKENS.owner);
  setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
  const unknown = { status: 401, error: "invalid_client" };
  expect(await signIn.refresh(clientId, refresh_token)).toMatchObject(unknown);
  expect(await signIn.redeem(clientId, code, verifier)).toMatchObject(unknown);
  expect(await signIn.refresh("mcp_0123456789", refresh_token)).toMatchObject(unknown);
  expect((await signIn.connect(TOKENS.owner)).status).toBe(200);
});

test("without CONNECTIONS_KEY the records of all tokens make the key: who holds one token knows nothing of it", async () => {
  const { access_token } = await signIn.connect(TOKENS.owner);
  const records = JSON.parse(String((env as unknown as Record<string, string>).API_TOKENS)) as object[];
  setVariables({ API_TOKENS: JSON.stringify(records.slice(0, -1)) });
  expect((await ask("/mcp", { method: "POST", token: access_token, body: "{}" })).status).toBe(401);
});

test("a token request may name its character set, and every refusal is JSON that no cache keeps", async () => {
  const { clientId, refresh_token } = await signIn.connect(TOKENS.owner);
  const fields = new URLSearchParams({ grant_type: "refresh_token", client_id: clientId, refresh_token });
  const type = "application/x-www-form-urlencoded; charset=UTF-8";
  expect((await send("/oauth/token", form(fields.toString(), type))).status).toBe(200);
  for (const answer of [
    await send("/oauth/token", form("%")),
    await send("/oauth/token", form(`grant_type=refresh_token&client_id=${clientId}&refresh_token=%ff`)),
    await send("/oauth/token", form("{}", "application/json")),
    await send("/oauth/revoke", form("{}", "application/json")),
    await send("/oauth/register", form("redirect_uris=x")),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.headers.get("cache-control")).toContain("no-store");
    expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/^[a-z_]+$/) });
  }
});

test("behind a proxy the whole sign-in is PUBLIC_URL's: issuer, answer, resource and token", async () => {
  const PUBLIC_URL = "https://home.example.net";
  setVariables({ PUBLIC_URL });
  const server = await (await send("/.well-known/oauth-authorization-server")).json();
  expect(server).toMatchObject({ issuer: PUBLIC_URL, token_endpoint: `${PUBLIC_URL}/oauth/token` });
  const { verifier, challenge } = pkce();
  const { client_id } = await signIn.register();
  const cookie = await signIn.cookie(TOKENS.owner);
  const resource = `${PUBLIC_URL}/mcp`;
  const { form: sealed } = await signIn.open(
    signIn.authorizePath(client_id, challenge, { resource }),
    cookie,
  );
  const { location } = await signIn.press(sealed, cookie);
  expect(location?.searchParams.get("iss")).toBe(PUBLIC_URL);
  const code = location?.searchParams.get("code") ?? "";
  const { access_token: token } = await signIn.redeem(client_id, code, verifier, { resource });
  expect((await rpc("tools/list", {}, { token })).status).toBe(200);
});

test("a list of tools asks no device, so that a client connects within its 30 s whatever the devices do", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.isThere = () => false;
  const { access_token: token } = await signIn.connect(TOKENS.owner, { command: "yes" });
  const before = bridge.received.length;
  for (const _ of ["once", "again"])
    expect((await tools({ token })).map(({ name }) => name)).toContain("pi__cpu");
  expect(bridge.received.slice(before)).toEqual([]);
  bridge.close();
});
