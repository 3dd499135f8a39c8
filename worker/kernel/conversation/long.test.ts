/** A conversation over years: its memory, its requests to the model and its answers do not grow with it. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { modelRequests } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { ask } from "../../../test/workerd.ts";
import { Transcript } from "./store/transcript.ts";

const TURNS = 400;
const NAME = "a/api/long-one";
const stub = () => env.CONVERSATION.getByName(NAME);

type Page = { turns: Array<{ turn: string; text: string; status: string }>; before: number | null };
const page = async (query: string) => {
  const response = await ask(`/v1/conversations/long-one${query}`);
  return { status: response.status, body: (await response.json()) as Page & { error?: { message: string } } };
};
const say = async (text: string) => {
  const response = await ask("/v1/conversations/long-one/messages", {
    method: "POST",
    body: JSON.stringify({ text }),
  });
  return (await response.json()) as { answer: string; status: string };
};

test("G17 hundreds of turns with large results: summed up once, paged, and only what is shown is in memory", async () => {
  expect((await say(script({ text: "first" }))).answer).toBe("first");
  // The rows of 400 turns with a result of 50 KB each; asking them one by one would take minutes.
  await runInDurableObject(stub(), (_, { storage }) => {
    const outcome = { status: "success", text: "r".repeat(50_000), elapsedMs: 1 };
    const origin = { principal: "anna", role: "owner", channel: "api" };
    const { sql } = storage;
    for (let n = 2; n <= TURNS; n += 1) {
      const row = "INSERT INTO entry (seq, turn, kind, body) VALUES (?, ?, ?, ?)";
      const call = crypto.randomUUID();
      const asked = {
        ...{ id: call, modelCallId: `m${n}`, name: "edge_call" },
        args: { agent_id: "pi", action: "read" },
      };
      const end = {
        status: "done",
        answer: `answer ${n}`,
        at: n,
        says: true,
        replies: 2,
        model: "m",
        sources: [],
      };
      const bodies = {
        begin: { id: crypto.randomUUID(), origin, at: n, sources: [], text: `question ${n}` },
        reply: { text: "", calls: [asked] },
        result: { call, outcome, at: n },
        end,
      };
      let seq = n * 10;
      for (const [kind, body] of Object.entries(bodies)) {
        sql.exec(row, seq, n, kind, JSON.stringify(body));
        seq += 1;
      }
    }
  });
  await evictDurableObject(stub());

  const mark = crypto.randomUUID();
  for (const nth of [1, 2, 3, 4, 5])
    expect((await say(`${script({ text: `fine ${nth}` })}\n${mark}`)).answer).toBe(`fine ${nth}`);
  const own = await modelRequests({ words: mark });
  // One request each, and one summary, because no summary covers these questions yet.
  expect(own).toHaveLength(5);
  expect(JSON.stringify(own.at(-1)?.messages)).toContain("earlier turns summed up");
  expect(JSON.stringify(own.at(-1)?.messages).length).toBeLessThan(200_000);
  expect((await modelRequests({ words: "question 200" })).length).toBeLessThanOrEqual(1);

  // A rebuilt object reads only what the model is shown.
  const read = await runInDurableObject(stub(), (_, { storage }) => {
    const transcript = new Transcript(storage);
    const shown = transcript.shownUpTo(TURNS + 5, 2);
    return {
      shown: shown.length,
      from: transcript.summary()?.from?.turn,
      sixth: transcript.entriesOf(6).length,
    };
  });
  expect(read.from).toBeGreaterThan(TURNS / 2);
  // Three entries a turn.
  expect(read.shown).toBeLessThan(TURNS * 1.5);
  expect(read.sixth).toBe(3);

  // Pages from the newest to the oldest, each turn once.
  const seen: string[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  let pages = 0;
  while (before !== null) {
    const { status, body }: Awaited<ReturnType<typeof page>> = await page(`?before=${before}&limit=150`);
    expect(status).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(4_100_000);
    seen.unshift(...body.turns.map(({ turn }) => turn));
    before = body.before;
    pages += 1;
  }
  expect(seen).toHaveLength(TURNS + 5);
  expect(new Set(seen).size).toBe(TURNS + 5);
  expect(pages).toBeGreaterThan(2);
}, 60_000);

test("G17 a place and a number of turns that are none are refused by name", async () => {
  expect((await page("?limit=0")).body.error?.message).toBe("limit: expected a whole number from 1 to 200");
  expect((await page("?before=x")).body.error?.message).toContain("before: expected a whole number");
});
