/**
 * A client that asks too often is told so and when to return, before any object is woken. Others are not slowed down.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { CHANNEL_SECRETS, TOKENS, testVars } from "../tokens.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-limits-"));
const log: string[] = [];
let gateway: Gateway;
beforeAll(async () => {
  const vars = { ...testVars, RATE_LIMITS: "on" };
  gateway = await startWorker({ port: 0, dir, vars, onLog: (line) => log.push(line) });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Each test has its own address: locally, unlike on Cloudflare, a client may state its address. */
type Ask = { from: string; token?: string; headers?: Record<string, string>; body?: unknown };

function ask(path: string, { from, token, headers = {}, body }: Ask): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    ...(body !== undefined && {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
    headers: {
      "cf-connecting-ip": from,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
}

/** Asks in batches until it is limited. The counter's window may end in between, hence up to twice as many requests. */
async function untilLimited(
  limit: number,
  one: () => Promise<Response>,
): Promise<{ before: number; response: Response }> {
  let before = 0;
  while (before <= 2 * limit) {
    const batch = await Promise.all(Array.from({ length: 20 }, one));
    const response = batch.find(({ status }) => status === 429);
    if (response) return { before: before + batch.filter(({ status }) => status !== 429).length, response };
    before += batch.length;
  }
  throw new Error(`${before} were let through`);
}

describe("a client that asks too often", () => {
  test("wrong tokens: 30 a minute from an address, including sign-ins; another address is not limited", async () => {
    const from = "203.0.113.1";
    const { before, response } = await untilLimited(30, () =>
      ask("/v1/agents", { from, token: "wrong-token-of-nobody" }),
    );
    expect(before).toBeGreaterThanOrEqual(30);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.json()).toEqual({
      error: { code: "rate_limited", message: expect.stringContaining("wrong credentials") },
    });
    const signIn = await ask("/v1/console/session", {
      from,
      body: { token: TOKENS.owner },
      headers: { origin: gateway.url, "x-edgecall-console": "1" },
    });
    // Also with the right token: while it is limited no guess is checked.
    expect(signIn.status).toBe(429);
    expect((await ask("/bridge", { from, token: "wrong-token-of-a-bridge" })).status).toBe(429);
    expect((await ask("/v1/agents", { from: "203.0.113.2", token: "wrong-token-of-nobody" })).status).toBe(
      401,
    );
    expect((await ask("/v1/agents", { from, token: TOKENS.owner })).status).toBe(200);
  });

  test("a token: 600 a minute from all addresses, with OpenAI's error form on OpenAI's routes", async () => {
    let n = 0;
    const path = "/v1/models";
    const { before, response } = await untilLimited(600, () => {
      n += 1;
      return ask(path, { from: `198.51.100.${n % 250}`, token: TOKENS.guest });
    });
    expect(before).toBeGreaterThanOrEqual(600);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringContaining("'gus'"),
        type: "rate_limit_error",
        param: null,
        code: "rate_limited",
      },
    });
    expect((await ask(path, { from: "198.51.100.1", token: TOKENS.owner })).status).toBe(200);
  });

  test("an address with any token: 1,200 a minute, before anything is checked", async () => {
    const from = "203.0.113.3";
    const { response } = await untilLimited(1_200, () => ask("/v1/agents", { from }));
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("your network") },
    });
    expect((await ask("/v1/agents", { from, token: TOKENS.owner })).status).toBe(429);
    expect((await ask("/healthz", { from })).status).toBe(200);
  });

  test("a sender: a program gets 429, a chat platform its acknowledgement with a text for the person", async () => {
    const say = (sender: string) => () =>
      ask("/webhooks/generic/door", {
        from: "203.0.113.4",
        token: CHANNEL_SECRETS.generic,
        body: { sender, text: "/status" },
      });
    const { response } = await untilLimited(30, say("fast"));
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.json()).toMatchObject({ error: { code: "rate_limited" } });
    expect((await say("slow")()).status).toBe(200);

    const words: string[] = [];
    for (let update = 1; update <= 62 && !words.some((text) => text.includes("too much")); update += 1) {
      const chat = { id: 999, type: "private" };
      const message = { message_id: update, from: { id: 999, first_name: "Eve" }, chat, text: "hello" };
      const response = await ask("/webhooks/telegram/family", {
        from: "203.0.113.5",
        headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
        body: { update_id: update, message },
      });
      expect(response.status).toBe(200);
      words.push(await response.text());
    }
    expect(words.at(-1)).toContain("too much at once");
  });
});

test("no request writes a secret to the log", async () => {
  const from = "203.0.113.6";
  const bridge = { upgrade: "websocket", connection: "upgrade" };
  const secrets = [
    ...Object.values(TOKENS),
    ...Object.values(CHANNEL_SECRETS),
    "guessed-token-1234567890",
    "my-own-words",
  ];
  const bodies = ["my-own-words", { text: 5, "my-own-words": 1 }, { model: "my-own-words", messages: "x" }];
  const asked: Array<[string, Ask]> = Object.values(TOKENS).flatMap((token) =>
    [
      "/v1/conversations/odd/messages",
      "/v1/chat/completions",
      "/v1/responses",
      "/mcp",
      "/v1/agents/pi/commands",
    ].flatMap((path) =>
      bodies.map((body): [string, Ask] => [
        path,
        { from, token, body, headers: { "content-type": "application/json" } },
      ]),
    ),
  );
  asked.push(
    [`/v1/media/x?home=a&until=1&mac=guessed-token-1234567890`, { from }],
    [`/v1/agents?access_token=${TOKENS.owner}`, { from }],
    ["/bridge", { from, token: "guessed-token-1234567890", headers: bridge }],
    [
      "/v1/console/session",
      {
        from,
        body: { token: "guessed-token-1234567890" },
        headers: { origin: gateway.url, "x-edgecall-console": "1" },
      },
    ],
    ["/webhooks/generic/door", { from, token: "guessed-token-1234567890", body: "my-own-words" }],
    [
      "/webhooks/telegram/family",
      {
        from,
        body: "my-own-words",
        headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
      },
    ],
  );
  for (const [path, how] of asked) {
    const response = await ask(path, how).catch(() => undefined);
    const text = (await response?.text()) ?? "";
    expect(text).not.toMatch(/\n\s+at /);
    expect(response?.status ?? 0).toBeLessThan(500);
  }
  expect(log).not.toEqual([]);
  for (const secret of secrets) expect(log.filter((line) => line.includes(secret))).toEqual([]);
});
