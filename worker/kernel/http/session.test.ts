import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { TOKENS } from "../../../test/tokens.ts";
import type { Env } from "../env.ts";
import { apiTokenRecords } from "../settings/tokens.ts";
import { sessionCookie } from "./session.ts";

const worker = (exports as unknown as { default: Fetcher }).default;
const OWN = { origin: "https://gateway", "x-edgecall-console": "1" };

function signIn(
  address: string,
  headers: Record<string, string> = OWN,
  body: unknown = { token: TOKENS.guest },
) {
  return worker.fetch(`${address}/v1/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function withSession(seconds: number, path: string, init: RequestInit = {}): Promise<number> {
  const record = apiTokenRecords(env as unknown as Env).find(({ name }) => name === "gus");
  if (!record) throw new Error("the tests' guest has no record");
  const [cookie = ""] = (
    await sessionCookie(env as unknown as Env, record, { seconds, request: new Request("https://gateway") })
  ).split(";");
  const headers = { ...OWN, cookie, ...(init.headers as Record<string, string>) };
  return (await worker.fetch(`https://gateway${path}`, { ...init, headers })).status;
}

describe("a console session", () => {
  test("is given for a token, over a safe connection, by the page itself", async () => {
    const response = await signIn("https://gateway");
    expect(await response.json()).toMatchObject({
      signed_in: true,
      name: "gus",
      role: "guest",
      scopes: ["ask"],
    });
    expect(response.headers.get("set-cookie")).toMatch(
      /^__Host-edgecall=[0-9a-f]{32}\.\d{10}\.t[\w-]{15}\.[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await signIn("https://gateway", {})).status).toBe(403);
    const lan = "http://192.168.1.5:8787";
    expect((await signIn(lan, { ...OWN, origin: lan })).status).toBe(403);
    const here = "http://localhost:8787";
    expect((await signIn(here, { ...OWN, origin: here })).status).toBe(200);
  });

  test.each([
    {},
    { token: "short" },
    { token: "no-such-token-at-all" },
    { token: "ü".repeat(20) },
    { token: 1 },
    [],
    null,
  ])("is not given for %j", async (body) => {
    const response = await signIn("https://gateway", OWN, body);
    expect([400, 401]).toContain(response.status);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("may do what its token may, until it expires", async () => {
    expect(await withSession(60, "/v1/agents")).toBe(200);
    expect(await withSession(60, "/v1/audit")).toBe(403);
    expect(await withSession(60, "/v1/console/usage")).toBe(200);
    expect(await withSession(60, "/v1/console/agents/pi/actions")).toBe(403);
    expect(await withSession(0, "/v1/agents")).toBe(401);
    expect(await withSession(-60, "/v1/agents")).toBe(401);
  });

  test("is not valid on other clients' routes", async () => {
    expect(await withSession(60, "/mcp", { method: "POST", body: "{}" })).toBe(401);
    expect(await withSession(60, "/ask", { method: "POST", body: "hello" })).toBe(401);
    expect(await withSession(60, "/v1/models")).toBe(401);
  });
});
