/** The pages of a sign-in: what they show, whom they refuse, and that looking at them changes nothing. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { pkce, REDIRECT, SignIn } from "../../../../test/oauth-sign-in.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { ask } from "../../../../test/workerd.ts";

const ORIGIN = "https://gateway";
const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
const signIn = new SignIn(send, ORIGIN);
const { challenge } = pkce();
const rows = async (table: string) =>
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
    storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
  );

beforeEach(async () => {
  vi.useRealTimers();
  await ask("/v1/tokens");
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
    for (const table of ["oauth_grant", "oauth_code", "oauth_client"])
      storage.sql.exec(`DELETE FROM ${table}`);
  });
});

describe("registration", () => {
  test("the id is what was registered, sealed; its page says it again", async () => {
    const metadata = {
      client_name: "VS Code",
      redirect_uris: [
        "https://vscode.dev/redirect",
        "https://insiders.vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
      ],
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code"],
      application_type: "native",
    };
    const { status, ...registered } = await signIn.register(metadata);
    expect(status).toBe(201);
    expect(registered).toMatchObject({
      client_name: "VS Code",
      redirect_uris: metadata.redirect_uris,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      registration_client_uri: `${ORIGIN}/oauth/register/${registered.client_id}`,
    });
    expect(registered.client_id.length).toBeLessThan(600);
    expect(await (await send(`/oauth/register/${registered.client_id}`)).json()).toEqual(registered);
    // The last character has bits that say nothing.
    const altered = registered.client_id.replace(/.(?=.$)/, (last) => (last === "A" ? "B" : "A"));
    expect((await send(`/oauth/register/${altered}`)).status).toBe(401);
    expect((await signIn.open(signIn.authorizePath(altered, challenge), "")).status).toBe(400);
  });

  test("it stays valid when the home's tokens change", async () => {
    setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
    const { client_id } = await signIn.register();
    const records = JSON.parse(String((env as unknown as { API_TOKENS: string }).API_TOKENS)) as object[];
    const one = { hash: "ab".repeat(32), name: "new", home: "a", role: "guest", scopes: ["ask"] };
    setVariables({ API_TOKENS: JSON.stringify([...records, one]), BRIDGE_TOKENS: "[]" });
    expect((await send(`/oauth/register/${client_id}`)).status).toBe(200);
  });

  test.each([
    ["no list", { redirect_uris: undefined }, "redirect_uris: expected a list"],
    ["an empty list", { redirect_uris: [] }, "redirect_uris: expected a list"],
    ["nine", { redirect_uris: Array(9).fill(REDIRECT) }, "redirect_uris: expected a list"],
    ["a script", { redirect_uris: [REDIRECT, "javascript:alert(1)"] }, "redirect_uris.1: it has the scheme"],
    ["data", { redirect_uris: ["data:text/html,x"] }, "redirect_uris.0: it has the scheme"],
    ["a file", { redirect_uris: ["file:///etc/passwd"] }, "redirect_uris.0: it has the scheme"],
    ["http elsewhere", { redirect_uris: ["http://example.org/cb"] }, "redirect_uris.0: it is http"],
    ["a fragment", { redirect_uris: ["https://example.org/cb#x"] }, "redirect_uris.0: it has a fragment"],
    [
      "user info",
      { redirect_uris: ["https://claude.ai@evil.example/"] },
      "redirect_uris.0: it has a user name",
    ],
    ["an unknown scheme", { redirect_uris: ["myapp://cb/x"] }, "OAUTH_REDIRECTS"],
    [
      "too long",
      { redirect_uris: Array.from({ length: 8 }, (_, n) => `https://e.org/${n}${"x".repeat(200)}`) },
      "redirect_uris: they are too long",
    ],
  ])("%s is refused with the field's name", async (_, metadata, words) => {
    const { status, error, error_description } = await signIn.register(metadata);
    expect([status, error]).toEqual([400, expect.stringMatching(/^invalid_/)]);
    expect(error_description).toContain(words);
  });

  test("Cursor's scheme is known, and a setting adds others", async () => {
    const uris = (one: string) => ({ redirect_uris: [one] });
    expect((await signIn.register(uris("cursor://anysphere.cursor-mcp/oauth/callback"))).status).toBe(201);
    expect((await signIn.register(uris("cursor://somebody.else/oauth/callback"))).status).toBe(400);
    setVariables({ OAUTH_REDIRECTS: "myapp://cb/" });
    expect((await signIn.register(uris("myapp://cb/x"))).status).toBe(201);
  });

  test("a body that is too large, or no JSON", async () => {
    expect((await signIn.register({ client_uri: "x".repeat(9_000) })).status).toBe(413);
    const text = await send("/oauth/register", { method: "POST", body: "redirect_uris=x" });
    expect([text.status, await text.json()]).toEqual([
      400,
      { error: "invalid_client_metadata", error_description: "the body is not JSON" },
    ]);
  });
});

describe("the request", () => {
  const bad: [string, Record<string, string | undefined>, string][] = [
    [
      "a redirect that was not registered",
      { redirect_uri: "https://evil.example/cb" },
      "redirect_uri: the client did not register",
    ],
    [
      "another path on the machine",
      { redirect_uri: "http://127.0.0.1:33418/other" },
      "redirect_uri: the client did not register",
    ],
    [
      "another host of the machine",
      { redirect_uri: "http://localhost:33418/callback" },
      "redirect_uri: the client did not register",
    ],
    ["a script as redirect", { redirect_uri: "javascript:alert(1)" }, "redirect_uri: it has the scheme"],
    ["no redirect", { redirect_uri: undefined }, "redirect_uri: it is missing"],
    [
      "no PKCE",
      { code_challenge: undefined, code_challenge_method: undefined },
      "code_challenge: it is missing",
    ],
    ["plain PKCE", { code_challenge_method: "plain" }, "code_challenge_method: expected S256"],
    ["a short challenge", { code_challenge: "abc" }, "code_challenge: expected the SHA-256"],
    ["another response type", { response_type: "token" }, "response_type: expected code"],
    [
      "another resource",
      { resource: "https://elsewhere.example/mcp" },
      "resource: expected https://gateway/mcp",
    ],
    ["the origin as resource", { resource: "https://gateway" }, "resource: expected https://gateway/mcp"],
    ["an unknown client", { client_id: "made-up" }, "client_id: this gateway does not know it"],
    ["no client", { client_id: undefined }, "client_id: it is missing"],
  ];
  test.each(bad)("%s is an error on a page, and never a redirect", async (_, change, words) => {
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    for (const who of [cookie, ""]) {
      const path = signIn.authorizePath(client_id, challenge, change);
      const { status, html } = await signIn.open(path, who);
      expect([status, html]).toEqual([400, expect.stringContaining(words)]);
    }
    expect(await rows("oauth_grant")).toEqual([]);
  });

  test("a port of this machine that was not registered is accepted", async () => {
    const { client_id } = await signIn.register({ redirect_uris: ["http://localhost/callback"] });
    const redirect_uri = "http://localhost:61234/callback";
    const cookie = await signIn.cookie(TOKENS.owner);
    const { status, html } = await signIn.open(
      signIn.authorizePath(client_id, challenge, { redirect_uri }),
      cookie,
    );
    expect([status, html]).toEqual([
      200,
      expect.stringContaining("a program on the computer that you are using"),
    ]);
  });

  test("without `resource` it is ours", async () => {
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const path = signIn.authorizePath(client_id, challenge, { resource: undefined });
    expect((await signIn.open(path, cookie)).status).toBe(200);
  });
});

describe("the consent page", () => {
  test("a GET has no effect, however often it comes", async () => {
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    for (let n = 0; n < 3; n += 1)
      expect((await signIn.open(signIn.authorizePath(client_id, challenge), cookie)).status).toBe(200);
    expect([await rows("oauth_grant"), await rows("oauth_code")]).toEqual([[], []]);
  });

  test("no frame, no script, no cache; forms lead here and to the redirect alone", async () => {
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const path = signIn.authorizePath(client_id, challenge);
    const { headers } = await send(path, { headers: { cookie } });
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:33418;");
    expect(policy).not.toContain("script-src");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("names are the client's claim: one line, no markup, 60 characters", async () => {
    const name = `<img src=x onerror=alert(1)>\n\u202eevil ${"x".repeat(100)}`;
    const { client_id } = await signIn.register({ client_name: name });
    const { html } = await signIn.open(
      signIn.authorizePath(client_id, challenge),
      await signIn.cookie(TOKENS.owner),
    );
    expect(html).not.toContain("<img");
    expect(html).not.toContain("\u202e");
    expect(html).toContain("calls itself <strong>&#60;img");
    expect(html).not.toContain("x".repeat(61));
  });

  test.each([
    ["https://claude.ai/api/mcp/auth_callback", "claude.ai (Claude)", false],
    ["https://chatgpt.com/connector/oauth/abc", "chatgpt.com (ChatGPT)", false],
    ["https://claude.ai.evil.example/cb", "claude.ai.evil.example", true],
    ["https://claude.ai:8443/cb", "claude.ai:8443", true],
    ["cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp", false],
  ])("%s is shown as %s", async (redirect_uri, shown, isWarned) => {
    const { client_id } = await signIn.register({ redirect_uris: [redirect_uri] });
    const path = signIn.authorizePath(client_id, challenge, { redirect_uri });
    const { html } = await signIn.open(path, await signIn.cookie(TOKENS.owner));
    expect(html).toContain(`<p class="host">${shown}</p>`);
    expect(html.includes("does not know that site")).toBe(isWarned);
  });

  test("only an owner can say that the program reads nothing else", async () => {
    const { client_id } = await signIn.register();
    const path = signIn.authorizePath(client_id, challenge);
    const ofOwner = await signIn.open(path, await signIn.cookie(TOKENS.owner));
    expect(ofOwner.html).toContain('name="trusted"');
    const ofGuest = await signIn.open(path, await signIn.cookie(TOKENS.guest));
    expect(ofGuest.html).not.toContain('name="trusted"');
    expect(ofGuest.html).not.toContain('name="command"');
    const scraper = await signIn.open(path, await signIn.cookie(TOKENS.scraper));
    expect([scraper.status, scraper.form]).toEqual([400, ""]);
  });

  test("a POST from another page, of another person, with a changed or an old form gives nothing", async () => {
    const { client_id } = await signIn.register();
    const cookie = await signIn.cookie(TOKENS.owner);
    const { form } = await signIn.open(signIn.authorizePath(client_id, challenge), cookie);
    const press = async (of: string, who: string, headers: Record<string, string> = {}) =>
      (await signIn.press(of, who, {}, headers)).status;
    expect(await press(form, cookie, { origin: "https://evil.example" })).toBe(403);
    expect(await press(form, cookie, { origin: "null" })).toBe(403);
    expect(await press(form, cookie, { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await press(form, "")).toBe(400);
    expect(await press(form, await signIn.cookie(TOKENS.guest))).toBe(400);
    expect(await press(form, await signIn.cookie(TOKENS.otherHome))).toBe(400);
    expect(await press(`A${form}`, cookie)).toBe(400);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    expect(await press(form, cookie)).toBe(400);
    expect(await rows("oauth_grant")).toEqual([]);
  });

  describe("one person's programs", () => {
    const consents = async (token: string) => {
      const { client_id } = await signIn.register();
      const cookie = await signIn.cookie(token);
      const { form } = await signIn.open(signIn.authorizePath(client_id, challenge), cookie);
      return async () => await signIn.press(form, cookie);
    };
    const change = async (statement: string, ...values: SqlStorageValue[]) =>
      await runInDurableObject(
        env.HOME.getByName("a"),
        (_, { storage }) => void storage.sql.exec(statement, ...values),
      );
    /** Copies of the grant that is there. */
    const fill = async (count: number) =>
      await change(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO oauth_grant SELECT 'copy-' || i, record, person, role, client_hash, client_name, host, scopes, trusted,
           resource, generation, confirmed_at, made_at, token_at, used_at, due, ended_at, ended_by FROM n, oauth_grant`,
        count,
      );

    test("ten codes that no client took are the most, for a minute; others connect", async () => {
      const [guest, owner] = [await consents(TOKENS.guest), await consents(TOKENS.owner)];
      for (let n = 0; n < 10; n += 1) expect((await guest()).status).toBe(303);
      const eleventh = await guest();
      expect([eleventh.status, eleventh.text]).toEqual([400, expect.stringContaining("Wait a minute")]);
      expect((await owner()).status).toBe(303);
      await change("UPDATE oauth_code SET due = due - 60001");
      expect((await guest()).status).toBe(303);
    });

    test("50 that are connected are the most; others connect", async () => {
      const [guest, owner] = [await consents(TOKENS.guest), await consents(TOKENS.owner)];
      expect((await guest()).status).toBe(303);
      await fill(49);
      const refused = await guest();
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Disconnect one")]);
      expect((await owner()).status).toBe(303);
    });

    test("of those that have ended 50 stay, so connecting again and again fills no table", async () => {
      const guest = await consents(TOKENS.guest);
      await guest();
      await fill(80);
      await change("UPDATE oauth_grant SET ended_at = made_at");
      expect((await guest()).status).toBe(303);
      expect(await rows("oauth_grant")).toHaveLength(51);
      expect((await rows("oauth_code")).length).toBeLessThan(3);
    });
  });
});

describe("signed out", () => {
  const path = async () => signIn.authorizePath((await signIn.register()).client_id, challenge);

  test("a navigation from another site gets a page that leads to the same address, where the session counts", async () => {
    const answer = await send(await path(), { headers: { "sec-fetch-site": "cross-site" } });
    const html = await answer.text();
    expect(answer.status).toBe(200);
    expect(html).toMatch(/http-equiv="refresh" content="0; url=\/oauth\/authorize\?/);
  });

  test("otherwise a page asks for the token, and leads back; a wrong token is said", async () => {
    const at = await path();
    const { status, html } = await signIn.open(at, "");
    expect([status, html]).toEqual([200, expect.stringContaining('name="token"')]);
    const query = at.slice(at.indexOf("?") + 1);
    const enter = (token: string, origin = ORIGIN) =>
      send("/oauth/authorize", {
        method: "POST",
        redirect: "manual",
        headers: { origin, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ query, token }).toString(),
      });
    const wrong = await enter("a-token-that-nobody-has");
    expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining("not known here")]);
    expect((await enter(TOKENS.owner, "https://evil.example")).status).toBe(403);
    const entered = await enter(TOKENS.owner);
    expect([entered.status, entered.headers.get("location")]).toEqual([
      303,
      `/oauth/authorize?${new URLSearchParams(query)}`,
    ]);
    const cookie = (entered.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    expect((await signIn.open(at, cookie)).form).not.toBe("");
  });
});
