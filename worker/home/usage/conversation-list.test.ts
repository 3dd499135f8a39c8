/** Finding an earlier conversation: its owner, page by page, and gone after it is deleted. */
import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { madeHome } from "../../../test/made-home.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { ask, say } from "../../../test/workerd.ts";
import type { Home } from "../home.ts";
import { BackupList } from "./backup-list.ts";
import { ConversationList } from "./conversation-list.ts";

type Page = {
  conversations: Array<{ id: string; title: string; last_at: number; principal?: string }>;
  next: string | null;
  listed_at_most: number;
};

async function page(query = "", token: string = TOKENS.owner): Promise<Page> {
  return (await ask(`/v1/conversations${query}`, { token })).json();
}

const idsOf = ({ conversations }: Page) => conversations.map(({ id }) => id);

test("G18 the list says how many it contains at most", async () => {
  expect((await page()).listed_at_most).toBe(1_000);
});

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
  expect(idsOf(shared)).toEqual(["list-2", "list-1"]);
  expect(shared.conversations.map(({ principal }) => principal)).toEqual([undefined, "anna"]);

  expect((await ask("/v1/conversations/list-1", { method: "DELETE" })).status).toBe(204);
  expect(idsOf(await page())).toEqual([]);
});

test("a turn that lists its conversation during its deletion: the entry is removed by the next deletion", async () => {
  await runInDurableObject(await madeHome("a"), (_, { storage }) => {
    new ConversationList(storage).turnBegan({ name: "a/api/gone", principal: "anna", text: "late" }, 1_000);
    new BackupList(storage).add("a/api/gone", 1_000);
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

test("a home lists its newest thousand; a second turn in a conversation writes no row", async () => {
  const { count, oldest, written } = await runInDurableObject(await madeHome("many"), (_, { storage }) => {
    const list = new ConversationList(storage);
    for (let n = 1; n <= 1_005; n += 1)
      list.turnBegan({ name: `many/api/${n}`, principal: "x", text: "t" }, n);
    const before = storage.sql.exec("SELECT total_changes() AS n").one().n;
    list.turnBegan({ name: "many/api/1005", principal: "x", text: "t" }, 2_000);
    const written = Number(storage.sql.exec("SELECT total_changes() AS n").one().n) - Number(before);
    const row = storage.sql
      .exec<{ count: number; oldest: number }>(
        "SELECT COUNT(*) AS count, MIN(last_at) AS oldest FROM conversation",
      )
      .one();
    return { ...row, written };
  });
  expect([count, oldest, written]).toEqual([1_000, 6, 0]);
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
