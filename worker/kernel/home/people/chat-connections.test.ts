/** Connections made in the console: how their secrets are stored in a home's rows, and what people see of them. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { ask } from "../../../../test/workerd.ts";
import { type Connection, readConnection } from "../../settings/chat.ts";
import { ChatConnectionStore } from "./chat-connections.ts";

const KEY = "a key of the tests that is long enough";
const TOKEN = "123456:token-of-a-console-bot";
const SECRET = "webhook-secret-of-a-console-bot";

function telegram(connection: string, more: object = {}): Connection {
  const made = readConnection({
    channel: "telegram",
    connection,
    home: "a",
    token: TOKEN,
    secret: SECRET,
    ...more,
  });
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

/** Each test has its own home. */
async function inHome<T>(run: (storage: DurableObjectStorage) => Promise<T>): Promise<T> {
  const stub = await madeHome();
  return runInDurableObject(stub, (_, { storage }) => run(storage));
}

const connectionsOf = (storage: DurableObjectStorage, key: string | undefined) =>
  new ChatConnectionStore(storage, "a", key);

describe("secrets at rest", () => {
  test("are encrypted with CONNECTIONS_KEY, and decrypted unchanged", async () => {
    const { rows, found, listed } = await inHome(async (storage) => {
      const kept = connectionsOf(storage, KEY);
      await kept.store(telegram("family"), "anna", 5);
      return {
        rows: JSON.stringify(storage.sql.exec("SELECT * FROM connection").toArray()),
        found: await kept.find("telegram", "family"),
        listed: kept.list(),
      };
    });
    expect(rows).not.toContain(TOKEN);
    expect(rows).not.toContain(SECRET);
    expect(found).toEqual({ ok: true, value: telegram("family") });
    expect(listed).toEqual([{ channel: "telegram", connection: "family", made_by: "anna", made_at: 5 }]);
  });

  test("cannot be read with another key, or moved to another connection's row", async () => {
    const [other, none, moved] = await inHome(async (storage) => {
      const kept = connectionsOf(storage, KEY);
      await kept.store(telegram("family"), "anna", 5);
      await kept.store(telegram("work", { token: "1:another-token-of-the-tests" }), "anna", 5);
      const other = await connectionsOf(storage, `${KEY}!`).find("telegram", "family");
      const none = await connectionsOf(storage, undefined).find("telegram", "family");
      storage.sql.exec(
        "UPDATE connection SET secrets = (SELECT secrets FROM connection WHERE connection = 'family') WHERE connection = 'work'",
      );
      return [other, none, await kept.find("telegram", "work")];
    });
    for (const found of [other, none, moved])
      expect(found).toMatchObject({ ok: false, error: expect.stringContaining("CONNECTIONS_KEY") });
  });

  test("without a key they are stored only in the home, and stay readable when a key is set later", async () => {
    const found = await inHome(async (storage) => {
      await connectionsOf(storage, undefined).store(telegram("family"), "anna", 5);
      return await connectionsOf(storage, KEY).find("telegram", "family");
    });
    expect(found).toEqual({ ok: true, value: telegram("family") });
  });

  test("a weak key is refused by its name", async () => {
    const kept = inHome((storage) => connectionsOf(storage, "short").store(telegram("family"), "anna", 5));
    await expect(kept).rejects.toThrow("CONNECTIONS_KEY");
  });
});

test("a home stores twenty, and one with a known name replaces it", async () => {
  const [kept, full, again, gone] = await inHome(async (storage) => {
    const connections = connectionsOf(storage, undefined);
    const kept = [];
    for (let n = 1; n <= 20; n += 1) kept.push(await connections.store(telegram(`bot-${n}`), "anna", n));
    const full = await connections.store(telegram("bot-21"), "anna", 21);
    const again = await connections.store(telegram("bot-20"), "berta", 22);
    return [
      kept,
      full,
      again,
      [connections.remove("telegram", "bot-20"), connections.remove("telegram", "bot-20")],
    ];
  });
  expect(kept).toEqual(Array(20).fill(true));
  expect([full, again, gone]).toEqual([false, true, [true, false]]);
});

describe("a connection's webhook", () => {
  const keep = async (connection: Connection) =>
    runInDurableObject(await madeHome("a"), (_, { storage }) =>
      connectionsOf(storage, undefined).store(connection, "anna", 5),
    );
  const webhook = (place: string, secret: string | undefined, channel = "telegram") =>
    ask(`/webhooks/${channel}/${place}`, {
      method: "POST",
      token: null,
      body: JSON.stringify({ update_id: 1 }),
      headers: secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret },
    });

  test("is found by its home and name, and verified", async () => {
    await keep(telegram("from-console"));
    expect((await webhook("a~from-console", SECRET)).status).toBe(200);
    expect((await webhook("a~from-console", "wrong")).status).toBe(401);
    expect((await webhook("a~other", SECRET)).status).toBe(404);
    expect((await webhook("b~from-console", SECRET)).status).toBe(404);
    expect((await webhook("from-console", SECRET)).status).toBe(404);
    expect((await webhook("a~b~from-console", SECRET)).status).toBe(404);
    expect((await webhook("a~from-console", SECRET, "generic")).status).toBe(404);
  });

  test("of a home without any token wakes no object; one without a signature is not looked up", async () => {
    const home = `nobody-${crypto.randomUUID().slice(0, 8)}`;
    expect((await webhook(`${home}~family`, SECRET)).status).toBe(404);
    const woken = await listDurableObjectIds(env.HOME);
    expect(woken.map(String)).not.toContain(String(env.HOME.idFromName(home)));
    expect((await webhook("a~from-console", undefined)).status).toBe(404);
  });

  test("CHANNELS has priority over one with the same name", async () => {
    await keep(telegram("family"));
    expect((await webhook("a~family", SECRET)).status).toBe(401);
    expect((await webhook("a~family", CHANNEL_SECRETS.telegram)).status).toBe(200);
  });
});

describe("/v1/connections", () => {
  const shownTo = async (token: string) => {
    const response = await ask("/v1/connections", { token });
    return { status: response.status, text: await response.text() };
  };

  test("shows an administrator the address of each, and no secret", async () => {
    const { text } = await shownTo(TOKENS.owner);
    const { connections } = JSON.parse(text) as { connections: Array<Record<string, unknown>> };
    expect(connections).toContainEqual(
      expect.objectContaining({
        channel: "telegram",
        connection: "family",
        kept_in: "CHANNELS",
        webhook: "https://gateway/webhooks/telegram/family",
      }),
    );
    for (const secret of [...Object.values(CHANNEL_SECRETS), "1:test-token-of-telegram", TOKEN, SECRET])
      expect(text).not.toContain(secret);
  });

  test("is for administrators, each for their own home", async () => {
    expect((await shownTo(TOKENS.guest)).status).toBe(403);
    expect(JSON.parse((await shownTo(TOKENS.otherHome)).text)).toEqual({
      origin: "https://gateway",
      connections: [],
    });
    const other = { token: TOKENS.otherHome };
    expect((await ask("/v1/connections/telegram/family", other)).status).toBe(404);
    expect((await ask("/v1/connections/telegram/family", { ...other, method: "DELETE" })).status).toBe(404);
  });

  test.each([
    [{ channel: "telegram", connection: "x", token: "no token of a bot" }, 400, "token"],
    [{ channel: "telegram", connection: "X", token: TOKEN }, 400, "connection"],
    [{ channel: "whatsapp", connection: "x", token: TOKEN }, 400, "channel"],
    [{ channel: "slack", connection: "x", token: TOKEN }, 400, "secret"],
    [{ channel: "telegram", connection: "x", token: TOKEN, base_url: "http://10.0.0.1" }, 400, "base_url"],
    [{ channel: "telegram", connection: "family", token: TOKEN }, 409, "CHANNELS"],
    [
      { channel: "telegram", connection: "x", token: TOKEN, base_url: "http://127.0.0.1:9" },
      502,
      "no answer",
    ],
  ])("refuses %j with the field's name", async (body, status, words) => {
    const response = await ask("/v1/connections", { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.stringContaining(words)]);
    expect(text).not.toContain(TOKEN);
  });

  test("one from CHANNELS can only be removed there", async () => {
    const response = await ask("/v1/connections/telegram/family", { method: "DELETE" });
    expect(response.status).toBe(409);
  });
});
