import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { Agents } from "./agents.ts";
import { CONVERSATION_MIGRATIONS } from "./conversation-schema.ts";
import { CONVERSATION_V1, HOME_V1 } from "./fixtures/v1.ts";
import { CONVERSATION_V2, HOME_V2 } from "./fixtures/v2.ts";
import { CONVERSATION_V3, HOME_V3 } from "./fixtures/v3.ts";
import { HOME_MIGRATIONS } from "./home-schema.ts";
import { Ledger } from "./ledger.ts";
import { type Migration, migrate } from "./migrate.ts";
import { Transcript } from "./transcript.ts";

/** An object whose disk holds a fixture, migrated by today's code. */
async function onDisk<T>(
  fixture: string,
  migrations: readonly Migration[],
  read: (storage: DurableObjectStorage) => T,
): Promise<T> {
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  return await runInDurableObject(stub, async (_, state) => {
    await state.storage.deleteAll();
    state.storage.sql.exec(fixture);
    migrate(state.storage, migrations);
    return read(state.storage);
  });
}

const shapeOf = (storage: DurableObjectStorage) =>
  storage.sql
    .exec<{ name: string; column: string }>(
      `SELECT m.name AS name, p.name AS column FROM sqlite_master m, pragma_table_info(m.name) p
       WHERE m.type = 'table' AND m.name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY m.name, p.name`,
    )
    .toArray();

describe.each([
  ["1", CONVERSATION_V1],
  ["2", CONVERSATION_V2],
  ["3", CONVERSATION_V3],
])("a conversation of version %s", (version, fixture) => {
  test("is read by today's code", async () => {
    const { turn, entries, call } = await onDisk(fixture, CONVERSATION_MIGRATIONS, (storage) => {
      const transcript = new Transcript(storage);
      const turn = transcript.currentTurn();
      return {
        turn,
        entries: transcript.entries(2),
        call: transcript.call("6a4b1d7e-0000-4000-8000-000000000002"),
      };
    });
    expect(turn).toMatchObject({ n: 2, status: "running", origin: { principal: "anna" } });
    expect(entries.map(({ seq, role }) => [seq, role])).toEqual([
      [1, "user"],
      [2, "assistant"],
      [4, "assistant"],
      [6, "user"],
      [7, "assistant"],
    ]);
    expect(call).toMatchObject({ args: { agent_id: "pi", query: "and this?" } });
    expect(call?.outcome).toBeUndefined();
  });

  test("goes on: the open call is settled with the next seq", async () => {
    const settledSeq = await onDisk(fixture, CONVERSATION_MIGRATIONS, (storage) => {
      const transcript = new Transcript(storage);
      transcript.settle("6a4b1d7e-0000-4000-8000-000000000002", {
        status: "success",
        text: "yes",
        elapsedMs: 1,
      });
      return transcript.call("6a4b1d7e-0000-4000-8000-000000000002")?.settledSeq;
    });
    // Version 2 has a question, whose seq counts too.
    expect(settledSeq).toBe(version === "1" ? 8 : 9);
  });
});

test.each([
  ["1", HOME_V1],
  ["2", HOME_V2],
  ["3", HOME_V3],
])("a home of version %s is read by today's code", async (_, fixture) => {
  const { roster, open, settled } = await onDisk(fixture, HOME_MIGRATIONS, (storage) => {
    const ledger = new Ledger(storage);
    return {
      roster: new Agents(storage).roster(1, () => true),
      open: ledger.open(),
      settled: ledger.get("6a4b1d7e-0000-4000-8000-000000000001"),
    };
  });
  expect(roster).toMatchObject([
    { id: "pi", online: true, actions: ["disk"], hasModel: true },
    { id: "rust", online: false, foreign: true },
  ]);
  expect(open).toMatchObject([
    { id: "6a4b1d7e-0000-4000-8000-000000000002", state: "taken", command: "prompt" },
  ]);
  expect(settled?.outcome).toMatchObject({ status: "success", text: "/ 38% used" });
});

test.each([
  ["conversation of version 1", CONVERSATION_V1, CONVERSATION_MIGRATIONS],
  ["conversation of version 2", CONVERSATION_V2, CONVERSATION_MIGRATIONS],
  ["conversation of version 3", CONVERSATION_V3, CONVERSATION_MIGRATIONS],
  ["home of version 1", HOME_V1, HOME_MIGRATIONS],
  ["home of version 2", HOME_V2, HOME_MIGRATIONS],
  ["home of version 3", HOME_V3, HOME_MIGRATIONS],
] as const)("an old %s ends with the tables of a new one", async (_, fixture, migrations) => {
  const old = await onDisk(fixture, migrations, shapeOf);
  const fresh = await onDisk("SELECT 1", migrations, shapeOf);
  expect(old).toEqual(fresh);
});
