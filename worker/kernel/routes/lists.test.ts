/** Lists that grow with a home come in pages, or say what they left out. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { SignedAgent } from "../../../test/signed-agent.ts";
import { theHome } from "../../../test/states.ts";
import { ask } from "../../../test/workerd.ts";

afterEach(async () => await reset());

type Keys = { keys: Array<{ agent: string }>; next: string | null; total: number };

async function json<T>(path: string): Promise<T> {
  const response = await ask(path);
  expect(response.status, path).toBe(200);
  return await response.json();
}

test("keys come in pages, in the order of their agents, and can be searched", async () => {
  for (const id of ["cellar", "attic", "barn", "attic-2"]) {
    const { publicKey } = await SignedAgent.make(id);
    const body = JSON.stringify({ public_key: publicKey, name: `the ${id}` });
    expect((await ask(`/v1/agents/${id}/key`, { method: "POST", body })).status).toBe(200);
  }
  const first = await json<Keys>("/v1/keys?limit=3");
  expect(first).toMatchObject({ next: "barn", total: 4, unsigned: [], unsigned_total: 0 });
  expect(first.keys.map(({ agent }) => agent)).toEqual(["attic", "attic-2", "barn"]);
  expect(await json<Keys>("/v1/keys?limit=3&after=barn")).toMatchObject({
    keys: [{ agent: "cellar", name: "the cellar", fingerprint: expect.any(String) }],
    next: null,
  });
  expect(await json<Keys>("/v1/keys?q=THE%20ATTIC&limit=1")).toMatchObject({ total: 2, next: "attic" });
  expect((await ask("/v1/keys?limit=1001")).status).toBe(400);
});

test("of very many open questions the oldest are sent, with the number of all", async () => {
  // A home with tables.
  await ask("/v1/device-codes", { method: "POST", body: "{}" });
  await runInDurableObject(await theHome(), (_, { storage }) => {
    for (let n = 0; n < 250; n += 1)
      storage.sql.exec(
        `INSERT INTO question (id, call, conversation, agent, agent_question, text, options, approval, asked_at, expires_at)
         VALUES (?, ?, 'a/api/many', 'pi', ?, 'which one?', '[]', NULL, ?, ?)`,
        crypto.randomUUID(),
        crypto.randomUUID(),
        `q${n}`,
        n,
        Date.now() + 3_600_000,
      );
  });
  const { questions, total } = await json<{ questions: object[]; total: number }>("/v1/questions");
  expect(questions).toHaveLength(200);
  expect(total).toBe(250);
});
