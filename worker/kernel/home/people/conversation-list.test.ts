/** Finding an earlier conversation: its owner, page by page, and gone after it is deleted. */
import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { ask, say } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import { ConversationList } from "./conversation-list.ts";

type Page = {
  conversations: Array<{ id: string; title: string; last_at: number; principal?: string }>;
  next: string | null;
};

async function page(query = "", token: string = TOKENS.owner): Promise<Page> {
  return (await ask(`/v1/conversations${query}`, { token })).json();
}

const idsOf = ({ conversations }: Page) => conversations.map(({ id }) => id);

test("each token's own are listed, with their first words, until they are deleted", async () => {
  const text = `How warm is it,\n  and where? ${script({ text: "warm" })}`;
  await say("list-1", text);
  await say("list-2", script({ text: "two" }), { token: TOKENS.guest });
  await say("list-3", script({ text: "three" }), { token: TOKENS.otherHome });
  await say("list-1", script({ text: "again" }));
  await (await ask("/ask", { method: "POST", body: script({ text: "alone" }) })).text();

  const own = await page();
  expect(idsOf(own)).toEqual(["list-1"]);
  expect(own.conversations[0]?.title).toMatch(/^How warm is it, and where\? .*…$/);
  expect(own.conversations[0]?.title.length).toBe(80);
  expect(own.next).toBeNull();
  expect(idsOf(await page("", TOKENS.guest))).toEqual(["list-2"]);
  expect(idsOf(await page("", TOKENS.otherHome))).toEqual(["list-3"]);

  // Other people cannot write in it; a turn of a person with whom it is shared does not change its owner.
  const stranger = await say("list-1", script({ text: "me too" }), { token: TOKENS.guest });
  expect(stranger.status).toBe(404);
  await ask("/v1/conversations/list-1/share", { method: "POST", body: '{"with":["gus"]}' });
  await say("list-1", script({ text: "me too" }), { token: TOKENS.guest });
  const shared = await page("", TOKENS.guest);
  expect(idsOf(shared)).toEqual(["list-1", "list-2"]);
  expect(shared.conversations.map(({ principal }) => principal)).toEqual(["anna", undefined]);

  expect((await ask("/v1/conversations/list-1", { method: "DELETE" })).status).toBe(204);
  expect(idsOf(await page())).toEqual([]);
});

test("a turn that lists its conversation during its deletion: the entry is removed by the next deletion", async () => {
  await runInDurableObject(await madeHome("a"), (_, { storage }) => {
    const list = new ConversationList(storage);
    list.turnBegan({ name: "a/api/gone", principal: "anna", text: "late" }, 1_000);
    list.turnEnded("a/api/gone", 1_000);
  });
  expect(idsOf(await page())).toEqual(["gone"]);
  expect((await ask("/v1/conversations/gone", { method: "DELETE" })).status).toBe(204);
  expect(idsOf(await page())).toEqual([]);
  const names = await runInDurableObject(await madeHome("a"), (home: Home) => home.namesToBackUp());
  expect(names).not.toContain("a/api/gone");
});

test("page by page, nothing twice and nothing missing, also within one millisecond", async () => {
  await runInDurableObject(await madeHome("a"), (_, { storage }) => {
    const list = new ConversationList(storage);
    for (let n = 0; n < 7; n += 1)
      list.turnBegan({ name: `a/api/page-${n}`, principal: "anna", text: `n ${n}` }, 1_000 + (n >> 1));
  });
  const seen: string[] = [];
  let query = "?limit=3";
  for (let pages = 1; ; pages += 1) {
    const found = await page(query);
    seen.push(...idsOf(found));
    if (found.next === null) {
      expect(pages).toBe(3);
      break;
    }
    query = `?limit=3&after=${found.next}`;
  }
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `page-${n}`));
});

test("C14 a conversation is renamed by its managers, and found by words of its title", async () => {
  await say("title-1", `The boiler is 100% cold ${script({ text: "one" })}`);
  await say("title-2", `The garden ${script({ text: "two" })}`);
  await say("title-3", `A boiler of somebody else ${script({ text: "three" })}`, { token: TOKENS.guest });
  const rename = (id: string, body: unknown, token: string = TOKENS.owner) =>
    ask(`/v1/conversations/${id}`, { method: "PATCH", body: JSON.stringify(body), token });
  const found = async (words: string, token?: string) =>
    idsOf(await page(`?q=${encodeURIComponent(words)}`, token));

  expect(await found("BOILER")).toEqual(["title-1"]);
  expect(await found("boiler", TOKENS.guest)).toEqual(["title-3"]);
  // Every character is literal here.
  expect(await found("100% c")).toEqual(["title-1"]);
  expect(await found("b%r")).toEqual([]);
  expect(await found("g_rden")).toEqual([]);

  const renamed = await rename("title-2", { title: "  Roses\n and\u0009 tulips " });
  expect(await renamed.json()).toEqual({ id: "title-2", title: "Roses and tulips" });
  expect(await found("tulips")).toEqual(["title-2"]);
  await say("title-2", script({ text: "again" }));
  expect(await found("garden")).toEqual([]);
  // An owner may see and rename all; a guest only their own.
  expect((await rename("title-1", { title: "mine" }, TOKENS.guest)).status).toBe(404);
  await ask("/v1/conversations/title-1/share", { method: "POST", body: '{"with":["gus"]}' });
  expect((await rename("title-1", { title: "mine" }, TOKENS.guest)).status).toBe(403);
  expect((await rename("title-3", { title: "Old boiler" })).status).toBe(200);
  expect(await found("old boiler", TOKENS.guest)).toEqual(["title-3"]);
  expect((await rename("nothing-there", { title: "x" })).status).toBe(404);
  for (const body of [{}, { title: " " }, { title: "x".repeat(81) }, { title: 1 }]) {
    const refused = await rename("title-1", body);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("title")]);
  }
  for (const id of ["title-1", "title-2", "title-3"])
    await ask(`/v1/conversations/${id}`, { method: "DELETE" });
});

test("more than a thousand are listed; a later turn writes only its report, which says when the conversation was last used", async () => {
  const { written, newest, names, last } = await runInDurableObject(
    await madeHome("many"),
    (_, { storage }) => {
      const list = new ConversationList(storage);
      for (let n = 1; n <= 1_005; n += 1)
        list.turnBegan({ name: `many/api/${n}`, principal: "x", text: "t" }, n);
      list.turnEnded("many/telegram/7", 1);
      const rowsWritten = () => Number(storage.sql.exec("SELECT total_changes() AS n").one().n);
      const before = rowsWritten();
      list.turnBegan({ name: "many/api/3", principal: "x", text: "t" }, 2_000);
      list.turnEnded("many/api/3", 2_000);
      list.turnEnded("many/telegram/7", 2_000);
      const written = rowsWritten() - before;
      storage.sql.exec("INSERT INTO usage_report VALUES (0, 0, 'turn', 'many/api/3', 100000, '{}')");
      const newest = list.of("x", { limit: 2 }).map(({ id, last_at }) => [id, last_at]);
      // The report is about to be replaced: from then on the row says it.
      list.usedAt("many/api/3", 100_000);
      list.usedAt("many/api/1005", 1_006);
      storage.sql.exec("DELETE FROM usage_report");
      const last = list.of("x", { limit: 2 }).map(({ id, last_at }) => [id, last_at]);
      return { written, newest, last, names: list.names() };
    },
  );
  expect(written).toBe(0);
  expect(newest).toEqual([
    ["3", 100_000],
    ["1005", 1_005],
  ]);
  expect(last).toEqual(newest);
  expect(names).toHaveLength(1_006);
  expect(names).toContain("many/telegram/7");
});

test.each([
  "?limit=0",
  "?limit=101",
  "?limit=",
  "?limit=x",
  "?after=x",
  "?after=",
  "?after=1.%2F",
  `?q=${"x".repeat(81)}`,
])("%s is refused with the field's name", async (query) => {
  const response = await ask(`/v1/conversations${query}`);
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/limit: expected|after: expected|q: expected/);
});
