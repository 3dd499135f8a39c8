import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { madeHome } from "../test/made-home.ts";
import { script } from "../test/scripted-model.ts";
import { TOKENS } from "../test/tokens.ts";
import { until } from "../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../test/workerd.ts";
import { type BackupPage, backupPage } from "./backup.ts";

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

/** What was put back starts anew: its first requests may meet the end of the old instance. */
const settled = (id: string) =>
  until(
    async () => {
      const found = await history(id).catch(() => undefined);
      return found?.status === 200 && found;
    },
    { within: 10_000, what: `conversation ${id}` },
  );

describe("export and import", () => {
  test("everything comes back: what was said, pictures, the roster, the counts; and it goes on", async () => {
    const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
    bridge.onCall = () => ({ status: "success", result: "it sounds" });
    const text = script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "$results" });
    const body = JSON.stringify({ text, images: [PICTURE] });
    await say("kept", text, { method: "POST", body });
    await ask("/ask", { method: "POST", body: script({ text: "alone" }) });
    const names = (file: string) => [...file.matchAll(/^\{"object":"(.*?)"/gm)].map(([, name]) => name);
    // Home hears of a turn's end a moment after the caller.
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

  test("an older schema is brought up to today's", async () => {
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

  const head = '{"edgecall":"export","version":"0.1.0","home":"a","at":"x"}\n';
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
      `${head}${object}{"table":"x\\"; DROP TABLE turn","row":{}}\n${object}`,
      "is not in this schema",
    ],
    [
      "a column that is none",
      `${head}${object}{"table":"turn","row":{"n\\") --":1}}\n${object}`,
      "is not in this schema",
    ],
    ["a schema of the future", `${head}${object.replace("4", "999")}`, "update it first"],
    ["no export", '{"a":1}\n', "expected an export's first line"],
    ["no JSON", `${head}{`, "line 2"],
  ])("%s is refused in words", async (_, file, words) => {
    const { status, body } = await imported(file);
    expect(status).toBe(400);
    expect(body.error?.message).toContain(words);
  });

  test("after half a file the conversation has what came, and nothing of before", async () => {
    await say("half", script({ text: "of before" }));
    const half = `${head}{"object":"a/api/half","schema":1}\n`;
    expect((await imported(half)).body.error?.message).toContain("the end is missing");
    await until(async () => (await history("half").catch(() => undefined))?.status === 404, {
      within: 10_000,
    });
    expect((await say("half", script({ text: "anew" }))).body.answer).toBe("anew");
  });

  test("are for an administrator, who has to say that he means it", async () => {
    expect((await ask("/v1/export", { token: TOKENS.guest })).status).toBe(403);
    expect((await imported(head, "?replace=yes", TOKENS.guest)).status).toBe(403);
    expect(await imported(head, "")).toMatchObject({ status: 400 });
    expect(await exported(TOKENS.otherHome)).not.toContain('"a/');
  });
});

test("rows that come and go between two pages make no other row miss, or be there twice", async () => {
  const home = await madeHome(`pages-${crypto.randomUUID()}`);
  const ids = await runInDurableObject(home, (_, { storage }) => {
    const add = (id: string) =>
      storage.sql.exec("INSERT INTO sender VALUES (?, '1', 'telegram', ?, 'member', 'me', 1)", id, long);
    const long = "x".repeat(300_000);
    for (const id of ["b", "c", "d", "e", "f", "g", "h", "i"]) add(id);
    const pages = [backupPage(storage, undefined)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) {
      // Once a row goes that was told already, and once one comes before it.
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

test("every table has a key to go on from, but one, whose first two columns tell its rows apart", async () => {
  const id = `keys-${crypto.randomUUID()}`;
  await say(id, script({ text: "here" }));
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
