import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { describe, expect, test } from "vitest";
import { madeHome } from "../../test/made-home.ts";
import { script } from "../../test/scripted-model.ts";
import { TOKENS } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../test/workerd.ts";
import type { BackupPage, RestoreStep } from "./api/backup.ts";
import { readGrant, uploadCommand } from "./api/uploads.ts";
import { backupPage } from "./backup.ts";
import { CONVERSATION_TABLES, type Table } from "./conversation/store/schema.ts";
import { Tables } from "./conversation/store/tables.ts";
import type { Env } from "./env.ts";
import { HOME_MIGRATIONS } from "./home/schema.ts";
import { isBlank } from "./migrate.ts";
import { macKey } from "./settings/mac-key.ts";

const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function exported(token: string = TOKENS.owner): Promise<string> {
  const response = await ask("/v1/export", { token });
  expect(response.status).toBe(200);
  return await response.text();
}

async function imported(body: string, query = "?replace=yes", token: string = TOKENS.owner) {
  const response = await ask(`/v1/import${query}`, { method: "POST", body, token });
  return {
    status: response.status,
    body: (await response.json()) as { objects?: number; error?: { message: string } },
  };
}

const history = async (id: string) => {
  const response = await ask(`/v1/conversations/${id}`);
  return { status: response.status, text: await response.text() };
};

/** A restored object restarts, so its first requests may meet the end of the old instance. */
const settled = (id: string) =>
  until(
    async () => {
      const found = await history(id).catch(() => undefined);
      return found?.status === 200 && found;
    },
    { within: 10_000, what: `conversation ${id}` },
  );

/** Rows of an import whose Worker ends before the end of the file. */
const HALF: Extract<RestoreStep, { do: "stage" }> = {
  do: "stage",
  id: "import",
  begin: { schema: 1 },
  rows: [{ table: "turn", row: { id: "x" } }],
  isWhole: false,
};
const aConversation = (id: string) => env.CONVERSATION.getByName(`a/api/${id}`);
const aHome = (name: string) => env.HOME.getByName(name);
type Staged = ReturnType<typeof aConversation> | ReturnType<typeof aHome>;
const tables = (object: Staged) =>
  runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("_cf")),
  );
/** Removes the time when the staging began, as in 0.2.0. */
const age = (object: Staged) =>
  runInDurableObject(object, (_, { storage }) => {
    const meta = new TextEncoder().encode(JSON.stringify({ id: "import", schema: 1 }));
    storage.sql.exec("UPDATE restoring SET data = ? WHERE n = 0", meta.buffer);
  });

describe("G1 an import whose Worker ends during it", () => {
  test("G1 the alarm deletes staged rows, and an object that only the file had stays blank", async () => {
    for (const object of [aConversation("only-staged"), aHome("only-staged")]) {
      await object.restore(HALF);
      expect(await runDurableObjectAlarm(object), "an alarm stands").toBe(true);
      expect(await tables(object), "it may still be under way").toEqual(["restoring"]);
      const alarm = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
      expect(alarm).toBeGreaterThan(Date.now());
      await age(object);
      expect(await runDurableObjectAlarm(object)).toBe(true);
      expect(await tables(object)).toEqual([]);
    }
  });

  test("G1 the next request deletes staged rows, and the existing content stays", async () => {
    await say("half", script({ text: "It is still here." }));
    const object = aConversation("half");
    await object.restore(HALF);
    await age(object);
    await evictDurableObject(object);
    expect((await history("half")).text).toContain("It is still here.");
    expect(await tables(object)).not.toContain("restoring");
  });

  test("G1 a running import is not disturbed", async () => {
    const object = aConversation("going-on");
    await object.restore(HALF);
    await evictDurableObject(object);
    await object.restore({ do: "stage", id: "import", rows: [], isWhole: false });
    await object.restore({ do: "discard", id: "import" });
    expect(await tables(object)).toEqual([]);
  });
});

const head = '{"edgecall":"export","version":"0.1.0","home":"a","at":"x"}\n';

describe("export and import", () => {
  test("everything comes back: messages, pictures, agents, counts; and the conversation continues", async () => {
    const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
    bridge.onCall = () => ({ status: "success", result: "it sounds" });
    const text = script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "$results" });
    const body = JSON.stringify({ text, images: [PICTURE] });
    await say("kept", text, { method: "POST", body });
    await ask("/ask", { method: "POST", body: script({ text: "alone" }) });
    const names = (file: string) => [...file.matchAll(/^\{"object":"(.*?)"/gm)].map(([, name]) => name);
    // Home learns of a turn's end a moment after the caller.
    const file = await until(async () => {
      const now = await exported();
      return names(now).includes("a/api/kept") && now;
    });
    expect(names(file)[0]).toBe("");
    expect(names(file).some((name) => name?.includes("/ask/"))).toBe(false);
    expect(file).toMatch(/"table":"media_part","row":\{.*"data":\{"base64":"iVBORw0KGgo/);
    const before = await history("kept");
    expect(before.text).toContain("it sounds");

    await ask("/v1/conversations/kept", { method: "DELETE" });
    expect((await history("kept")).status).toBe(404);
    expect(names(await exported())).not.toContain("a/api/kept");

    expect(await imported(file)).toMatchObject({ status: 200, body: { objects: names(file).length } });
    expect((await settled("kept")).text).toBe(before.text);
    const again = await until(() => exported().catch(() => undefined));
    const rows = (of: string) =>
      of.split("\n").filter((line) => /"table":"(message|call|media|media_part|agent|audit)"/.test(line));
    expect(rows(again)).toEqual(rows(file));
    await TestBridge.connect([agent("pi", { tools: [CPU] })]);
    const next = await say("kept", script({ text: "and on" }));
    expect(next.body.answer).toBe("and on");
  }, 40_000);

  test("an older schema is migrated to today's", async () => {
    const file = [
      { edgecall: "export", version: "0.0.1", home: "a", at: "2026-01-01T00:00:00.000Z" },
      { object: "a/api/old", schema: 1 },
      {
        table: "turn",
        row: {
          ...{ n: 1, id: "0d6b0ff4-9f5c-4a0e-8a57-0e1d0a3f1f01", status: "done", answer: "old answer" },
          origin: JSON.stringify({ principal: "anna", role: "owner", channel: "api" }),
          ...{ created_at: 1, finished_at: 2, finished_seq: 3 },
        },
      },
      { table: "message", row: { seq: 1, turn: 1, role: "user", text: "old question", images: null } },
      { end: true, objects: 1, rows: 2 },
    ];
    expect(await imported(file.map((line) => JSON.stringify(line)).join("\n"))).toMatchObject({
      status: 200,
    });
    const { text } = await settled("old");
    expect(text).toContain("old question");
    expect(text).toContain("old answer");
  });

  const object = '{"object":"a/api/bad","schema":4}\n';
  test.each([
    ["half a file", `${head}${object}`, "the end is missing"],
    [
      "a file that lost rows",
      `${head}${object}{"end":true,"objects":1,"rows":9}\n`,
      "9 rows, there were 1 and 0",
    ],
    ["another home's", head.replace('"a"', '"b"'), "the export is of 'b'"],
    [
      "an object of another home",
      `${head}${object.replace("a/api", "b/api")}`,
      "'b/api/bad' is not of this home",
    ],
    [
      "a table that is none",
      `${head}${object}{"table":"x\\"; DROP TABLE turn","row":{}}\n${object.replace("bad", "worse")}`,
      "is not in this schema",
    ],
    [
      "a column that is none",
      `${head}${object}{"table":"turn","row":{"n\\") --":1}}\n${object.replace("bad", "worse")}`,
      "is not in this schema",
    ],
    [
      "a schema of the future",
      `${head}${object.replace("4", "999")}{"end":true,"objects":1,"rows":0}`,
      "update it first",
    ],
    ["no export", '{"a":1}\n', "expected an export's first line"],
    ["no JSON", `${head}{`, "line 2"],
    ["an object that comes twice", `${head}${object}${object}`, "comes twice"],
    [
      "an object that is no conversation",
      `${head}${object.replace("a/api/bad", "a/x y/z")}`,
      "not of this home",
    ],
  ])("%s is refused in words", async (_, file, words) => {
    const { status, body } = await imported(file);
    expect(status).toBe(400);
    expect(body.error?.message).toContain(words);
  });

  test("after half a file the conversation is unchanged", async () => {
    await say("half", script({ text: "of before" }));
    const before = await history("half");
    const half = `${head}{"object":"a/api/half","schema":1}\n`;
    const words = (await imported(half)).body.error?.message;
    expect(words).toContain("the end is missing");
    expect(words).toContain("nothing was replaced: this home is as it was");
    expect(await history("half")).toEqual(before);
    expect((await say("half", script({ text: "and on" }))).body.answer).toBe("and on");
  });

  test("are for an administrator, who has to confirm it", async () => {
    expect((await ask("/v1/export", { token: TOKENS.guest })).status).toBe(403);
    expect((await imported(head, "?replace=yes", TOKENS.guest)).status).toBe(403);
    expect(await imported(head, "")).toMatchObject({ status: 400 });
    expect(await exported(TOKENS.otherHome)).not.toContain('"a/');
  });
});

describe("G1 a backup that is incomplete, or does not match", () => {
  const keys = async () => await (await ask("/v1/keys")).json();
  /** A home with its own key, an enrolled device and two conversations. */
  async function aHome() {
    const { publicKey } = await newKeyPair();
    await ask("/v1/agents/pi/key", { method: "PUT", body: JSON.stringify({ public_key: publicKey }) });
    await say("one", script({ text: "first" }));
    await say("two", script({ text: "second" }));
    const file = await until(async () => {
      const now = await exported();
      return now.includes('"a/api/one"') && now.includes('"a/api/two"') && now;
    });
    return { file, keys: await keys(), one: await history("one"), two: await history("two") };
  }

  test("G1 wherever it breaks off, the home's key, the devices' keys and the conversations are unchanged", async () => {
    const before = await aHome();
    expect(JSON.stringify(before.keys)).toContain('"pi"');
    const { file } = before;
    const lines = file.trimEnd().split("\n");
    const cuts = [2_000, file.length >> 1, file.length - 200];
    const broken = [
      ...cuts.map((at) => file.slice(0, at)),
      lines.slice(0, -1).join("\n"),
      // Each is valid in form, and one row does not fit: near the end, so that the others were staged before.
      [...lines.slice(0, -2), lines.at(-2)?.replace(/"row":\{"/, '"row":{"x'), lines.at(-1)].join("\n"),
    ];
    for (const wrong of broken) {
      const { status, body } = await imported(wrong);
      expect(status).toBe(400);
      expect(body.error?.message).toContain("nothing was replaced: this home is as it was");
      expect(await keys()).toEqual(before.keys);
      expect([await history("one"), await history("two")]).toEqual([before.one, before.two]);
    }
    const tables = await runInDurableObject(env.CONVERSATION.getByName("a/api/one"), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'restoring'").toArray(),
    );
    expect(tables).toEqual([]);
  }, 40_000);

  test("G1 a row that breaks a rule of its table is found before anything is replaced", async () => {
    const before = await aHome();
    const rows = before.file.trimEnd().split("\n");
    const at = rows.findLastIndex((line) => line.includes('"kind":"end"'));
    const wrong = rows.with(at, (rows[at] ?? "").replace(/\\"status\\":\\"\w+/, '\\"status\\":\\"flying'));
    const { status, body } = await imported(wrong.join("\n"));
    expect(status).toBe(400);
    expect(body.error?.message).toMatch(/entry: .*CHECK constraint/);
    expect(await keys()).toEqual(before.keys);
    expect([await history("one"), await history("two")]).toEqual([before.one, before.two]);
  }, 40_000);

  test("G1 the whole file restores its keys; tokens that the home made stay", async () => {
    const before = await aHome();
    const made = await ask("/v1/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "phone", role: "guest", scopes: ["ask"] }),
    });
    const { token } = (await made.json()) as { token: string };
    expect((await imported(before.file)).status).toBe(200);
    await settled("one");
    expect(await until(() => keys().catch(() => undefined))).toEqual(before.keys);
    expect((await ask("/v1/agents", { token })).status).toBe(200);
    // A second import changes nothing, and neither does a file with a part only.
    expect((await imported(before.file)).status).toBe(200);
    expect((await settled("two")).text).toBe(before.two.text);
  }, 40_000);

  test("G1 rows that only the file has leave nothing behind when it is refused", async () => {
    const file = `${head}{"object":"a/api/stranger","schema":1}\n{"table":"message","row":{"seq":1,"turn":1,"role":"user","text":"x","images":null}}\n`;
    expect((await imported(file)).status).toBe(400);
    const blank = await runInDurableObject(env.CONVERSATION.getByName("a/api/stranger"), (_, { storage }) =>
      isBlank(storage),
    );
    expect(blank).toBe(true);
  });
});

describe("S12 rows that name another home", () => {
  const call = {
    ...{ id: crypto.randomUUID(), agent: "pi", command: "tool", payload: "{}", idempotent: 1, n: 1 },
    ...{ state: "sent", sends: 1, silence_ms: 1, deadline: 1, ends_at: 1, delivered: 0, created_at: 1 },
    caller: '{"principal":"anna","role":"owner","channel":"api"}',
  };
  const question = {
    ...{ id: crypto.randomUUID(), call: call.id, agent: "pi", text: "?", options: "[]" },
    ...{ asked_at: 1, expires_at: 1 },
  };
  test.each([
    ["call", { ...call, conversation: "b/api/theirs" }],
    ["question", { ...question, conversation: "b/api/theirs" }],
    ["question", { ...question, conversation: 5 }],
    ["conversation", { name: "b/api/theirs", principal: "x", title: "x", last_at: 1 }],
    ["conversation", { name: "ab/api/theirs", last_at: 1 }],
    ["usage_report", { slot: 0, n: 0, id: "t", conversation: "b/api/theirs", at: 1, figures: "{}" }],
    ["kept_conversation", { name: "ab/api/theirs", last_turn_at: 1 }, 16],
    ["conversation_reader", { name: "b/api/theirs", principal: "anna" }],
  ])("S12 a row of '%s' is refused", async (table, row, schema = HOME_MIGRATIONS.at(-1)?.version) => {
    const lines = [
      { object: "", schema },
      { table, row },
      { end: true, objects: 1, rows: 1 },
    ];
    const { status, body } = await imported(head + lines.map((one) => JSON.stringify(one)).join("\n"));
    expect(status).toBe(400);
    expect(body.error?.message).toContain("is not of this home");
  });

  test("S12 a grant is for a conversation of its own home, where it is made and where it arrives", async () => {
    const picture = { media_type: "image/png", bytes: 3, sha256: "0".repeat(64) };
    const upload_id: string = crypto.randomUUID();
    const request = { type: "upload" as const, request_id: "1", upload_id, ...picture };
    const vars = env as unknown as Env;
    const grant = async (home: string, conversation: string) =>
      await uploadCommand(vars, request, { home, conversation, principal: "anna" }, "https://gateway");
    expect(await grant("a", "b/api/theirs")).toMatchObject({
      refused: expect.stringContaining("another home"),
    });
    const own = (await grant("a", "a/api/own")) as { id: string; token: string };
    expect(await readGrant(vars, `Bearer ${own.token}`, own.id)).toMatchObject({ home: "a" });
    // A Home with such a row would have signed this: the MAC is valid, and the conversation is not its own.
    const text = toBase64Url(
      utf8(
        JSON.stringify({
          ...picture,
          id: own.id,
          home: "a",
          conversation: "b/api/theirs",
          principal: "anna",
          expires_at: Date.now() + 60_000,
        }),
      ),
    );
    const mac = await crypto.subtle.sign("HMAC", await macKey(vars, "upload"), utf8(text));
    const forged = `Bearer ${text}.${toBase64Url(new Uint8Array(mac))}`;
    expect(await readGrant(vars, forged, own.id)).toBeUndefined();
  });
});

test("rows that appear or disappear between two pages make no other row missing or double", async () => {
  const home = await madeHome(`pages-${crypto.randomUUID()}`);
  const ids = await runInDurableObject(home, (_, { storage }) => {
    const add = (id: string) =>
      storage.sql.exec("INSERT INTO sender VALUES (?, '1', 'telegram', ?, 'member', 'me', 1)", id, long);
    const long = "x".repeat(300_000);
    for (const id of ["b", "c", "d", "e", "f", "g", "h", "i"]) add(id);
    const pages = [backupPage(storage, undefined)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) {
      // Once an exported row disappears, and once a row appears before it.
      if (pages.length === 1) storage.sql.exec("DELETE FROM sender WHERE connection = 'b'");
      else add("a");
      pages.push(backupPage(storage, next));
    }
    return pages.map(({ rows }: BackupPage) =>
      rows.filter(({ table }) => table === "sender").map(({ row }) => row.connection),
    );
  });
  expect(ids.length).toBe(3);
  expect(ids.flat()).toEqual(["b", "c", "d", "e", "f", "g", "h", "i"]);
});

test("every table has a key for paging, except one, whose first two columns identify its rows", async () => {
  const id = `keys-${crypto.randomUUID()}`;
  await say(id, script({ text: "here" }));
  await runInDurableObject(env.CONVERSATION.getByName(`a/api/${id}`), (_, { storage }) => {
    const tables = new Tables(storage);
    for (const table of Object.keys(CONVERSATION_TABLES) as Table[]) tables.need(table);
  });
  const bare = async (stub: DurableObjectStub) =>
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql
        .exec<{ name: string }>(
          `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'
           AND NOT EXISTS (SELECT 1 FROM pragma_table_info(sqlite_master.name) WHERE pk > 0)`,
        )
        .toArray()
        .map(({ name }) => name),
    );
  expect(await bare(await madeHome("a"))).toEqual([]);
  expect(await bare(env.CONVERSATION.getByName(`a/api/${id}`))).toEqual(["media_part"]);
});
