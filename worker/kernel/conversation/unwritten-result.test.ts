/** The last result of a reply is written with the next row of its turn. Until then Home keeps it, and the agent's ledger knows the call. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { modelCalls, releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../test/states.ts";
import { rowsOf, stop } from "../../../test/stopping.ts";
import { AGENTS, expectTurns, on, results, sameCallAgain, siren, sounds } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../test/workerd.ts";

const WITHIN_MS = 20_000;

let bridge: TestBridge;
beforeEach(async () => {
  bridge = await TestBridge.connect(AGENTS);
  bridge.onCall = () => sounds;
});
// Each test has its own home.
afterEach(reset);

const kindsOf = async (id: string) =>
  (await rowsOf<{ kind: string }>(conversationOf(id), "SELECT kind FROM entry ORDER BY seq")).map(
    ({ kind }) => kind,
  );

/** All files have one model, and other tests release holds of short names. */
const holdOf = (id: string) => `unwritten-${id}`;

/** Asks, and returns while the model has the result and no row has. */
async function untilUnwritten(id: string) {
  const asked = script({ calls: [siren] }, { hold: holdOf(id), step: results }, results);
  const said = say(id, asked);
  await until(async () => (await modelCalls(asked)) === 2);
  expect(await kindsOf(id)).toEqual(["begin", "reply"]);
  return { said, asked };
}

const SOUNDS = [{ answer: "it sounds", calls: [{ status: "success", result: "it sounds" }] }];

test("a turn that was read from its rows is the turn that was answered", async () => {
  const two = [siren, on("pi", { action: "cpu" })];
  const { body } = await say("read", script({ calls: [siren] }, { calls: two }, results));
  expect(body.calls.map(({ status }) => status)).toEqual(["success", "success", "success"]);
  // The first reply's only result is in the second's row, and the last of the second's in the end's.
  expect(await kindsOf("read")).toEqual(["begin", "reply", "reply", "result", "end"]);
  const shown = async () => await (await ask("/v1/conversations/read")).json();
  const before = await shown();
  const turn = async () => await (await ask(`/v1/conversations/read/turns/${body.turn}`)).json();
  const result = await turn();
  const events = async () => await (await ask(`/v1/conversations/read/turns/${body.turn}/events`)).text();
  const sent = await events();
  await stop("evict", conversationOf("read"));
  expect(await shown()).toEqual(before);
  expect(await turn()).toEqual(result);
  expect(await events()).toBe(sent);
  expect(sent.match(/^event: call$/gm)).toHaveLength(3);
});

test("a client that attaches meanwhile gets it from its row", async () => {
  const { said } = await untilUnwritten("attached");
  const { turns } = (await (await ask("/v1/conversations/attached")).json()) as {
    turns: Array<{ turn: string }>;
  };
  const stream = await ask(`/v1/conversations/attached/turns/${turns[0]?.turn}/events`);
  expect(await kindsOf("attached")).toEqual(["begin", "reply", "result"]);
  await releaseModel(holdOf("attached"));
  expect(await stream.text()).toContain("event: call\n");
  expect((await said).body.answer).toBe("it sounds");
  expect(await kindsOf("attached")).toEqual(["begin", "reply", "result", "end"]);
});

test.each(["the conversation", "the turn"])(
  "who looks at %s meanwhile sees what has its row",
  async (what) => {
    const id = `seen-${what.length}`;
    const { said } = await untilUnwritten(id);
    const [begin] = await rowsOf<{ id: string }>(
      conversationOf(id),
      "SELECT json_extract(body, '$.id') AS id FROM entry WHERE kind = 'begin'",
    );
    const at = what === "the turn" ? `/turns/${begin?.id}` : "";
    const seen = await (await ask(`/v1/conversations/${id}${at}`)).text();
    expect(seen).toContain('"result":"it sounds"');
    expect(await kindsOf(id)).toEqual(["begin", "reply", "result"]);
    await releaseModel(holdOf(id));
    expect((await said).body.answer).toBe("it sounds");
  },
);

test("a report that comes again meanwhile, and is acknowledged then, has its row", async () => {
  const { said } = await untilUnwritten("again");
  bridge.report(bridge.calls()[0]?.id ?? "", "pi", sounds);
  await until(async () => (await kindsOf("again")).includes("result"), { what: "the result has its row" });
  await releaseModel(holdOf("again"));
  expect((await said).body.answer).toBe("it sounds");
});

test("a turn that is cancelled meanwhile has it", async () => {
  const { said } = await untilUnwritten("cancelled");
  const { turns } = (await (await ask("/v1/conversations/cancelled")).json()) as {
    turns: Array<{ turn: string }>;
  };
  await ask(`/v1/conversations/cancelled/turns/${turns[0]?.turn}/cancel`, { method: "POST" });
  expect((await said).body).toMatchObject({ status: "cancelled", calls: [{ status: "success" }] });
  await stop("evict", conversationOf("cancelled"));
  await expectTurns("cancelled", [
    { status: "cancelled", answer: /^Cancelled/, calls: [{ status: "success", result: "it sounds" }] },
  ]);
  await releaseModel(holdOf("cancelled"));
});

test("a turn that a client watches has a row for each result", async () => {
  const headers = { accept: "text/event-stream" };
  const body = JSON.stringify({ text: script({ calls: [siren] }, results) });
  await (await ask("/v1/conversations/live/messages", { method: "POST", headers, body })).text();
  expect(await kindsOf("live")).toEqual(["begin", "reply", "result", "end"]);
});

describe("stopped before it is written", () => {
  test(
    "the conversation: Home has it still, and the device acts once",
    async () => {
      const { said } = await untilUnwritten("lost");
      await stop("abort", conversationOf("lost"));
      await releaseModel(holdOf("lost"));
      expect((await said).body).toMatchObject({ status: "done", answer: "it sounds" });
      await expectTurns("lost", SOUNDS);
      expect(bridge.calls()).toHaveLength(1);
    },
    WITHIN_MS,
  );

  test(
    "the conversation and Home: the agent gets the same call again, and its ledger has the result",
    async () => {
      const { said } = await untilUnwritten("both");
      const [call] = bridge.calls();
      await Promise.all([stop("abort", conversationOf("both")), stop("abort", theHome())]);
      await until(() => bridge.closed, { what: "the crash closes the bridge's socket" });
      const next = await TestBridge.connect(AGENTS);
      await sameCallAgain(next, call?.id ?? "");
      next.report(call?.id ?? "", "pi", sounds);
      await releaseModel(holdOf("both"));
      expect((await said).body).toMatchObject({ status: "done", answer: "it sounds" });
      await expectTurns("both", SOUNDS);
      expect(next.calls()).toHaveLength(1);
    },
    WITHIN_MS,
  );
});
