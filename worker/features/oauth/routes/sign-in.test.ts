/** A program's whole way to a token: what it gets, what it does not get, and how it ends. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { call, rpc, tools } from "../../../../test/mcp-requests.ts";
import { pkce, REDIRECT, SignIn } from "../../../../test/oauth-sign-in.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { agent, ask, CPU, TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import type { OauthGrantView } from "../../../kernel/api/answers.ts";
import { mediaId } from "../../../kernel/api/media.ts";
import { FileList } from "../../../kernel/home/files/file-list.ts";
import { unseal } from "../../../kernel/http/sealed.ts";

const ORIGIN = "https://gateway";
const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
const signIn = new SignIn(send, ORIGIN);

const sql = <T>(run: (storage: DurableObjectStorage) => T) =>
  runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => run(storage));

/** Time passes for a home's rows: they become older. */
const grow = (column: string, ms: number) =>
  sql(({ sql }) => void sql.exec(`UPDATE oauth_grant SET ${column} = ${column} - ?`, ms));

const mcpStatus = async (token: string) => (await rpc("tools/list", {}, { token })).status;
const grants = async () =>
  ((await (await ask("/v1/oauth/grants")).json()) as { grants: OauthGrantView[] }).grants;
const auditOf = async (tool: string) => {
  const answer = await ask(`/v1/audit?tool=${tool}`);
  return (
    (await answer.json()) as {
      entries: { parameters: object; caller: { principal: string; role: string } }[];
    }
  ).entries;
};

beforeAll(async () => void (await tools()), 30_000);

beforeEach(async () => {
  vi.useRealTimers();
  await sql(({ sql }) => {
    for (const table of ["oauth_grant", "oauth_code", "oauth_client"]) sql.exec(`DELETE FROM ${table}`);
  });
});

describe("§3 what clients look for", () => {
  test("the 401 leads to the documents, and they name the address that was typed", async () => {
    const refused = await ask("/mcp", { method: "POST", token: null, body: "{}" });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      `Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="ask"`,
    );
    // D4: doubled and trailing slashes are those of clients that put paths together.
    for (const path of ["", "/mcp", "/mcp/", "//mcp"]) {
      const answer = await send(`/.well-known/oauth-protected-resource${path}`);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
      expect(await answer.json()).toEqual({
        resource: `${ORIGIN}/mcp`,
        authorization_servers: [ORIGIN],
        scopes_supported: ["ask", "command"],
        bearer_methods_supported: ["header"],
      });
    }
    const server = (await (await send("/.well-known/oauth-authorization-server")).json()) as object;
    expect(server).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/oauth/authorize`,
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ["ask", "command", "offline_access"],
      token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
    });
  });

  test("every method without a token is 401, before JSON-RPC; a GET too; a wrong token is named as such", async () => {
    for (const method of ["initialize", "tools/call", "tools/list"])
      expect((await rpc(method, {}, { token: null })).status).toBe(401);
    expect((await ask("/mcp", { token: null })).status).toBe(401);
    const wrong = await ask("/mcp", { token: "oat1.made-up-token-of-a-stranger" });
    expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("no document is behind a sign-in, and what is not there is 404, never a page or 401", async () => {
    for (const path of ["openid-configuration", "oauth-authorization-server/mcp", "jwks.json"]) {
      const answer = await send(`/.well-known/${path}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        404,
        expect.stringContaining("application/json"),
      ]);
    }
  });

  test("behind a proxy, issuer and resource are PUBLIC_URL's, not the request's", async () => {
    setVariables({ PUBLIC_URL: "https://home.example.net" });
    const answer = await send("/.well-known/oauth-protected-resource/mcp");
    expect(await answer.json()).toMatchObject({
      resource: "https://home.example.net/mcp",
      authorization_servers: ["https://home.example.net"],
    });
  });

  test("over plain http from elsewhere, and with OAUTH=off, there is no sign-in", async () => {
    setVariables({ PUBLIC_URL: "http://home.example.net" });
    expect((await send("/.well-known/oauth-authorization-server")).status).toBe(404);
    expect((await signIn.register()).status).toBe(404);
    setVariables({ PUBLIC_URL: "", OAUTH: "off" });
    expect((await send("/.well-known/oauth-protected-resource/mcp")).status).toBe(404);
    const refused = await ask("/mcp", { method: "POST", token: null });
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="edgecall"');
  });

  test("pages of every site may register and trade tokens; none may read the consent page", async () => {
    const headers = { origin: "https://inspector.example" };
    for (const path of [
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-authorization-server",
    ])
      expect((await send(path, { headers })).headers.get("access-control-allow-origin")).toBe("*");
    const preflight = await send("/oauth/token", {
      method: "OPTIONS",
      headers: {
        ...headers,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, mcp-protocol-version",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type, mcp-protocol-version");
    const page = await send("/oauth/authorize", { headers });
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("a sign-in", () => {
  test("gives a token for /mcp, until it is revoked", async () => {
    const connected = await signIn.connect(TOKENS.owner);
    expect(connected).toMatchObject({ status: 200, token_type: "Bearer", expires_in: 3_600, scope: "ask" });
    expect(connected.headers.get("cache-control")).toContain("no-store");
    expect(connected.refresh_token).toBeTruthy();
    expect((await grants())[0]).toMatchObject({ state: "token_given", person: "anna", client: "A test" });
    expect(await mcpStatus(connected.access_token)).toBe(200);
    const [grant] = await grants();
    expect(grant).toMatchObject({ state: "connected", host: "127.0.0.1:33418", scopes: ["ask"] });
    expect(await auditOf("connect")).toContainEqual(
      expect.objectContaining({
        parameters: { client: "A test", host: "127.0.0.1:33418", scopes: ["ask"], trusted: false },
        caller: expect.objectContaining({ principal: "anna" }),
      }),
    );
    const revoked = await send("/oauth/revoke", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `token=${connected.refresh_token}&client_id=${connected.clientId}`,
    });
    expect(revoked.status).toBe(200);
    const after = await ask("/mcp", { method: "POST", token: connected.access_token });
    expect([after.status, after.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining("resource_metadata="),
    ]);
    expect(await signIn.refresh(connected.clientId, connected.refresh_token)).toMatchObject({
      status: 400,
      error: "invalid_grant",
    });
    expect((await auditOf("disconnect")).length).toBeGreaterThan(0);
  });

  test("redirects with code, state and iss; a denial says so", async () => {
    const { challenge } = pkce();
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const { form } = await signIn.open(signIn.authorizePath(client_id, challenge), cookie);
    const denied = await signIn.press(form, cookie, { answer: "deny" });
    expect(denied.location?.href).toBe(
      `${REDIRECT}?error=access_denied&state=the-state&iss=${encodeURIComponent(ORIGIN)}`,
    );
    expect(await grants()).toEqual([]);
    const allowed = await signIn.press(form, cookie);
    expect(allowed.status).toBe(303);
    expect(Object.fromEntries(allowed.location?.searchParams ?? [])).toEqual({
      code: expect.any(String),
      state: "the-state",
      iss: ORIGIN,
    });
    expect((await grants())[0]?.state).toBe("consented");
  });

  test("`command` needs the tick; approve, admin and metrics are never given", async () => {
    const { verifier, challenge } = pkce();
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const path = signIn.authorizePath(client_id, challenge, { scope: "ask command approve admin metrics" });
    const without = await signIn.redeem(client_id, await signIn.consent(path, cookie), verifier);
    expect(without.scope).toBe("ask");
    const ticked = await signIn.consent(path, cookie, { command: "yes", approve: "yes" });
    const withTick = await signIn.redeem(client_id, ticked, verifier);
    expect(withTick.scope).toBe("ask command");
    // A person cannot give what they do not have.
    const guest = await signIn.connect(TOKENS.guest, { command: "yes", trusted: "yes" });
    expect(guest.scope).toBe("ask");
    expect((await grants()).find(({ person }) => person === "gus")).toMatchObject({ trusted: false });
  });

  test("a token counts at /mcp, for files and for the list of devices; never for questions, tokens or chats", async () => {
    const { access_token: token } = await signIn.connect(TOKENS.owner, { command: "yes" });
    const status = async (path: string, init: RequestInit = {}) =>
      (await ask(path, { token, ...init })).status;
    expect(await status("/v1/agents")).toBe(200);
    expect(await status("/v1/status")).toBe(200);
    // No such file, but no refusal.
    expect(await status("/v1/media/00000000-0000-4000-8000-000000000000")).toBe(400);
    for (const path of [
      "/v1/questions",
      "/v1/questions/events",
      "/v1/tokens",
      "/v1/conversations",
      "/v1/audit",
    ])
      for (const form of [path, path.replace("/v1/", "/v1//"), `${path}/`, `/${path}`])
        expect([form, await status(form)]).toEqual([form, 403]);
    // D4: what it is for, it reaches in each form.
    expect(await status("/v1//media//00000000-0000-4000-8000-000000000000/")).toBe(400);
    expect(await status("//v1/agents/")).toBe(200);
    const id = "00000000-0000-4000-8000-000000000000";
    const answer = { method: "POST", body: JSON.stringify({ answer: "approve" }) };
    expect(await status(`/v1/questions/${id}`, answer)).toBe(403);
    expect(await status("/v1/chat/completions", { method: "POST", body: "{}" })).toBe(403);
    await expect(signIn.cookie(token)).rejects.toThrow("no session");
  });

  test("D1: as resources it is shown its person's own files and those shared with them, not everybody's", async () => {
    const { access_token: token } = await signIn.connect(TOKENS.owner, { command: "yes" });
    await sql((storage) => {
      const list = new FileList(storage);
      for (const [at, by] of ["anna", "mia"].entries()) {
        const id = mediaId(crypto.randomUUID(), `a/api/${by}s`);
        const file = { id, media_type: "image/png", bytes: 1, at, endsAt: Date.now() + 60_000 };
        list.add({ files: [{ ...file, agent: `pi-${by}`, action: null }], by });
      }
    });
    const namesOf = async (of: string) => {
      const { result } = await rpc("resources/list", {}, { token: of });
      const { resources } = result as unknown as { resources: Array<{ name: string }> };
      return resources.map(({ name }) => name.split(" ")[0]);
    };
    expect(await namesOf(TOKENS.owner)).toEqual(["pi-mia", "pi-anna"]);
    expect(await namesOf(token)).toEqual(["pi-anna"]);
  });

  test("ends when its person's token is revoked", async () => {
    const made = await ask("/v1/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "phone", role: "member", scopes: ["ask", "command"] }),
    });
    const { token, record } = (await made.json()) as { token: string; record: { id: string } };
    const connected = await signIn.connect(token);
    expect(await mcpStatus(connected.access_token)).toBe(200);
    await ask(`/v1/tokens/${record.id}`, { method: "DELETE" });
    expect(await mcpStatus(connected.access_token)).toBe(401);
    expect((await signIn.refresh(connected.clientId, connected.refresh_token)).error).toBe("invalid_grant");
  });

  test("ends when its home is taken out of the settings, also for a person whose token the home made", async () => {
    setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
    const made = await ask("/v1/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "tablet", role: "member", scopes: ["ask", "command"] }),
    });
    const { token } = (await made.json()) as { token: string };
    const connected = await signIn.connect(token);
    expect(await mcpStatus(connected.access_token)).toBe(200);
    const without = (name: string) =>
      (JSON.parse(String((env as unknown as Record<string, string>)[name])) as { home: string }[]).filter(
        ({ home }) => home !== "a",
      );
    setVariables({
      API_TOKENS: JSON.stringify(without("API_TOKENS")),
      BRIDGE_TOKENS: JSON.stringify(without("BRIDGE_TOKENS")),
    });
    expect(await mcpStatus(connected.access_token)).toBe(401);
    expect((await signIn.refresh(connected.clientId, connected.refresh_token)).error).toBe("invalid_grant");
  });

  test("has the scopes that its person still has", async () => {
    setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
    const connected = await signIn.connect(TOKENS.owner, { command: "yes" });
    const records = JSON.parse(String((env as unknown as { API_TOKENS: string }).API_TOKENS)) as {
      name: string;
      scopes: string[];
    }[];
    const fewer = records.map((one) => (one.name === "anna" ? { ...one, scopes: ["metrics"] } : one));
    setVariables({ API_TOKENS: JSON.stringify(fewer) });
    expect(await mcpStatus(connected.access_token)).toBe(403);
    setVariables({ API_TOKENS: JSON.stringify(records.filter(({ name }) => name !== "anna")) });
    expect(await mcpStatus(connected.access_token)).toBe(401);
  });

  test("is for its own home", async () => {
    const { access_token, refresh_token } = await signIn.connect(TOKENS.otherHome);
    expect(await mcpStatus(access_token)).toBe(200);
    expect(await grants()).toEqual([]);
    // The claims can be read, but not changed.
    const [, body = "", mac = ""] = access_token.split(".");
    const claims = JSON.parse(atob(body.replaceAll("-", "+").replaceAll("_", "/"))) as object;
    const forged = btoa(JSON.stringify({ ...claims, home: "a" })).replace(/=+$/, "");
    expect(await mcpStatus(`oat1.${forged}.${mac}`)).toBe(401);
    // Nor is a token of one kind valid as another.
    expect(await mcpStatus(refresh_token.replace("ort1.", "oat1."))).toBe(401);
  });

  test("an expired token and one for another audience are refused before a home is woken", async () => {
    const { access_token } = await signIn.connect(TOKENS.owner);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_601_000 });
    expect(await mcpStatus(access_token)).toBe(401);
    vi.useRealTimers();
    setVariables({ PUBLIC_URL: "https://elsewhere.example" });
    expect(await mcpStatus(access_token)).toBe(401);
  });
});

test("people see and end their own connected programs; with `admin`, everybody's", async () => {
  const ofMember = await signIn.connect(TOKENS.member);
  await signIn.connect(TOKENS.owner);
  const list = async (token: string) => {
    const answer = await ask("/v1/oauth/grants", { token });
    return ((await answer.json()) as { grants: OauthGrantView[] }).grants;
  };
  expect((await grants()).map(({ person }) => person).sort()).toEqual(["anna", "mia"]);
  const [own, ...others] = await list(TOKENS.member);
  expect([own?.person, others]).toEqual(["mia", []]);
  const end = async (id: string, token: string) =>
    (await ask(`/v1/oauth/grants/${id}`, { method: "DELETE", token })).status;
  const ofOwner = (await grants()).find(({ person }) => person === "anna")?.id ?? "";
  expect(await end(ofOwner, TOKENS.member)).toBe(404);
  expect(await end(ofOwner, TOKENS.otherHome)).toBe(404);
  expect(await end(own?.id ?? "", TOKENS.member)).toBe(204);
  // The record has the role of whoever did it.
  for (const tool of ["connect", "disconnect"])
    expect((await auditOf(tool)).find(({ caller }) => caller.principal === "mia")?.caller.role).toBe(
      "member",
    );
  expect(await mcpStatus(ofMember.access_token)).toBe(401);
  expect(await end(own?.id ?? "", TOKENS.member)).toBe(404);
  expect(await end(ofOwner, TOKENS.owner)).toBe(204);
  expect((await grants()).map(({ state }) => state)).toEqual(["ended", "ended"]);
});

test("its calls are tainted, also those of a person whose own token is trusted; the owner's tick decides", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = () => ({ status: "success", tool: "cpu", result: "42" });
  const taintOf = async (token: string) => {
    await call("edge_call", { agent_id: "pi", action: "cpu", params: {} }, { token });
    const frame = bridge.calls().at(-1);
    const { caller, tainted } = JSON.parse(frame?.payload ?? "{}") as { caller: object; tainted?: boolean };
    expect(caller).toEqual({ principal: "anna", role: "owner", channel: "mcp" });
    return tainted ?? false;
  };
  setVariables({ MCP_TRUSTED_TOKENS: "anna" });
  expect(await taintOf(TOKENS.owner)).toBe(false);
  const one = await signIn.connect(TOKENS.owner, { command: "yes" });
  expect(await taintOf(one.access_token)).toBe(true);
  const trusted = await signIn.connect(TOKENS.owner, { command: "yes", trusted: "yes" });
  expect(await taintOf(trusted.access_token)).toBe(false);
  bridge.close();
});

test("the owner's tick counts no more when the person is an owner no more", async () => {
  setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = () => ({ status: "success", tool: "cpu", result: "42" });
  const { access_token: token } = await signIn.connect(TOKENS.owner, { command: "yes", trusted: "yes" });
  const records = JSON.parse(String((env as unknown as { API_TOKENS: string }).API_TOKENS)) as {
    name: string;
  }[];
  const demoted = records.map((one) => (one.name === "anna" ? { ...one, role: "member" } : one));
  setVariables({ API_TOKENS: JSON.stringify(demoted) });
  await call("edge_call", { agent_id: "pi", action: "cpu", params: {} }, { token });
  expect(JSON.parse(bridge.calls().at(-1)?.payload ?? "{}")).toMatchObject({
    caller: { principal: "anna", role: "member" },
    tainted: true,
  });
  bridge.close();
});

describe("a code", () => {
  test("is for one use; the second ends what the first gave", async () => {
    const first = await signIn.connect(TOKENS.owner);
    expect(await mcpStatus(first.access_token)).toBe(200);
    const second = await signIn.redeem(first.clientId, first.code, first.verifier);
    expect(second).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(await mcpStatus(first.access_token)).toBe(401);
    expect((await grants())[0]).toMatchObject({ state: "ended", ended_by: "its code was used twice" });
  });

  test("is for one use also when two requests bring it at once", async () => {
    const { verifier, challenge } = pkce();
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const code = await signIn.consent(signIn.authorizePath(client_id, challenge), cookie);
    const given = await unseal<{ code: string }>(env, "oauth code", code);
    const request = {
      code: given?.code ?? "",
      clientId: client_id,
      clientSecret: undefined,
      redirectUri: REDIRECT,
      verifier,
      resource: undefined,
    };
    // Within the object, since requests of a test arrive one after the other.
    const answers = await runInDurableObject(env.HOME.getByName("a"), (home: Home) =>
      Promise.all([home["oauth.redeemCode"](request), home["oauth.redeemCode"](request)]),
    );
    expect(answers.map(({ ok }) => ok).sort()).toEqual([false, true]);
    expect((await grants())[0]).toMatchObject({ state: "ended", ended_by: "its code was used twice" });
  });

  test("needs its verifier, its client, its redirect and its resource; a wrong try does not use it up", async () => {
    const { verifier, challenge } = pkce();
    const { client_id } = await signIn.register();
    const other = await signIn.register({ client_name: "Another" });
    const cookie = await signIn.cookie(TOKENS.owner);
    const code = await signIn.consent(signIn.authorizePath(client_id, challenge), cookie);
    const errorOf = async (id: string, proof: string, more: Record<string, string> = {}) =>
      (await signIn.redeem(id, code, proof, more)).error;
    expect(await errorOf(client_id, pkce().verifier)).toBe("invalid_grant");
    expect(await errorOf(client_id, "short")).toBe("invalid_grant");
    expect(await errorOf(other.client_id, verifier)).toBe("invalid_grant");
    expect(await errorOf(client_id, verifier, { redirect_uri: "http://127.0.0.1:1/callback" })).toBe(
      "invalid_grant",
    );
    expect(await errorOf(client_id, verifier, { resource: "https://elsewhere.example/mcp" })).toBe(
      "invalid_target",
    );
    expect(await errorOf(client_id, verifier, { code: `${code}A` })).toBe("invalid_grant");
    // A slash at the end of the resource is the same resource.
    expect((await signIn.redeem(client_id, code, verifier, { resource: `${ORIGIN}/mcp/` })).status).toBe(200);
  });

  test("ends after a minute", async () => {
    const { verifier, challenge } = pkce();
    const { client_id } = await signIn.register();
    const code = await signIn.consent(
      signIn.authorizePath(client_id, challenge),
      await signIn.cookie(TOKENS.owner),
    );
    await sql(({ sql }) => void sql.exec("UPDATE oauth_code SET due = due - 60001"));
    expect(await signIn.redeem(client_id, code, verifier)).toMatchObject({
      error: "invalid_grant",
      error_description: expect.stringContaining("expired"),
    });
  });

  test("a token request that is JSON, or of another kind, gets an error of RFC 6749", async () => {
    const json = await send("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect([json.status, await json.json()]).toEqual([
      400,
      { error: "invalid_request", error_description: expect.stringContaining("content-type") },
    ]);
    const { client_id } = await signIn.register();
    const kind = await signIn.token({ grant_type: "password", client_id });
    expect(kind).toMatchObject({ status: 400, error: "unsupported_grant_type" });
    expect((await signIn.token({ grant_type: "refresh_token" })).error_description).toContain("client_id");
  });
});

describe("a refresh token", () => {
  test("two at once get the same successor; the old one counts until the new one was used", async () => {
    const { clientId, refresh_token: first } = await signIn.connect(TOKENS.owner);
    const [one, two] = await Promise.all([signIn.refresh(clientId, first), signIn.refresh(clientId, first)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(one.refresh_token).toBe(two.refresh_token);
    expect(one.refresh_token).not.toBe(first);
    expect(await mcpStatus(two.access_token)).toBe(200);
    // The answer was lost, and the client comes back an hour later.
    await grow("confirmed_at", 3_600_000);
    expect((await signIn.refresh(clientId, first)).refresh_token).toBe(one.refresh_token);
  });

  test("a replaced one counts for a minute; used later, it ends the connection and the console says so", async () => {
    const { clientId, refresh_token: first, access_token } = await signIn.connect(TOKENS.owner);
    const second = await signIn.refresh(clientId, first);
    const third = await signIn.refresh(clientId, second.refresh_token);
    expect(third.status).toBe(200);
    expect((await signIn.refresh(clientId, first)).refresh_token).toBe(second.refresh_token);
    await grow("confirmed_at", 61_000);
    expect(await signIn.refresh(clientId, first)).toMatchObject({
      status: 400,
      error: "invalid_grant",
      error_description: expect.stringContaining("was replaced"),
    });
    expect(await mcpStatus(access_token)).toBe(401);
    expect(await mcpStatus(third.access_token)).toBe(401);
    expect((await grants())[0]).toMatchObject({
      state: "ended",
      ended_by: "an old refresh token was used again",
    });
    expect((await auditOf("disconnect"))[0]?.parameters).toMatchObject({
      reason: "an old refresh token was used again",
    });
  });

  test("S27: a stolen one gives what the program gets; it is noticed a minute after its successor was used", async () => {
    const { clientId, refresh_token: stolen } = await signIn.connect(TOKENS.owner);
    const program = await signIn.refresh(clientId, stolen);
    await grow("confirmed_at", 3_600_000);
    // Its successor was not used yet, so this may be a program whose answer was lost.
    expect((await signIn.refresh(clientId, stolen)).refresh_token).toBe(program.refresh_token);
    const next = await signIn.refresh(clientId, program.refresh_token);
    expect(next.status).toBe(200);
    await grow("confirmed_at", 61_000);
    expect((await signIn.refresh(clientId, stolen)).status).toBe(400);
    expect((await signIn.refresh(clientId, next.refresh_token)).status).toBe(400);
    expect((await grants())[0]).toMatchObject({ state: "ended" });
  });

  test("is bound to its client and resource, and ends after 90 days without use", async () => {
    const { clientId, refresh_token: token } = await signIn.connect(TOKENS.owner);
    const other = await signIn.register({ client_name: "Another" });
    expect((await signIn.refresh(other.client_id, token)).error).toBe("invalid_grant");
    expect((await signIn.refresh(clientId, token, { resource: "https://x.example/mcp" })).error).toBe(
      "invalid_target",
    );
    expect((await signIn.refresh(clientId, `${token.slice(0, -2)}AA`)).error).toBe("invalid_grant");
    // Another client cannot revoke it either.
    await send("/oauth/revoke", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `token=${token}&client_id=${other.client_id}`,
    });
    expect((await signIn.refresh(clientId, token)).status).toBe(200);
    await grow("due", 91 * 86_400_000);
    expect((await signIn.refresh(clientId, token)).error).toBe("invalid_grant");
  });
});

test("1,000 registrations and forged tokens of strangers leave no row and wake no object", async () => {
  const rows = () =>
    sql(
      ({ sql }) =>
        sql.exec("SELECT (SELECT COUNT(*) FROM oauth_client) + (SELECT COUNT(*) FROM oauth_grant) AS n").one()
          .n,
    );
  const objects = async () => (await listDurableObjectIds(env.HOME)).length;
  const before = await objects();
  for (let n = 0; n < 1_000; n += 1) await signIn.register({ client_name: String(n) });
  const { client_id } = await signIn.register();
  for (const token of ["oat1.e30.AAAA", "ort1.e30.AAAA"]) {
    expect((await signIn.refresh(client_id, token)).error).toBe("invalid_grant");
    expect((await signIn.refresh("x", token)).error).toBe("invalid_client");
  }
  expect([await rows(), await objects()]).toEqual([0, before]);
}, 60_000);
