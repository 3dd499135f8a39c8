/** Ended turns that are gathered in one row for many: a rebuilt object knows of them what their own rows say. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { NewTurn } from "../../api/turns.ts";
import type { Turn } from "./rows.ts";
import { Transcript } from "./transcript.ts";

const turn = (n: number): NewTurn => ({
  ...{ id: crypto.randomUUID(), idempotency: `key ${n}`, merge: true, text: `question ${n}`, images: [] },
  origin: { principal: "anna", role: "owner", channel: "openai" },
});

/** A turn with a call and a question; each third fails, each fifth leaves its call to the caller. @returns the call's id */
function exchange(transcript: Transcript, n: number, meanwhile = () => {}): string {
  const { turn: begun } = transcript.begin(turn(n));
  transcript.begin({ ...turn(n), idempotency: `joined ${n}` });
  const id = crypto.randomUUID();
  const made = { model: "m", usage: { input_tokens: 3, output_tokens: 1 } };
  const call = { id, modelCallId: "c", name: "edge_call", args: { agent_id: "pi" } };
  transcript.addReply(begun.n, {
    ...made,
    after: transcript.lastSeq(),
    reply: { role: "assistant", text: "", calls: [call] },
  });
  const asked = crypto.randomUUID();
  const question = { call: id, agent: "pi", text: "May I?", options: [], expires_at: 5 };
  transcript.addQuestion({ ...question, id: asked }, begun.n);
  transcript.closeQuestion(asked, "yes", { by: "anna" });
  if (n % 5 !== 0) transcript.settle(id, { status: "success", text: `result ${n}`, elapsedMs: 1, job: "j" });
  meanwhile();
  if (n % 3 === 0) transcript.finish(begun, "failed", "I gave up.", "gave_up");
  else transcript.finish(begun, "done", `answer ${n}`);
  transcript.release();
  return id;
}

/** Everything that a rebuilt object says. */
function saidBy(storage: DurableObjectStorage, isShared: boolean, calls: readonly string[]) {
  const transcript = new Transcript(storage, isShared);
  const turns = transcript.turns();
  return {
    turns,
    questions: turns.map(({ n }) => transcript.questionsOf(n)),
    sources: turns.map((one) => transcript.sourcesOf(one)),
    entries: turns.map(({ n }) => transcript.entriesOf(n)),
    byKey: turns.map((_, n) => ["key", "joined"].map((key) => transcript.turnByKey(`${key} ${n + 1}`)?.n)),
    byRef: calls.map((id) => transcript.turnOfCall(id.replaceAll("-", "").slice(0, 12))),
    texts: [...transcript.texts()].sort((a, b) => a.turn - b.turn),
    seq: transcript.lastSeq(),
  };
}

test.each([
  ["chats that share an object", true],
  ["a conversation with a summary", false],
])("%s: what is gathered says what the turns' own rows say, also of what came since", async (_, isShared) => {
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const transcript = new Transcript(storage, isShared);
    const calls = Array.from({ length: 70 }, (_, n) => exchange(transcript, n + 1));
    transcript.begin({ ...turn(71), merge: false });
    const from = transcript.entriesOf(68)[0];
    if (!isShared && from) transcript.summarise({ turns: 67, text: "In short." }, 70, from, undefined);
    transcript.release();
    const gathered = () => storage.sql.exec("SELECT last FROM past").toArray().length;
    expect(gathered()).toBeGreaterThan(0);
    // They change turns that are gathered.
    transcript.settleLate(
      calls[0] ?? "",
      "job-1",
      { status: "success", text: "late", elapsedMs: 1 },
      "note",
      undefined,
    );
    transcript.settle(calls[4] ?? "", { status: "success", text: "x", elapsedMs: 1 });
    const read = saidBy(storage, isShared, calls);
    expect(read.turns).toHaveLength(71);
    storage.sql.exec("DELETE FROM past");
    expect(read).toEqual(saidBy(storage, isShared, calls));
  });
});

test("the rows of a turn that waited meanwhile stand among those that are gathered, and no number is given twice", async () => {
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const transcript = new Transcript(storage, true);
    for (let n = 1; n < 32; n += 1) exchange(transcript, n);
    exchange(transcript, 32, () => transcript.begin({ ...turn(33), merge: false }));
    expect(storage.sql.exec("SELECT last FROM past").toArray()).toEqual([{ last: 32 }]);
    const rebuilt = new Transcript(storage, true);
    expect(rebuilt.lastSeq()).toBe(transcript.lastSeq());
    expect(rebuilt.currentTurn()).toMatchObject({ n: 33, status: "running" });
    expect(rebuilt.finish(rebuilt.turns()[32] as Turn, "done", "answer 33")).toBe(true);
  });
});

test("turns that are deleted are gathered no more, and the rest is", async () => {
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const transcript = new Transcript(storage, true);
    for (let n = 1; n <= 40; n += 1) exchange(transcript, n);
    storage.sql.exec(
      "UPDATE entry SET body = json_set(body, '$.at', 5) WHERE kind = 'end' AND turn <= 10; DELETE FROM past",
    );
    const old = new Transcript(storage, true);
    expect(old.turns()).toHaveLength(40);
    old.release();
    old.dropEnded(6);
    const first = () => new Transcript(storage, true).turns()[0]?.n;
    expect([old.turns().length, first()]).toEqual([30, 11]);
    expect(storage.sql.exec("SELECT 1 FROM entry WHERE turn <= 10").toArray()).toEqual([]);
    for (let n = 41; n <= 45; n += 1) exchange(old, n);
    expect(storage.sql.exec("SELECT last FROM past").toArray()).toHaveLength(1);
    expect([new Transcript(storage, true).turns().length, first()]).toEqual([35, 11]);
  });
});
