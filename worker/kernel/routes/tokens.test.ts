/** Tokens that people make: who may make them, what they give access to, and when they end. */
import { createExecutionContext, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { sha256, TOKENS } from "../../../test/tokens.ts";
import { ask, say } from "../../../test/workerd.ts";
import worker from "../../index.ts";
import type { TokenView } from "../api/answers.ts";
import type { Env } from "../env.ts";
import { newHomeToken } from "../http/tokens.ts";

type Made = { token: string; record: TokenView; error?: { message: string } };

const DAY_MS = 86_400_000;

async function make(body: object, token: string = TOKENS.owner) {
  const response = await ask("/v1/tokens", { method: "POST", body: JSON.stringify(body), token });
  return { status: response.status, ...((await response.json()) as Made) };
}

async function list(token: string = TOKENS.owner): Promise<TokenView[]> {
  return ((await (await ask("/v1/tokens", { token })).json()) as { tokens: TokenView[] }).tokens;
}

const statusOf = async (path: string, token: string) => (await ask(path, { token })).status;
const revoke = (id: string) => ask(`/v1/tokens/${id}`, { method: "DELETE" });
const guest = { name: "phone", role: "guest", scopes: ["ask"] };

beforeEach(async () => {
  vi.useRealTimers();
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
    if (storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'token'").toArray().length > 0)
      storage.sql.exec("DELETE FROM token");
  });
});

describe("G8 a made token", () => {
  test("G8 gives access to its scopes, is shown once, and is stored only as a hash", async () => {
    const { status, token, record } = await make({ ...guest, expires_in_days: 30 });
    expect(status).toBe(201);
    expect(token).toMatch(/^ec_a_[A-Za-z0-9_-]{43}$/);
    expect(record).toMatchObject({
      ...guest,
      made_by: "anna",
      source: "home",
      last_used_at: null,
      created_at: expect.any(Number),
    });
    expect((record.expires_at ?? 0) - (record.created_at ?? 0)).toBeCloseTo(30 * DAY_MS, -4);
    expect(await statusOf("/v1/agents", token)).toBe(200);
    expect(await statusOf("/v1/audit", token)).toBe(403);
    const rows = await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM token").toArray()),
    );
    expect(rows).toContain(sha256(token));
    expect(rows).not.toContain(token);
    expect(JSON.stringify(await list())).not.toContain(token);
    expect(await (await ask("/v1/export")).text()).not.toContain(sha256(token));
  });

  test("G8 made with a token that expires, it lives no longer than that", async () => {
    const admin = { name: "boss", role: "owner", scopes: ["ask", "admin"] };
    const maker = await make({ ...admin, expires_in_days: 2 });
    const never = await make(guest, maker.token);
    expect([never.status, never.record.expires_at]).toEqual([201, maker.record.expires_at]);
    const short = await make({ ...guest, expires_in_days: 1 }, maker.token);
    expect(short.status).toBe(201);
    expect(short.record.expires_at).toBeLessThan(maker.record.expires_at ?? 0);
    const long = await make({ ...guest, expires_in_days: 3 }, maker.token);
    expect([long.status, long.error?.message]).toEqual([403, expect.stringContaining("expires_in_days: ")]);
  });

  test("G8 ends at the next request after it was revoked, and when it expires", async () => {
    const { token, record } = await make(guest);
    expect(await statusOf("/v1/agents", token)).toBe(200);
    expect((await revoke(record.id)).status).toBe(204);
    expect(await statusOf("/v1/agents", token)).toBe(401);
    expect((await revoke(record.id)).status).toBe(404);

    const short = await make({ ...guest, expires_in_days: 1 });
    expect(await statusOf("/v1/agents", short.token)).toBe(200);
    await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      storage.sql.exec("UPDATE token SET expires_at = ? WHERE id = ?", Date.now() - 1, short.record.id),
    );
    expect(await statusOf("/v1/agents", short.token)).toBe(401);
    // It stays listed, to show the reason.
    expect((await list()).map(({ id }) => id)).toContain(short.record.id);
  });

  test("G8 signs in to the console, until it is revoked", async () => {
    const { token, record } = await make({ ...guest, expires_in_days: 1 });
    const own = { origin: "https://gateway", "x-edgecall-console": "1", "sec-fetch-site": "same-origin" };
    const signedIn = await ask("/v1/console/session", {
      method: "POST",
      body: JSON.stringify({ token }),
      headers: own,
      token: null,
    });
    expect(signedIn.status).toBe(200);
    const cookie = signedIn.headers.get("set-cookie") ?? "";
    // No longer than the token.
    expect(Number(/Max-Age=(\d+)/.exec(cookie)?.[1])).toBeLessThanOrEqual(86_400);
    const session = cookie.split(";", 1)[0] ?? "";
    const look = async (value: string) =>
      (
        (await (await ask("/v1/console/session", { token: null, headers: { cookie: value } })).json()) as {
          signed_in: boolean;
          name?: string;
        }
      ).signed_in;
    expect(await look(session)).toBe(true);
    const forged = session.replace(/[A-Za-z0-9_-]{4}$/, "AAAA");
    expect(await look(forged)).toBe(false);
    expect(await look(session.replace("made.a.", "made.b."))).toBe(false);
    await revoke(record.id);
    expect(await look(session)).toBe(false);
  });

  test("G8 its use is recorded once an hour, not with each request", async () => {
    const { token, record } = await make(guest);
    const used = async () => (await list()).find(({ id }) => id === record.id)?.last_used_at ?? null;
    expect(await used()).toBeNull();
    await statusOf("/v1/agents", token);
    const first = await used();
    expect(first).toEqual(expect.any(Number));
    await statusOf("/v1/agents", token);
    expect(await used()).toBe(first);
    await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      storage.sql.exec("UPDATE token SET last_used_at = ?", Date.now() - 3_600_001),
    );
    await statusOf("/v1/agents", token);
    expect(Date.now() - ((await used()) ?? 0)).toBeLessThan(60_000);
  });
});

test("G8 the tokens that it made are revoked with it in one request, even if one of them asks for it", async () => {
  const admin = { role: "owner", scopes: ["ask", "admin"] };
  const boss = await make({ name: "boss", ...admin });
  const helper = await make({ name: "helper", ...admin }, boss.token);
  const wall = await make({ name: "wall", role: "guest", scopes: ["ask"] }, helper.token);
  const other = await make({ name: "other", ...admin });
  const init = { method: "DELETE", token: helper.token };
  const wrong = await ask(`/v1/tokens/${boss.record.id}?made=true`, init);
  expect([wrong.status, await wrong.text()]).toEqual([
    400,
    expect.stringContaining("made: expected yes or no"),
  ]);
  const answer = await ask(`/v1/tokens/${boss.record.id}?made=yes`, init);
  expect(answer.status).toBe(200);
  const { revoked } = (await answer.json()) as { revoked: TokenView[] };
  expect(revoked.map(({ name }) => name)).toEqual(["boss", "helper", "wall"]);
  const statuses = [boss, helper, wall, other].map(({ token }) => statusOf("/v1/agents", token));
  expect(await Promise.all(statuses)).toEqual([401, 401, 401, 200]);
});

test("G8 an open stream ends with its token, before it sends anything more", async () => {
  const { token, record } = await make({ name: "reader", role: "owner", scopes: ["ask"] });
  const open = async (path: string) => {
    const response = await ask(path, { token });
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await reader?.read())?.value ?? "";
    const rest = (async () => {
      let text = "";
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value;
      return text;
    })();
    return { first, rest };
  };
  const followed = await open("/v1/conversations/followed-by-token/events");
  expect(followed.first).toContain("event: open");
  await revoke(record.id);
  await say("followed-by-token", script({ text: "a secret" }));
  expect(await followed.rest).not.toContain("secret");
  expect(await statusOf("/v1/questions/events", token)).toBe(401);
});

describe("G8 who may make which tokens", () => {
  test("G8 never one with more rights than its maker", async () => {
    // ada is a guest with ask and admin.
    const ada = await make({ name: "more", role: "guest", scopes: ["ask", "approve"] }, TOKENS.admin);
    expect([ada.status, ada.error?.message]).toEqual([
      403,
      "scopes: your token does not have 'approve', so it cannot give it",
    ]);
    const owner = await make({ name: "more", role: "owner", scopes: ["ask"] }, TOKENS.admin);
    expect([owner.status, owner.error?.message]).toEqual([
      403,
      "role: your token has the role 'guest', so it cannot give 'owner'",
    ]);
    const child = await make({ name: "child", role: "guest", scopes: ["admin", "ask"] }, TOKENS.admin);
    expect(child.record.scopes).toEqual(["ask", "admin"]);
    // A made token can make no token with more than its own rights.
    expect((await make({ ...guest, scopes: ["command"] }, child.token)).status).toBe(403);
    expect((await make(guest, child.token)).record.made_by).toBe("child");
  });

  test("G8 listing, making and revoking need 'admin'", async () => {
    const { record } = await make(guest);
    for (const token of [TOKENS.member, TOKENS.approver, TOKENS.guest, TOKENS.scraper]) {
      expect(await statusOf("/v1/tokens", token)).toBe(403);
      expect((await make(guest, token)).status).toBe(403);
      expect((await ask(`/v1/tokens/${record.id}`, { method: "DELETE", token })).status).toBe(403);
    }
    // Another home's tokens are not found.
    expect((await ask(`/v1/tokens/${record.id}`, { method: "DELETE", token: TOKENS.otherHome })).status).toBe(
      404,
    );
    expect((await list(TOKENS.otherHome)).map(({ name }) => name)).toEqual(["berta"]);
  });

  test("G8 tokens of the settings are listed, and cannot be revoked", async () => {
    const secret = (await list()).filter(({ source }) => source === "secret");
    expect(secret.map(({ name }) => name)).toEqual(["anna", "gus", "mia", "max", "ada", "prometheus"]);
    const refused = await revoke(secret[0]?.id ?? "");
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain("API_TOKENS");
  });

  test.each([
    ["no name", { name: undefined }, /name/],
    ["a sender's name", { name: "telegram:7" }, /name: expected letters/],
    ["a role that is none", { role: "king" }, /role/],
    ["no scopes", { scopes: [] }, /scopes/],
    ["a scope that is none", { scopes: ["all"] }, /scopes/],
    ["no days", { expires_in_days: 0 }, /expires_in_days/],
    ["a key that is none", { expires: 5 }, /expires/],
  ])("G8 %s is refused with the field's name", async (_, wrong, words) => {
    const { status, error } = await make({ ...guest, ...wrong });
    expect(status).toBe(400);
    expect(error?.message).toMatch(words);
  });

  test("G8 a home has a maximum number", async () => {
    await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
      for (let n = 0; n < 200; n += 1)
        storage.sql.exec(
          "INSERT INTO token (id, hash, name, role, scopes, created_at, made_by) VALUES (?, ?, 'x', 'guest', '[\"ask\"]', 1, 'anna')",
          `id-${n}`,
          `hash-${n}`,
        );
    });
    expect((await make(guest)).status).toBe(409);
  });
});

test("G8 a stranger's token wakes no home that the settings do not name, and stores nothing in one that they do", async () => {
  const before = (await listDurableObjectIds(env.HOME)).length;
  for (let n = 0; n < 20; n += 1)
    expect(await statusOf("/v1/agents", newHomeToken(`made-up-${n}`))).toBe(401);
  expect((await listDurableObjectIds(env.HOME)).length).toBe(before);
  const wrong = await Promise.all([1, 2, 3].map(() => statusOf("/v1/agents", newHomeToken("a"))));
  expect(wrong).toEqual([401, 401, 401]);
});

test("G8 guesses are counted before a home is asked; the right token still works", async () => {
  let guesses = 0;
  const RATE_GUESSES = {
    limit: async () => {
      guesses += 1;
      return { success: guesses <= 2 };
    },
  };
  const vars = { ...(env as unknown as Env), RATE_LIMITS: "on", RATE_GUESSES } as Env;
  const status = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, "cf-connecting-ip": "203.0.113.7" };
    const request = new Request("https://gateway/v1/agents", { headers });
    return (await worker.fetch(request, vars, createExecutionContext())).status;
  };
  const { token } = await make(guest);
  expect(await status(token)).toBe(200);
  expect(guesses).toBe(1);
  expect(await status(newHomeToken("a"))).toBe(429);
  expect(await status(newHomeToken("a"))).toBe(429);
  expect(await status(token)).toBe(200);
});

test("O15: the owner's token is replaced only where the machine keeps it, and only by itself", async () => {
  const rotate = { method: "POST" };
  expect((await ask("/v1/tokens/rotate", rotate)).status).toBe(409);
  let asked = 0;
  const OWNER = {
    fetch: async () => {
      asked += 1;
      return new Response("new");
    },
  };
  const vars = { ...(env as unknown as Env), OWNER } as Env;
  const status = async (token: string) => {
    const request = new Request("https://gateway/v1/tokens/rotate", {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    return (await worker.fetch(request, vars, createExecutionContext())).status;
  };
  const { token } = await make({
    name: "other",
    role: "owner",
    scopes: ["ask", "command", "approve", "admin"],
  });
  expect(await status(token)).toBe(403);
  expect(await status(TOKENS.otherHome)).toBe(403);
  expect(asked).toBe(0);
});
