/** The rows that a conversation reads: Cloudflare bills each, and a long conversation has many. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { NewTurn } from "../../api/turns.ts";
import { Transcript } from "./transcript.ts";

const turn = (): NewTurn => ({
  id: crypto.randomUUID(),
  idempotency: crypto.randomUUID(),
  text: "How warm is it?",
  images: [],
  origin: { principal: "anna", role: "owner", channel: "api" },
});

/** A turn with a call and a question, and all its reads. */
function wholeTurn(transcript: Transcript): void {
  const { turn: begun } = transcript.begin(turn());
  const [said] = transcript.entriesOf(begun.n);
  const call = crypto.randomUUID();
  const calls = [{ id: call, modelCallId: "c", name: "edge_call", args: {} }];
  const usage = { input_tokens: 3, output_tokens: 1 };
  transcript.notices(begun.n);
  transcript.spent(begun.n);
  const made = { model: "m", usage };
  const asked = transcript.addReply(begun.n, {
    ...made,
    after: said?.seq ?? null,
    reply: { role: "assistant", text: "", calls },
  });
  const id = crypto.randomUUID();
  transcript.addQuestion(
    { id, call, agent: "pi", text: "May I?", options: [], expires_at: Date.now() },
    begun.n,
  );
  transcript.questionsOf(begun.n);
  transcript.closeQuestion(id, "yes", { by: "anna" });
  transcript.settle(call, { status: "success", text: "21 °C", elapsedMs: 1 });
  transcript.questionsOf(begun.n);
  const answer = "It is 21 °C.";
  transcript.finish(begun, "done", answer, undefined, {
    ...made,
    after: asked ?? null,
    reply: { role: "assistant", text: answer, calls: [] },
  });
  transcript.questionsOf(begun.n);
}

/** Returns the number of rows that `work` read. */
function rowsRead(storage: DurableObjectStorage, work: () => void): number {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  const cursors: Array<{ rowsRead: number }> = [];
  sql.exec = <Row extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
    const cursor = exec<Row>(query, ...bindings);
    cursors.push(cursor);
    return cursor;
  };
  try {
    work();
  } finally {
    sql.exec = exec;
  }
  return cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
}

async function costsAfter(turns: number): Promise<{ first: number; next: number }> {
  return await runInDurableObject(
    env.CONVERSATION.getByName(`a/api/${crypto.randomUUID()}`),
    (_, { storage }) => {
      const before = new Transcript(storage);
      for (let n = 0; n < turns; n += 1) wholeTurn(before);
      // A rebuilt object.
      const transcript = new Transcript(storage);
      const first = rowsRead(storage, () => wholeTurn(transcript));
      return { first, next: rowsRead(storage, () => wholeTurn(transcript)) };
    },
  );
}

test("a long conversation is read once when its object is built, and then a turn reads no more than in a short one", async () => {
  const short = await costsAfter(3);
  const long = await costsAfter(300);
  expect(long.next).toBe(short.next);
  expect(short.next).toBeLessThan(10);
  // Each turn has six rows: its begin, a reply, a question with its answer, a result, and the end.
  expect(long.first - short.first).toBeLessThanOrEqual(297 * 6);
});
