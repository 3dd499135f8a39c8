import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { TOKENS } from "../../../test/tokens.ts";
import { ask } from "../../../test/workerd.ts";
import worker from "../../index.ts";
import type { Env } from "../env.ts";
import { network } from "./rate-limits.ts";

const LISTED = "https://chat.example.org";

/** The Worker with other settings than those of the tests. */
function withVars(vars: Partial<Env>, path: string, init: RequestInit = {}): Promise<Response> {
  const request = new Request(`https://gateway${path}`, init);
  return Promise.resolve(worker.fetch(request, { ...(env as Env), ...vars }, createExecutionContext()));
}

function fromPage(origin: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("origin", origin);
  return withVars({ CORS_ORIGINS: `http://localhost:3000, ${LISTED}` }, path, { ...init, headers });
}

const preflight = (method: string, headers: string) => ({
  method: "OPTIONS",
  headers: { "access-control-request-method": method, "access-control-request-headers": headers },
});

describe("headers of every answer", () => {
  test.each([
    ["/healthz", 200],
    ["/v1/agents", 401],
    ["/v1/models", 401],
    ["/nothing", 401],
    ["/webhooks/telegram/nobody", 404],
    ["/bridge", 401],
  ])("%s", async (path, status) => {
    const { status: got, headers } = await ask(path, { token: null });
    expect(got).toBe(status);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "strict-transport-security": "max-age=31536000",
      "x-dns-prefetch-control": "off",
      "cache-control": "no-store",
    });
  });

  test("over plain http there is no HSTS", async () => {
    const response = await worker.fetch(
      new Request("http://localhost/healthz"),
      env as Env,
      createExecutionContext(),
    );
    expect(response.headers.has("strict-transport-security")).toBe(false);
  });
});

describe("CORS", () => {
  test.each(["/v1/chat/completions", "/v1/responses", "/mcp", "/v1/conversations/x/messages", "/ask"])(
    "a preflight for %s: allowed for a listed origin, refused for another, and for all without a list",
    async (path) => {
      const asked = preflight(
        "POST",
        "Authorization, content-type, x-stainless-lang, x-edgecall-console, x-evil",
      );
      const yes = await fromPage(LISTED, path, asked);
      expect(yes.status).toBe(204);
      expect(yes.headers.get("access-control-allow-origin")).toBe(LISTED);
      expect(yes.headers.get("access-control-allow-headers")).toBe(
        "authorization, content-type, x-stainless-lang",
      );
      expect(yes.headers.get("access-control-allow-methods")).toContain("POST");
      expect(yes.headers.has("access-control-allow-credentials")).toBe(false);
      expect(yes.headers.get("vary")).toContain("Origin");
      for (const no of [
        await fromPage("https://evil.example", path, asked),
        await withVars({}, path, { ...asked, headers: { ...asked.headers, origin: LISTED } }),
      ]) {
        expect(no.status).toBe(403);
        expect(no.headers.has("access-control-allow-origin")).toBe(false);
        expect(await no.json()).toMatchObject({
          error: { message: expect.stringContaining("CORS_ORIGINS") },
        });
      }
    },
  );

  test("D4: another form of a path gets what the path gets", async () => {
    const asked = preflight("POST", "authorization");
    for (const path of ["/mcp/", "//mcp", "/v1//responses/"])
      expect((await fromPage(LISTED, path, asked)).status).toBe(204);
    for (const path of ["/v1/console/session", "/v1//console//session/", "//v1/console/session"]) {
      const answer = await fromPage(LISTED, path, {});
      expect([path, answer.headers.get("access-control-allow-origin")]).toEqual([path, null]);
    }
  });

  test("only a listed origin can read an answer, including errors", async () => {
    const authorization = `Bearer ${TOKENS.owner}`;
    for (const [headers, status] of [
      [{ authorization }, 200],
      [{}, 401],
    ] as const) {
      const yes = await fromPage(LISTED, "/v1/models", { headers });
      expect([yes.status, yes.headers.get("access-control-allow-origin")]).toEqual([status, LISTED]);
      expect(yes.headers.get("vary")).toContain("Origin");
      const no = await fromPage("https://evil.example", "/v1/models", { headers });
      expect([no.status, no.headers.get("access-control-allow-origin")]).toEqual([status, null]);
      expect(no.headers.get("vary")).toContain("Origin");
    }
  });

  test("G4 a listed origin can read every answer of /mcp, including errors", async () => {
    const call = (token: string | null, body: string, type = "application/json") =>
      fromPage(LISTED, "/mcp", {
        method: "POST",
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          "content-type": type,
          accept: "application/json, text/event-stream",
        },
        body,
      });
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const none = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "none" });
    for (const [answer, status] of [
      [await call(TOKENS.owner, list), 200],
      [await call(TOKENS.owner, none), 200],
      [await call(TOKENS.owner, "{"), 400],
      [await call(TOKENS.owner, list, "text/plain"), 415],
      [await call(null, list), 401],
      [await fromPage(LISTED, "/mcp", { headers: { authorization: `Bearer ${TOKENS.owner}` } }), 405],
      [await fromPage(LISTED, "/.well-known/openid-configuration"), 404],
    ] as const) {
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, LISTED]);
      expect(answer.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
      expect(answer.headers.get("vary")).toContain("Origin");
    }
  }, 30_000);

  test("G4 /.well-known answers 404 where nothing is, never 401", async () => {
    for (const path of ["openid-configuration", "security.txt"]) {
      const answer = await ask(`/.well-known/${path}`, { token: null });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
    }
  });

  test("the console's routes, webhooks and the bridge are closed to other sites' pages", async () => {
    for (const path of ["/v1/console/session", "/webhooks/generic/door", "/bridge", "/"]) {
      const { headers } = await fromPage(LISTED, path, preflight("POST", "x-edgecall-console"));
      expect(headers.has("access-control-allow-origin")).toBe(false);
    }
  });

  test.each(["*", "chat.example.org", "https://chat.example.org/", "null"])(
    "CORS_ORIGINS=%s is a mistake that allows nothing and is reported",
    async (CORS_ORIGINS) => {
      const response = await withVars({ CORS_ORIGINS }, "/v1/agents", { headers: { origin: LISTED } });
      expect(response.status).toBe(500);
      expect(response.headers.has("access-control-allow-origin")).toBe(false);
      expect(await response.json()).toMatchObject({
        error: { code: "not_configured", message: expect.stringContaining("CORS_ORIGINS: expected") },
      });
    },
  );
});

describe("bodies", () => {
  const KIB = 1_024;
  test.each([
    ["/v1/conversations/big/messages", 1_024 * KIB],
    ["/ask", 1_024 * KIB],
    ["/v1/agents/pi/commands", 1_024 * KIB],
    ["/v1/chat/completions", 8 * 1_024 * KIB],
    ["/v1/responses", 8 * 1_024 * KIB],
    ["/mcp", 256 * KIB],
    ["/webhooks/telegram/family", 512 * KIB],
    ["/webhooks/generic/door", 3 * 1_024 * KIB],
  ])("%s may have %d bytes, with or without a length", async (path, max) => {
    const headers = { "content-type": "application/json" };
    const told = await ask(path, { method: "POST", headers, body: new Uint8Array(max + 1) });
    let read = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += 64 * KIB;
        controller.enqueue(new Uint8Array(64 * KIB));
      },
    });
    const untold = await ask(path, { method: "POST", headers, body: endless });
    for (const response of [told, untold]) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({
        error: { code: "too_large", message: expect.stringContaining(String(max)) },
      });
    }
    expect(read).toBeLessThan(max + 1_024 * KIB);
  });
});

test("a secret that is not JSON is not quoted", async () => {
  const response = await withVars({ API_TOKENS: "pasted-by-mistake-secret" }, "/v1/agents", {
    headers: { authorization: `Bearer ${TOKENS.owner}` },
  });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).toContain("API_TOKENS: not JSON");
  expect(text).not.toContain("pasted");
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::7", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["::1", "0:0:0:0"],
  ["", ""],
])("the network of %s is %s", (address, expected) => expect(network(address)).toBe(expected));

test("a body that breaks off is the client's fault", async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error("hung up")),
  });
  const response = await ask("/v1/conversations/fuzz/messages", { method: "POST", body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_body" } });
});
