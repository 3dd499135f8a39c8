import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { describe, expect, test } from "vitest";
import { backupPage, restoreStep } from "./backup.ts";
import { CONVERSATION_MIGRATIONS, CONVERSATION_TABLES, type Table } from "./conversation/store/schema.ts";
import { Tables } from "./conversation/store/tables.ts";
import { Transcript } from "./conversation/store/transcript.ts";
import { CONVERSATION_V8 } from "./fixtures/conversation-v8.ts";
import { CONVERSATION_V1, HOME_V1 } from "./fixtures/v1.ts";
import { CONVERSATION_V2, HOME_V2 } from "./fixtures/v2.ts";
import { CONVERSATION_V3, HOME_V3 } from "./fixtures/v3.ts";
import { CONVERSATION_V4, HOME_V4 } from "./fixtures/v4.ts";
import { HOME_V8 } from "./fixtures/v8.ts";
import { HOME_V9 } from "./fixtures/v9.ts";
import { HOME_V10 } from "./fixtures/v10.ts";
import { HOME_V11 } from "./fixtures/v11.ts";
import { HOME_V16 } from "./fixtures/v16.ts";
import { HOME_V19 } from "./fixtures/v19.ts";
import { AgentKeys } from "./home/agents/agent-keys.ts";
import { AgentRows } from "./home/agents/agent-rows.ts";
import { GatewayKey } from "./home/agents/gateway-key.ts";
import { HostedDevices } from "./home/agents/hosted-devices.ts";
import { ServedAgents } from "./home/agents/served-agents.ts";
import { Ledger } from "./home/ledger/ledger.ts";
import { ConversationList } from "./home/people/conversation-list.ts";
import { SenderStore } from "./home/people/senders.ts";
import { HOME_MIGRATIONS } from "./home/schema.ts";
import { UsageCounters } from "./home/usage/usage-counters.ts";
import { type Migration, migrate, newerRows, partVersions } from "./migrate.ts";

/** Every schema that was released, with rows from its time. */
const KEPT = [
  { version: 1, conversation: CONVERSATION_V1, home: HOME_V1 },
  { version: 2, conversation: CONVERSATION_V2, home: HOME_V2 },
  { version: 3, conversation: CONVERSATION_V3, home: HOME_V3 },
  { version: 4, conversation: CONVERSATION_V4, home: HOME_V4 },
  // A conversation still has the tables of version 4.
  { version: 8, conversation: CONVERSATION_V4, home: HOME_V8 },
  { version: 9, conversation: CONVERSATION_V4, home: HOME_V9 },
  { version: 10, conversation: CONVERSATION_V4, home: HOME_V10 },
  // The rows of 0.2.0; test/e2e/upgrade.test.ts has a whole home of it.
  { version: 11, conversation: CONVERSATION_V4, home: HOME_V11 },
  // The rows of 0.3.0.
  { version: 16, conversation: CONVERSATION_V8, home: HOME_V16 },
  // Not released; homes of the main branch have it.
  { version: 19, conversation: CONVERSATION_V8, home: HOME_V19 },
];

/** Makes an object with a fixture on its disk, migrated by today's code. */
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

/** Columns of tables and of indexes, each as the platform would give them to a new object. */
/** The agents of a home that serves every agent and whose bridge is connected. */
function rosterOf(storage: DurableObjectStorage) {
  const bridge = { lastSeenAt: () => 1, confirmedUntil: () => null };
  const keys = { serves: () => true, standing: () => "none" as const };
  const rows = new AgentRows(storage, bridge, keys);
  return new ServedAgents(rows, new HostedDevices(storage, rows, keys), keys, bridge).roster(1);
}

const shapeOf = (storage: DurableObjectStorage) =>
  storage.sql
    .exec<{ name: string; column: string }>(
      `SELECT m.name AS name, p.name AS column FROM sqlite_master m, pragma_table_info(m.name) p
       WHERE m.type = 'table' AND m.name NOT LIKE '\\_%' ESCAPE '\\'
       UNION ALL
       SELECT m.name, p.name FROM sqlite_master m, pragma_index_info(m.name) p WHERE m.type = 'index'
       ORDER BY 1, 2`,
    )
    .toArray();

/** Returns every row of every table, except the one that counts the migrations. */
function rowsOf({ sql }: DurableObjectStorage): Record<string, Array<Record<string, SqlStorageValue>>> {
  const tables = sql.exec<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migration'
     AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  return Object.fromEntries(
    tables.toArray().map(({ name }) => [name, sql.exec(`SELECT * FROM "${name}"`).toArray()]),
  );
}

/** Columns that a later version removed. An agent's tools are in the table `advert` now: the roster below names them. */
const DROPPED: Readonly<Record<string, readonly string[]>> = { call: ["deadline"], agent: ["tools"] };
/** Tables whose rows moved to another one: those of a conversation became entries of its transcript. */
const MOVED: Readonly<Record<string, readonly string[]>> = {
  conversation: ["turn", "message", "call", "question", "merged"],
  home: ["kept_conversation"],
};

describe.each(KEPT)("a conversation of version $version", ({ version, conversation }) => {
  test("is read by today's code", async () => {
    const { turn, entries, call } = await onDisk(conversation, CONVERSATION_MIGRATIONS, (storage) => {
      const transcript = new Transcript(storage);
      const turn = transcript.currentTurn();
      return {
        turn,
        entries: transcript.entriesBetween(0, 2),
        call: transcript.call("6a4b1d7e-0000-4000-8000-000000000002"),
      };
    });
    expect(turn).toMatchObject({ n: 2, status: "running", origin: { principal: "anna" } });
    expect(entries.map(({ seq, role }) => [seq, role])).toEqual([
      [1, "user"],
      [2, "assistant"],
      // The last reply and the end are one row.
      [5, "assistant"],
      [6, "user"],
      [7, "assistant"],
    ]);
    expect(call).toMatchObject({ args: { agent_id: "pi", query: "and this?" } });
    expect(call?.outcome).toBeUndefined();
  });

  test("continues: the open call is settled with the next seq", async () => {
    const settledSeq = await onDisk(conversation, CONVERSATION_MIGRATIONS, (storage) => {
      const transcript = new Transcript(storage);
      transcript.settle("6a4b1d7e-0000-4000-8000-000000000002", {
        status: "success",
        text: "yes",
        elapsedMs: 1,
      });
      return transcript.call("6a4b1d7e-0000-4000-8000-000000000002")?.settledSeq;
    });
    // From version 2 on there is a question, whose seq counts too. The tries of the running turn have a row.
    expect(settledSeq).toBe(version >= 16 ? 26 : version === 1 ? 9 : 10);
  });
});

test.each(KEPT)("a home of version $version is read by today's code", async ({ version, home }) => {
  const { roster, open, settled, senders } = await onDisk(home, HOME_MIGRATIONS, (storage) => {
    const ledger = new Ledger(storage);
    return {
      roster: rosterOf(storage),
      open: ledger.open(),
      settled: ledger.get("6a4b1d7e-0000-4000-8000-000000000001"),
      senders: new SenderStore(storage).senders(),
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
  // Chat apps were added in version 4.
  expect(senders).toMatchObject(version < 4 ? [] : [{ channel: "telegram", sender: "7", role: "owner" }]);
});

test("a home of version 8 knows its trusted keys, and keeps its own key", async () => {
  const { keys, isFresh, publicKey } = await onDisk(HOME_V8, HOME_MIGRATIONS, (storage) => {
    const keys = new AgentKeys(storage, env, new GatewayKey(storage));
    const isFresh = [keys.isFresh("pi", "presence", 69), keys.isFresh("pi", "presence", 70)];
    return { keys, isFresh, publicKey: new GatewayKey(storage).publicKey() };
  });
  const standings = ["pi", "lost", "rust"].map((agent) => keys.standing(agent));
  expect(standings).toEqual(["signed", "revoked", "none"]);
  expect(keys.bootOf("pi")).toBe("boot-7");
  expect(isFresh).toEqual([false, true]);
  expect(await publicKey).toBe("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
});

test("a home of version 10 knows its bridge and the logins at its broker", async () => {
  const { broker, bridge, logins } = await onDisk(HOME_V10, HOME_MIGRATIONS, (storage) => {
    const keys = new AgentKeys(storage, env, new GatewayKey(storage));
    const logins = keys.forBridge(false).map(({ id, login }) => [id, login?.slice(0, 7)]);
    return { broker: keys.broker(), bridge: keys.publicKeyOf(BRIDGE), logins };
  });
  expect(broker).toBe("mqtt://10.0.0.2:1883");
  expect(bridge).toBe("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
  expect(logins).toEqual([
    ["attic", "$7$101$"],
    ["lost", undefined],
    ["pi", undefined],
  ]);
});

test("a home of version 16 has one list of conversations, and goes on with its counts", async () => {
  const found = await onDisk(HOME_V16, HOME_MIGRATIONS, (storage) => {
    const list = new ConversationList(storage);
    const counters = new UsageCounters(storage, { knows: () => "both" }, list);
    const before = counters.counts();
    const report = { iterations: 1, failedCalls: 0, durationMs: 1, inputTokens: 10, outputTokens: 1 };
    const call = { agent: "pi", tool: "disk", elapsedMs: 1 };
    counters.turnEnded({ id: "t", channel: "api", status: "done", ...report, calls: [call] }, 1795460000000);
    return {
      names: list.names(),
      people: list.of("anna", { limit: 9 }),
      readers: list.sharedWith("a/api/kitchen"),
      counts: [before, counters.counts()].map(({ calls, turns }) => [
        calls[0]?.counts.success,
        calls[0]?.counts.errors.timeout,
        turns[0]?.counts.done,
        turns[0]?.counts.inputTokens,
      ]),
      activity: counters.activity().get("pi"),
    };
  });
  expect(found.names).toEqual(["a/api/kitchen", "a/api/older", "a/telegram/family.7"]);
  expect(found.people).toEqual([{ id: "kitchen", title: "How warm is it?", last_at: 1795425060000 }]);
  expect(found.readers).toEqual(["gus"]);
  expect(found.counts).toEqual([
    [2, 1, 3, 90],
    [3, 1, 4, 100],
  ]);
  // The one settled call of the ledger, and the new one.
  expect(found.activity).toEqual({ calls: 2, success: 2, error: 0, last: 1795460000000 });
});

test("S5 a conversation of an earlier version knows its sources", async () => {
  // 0.2.0 marked these as a stranger's: a taint in an outcome, a person's picture, a late result.
  const more = `
    INSERT INTO turn SELECT 3, 'three', NULL, origin, 'done', 0, 0, 'x', NULL, 'm', 0, 0, 1, 2, 20, '[]' FROM turn WHERE n = 1;
    INSERT INTO turn SELECT 4, 'four', NULL, origin, 'done', 0, 0, 'x', NULL, 'm', 0, 0, 1, 2, 21, '[]' FROM turn WHERE n = 1;
    INSERT INTO turn SELECT 5, 'five', NULL, origin, 'done', 0, 0, 'x', NULL, 'm', 0, 0, 1, 2, 22, '[]' FROM turn WHERE n = 1;
    INSERT INTO turn SELECT 6, 'six', NULL, origin, 'done', 0, 0, 'x', NULL, 'm', 0, 0, 1, 2, 23, '[]' FROM turn WHERE n = 1;
    INSERT INTO message VALUES (10, 3, 'user', 'a', NULL), (11, 3, 'assistant', '', NULL), (12, 4, 'note', 'late', NULL),
      (13, 5, 'user', 'b', NULL), (14, 5, 'assistant', 'hello', NULL), (15, 6, 'user', 'c', NULL), (16, 6, 'assistant', '', NULL);
    INSERT INTO call VALUES ('c3', 3, 11, 0, 'm3', 'edge_call', '{"agent_id":"nas","action":"read"}', NULL, 1,
      '{"status":"success","text":"x","elapsedMs":1,"tainted":true}', 1, 12);
    INSERT INTO call VALUES ('c6', 6, 16, 0, 'm6', 'webfetch', '{"url":"https://example.org"}', NULL, 1,
      '{"status":"success","text":"x","elapsedMs":1,"tainted":true}', 1, 17);`;
  const sources = await onDisk(CONVERSATION_V4 + more, CONVERSATION_MIGRATIONS, (storage) => {
    const transcript = new Transcript(storage);
    return transcript.turns().map((turn) => transcript.sourcesOf(turn).toSorted());
  });
  expect(sources).toEqual([["agent:pi"], ["*"], ["*", "agent:nas"], ["*"], [], ["*"]]);
});

test("histories that clients sent to an earlier version move to their own rows, and assistants' words in them are a stranger's", async () => {
  const origin = (brought: unknown) =>
    JSON.stringify({ principal: "anna", role: "owner", channel: "openai", brought });
  const tool = { type: "function", function: { name: "weather", description: "d", parameters: {} } };
  const said = { role: "assistant", text: "7 %" };
  const all = [
    { instructions: "i", history: [{ role: "user", text: "a" }] },
    { history: [{ role: "user", text: "a" }, said, { turn: "t1" }], clientTools: [tool], oneCall: true },
    { after: "t1", results: { abc: "it rains" } },
    { history: [] },
  ];
  const rows = all.map(
    (brought, at) =>
      `(${at + 3}, 't${at + 3}', NULL, '${origin(brought)}', 'done', 0, 0, 'x', NULL, 'm', 0, 0, 1, 2, ${at + 20}, '[]')`,
  );
  const read = await onDisk(
    `${CONVERSATION_V4}; INSERT INTO turn VALUES ${rows.join(", ")};`,
    CONVERSATION_MIGRATIONS,
    (storage) => {
      const transcript = new Transcript(storage);
      const turns = transcript.turns().filter(({ n }) => n > 2);
      return {
        outlines: turns.map(({ origin }) => origin.brought),
        whole: turns.map((turn) => transcript.clientContextOf(turn)),
        sources: turns.map(({ sources }) => sources),
      };
    },
  );
  expect(read.whole).toEqual(all);
  expect(read.sources).toEqual([[], ["*"], ["*"], []]);
  expect(read.outlines).toEqual([
    { history: [] },
    { history: ["t1"], clientTools: ["weather"], oneCall: true },
    { after: "t1", results: ["abc"] },
    { history: [] },
  ]);
});

test("the turns of version 8 become entries that say the same", async () => {
  const read = await onDisk(CONVERSATION_V8, CONVERSATION_MIGRATIONS, (storage) => {
    const transcript = new Transcript(storage);
    const [, running, failed, handed, cancelled] = transcript.turns();
    return {
      running,
      failed,
      entries: transcript.entriesOf(3),
      questions: transcript.questionsOf(3),
      handed: [handed, transcript.entriesOf(4), handed && transcript.clientContextOf(handed)],
      cancelled: [cancelled?.status, transcript.entriesOf(5).map(({ role, seq }) => [seq, role])],
      byKey: ["key-1", "key-2", "key-3", "key-4"].map((key) => transcript.turnByKey(key)?.n),
      byRef: transcript.turnOfCall("6a4b1d7e0000"),
      next: transcript.countAttempt(2),
      spent: transcript.spent(3),
      summary: transcript.summary(),
    };
  });
  expect(read.running).toMatchObject({
    ...{ n: 2, status: "running", attempts: 3, notBefore: 1795300009000, finishedAt: null },
    ...{ model: "gpt-x", usage: { input_tokens: 10, output_tokens: 5 }, replies: 1 },
    notices: [{ text: "Nearly used.", keys: ["turn.tokens"] }],
  });
  expect(read.next).toBe(4);
  expect(read.failed).toEqual({
    ...{ n: 3, id: "0d6b0ff4-9f5c-4a0e-8a57-0e1d0a3f1f03", idempotency: "key-3", status: "failed" },
    ...{ attempts: 0, notBefore: 0, answer: "I gave up.", error: "gave_up", model: "gpt-x", replies: 2 },
    usage: { input_tokens: 7, output_tokens: 3 },
    agentsUsage: { input_tokens: 0, output_tokens: 0 },
    ...{ createdAt: 1795300010000, finishedAt: 1795300011000, finishedSeq: 16, notices: [] },
    sources: ["*", "agent:nas"],
    origin: {
      ...{ principal: "anna", role: "owner", channel: "openai" },
      ...{ reply: { to: null }, client: { request: "r", lost: true } },
    },
  });
  expect(read.entries.map(({ seq, role, text }) => [seq, role, text])).toEqual([
    [10, "user", "Back it up."],
    [11, "assistant", "Two things."],
    [15, "note", "It came late."],
    [16, "assistant", "I gave up."],
  ]);
  const [, asked] = read.entries;
  expect(asked?.role === "assistant" && asked.calls).toMatchObject([
    {
      ...{ modelCallId: "call_c", args: { agent_id: "nas", action: "save" }, settledSeq: 18 },
      ...{ submittedAt: 1795300010500, settledAt: 1795300010600 },
      outcome: { status: "success", text: "done", late: true, lateBy: ["job-1"] },
    },
    {
      ...{ modelCallId: "call_d", problem: "no JSON", submittedAt: null, settledSeq: 14 },
      // 0.2.0 had the model's advice in the text.
      outcome: { text: "Error: 1.", advice: "Tell the user." },
    },
    // The number that it had is another row's.
    { modelCallId: "call_e", outcome: { text: "seen" }, settledSeq: 24 },
  ]);
  expect(read.questions).toEqual([
    {
      question: {
        ...{ id: "6a4b1d7e-0000-4000-8000-0000000000a3", call: "6a4b1d7e-0000-4000-8000-000000000030" },
        ...{ agent: "nas", text: "Sure?", options: ["yes"], expires_at: 1795300602000 },
        ...{ answer: "yes", answered_by: "anna" },
      },
      askedSeq: 12,
      closedSeq: 13,
    },
  ]);
  expect(read.handed).toMatchObject([
    { n: 4, status: "done", answer: "A moment.", replies: 1, origin: { brought: { results: ["abc"] } } },
    [{ seq: 20, role: "assistant", calls: [{ name: "weather", args: { in: "Rome" } }] }],
    { results: { abc: "rain" } },
  ]);
  expect(read.cancelled).toEqual([
    "cancelled",
    [
      [22, "note"],
      [23, "assistant"],
    ],
  ]);
  expect(read.byKey).toEqual([1, 2, 3, undefined]);
  expect(read.byRef).toBe(4);
  expect(read.spent.conversation).toEqual({ tokens: 61, modelCalls: 7 });
  expect(read.summary).toMatchObject({ turns: 1, from: { turn: 2, seq: 6 } });
});

test("a new conversation makes the tables that an old one is given, each at its first row", async () => {
  const old = await onDisk(CONVERSATION_V8, CONVERSATION_MIGRATIONS, shapeOf);
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  const made = await runInDurableObject(stub, (_, { storage }) => {
    const tables = new Tables(storage);
    const names = Object.keys(CONVERSATION_TABLES) as Table[];
    const before = names.filter((name) => tables.has(name));
    for (const name of names) tables.need(name);
    for (const name of names) new Tables(storage).need(name);
    const { version } = storage.sql.exec("SELECT MAX(version) AS version FROM migration").one();
    return { before, shape: shapeOf(storage), version };
  });
  expect(made).toEqual({ before: [], shape: old, version: CONVERSATION_MIGRATIONS.at(-1)?.version });
});

test("S5 the descriptions of an earlier version's agents count as accepted", async () => {
  const roster = await onDisk(HOME_V11, HOME_MIGRATIONS, rosterOf);
  expect(roster.length).toBeGreaterThan(1);
  expect(roster.some(({ newText }) => newText)).toBe(false);
});

test("the audit log of version 10 is ordered by time afterwards, and dated by the migration", async () => {
  const began = Date.now();
  const rows = `
    DELETE FROM audit;
    INSERT INTO audit VALUES ('a', '1', '2026-11-03', '2026-11-03', '["é"]'), ('a', '2', '2026-11-01', '2026-11-01', '[1]'),
      ('b', '1', '2026-11-02', '2026-11-02', '[22]');`;
  const migrated = await onDisk(HOME_V10 + rows, HOME_MIGRATIONS, ({ sql }) =>
    sql.exec("SELECT at, upto, agent, id, lines FROM audit").toArray(),
  );
  expect(migrated.map(({ upto, lines }) => [upto, lines])).toEqual([
    [3, "[1]"],
    [7, "[22]"],
    [13, '["é"]'],
  ]);
  const places = migrated.map(({ at }) => Number(at));
  expect(places[2]).toBeGreaterThan(began - 2_000);
  expect(places).toEqual([Number(places[2]) - 2, Number(places[2]) - 1, places[2]]);
});

describe.each(
  KEPT.flatMap(({ version, conversation, home }) => [
    { what: "conversation", version, fixture: conversation, migrations: CONVERSATION_MIGRATIONS },
    { what: "home", version, fixture: home, migrations: HOME_MIGRATIONS },
  ]),
)("an old $what of version $version", ({ what, version, fixture, migrations }) => {
  test("ends with the tables and indexes of a new one", async () => {
    const old = await onDisk(fixture, migrations, shapeOf);
    const fresh = await onDisk("SELECT 1", migrations, shapeOf);
    expect(old).toEqual(fresh);
  });

  test("keeps every row, and every column that still exists", async () => {
    const before = await onDisk(fixture, [], rowsOf);
    const after = await onDisk(fixture, migrations, rowsOf);
    for (const [table, rows] of Object.entries(before)) {
      if (MOVED[what]?.includes(table)) {
        expect(after[table], table).toBeUndefined();
        continue;
      }
      const kept = rows.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([column]) => !DROPPED[table]?.includes(column))),
      );
      const each = kept.map((row) => expect.objectContaining(row));
      expect(after[table], table).toEqual(expect.arrayContaining(each));
      if (table !== "conversation") expect(after[table], table).toHaveLength(kept.length);
      // None of this version's own tables is empty; before version 4 nothing wrote a reply.
      if (version === 4) expect(rows, table).not.toHaveLength(0);
    }
  });
});

describe("a part with steps of its own", () => {
  const first = { part: "quiet", version: 1, sql: "CREATE TABLE quiet_day (day TEXT PRIMARY KEY) STRICT" };
  const second = { part: "quiet", version: 2, sql: "ALTER TABLE quiet_day ADD COLUMN by TEXT" };
  const other = { part: "loud", version: 1, sql: "CREATE TABLE loud_day (day TEXT PRIMARY KEY) STRICT" };

  test("counts its versions apart from the others, each once", async () => {
    const versions = await onDisk(HOME_V19, [...HOME_MIGRATIONS, first], (storage) => {
      storage.sql.exec("INSERT INTO quiet_day VALUES ('2026-11-28')");
      migrate(storage, [...HOME_MIGRATIONS, first, second, other]);
      migrate(storage, [...HOME_MIGRATIONS, first, second, other]);
      expect(storage.sql.exec("SELECT * FROM quiet_day").toArray()).toEqual([
        { day: "2026-11-28", by: null },
      ]);
      return partVersions(storage);
    });
    expect(versions).toEqual({ quiet: 2, loud: 1 });
  });

  test("that a newer gateway made is refused by its name, and one that is known is not", async () => {
    const steps = [...HOME_MIGRATIONS, first, second];
    const refusals = await onDisk("SELECT 1", steps, (storage) => [
      newerRows(storage, steps),
      newerRows(storage, [...HOME_MIGRATIONS, first])?.message,
      newerRows(storage, HOME_MIGRATIONS)?.message,
    ]);
    expect(refusals).toEqual([
      undefined,
      expect.stringContaining("version 2 of the tables of quiet, and this gateway (edgecall"),
      expect.stringContaining("knows up to version 0."),
    ]);
  });

  test("is in a back-up, and comes back at the version that it had", async () => {
    const steps = [...HOME_MIGRATIONS, first];
    const page = await onDisk("SELECT 1", steps, (storage) => {
      storage.sql.exec("INSERT INTO quiet_day VALUES ('2026-11-28')");
      return backupPage(storage, undefined);
    });
    expect(page).toMatchObject({ parts: { quiet: 1 } });
    const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
    const restored = await runInDurableObject(stub, async (_, ctx) => {
      await ctx.storage.deleteAll();
      const object = { ctx, migrations: [...steps, second], giveUp: () => {} };
      const { rows, next, ...begin } = page;
      await restoreStep(object, { do: "stage", id: "1", begin, rows, isWhole: true });
      const refused = restoreStep(
        { ...object, migrations: HOME_MIGRATIONS },
        { do: "stage", id: "2", begin, rows, isWhole: true },
      );
      await expect(refused).rejects.toThrow("parts.quiet: the back-up has version 1, this gateway 0");
      migrate(ctx.storage, object.migrations);
      return partVersions(ctx.storage);
    });
    expect(restored).toEqual({ quiet: 2 });
  });
});
