/** Chats whose clients keep the history: the cost of a request, and the memory of the object that they share. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { expect, test } from "vitest";
import type { ClientContext, ClientHistoryEntry } from "../api/turns.ts";
import { historyOf, sourcesFor, turnsOfChat } from "./client-context.ts";
import { readClientContext } from "./client-history.ts";
import type { Turn } from "./store/rows.ts";
import { Transcript } from "./store/transcript.ts";
import { TurnFinder } from "./turn-finder.ts";

/** Counts the reads of a storage: rows as they are billed, and characters. */
function counting(storage: DurableObjectStorage) {
  const cursors: Array<{ rowsRead: number }> = [];
  let chars = 0;
  const note = <Row>(row: Row): Row => {
    for (const value of Object.values(row as object)) if (typeof value === "string") chars += value.length;
    return row;
  };
  const exec = (query: string, ...values: SqlStorageValue[]) => {
    const cursor = storage.sql.exec(query, ...values);
    cursors.push(cursor);
    return {
      toArray: () => cursor.toArray().map(note),
      one: () => note(cursor.one()),
      *[Symbol.iterator]() {
        for (const row of cursor) yield note(row);
      },
    };
  };
  const counted = { sql: { exec }, transactionSync: <T>(work: () => T) => storage.transactionSync(work) };
  return {
    // SAFETY: has everything that a transcript uses.
    storage: counted as unknown as DurableObjectStorage,
    chars: () => chars,
    rows: () => cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  };
}

/** Counts the turns that are read. */
function lookedAt(transcript: Transcript) {
  let looks = 0;
  const counted = new Proxy(transcript, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        looks += Array.isArray(result) ? Math.max(1, result.length) : 1;
        return result;
      };
    },
  });
  return { transcript: counted, looks: () => looks };
}

async function inObject<T>(work: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> {
  const stub = env.CONVERSATION.getByName(`a/test/${crypto.randomUUID()}`);
  return await runInDurableObject(stub, async (_, { storage }) => {
    await storage.deleteAll();
    return await work(storage);
  });
}

const ORIGIN = { principal: "anna", role: "owner", channel: "openai" } as const;

function begin(transcript: Transcript, text: string, brought: ClientContext, isShared: boolean): Turn {
  const read = readClientContext(transcript, brought, isShared);
  const { turn } = transcript.begin({
    id: crypto.randomUUID(),
    idempotency: undefined,
    text,
    images: [],
    origin: { ...ORIGIN, brought: read.brought },
    sources: read.sources,
  });
  return turn;
}

/** A turn with an answer. @param reads the agent whose text the model read before */
function exchange(
  transcript: Transcript,
  text: string,
  answer: string,
  brought: ClientContext,
  isShared: boolean,
  reads?: string,
): Turn {
  const turn = begin(transcript, text, brought, isShared);
  const last = transcript.entriesOf(turn.n).findLast(({ role }) => role === "user");
  const shown = reads === undefined ? [] : [`agent:${reads}` as const];
  const reply = { role: "assistant", text: answer, calls: [] } as const;
  const usage = { input_tokens: 5, output_tokens: 5 };
  const made = { after: last?.seq ?? null, reply: { ...reply, calls: [] }, model: "m", usage, shown };
  if (!transcript.finish(turn, "done", answer, undefined, made)) throw new Error("it has ended");
  transcript.release();
  return transcript.turnAt(turn.n) as Turn;
}

/** A chat with this many exchanges, all of which the client sends each time; the second one read text of `pi`. */
function chatOf(length: number, transcript: Transcript, isShared: boolean, mark = ""): ClientHistoryEntry[] {
  const history: ClientHistoryEntry[] = [];
  for (let n = 1; n <= length; n += 1) {
    const [question, answer] = [`question ${n}${mark}`, `answer ${n}${mark}`];
    exchange(transcript, question, answer, { history: [...history] }, isShared, n === 2 ? "pi" : undefined);
    history.push({ role: "user", text: question }, { role: "assistant", text: answer });
  }
  return history;
}

type Cost = { request: number; step: number; rows: number };

/**
 * The cost of a chat's next request in an object that has just woken: reads and rows at its begin, and reads at each
 * step.
 */
async function costOf(length: number, isShared: boolean): Promise<Cost> {
  return await inObject((storage) => {
    const history = chatOf(length, new Transcript(storage, isShared), isShared);
    const counted = counting(storage);
    const { transcript, looks } = lookedAt(new Transcript(counted.storage, isShared));
    const turn = begin(transcript, "and now", { history }, isShared);
    const request = looks();
    expect(sourcesFor(transcript, turn)).toEqual(["agent:pi"]);
    const step = looks() - request;
    expect(historyOf(transcript, turn, 0)).toHaveLength(2 * length + 1);
    return { request, step, rows: counted.rows() };
  });
}

test.each([
  ["a chat without a name", true],
  ["a named chat that its client sends whole", false],
])(
  "G7 the cost of %s grows with its length, per request and per step",
  async (_, isShared) => {
    const [short, long] = [await costOf(60, isShared), await costOf(120, isShared)];
    expect(long.request / short.request).toBeLessThan(2.5);
    expect(long.rows / short.rows).toBeLessThan(2.5);
    expect(long.step / short.step).toBeLessThan(2.5);
    // A step of a chat without a name reads the sources from its row.
    if (isShared) expect(long.step).toBe(short.step);
  },
  60_000,
);

test("G7 the cost of identical answers grows with their number", async () => {
  const cost = (length: number) =>
    inObject((storage) => {
      const transcript = new Transcript(storage, true);
      const history: ClientHistoryEntry[] = [];
      for (let n = 0; n < length; n += 1) {
        exchange(transcript, "status?", "ok", { history: [...history] }, true);
        history.push({ role: "user", text: "status?" }, { role: "assistant", text: "ok" });
      }
      const counted = counting(storage);
      const look = lookedAt(new Transcript(counted.storage, true));
      begin(look.transcript, "and now", { history }, true);
      return look.looks() + counted.rows();
    });
  expect((await cost(80)) / (await cost(40))).toBeLessThan(2.5);
}, 60_000);

test("S5 words in a chat that no turn of ours produced have unknown sources", async () => {
  const sources = await inObject((storage) => {
    const transcript = new Transcript(storage, true);
    const history = chatOf(3, transcript, true);
    const said = (...more: ClientHistoryEntry[]) =>
      sourcesFor(transcript, begin(transcript, "now", { history: more }, true));
    return {
      known: said(...history),
      clean: said(...history.slice(0, 2)),
      unknown: said(...history.slice(0, 2), { role: "assistant", text: "answer 9" }),
      // A turn does not know later messages.
      later: said({ role: "assistant", text: "and now" }),
      withCall: said({ role: "assistant", text: "answer 1", calls: [{ id: "c", name: "x", arguments: "" }] }),
      picture: said({ role: "user", text: "see", images: ["https://example.org/a.png"] }),
      result: sourcesFor(transcript, begin(transcript, "", { history: [], results: { abc: "x" } }, true)),
    };
  });
  const strange = [STRANGER];
  expect(sources).toEqual({
    known: ["agent:pi"],
    clean: [],
    unknown: strange,
    later: strange,
    withCall: strange,
    picture: strange,
    result: strange,
  });
});

test("S5 an answer that continues a tainted turn is tainted itself, if its chat is identified by its words", async () => {
  const sources = await inObject((storage) => {
    const transcript = new Transcript(storage, true);
    const read = exchange(transcript, "look", "it says", { history: [] }, true, "nas");
    // Only the previous turn brought words of nas into this one.
    exchange(transcript, "and?", "so it is", { after: read.id }, true);
    const history: ClientHistoryEntry[] = [{ role: "assistant", text: "so it is" }];
    return sourcesFor(transcript, begin(transcript, "now", { history }, true));
  });
  expect(sources).toEqual(["agent:nas"]);
});

test("S5 in a named chat, an answer stays tainted when its client removes its source", async () => {
  const sources = await inObject((storage) => {
    const transcript = new Transcript(storage);
    const history = chatOf(3, transcript, false);
    return sourcesFor(transcript, begin(transcript, "now", { history: history.slice(4) }, false));
  });
  expect(sources).toEqual(["agent:pi"]);
});

/** Returns a check: do a client's words belong to a turn that answered with two pictures and a file below its text? */
function knownIn(storage: DurableObjectStorage): (text: string) => boolean {
  const transcript = new Transcript(storage, true);
  const turn = begin(transcript, "how full is it?", { history: [] }, true);
  const seq = transcript.entriesOf(turn.n).at(-1)?.seq ?? null;
  const id = crypto.randomUUID();
  const args = { agent_id: "pi", action: "look" };
  const call = { id, modelCallId: "m", name: "edge_call", args };
  const made = { model: "m", usage: undefined };
  const asked = transcript.addReply(turn.n, {
    ...made,
    after: seq,
    reply: { role: "assistant", text: "", calls: [call] },
  });
  const media = ["image/png", "image/png", "text/plain"].map((media_type, n) => ({
    ...{ id: `${n}.abc`, media_type, bytes: 1, sha256: "" },
  }));
  transcript.settle(id, { status: "success", text: "", elapsedMs: 1, media, sources: [] });
  const answer = { role: "assistant", text: "It is 7 %.", calls: [] } as const;
  const last = { ...made, after: asked ?? null, reply: { ...answer, calls: [] } };
  if (!transcript.finish(turn, "done", answer.text, undefined, last)) throw new Error("it has ended");
  // A turn without an answer has no words.
  begin(transcript, "and now?", { history: [] }, true);
  return (text) => new TurnFinder(transcript, [{ role: "assistant", text }]).answering(text).size > 0;
}

test("G7 an answer is recognised with the names of its own files below it, and with no other words", async () => {
  const texts = {
    known: [
      "It is 7 %.",
      "It is 7 %.\n\n[pi look]\n[pi look] [pi look: text/plain]",
      " It is\n7 %. [pi look]",
    ],
    unknown: [
      "It is 8 %.",
      "It is 7 %. [pi look]b",
      "It is 7 %. [nas look]",
      "It is 7 %. [a[pi look]",
      "[pi look]",
    ],
  };
  const known = await inObject((storage) => {
    const isKnown = knownIn(storage);
    return { known: texts.known.filter(isKnown), unknown: texts.unknown.filter(isKnown) };
  });
  expect(known).toEqual({ known: texts.known, unknown: [] });
});

test.each([" ", "[", "]", "[]", "[ ", "\n", "a ", "[pi look]"])(
  "G7 100,000 times %j in a client's history takes no time",
  async (part) => {
    const took = await inObject((storage) => {
      const isKnown = knownIn(storage);
      // Quadratic work takes minutes each time; a busy machine is slow only now and then.
      const times = [1, 2, 3].map(() => {
        const before = Date.now();
        for (const end of ["", "x", "]"]) isKnown(part.repeat(100_000) + end);
        return Date.now() - before;
      });
      return Math.min(...times);
    });
    expect(took).toBeLessThan(1_000);
  },
);

/** For each turn of an object that chats share: the caller, the time, the answer and the sources. */
const TURN_CHARS = 1_000;

test("G7 large histories, tools and results of chats that share an object are not in memory after a wake", async () => {
  const TURNS = 100;
  const read = await inObject((storage) => {
    const transcript = new Transcript(storage, true);
    const history: ClientHistoryEntry[] = [
      { role: "user", text: "x".repeat(100_000) },
      { role: "assistant", text: "y".repeat(100_000) },
    ];
    const definition = { name: "tool", description: "z".repeat(50_000), parameters: {} };
    const brought: ClientContext = {
      instructions: "i".repeat(20_000),
      history,
      clientTools: [{ type: "function", function: definition }],
    };
    for (let n = 0; n < TURNS; n += 1) exchange(transcript, "q".repeat(20_000), `answer ${n}`, brought, true);
    const wake = counting(storage);
    const woken = new Transcript(wake.storage, true);
    const turns = woken.turns();
    const [chars, rows] = [wake.chars(), wake.rows()];
    const turn = begin(woken, "and now", brought, true);
    return {
      chars,
      rows,
      held: woken.heldChars(),
      turns: turns.length,
      shown: historyOf(woken, turn, 0).map((entry) => ("text" in entry ? entry.text.length : 0)),
      whole: woken.clientContextOf(turn).clientTools?.[0]?.function.description.length,
    };
  });
  expect(read.turns).toBe(TURNS);
  expect(read.chars).toBeLessThan(TURNS * TURN_CHARS);
  expect(read.held).toBeLessThan((TURNS + 1) * TURN_CHARS);
  expect(read.rows).toBeLessThan(TURNS + 10);
  // What the model is shown is whole.
  expect(read.shown).toEqual([100_000, 100_000, 7]);
  expect(read.whole).toBe(50_000);
}, 60_000);

test("G7 a conversation's budget counts the turns of its own chat, even next to one with the same words", async () => {
  const spent = await inObject((storage) => {
    const transcript = new Transcript(storage, true);
    const spentIn = (turn: Turn) => transcript.spent(turn.n, turnsOfChat(transcript, turn)).conversation;
    for (let n = 0; n < 20; n += 1) exchange(transcript, "status?", "ok", { history: [] }, true);
    const stranger = begin(transcript, "status?", { history: [] }, true);
    transcript.finish(stranger, "done", "ok");
    const history = chatOf(3, transcript, true);
    // Another chat with the same words, and longer.
    chatOf(6, transcript, true);
    const own = begin(transcript, "now", { history }, true);
    const first = exchange(transcript, "a", "b", { history: [] }, true);
    const branch = exchange(transcript, "c", "d", { after: first.id }, true);
    return { stranger: spentIn(stranger), own: spentIn(own), branch: spentIn(branch) };
  });
  expect(spent).toEqual({
    stranger: { tokens: 0, modelCalls: 0 },
    own: { tokens: 30, modelCalls: 3 },
    branch: { tokens: 20, modelCalls: 2 },
  });
});
