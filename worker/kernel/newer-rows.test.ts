/** A gateway that is older than its rows: it says so, and leaves them as they are. */
import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterEach, expect, test } from "vitest";
import { call } from "../../test/keyed-home.ts";
import { script } from "../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../test/states.ts";
import { alarmOf } from "../../test/stopping.ts";
import { TOKENS } from "../../test/tokens.ts";
import { AGENTS } from "../../test/turns.ts";
import { ask, say, TestBridge } from "../../test/workerd.ts";
import { CONVERSATION_MIGRATIONS } from "./conversation/store/schema.ts";
import { HOME_MIGRATIONS } from "./home/schema.ts";
import type { Migration } from "./migrate.ts";

afterEach(reset);

/** What the next version leaves behind: its number, a table of its own, and an alarm. Then today's code starts over it. */
async function asOfNext(stub: DurableObjectStub, migrations: readonly Migration[]): Promise<void> {
  const next = (migrations.at(-1)?.version ?? 0) + 1;
  await runInDurableObject(stub, async (_, { storage }) => {
    storage.sql.exec("CREATE TABLE of_next (one INTEGER) STRICT");
    storage.sql.exec("INSERT INTO migration (version, applied_at) VALUES (?, ?)", next, Date.now());
    await storage.setAlarm(Date.now() + 86_400_000);
  });
  await evictDurableObject(stub);
}

/** All rows of all tables. */
const rowsOf = async (stub: DurableObjectStub) =>
  await runInDurableObject(stub, (_, { storage: { sql } }) =>
    sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
      )
      .toArray()
      .map(({ name }) => [name, sql.exec(`SELECT * FROM "${name}"`).toArray()]),
  );

const words = (migrations: readonly Migration[]) => {
  const newest = migrations.at(-1)?.version ?? 0;
  return (
    `the stored data has version ${newest + 1} of the tables, and this gateway (edgecall ${VERSION}) knows up to version ${newest}. ` +
    "A newer edgecall wrote it: install that version or a later one again. Nothing was changed."
  );
};

test("O12: a home whose rows are newer refuses each request in words, and writes nothing", async () => {
  await TestBridge.connect(AGENTS);
  await say("before", script({ text: "ok" }));
  const stub = theHome();
  await asOfNext(stub, HOME_MIGRATIONS);
  const before = await rowsOf(stub);

  const refusal = { error: { code: "newer_data", message: words(HOME_MIGRATIONS) } };
  expect(await call("/v1/agents")).toMatchObject({ status: 503, body: refusal });
  expect(await call("/v1/rules")).toMatchObject({ status: 503, body: refusal });
  const change = { method: "PATCH", body: JSON.stringify({ zone: "Asia/Tokyo" }), token: TOKENS.owner };
  expect(await call("/v1/home/clock", change)).toMatchObject({ status: 503, body: refusal });
  const bridge = await ask("/bridge", { token: TOKENS.bridge, headers: { upgrade: "websocket" } });
  expect([bridge.status, await bridge.json()]).toEqual([503, refusal]);
  // The alarm waits for the gateway that knows what it is for.
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(await alarmOf(stub)).toBeGreaterThan(Date.now());
  expect(await rowsOf(stub)).toEqual(before);
});

test("O12: so does a conversation whose rows are newer", async () => {
  await TestBridge.connect(AGENTS);
  await say("newer", script({ text: "ok" }));
  const stub = conversationOf("newer");
  await asOfNext(stub, CONVERSATION_MIGRATIONS);
  const before = await rowsOf(stub);

  const refusal = { error: { code: "newer_data", message: words(CONVERSATION_MIGRATIONS) } };
  expect(await say("newer", script({ text: "again" }))).toMatchObject({ status: 503, body: refusal });
  expect(await call("/v1/conversations/newer")).toMatchObject({ status: 503, body: refusal });
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(await alarmOf(stub)).toBeGreaterThan(Date.now());
  expect(await rowsOf(stub)).toEqual(before);
  // Others of the home go on.
  expect(await say("other", script({ text: "fine" }))).toMatchObject({ status: 200 });
});
