/** Clients that are known by a document, and those that are entered by hand. claude.ai's and ChatGPT's requests are played. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { rpc } from "../../../../test/mcp-requests.ts";
import { pkce, SignIn } from "../../../../test/oauth-sign-in.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { ask } from "../../../../test/workerd.ts";

const ORIGIN = "https://gateway";
const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
const signIn = new SignIn(send, ORIGIN);

const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata";
const CODEX = "https://chatgpt.com/oauth/codex/client.json";
const CHATGPT = "https://chatgpt.com/oauth/con_1/client.json";

/** A site's answer. */
type Site = () => Response;
const json = (document: object, headers: Record<string, string> = {}) => Response.json(document, { headers });

/** The web, as far as the gateway sees it. @returns the requests */
function web(sites: Record<string, Site>): { url: string; headers: Record<string, string> }[] {
  const requests: { url: string; headers: Record<string, string> }[] = [];
  const fetch = async (url: string, init: { headers: Record<string, string>; redirect: string }) => {
    requests.push({ url, headers: init.headers });
    expect(init.redirect).toBe("manual");
    const site = sites[url];
    if (!site) throw new Error("no such site");
    return site();
  };
  setVariables({ WEB: { fetch } });
  return requests;
}

beforeEach(async () => {
  vi.useRealTimers();
  await ask("/v1/tokens");
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
    for (const table of ["oauth_grant", "oauth_code", "oauth_client"])
      storage.sql.exec(`DELETE FROM ${table}`);
  });
});

const claudeDocument = {
  client_id: CLAUDE,
  client_name: "Claude",
  client_uri: "https://claude.ai",
  redirect_uris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

describe("as claude.ai connects", () => {
  test("by its document: discovery, consent, token, initialize and tools/list, refresh", async () => {
    const requests = web({ [CLAUDE]: () => json(claudeDocument, { "cache-control": "max-age=3600" }) });
    const refused = await ask("/mcp", { method: "POST", token: null, body: "{}" });
    const at = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? "";
    const resource = (await (await send(new URL(at).pathname)).json()) as {
      resource: string;
      authorization_servers: string[];
    };
    const server = (await (await send("/.well-known/oauth-authorization-server")).json()) as Record<
      string,
      unknown
    >;
    // It uses its document only when the server says both.
    expect(server).toMatchObject({
      issuer: resource.authorization_servers[0],
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
    });
    const { verifier, challenge } = pkce();
    const path = SignIn.query({
      response_type: "code",
      client_id: CLAUDE,
      redirect_uri: "https://claude.ai/api/mcp/auth_callback",
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: "s".repeat(400),
      scope: "ask offline_access",
      resource: resource.resource,
    });
    const cookie = await signIn.cookie(TOKENS.owner);
    const { html, form } = await signIn.open(path, cookie);
    expect(html).toContain("claude.ai (Claude)");
    const { location } = await signIn.press(form, cookie);
    expect(location?.origin).toBe("https://claude.ai");
    expect(location?.searchParams.get("state")).toBe("s".repeat(400));
    const more = { redirect_uri: "https://claude.ai/api/mcp/auth_callback" };
    const code = location?.searchParams.get("code") ?? "";
    const tokens = await signIn.redeem(CLAUDE, code, verifier, more);
    expect(tokens).toMatchObject({ status: 200, scope: "ask" });
    const hello = await rpc(
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "claude-ai", version: "1" } },
      { token: tokens.access_token },
    );
    expect(hello.status).toBe(200);
    expect(
      (await rpc("tools/list", {}, { token: tokens.access_token })).result?.tools.length,
    ).toBeGreaterThan(0);
    expect((await signIn.refresh(CLAUDE, tokens.refresh_token)).status).toBe(200);
    // One fetch in all, for JSON.
    expect(requests).toEqual([{ url: CLAUDE, headers: { accept: "application/json" } }]);
    await signIn.open(path, cookie);
    expect(requests).toHaveLength(1);
  });

  test("its document is a page, or gone: the last good copy counts, then the built-in one", async () => {
    const path = signIn.authorizePath(CLAUDE, pkce().challenge, {
      redirect_uri: "https://claude.com/api/mcp/auth_callback",
    });
    const cookie = await signIn.cookie(TOKENS.owner);
    web({ [CLAUDE]: () => new Response("<html>", { headers: { "content-type": "text/html" } }) });
    expect((await signIn.open(path, cookie)).status).toBe(200);
    web({ [CLAUDE]: () => json({ ...claudeDocument, client_name: "Claude of today" }) });
    expect((await signIn.open(path, cookie)).html).toContain("Claude of today");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_001 });
    web({ [CLAUDE]: () => new Response("no", { status: 404 }) });
    expect((await signIn.open(path, cookie)).html).toContain("Claude of today");
  });

  test("a stranger's request fetches and stores nothing", async () => {
    const requests = web({ [CLAUDE]: () => json(claudeDocument) });
    const path = signIn.authorizePath(CLAUDE, pkce().challenge, {
      redirect_uri: "https://claude.ai/api/mcp/auth_callback",
    });
    expect((await signIn.open(path, "")).status).toBe(200);
    expect(requests).toEqual([]);
  });
});

test.each([
  ["Claude Code", CLAUDE_CODE, "http://localhost:54545/callback"],
  ["Claude Code", CLAUDE_CODE, "http://127.0.0.1:54545/callback"],
  ["Codex", CODEX, "http://127.0.0.1:1455/callback"],
])(
  "as %s connects: its document names no port, and cannot be fetched now; %s",
  async (name, id, redirect_uri) => {
    web({});
    const path = signIn.authorizePath(id, pkce().challenge, { redirect_uri });
    const { status, html } = await signIn.open(path, await signIn.cookie(TOKENS.owner));
    expect([status, html]).toEqual([200, expect.stringContaining(name)]);
  },
);

describe("as ChatGPT connects", () => {
  const redirect_uri = "https://chatgpt.com/connector/oauth/con_1";
  const document = {
    client_id: CHATGPT,
    client_name: "ChatGPT",
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
    jwks_uri: "https://chatgpt.com/oauth/jwks.json",
  };

  test("by its document, which prefers private_key_jwt; the answer has iss", async () => {
    web({ [CHATGPT]: () => json(document) });
    const { verifier, challenge } = pkce();
    const cookie = await signIn.cookie(TOKENS.owner);
    const path = signIn.authorizePath(CHATGPT, challenge, { redirect_uri, scope: undefined });
    const { form, html } = await signIn.open(path, cookie);
    expect(html).toContain("chatgpt.com (ChatGPT)");
    const { location } = await signIn.press(form, cookie, { command: "yes" });
    expect(location?.searchParams.get("iss")).toBe(ORIGIN);
    const code = location?.searchParams.get("code") ?? "";
    const tokens = await signIn.redeem(CHATGPT, code, verifier, { redirect_uri });
    expect(tokens).toMatchObject({ status: 200, scope: "ask command" });
  });

  test("by a document that names private_key_jwt alone: of what this gateway publishes it uses `none`", async () => {
    const { token_endpoint_auth_methods_supported: _, ...strict } = document;
    web({ [CHATGPT]: () => json(strict) });
    const path = signIn.authorizePath(CHATGPT, pkce().challenge, { redirect_uri });
    expect((await signIn.open(path, await signIn.cookie(TOKENS.owner))).status).toBe(200);
  });

  test.each([redirect_uri, "https://chatgpt.com/connector_platform_oauth_redirect"])(
    "by registration with an address of each connector, or the older one: %s",
    async (redirect_uri) => {
      const { status, client_id } = await signIn.register({
        client_name: "ChatGPT",
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      });
      expect(status).toBe(201);
      const path = signIn.authorizePath(client_id, pkce().challenge, { redirect_uri });
      const { html } = await signIn.open(path, await signIn.cookie(TOKENS.owner));
      expect(html).toContain("chatgpt.com (ChatGPT)");
    },
  );
});

describe("a client's document", () => {
  const ID = "https://app.example.org/client.json";
  const good = { client_id: ID, client_name: "App", redirect_uris: ["https://app.example.org/cb"] };
  const open = async (id: string) =>
    await signIn.open(
      signIn.authorizePath(id, pkce().challenge, { redirect_uri: "https://app.example.org/cb" }),
      await signIn.cookie(TOKENS.owner),
    );

  test("is fetched, and its redirect's host shown with a warning", async () => {
    web({ [ID]: () => json(good) });
    const { status, html } = await open(ID);
    expect([status, html]).toEqual([200, expect.stringContaining("does not know that site")]);
  });

  test("the site of its document is shown, which alone is verified, also when the answer goes elsewhere", async () => {
    const redirect_uri = "http://127.0.0.1:5000/cb";
    web({ [ID]: () => json({ ...good, client_name: "Claude", redirect_uris: [redirect_uri] }) });
    const cookie = await signIn.cookie(TOKENS.owner);
    const path = (id: string) => signIn.authorizePath(id, pkce().challenge, { redirect_uri });
    expect((await signIn.open(path(ID), cookie)).html).toContain(`<p class="host">${new URL(ID).host}</p>`);
    const { client_id } = await signIn.register({ redirect_uris: [redirect_uri] });
    expect((await signIn.open(path(client_id), cookie)).html).not.toContain("document of the site");
  });

  test.each<[string, Site, string]>([
    ["about another client", () => json({ ...good, client_id: CLAUDE }), "about another client"],
    [
      "with another redirect",
      () => json({ ...good, redirect_uris: ["https://x.example/cb"] }),
      "redirect_uri: the client did not register",
    ],
    ["without redirects", () => json({ client_id: ID }), "has no redirect_uris"],
    [
      "with a secret",
      () => json({ ...good, token_endpoint_auth_method: "client_secret_basic" }),
      "wants client_secret_basic",
    ],
    ["too large", () => json({ ...good, x: "x".repeat(6_000) }), "has more than 5120 bytes"],
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { location: "https://x.example/" } }),
      "answered 302",
    ],
    ["no JSON", () => new Response("{", { headers: { "content-type": "application/json" } }), "is not JSON"],
    ["a list", () => json([1]), "about another client"],
  ])("%s is refused", async (_, site, words) => {
    web({ [ID]: site });
    const { status, html } = await open(ID);
    expect([status, html]).toEqual([400, expect.stringContaining(words)]);
  });

  test.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://2130706433/client.json",
    "https://localhost/client.json",
    "https://printer.local/client.json",
    "https://app.example.org:8443/client.json",
    "https://user@app.example.org/client.json",
    "https://app.example.org/",
    "https://app.example.org/a/../client.json",
  ])("%s is never fetched", async (id) => {
    const requests = web({ [id]: () => json({ ...good, client_id: id }) });
    expect((await open(id)).status).toBe(400);
    expect(requests).toEqual([]);
  });
});

describe("a client that is entered by hand", () => {
  const redirect_uri = "https://my.home-assistant.io/redirect/oauth";
  const make = async (body: object, token: string = TOKENS.owner) => {
    const answer = await ask("/v1/oauth/clients", { method: "POST", body: JSON.stringify(body), token });
    return {
      status: answer.status,
      ...((await answer.json()) as {
        client_id: string;
        client_secret?: string;
        error?: { message: string };
      }),
    };
  };
  const revoke = (fields: Record<string, string>) =>
    send("/oauth/revoke", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
  const homeAssistant = { name: "Home Assistant", redirect_uris: [redirect_uri], secret: true };

  test("with a secret it does without PKCE and `resource`, as Home Assistant does, and the secret is its proof", async () => {
    const { status, client_id, client_secret } = await make(homeAssistant);
    expect([status, client_secret]).toEqual([201, expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)]);
    const path = SignIn.query({ response_type: "code", client_id, redirect_uri, state: "s" });
    const cookie = await signIn.cookie(TOKENS.owner);
    const code = await signIn.consent(path, cookie);
    const fields = { grant_type: "authorization_code", client_id, code, redirect_uri };
    expect(await signIn.token(fields)).toMatchObject({ status: 401, error: "invalid_client" });
    const wrong = { ...fields, client_secret: "a-wrong-secret" };
    expect(await signIn.token(wrong)).toMatchObject({ status: 401, error: "invalid_client" });
    const secret = { client_secret: client_secret ?? "" };
    const tokens = await signIn.token({ ...fields, ...secret });
    expect(tokens.status).toBe(200);
    expect((await rpc("tools/list", {}, { token: tokens.access_token })).status).toBe(200);
    expect((await signIn.refresh(client_id, tokens.refresh_token)).error).toBe("invalid_client");
    expect((await signIn.refresh(client_id, tokens.refresh_token, secret)).status).toBe(200);
    for (const [proof, refusal] of [
      [{}, [400, "invalid_request"]],
      [{ client_id }, [401, "invalid_client"]],
      [{ client_id, client_secret: "a-wrong-secret" }, [401, "invalid_client"]],
    ] as const) {
      const refused = await revoke({ token: tokens.refresh_token, ...proof });
      expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual(refusal);
    }
    expect((await rpc("tools/list", {}, { token: tokens.access_token })).status).toBe(200);
    // Nothing stored is the secret.
    const rows = await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM oauth_client").toArray()),
    );
    expect(rows).not.toContain(client_secret);
    expect((await ask(`/v1/oauth/clients/${client_id}`, { method: "DELETE" })).status).toBe(204);
    expect((await rpc("tools/list", {}, { token: tokens.access_token })).status).toBe(401);
    expect((await signIn.refresh(client_id, tokens.refresh_token, secret)).status).toBe(400);
    expect((await signIn.open(path, cookie)).status).toBe(400);
  });

  test("gives a token back by its secret", async () => {
    const { client_id, client_secret = "" } = await make(homeAssistant);
    const path = SignIn.query({ response_type: "code", client_id, redirect_uri, state: "s" });
    const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
    const proof = { client_id, client_secret };
    const tokens = await signIn.token({ grant_type: "authorization_code", ...proof, code, redirect_uri });
    expect((await revoke({ token: tokens.refresh_token, ...proof })).status).toBe(200);
    expect((await rpc("tools/list", {}, { token: tokens.access_token })).status).toBe(401);
  });

  test("a verifier without a challenge is refused, and the address has to come again", async () => {
    const { client_id, client_secret = "" } = await make(homeAssistant);
    const path = SignIn.query({ response_type: "code", client_id, redirect_uri, state: "s" });
    const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
    const fields = { grant_type: "authorization_code", client_id, client_secret, code };
    const { verifier } = pkce();
    const injected = await signIn.token({ ...fields, redirect_uri, code_verifier: verifier });
    expect(injected.error_description).toContain("code_verifier");
    expect((await signIn.token(fields)).error_description).toContain("redirect_uri");
    expect((await signIn.token({ ...fields, redirect_uri })).status).toBe(200);
  });

  test("a challenge that it sends counts", async () => {
    const { client_id, client_secret = "" } = await make(homeAssistant);
    const { challenge } = pkce();
    const path = signIn.authorizePath(client_id, challenge, { redirect_uri });
    const code = await signIn.consent(path, await signIn.cookie(TOKENS.owner));
    const fields = { grant_type: "authorization_code", client_id, client_secret, code };
    expect((await signIn.token(fields)).error_description).toContain("code_verifier");
  });

  test("without a secret it has to use PKCE; its id can be typed into claude.ai", async () => {
    const claude = "https://claude.ai/api/mcp/auth_callback";
    const made = await make({ name: "Claude", redirect_uris: [claude], secret: false });
    expect(made.client_secret).toBeUndefined();
    const cookie = await signIn.cookie(TOKENS.owner);
    const none = SignIn.query({
      response_type: "code",
      client_id: made.client_id,
      redirect_uri: claude,
    });
    expect((await signIn.open(none, cookie)).status).toBe(400);
    const { verifier, challenge } = pkce();
    const path = signIn.authorizePath(made.client_id, challenge, { redirect_uri: claude });
    const code = await signIn.consent(path, cookie);
    const tokens = await signIn.redeem(made.client_id, code, verifier, { redirect_uri: claude });
    expect(tokens.status).toBe(200);
  });

  test("needs `admin` to be made, and is of one home", async () => {
    expect((await make(homeAssistant, TOKENS.member)).status).toBe(403);
    const { client_id } = await make(homeAssistant);
    const list = (await (await ask("/v1/oauth/clients")).json()) as { clients: object[] };
    expect(list.clients).toEqual([
      expect.objectContaining({ id: client_id, name: "Home Assistant", confidential: true, made_by: "anna" }),
    ]);
    const path = SignIn.query({ response_type: "code", client_id, redirect_uri });
    expect((await signIn.open(path, await signIn.cookie(TOKENS.otherHome))).status).toBe(400);
    const gone = await ask(`/v1/oauth/clients/${client_id}`, { method: "DELETE", token: TOKENS.otherHome });
    expect(gone.status).toBe(404);
  });

  test.each([
    ["no name", { name: undefined }, "name"],
    ["no redirects", { redirect_uris: [] }, "redirect_uris"],
    ["http elsewhere", { redirect_uris: ["http://x.example/"] }, "redirect_uris.0: it is http"],
    ["a key that is none", { more: 1 }, "more"],
  ])("%s is refused with the field's name", async (_, change, words) => {
    const { status, error } = await make({ ...homeAssistant, ...change });
    expect([status, error?.message]).toEqual([400, expect.stringContaining(words)]);
  });
});
