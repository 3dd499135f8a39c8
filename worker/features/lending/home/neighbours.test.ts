/** Two homes of one gateway: b lends to a. No request leaves the gateway, and neither home learns a name of the other one. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { call, post } from "../../../../test/keyed-home.ts";
import { call as mcpCall, tools } from "../../../../test/mcp-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { type Asked, cancel, expectTurns, on, turnsOf } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import { homeOf } from "../../../kernel/api/stubs.ts";

const WITHIN_MS = 25_000;
const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "route"];
const RESULTS = { text: "$results" };

let lender: TestBridge;
/** All bytes that passed between the homes. */
let passed: string[];
let grant = "";

beforeEach(async () => {
  await TestBridge.connect([agent("kettle", { line: "kettle of a", tools: [CPU, SIREN] })]);
  lender = await lenderConnects();
  passed = recorded();
  grant = await lend();
});
afterEach(reset);

const lenderConnects = () =>
  TestBridge.connect(
    [
      agent("lathe", { features: FEATURES, tools: [CPU, SIREN] }),
      agent("mute", { features: ["tool", "prompt", "cancel", "ack"], tools: [SIREN] }),
      agent("press", { line: "press of b", features: FEATURES, tools: [CPU] }),
    ],
    TOKENS.otherBridge,
  );

async function lend(agents = ["lathe", "mute"], name = "near"): Promise<string> {
  const terms = { agents, scopes: ["ask", "command"], reads_only: false, expires_in_days: 1 };
  const { body } = await post("/v1/lending", { label: `for ${name}`, ...terms }, TOKENS.otherHome);
  const taken = await post("/v1/borrowing", { invitation: body.invitation, name });
  expect(taken.status, JSON.stringify(taken.body)).toBe(201);
  return (body.lent as { id: string }).id;
}

/** Records all requests between the homes, and fails what would be sent to the gateway itself. */
function recorded(): string[] {
  const texts: string[] = [];
  const peer = Home.prototype["lending.peer"];
  const { fetch } = globalThis;
  Home.prototype["lending.peer"] = async function (this: Home, kind, token, body) {
    const reply = await peer.call(this, kind, token, body);
    const claims = atob((token.split(".")[0] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    texts.push(JSON.stringify({ kind, claims, body, reply }));
    return reply;
  };
  globalThis.fetch = async (input, init) => {
    const { url } = new Request(input, init);
    if (url.includes("/v1/peer/")) throw new Error(`a request to ourselves: ${url}`);
    return await fetch(input, init);
  };
  onTestFinished(() => {
    Home.prototype["lending.peer"] = peer;
    globalThis.fetch = fetch;
  });
  return texts;
}

const near = (action: string, id = "lathe") => on(`near/${id}`, { action });
const lentCall = (n = 0) =>
  until(() => lender.calls()[n], { what: "the call at the lender", within: 10_000 });
const questionsAt = async (token: string) =>
  ((await (await ask("/v1/questions", { token })).json()) as { questions: Asked[] }).questions;

async function answerAt(token: string, answer: string): Promise<void> {
  const question = await until(async () => (await questionsAt(token))[0], { what: "a question" });
  const body = JSON.stringify({ answer });
  const response = await ask(`/v1/questions/${question.id}`, { method: "POST", body, token });
  expect(response.status).toBe(200);
}

test(
  "lent, used, approved by the lender's owner, and nothing else is seen",
  async () => {
    const id = crypto.randomUUID();
    const asking = say(id, script({ calls: [near("cpu")] }, { calls: [near("siren", "mute")] }, RESULTS));
    const first = await lentCall();
    lender.report(first.id, "lathe", { status: "success", result: "12 %" });
    expect(await until(async () => (await questionsAt(TOKENS.otherHome))[0]?.text)).toBe(
      "Run siren on mute?",
    );
    expect(await questionsAt(TOKENS.owner)).toEqual([]);
    await answerAt(TOKENS.otherHome, "approve");
    const second = await lentCall(1);
    lender.report(second.id, "mute", { status: "success", result: "it sounds" });
    expect((await asking).body).toMatchObject({
      status: "done",
      calls: [
        { agent: "near/lathe", result: "12 %" },
        { agent: "near/mute", result: "it sounds" },
      ],
    });
    const text = passed.join("\n");
    expect(passed.length).toBeGreaterThan(3);
    expect(text).not.toMatch(/anna|berta|kettle|press|bridge-[ab]/);
    expect(text).not.toContain(id);
    expect(JSON.stringify(lender.received)).not.toMatch(/anna|kettle/);
    // The devices of the other home are in no list but that of what is borrowed.
    expect(JSON.stringify((await call("/v1/agents")).body)).not.toContain("lathe");
    expect(JSON.stringify((await call("/v1/agents", { token: TOKENS.otherHome })).body)).not.toContain(
      "kettle",
    );
  },
  WITHIN_MS,
);

describe("stopped in the middle, there is one effect and one answer", () => {
  test.each([
    ["the borrower, while the agent is at it", "a"],
    ["the lender, while the agent is at it", "b"],
  ])(
    "%s",
    async (_, stopped) => {
      const id = crypto.randomUUID();
      const asking = say(id, script({ calls: [near("siren")] }, RESULTS));
      const { id: lentId } = await lentCall();
      await stop("abort", env.HOME.getByName(stopped));
      if (stopped === "b") {
        await until(() => lender.closed, { what: "its socket is closed" });
        lender = await lenderConnects();
      }
      lender.report(lentId, "lathe", { status: "success", result: "it sounds" });
      expect((await asking).body.answer).toBe("it sounds");
      await expectTurns(id, [{ answer: "it sounds", calls: [{ status: "success" }] }]);
    },
    WITHIN_MS,
  );
});

test(
  "taken back while the agent is at it: the chat reads so, and the next call is refused",
  async () => {
    const id = crypto.randomUUID();
    const asking = say(id, script({ calls: [near("siren")] }, { calls: [near("cpu")] }, RESULTS));
    await lentCall();
    const path = `/v1/lending/${grant}`;
    expect((await call(path, { method: "DELETE", token: TOKENS.owner })).status).toBe(404);
    expect((await call(path, { method: "DELETE", token: TOKENS.otherHome })).status).toBe(204);
    expect((await asking).body).toMatchObject({
      calls: [
        { error: expect.stringContaining("The lender took the grant back while it ran") },
        { error: expect.stringContaining("the lender does not lend this any more") },
      ],
    });
    const { body } = await call("/v1/lending");
    expect(body).toMatchObject({ borrowed: [{ problem: expect.stringContaining("does not lend") }] });
  },
  WITHIN_MS,
);

test(
  "a cancelled turn stops the agent at the lender",
  async () => {
    const id = crypto.randomUUID();
    void say(id, script({ calls: [near("siren")] }, RESULTS));
    const { id: lentId } = await lentCall();
    await until(
      async () =>
        (await rowsOf<{ state: string }>(env.HOME.getByName("a"), "SELECT state FROM call"))[0]?.state ===
        "taken",
      { what: "it is taken" },
    );
    await cancel(id);
    await until(() => lender.received.some((one) => one.t === "publish" && one.payload.includes(lentId)), {
      what: "the agent is told",
    });
    expect((await turnsOf(id))[0]?.status).toBe("cancelled");
  },
  WITHIN_MS,
);

test("an MCP client reaches it by its name", async () => {
  lender.onCall = () => ({ status: "success", result: "12 %" });
  const result = await mcpCall("edge_call", { agent_id: "near/lathe", action: "cpu" });
  expect(result.content[0]?.text).toContain("12 %");
  const names = (await tools()).map(({ name }) => name);
  expect(names).toContainEqual(expect.stringMatching(/^near-lathe__cpu-[0-9a-f]{8}$/));
  const [seen] = await rowsOf<{ principal: string }>(
    env.HOME.getByName("b"),
    "SELECT json_extract(caller, '$.principal') AS principal FROM call WHERE asker IS NOT NULL",
  );
  expect(seen?.principal).toBe("home:for near");
});

test("a large home finds it by words, and only within a caller's reach", async () => {
  const many = Array.from({ length: 25 }, (_, n) => agent(`lamp-${n}`, { line: `lamp ${n}`, tools: [CPU] }));
  await TestBridge.connect(many);
  const found = (reach?: string[]) => homeOf(env, "a").agents.findAgents({ text: "lathe" }, reach);
  expect((await found()).text).toContain("near/lathe");
  expect((await found(["near/lathe"])).text).toContain("near/lathe");
  expect((await found(["lamp-1"])).text).not.toContain("near/lathe");
});

test("what is lent to a home is not lent on, and its commands are not the API's", async () => {
  const terms = { label: "third", scopes: ["ask"], reads_only: true, expires_in_days: 1 };
  for (const id of ["near/lathe", "lathe"])
    expect([400, 404]).toContain((await post("/v1/lending", { ...terms, agents: [id] })).status);
  const { status } = await post(`/v1/agents/${encodeURIComponent("near/lathe")}/commands`, {
    command: "shutdown",
  });
  expect(status).toBe(400);
});

test("a back-up holds no grant", async () => {
  for (const token of [TOKENS.owner, TOKENS.otherHome])
    expect(await (await ask("/v1/export", { token })).text()).not.toContain(grant);
});

test("a home cannot borrow from itself", async () => {
  const terms = { label: "me", agents: ["kettle"], scopes: ["ask"], reads_only: true, expires_in_days: 1 };
  const { body } = await post("/v1/lending", terms);
  expect((await post("/v1/borrowing", { invitation: body.invitation, name: "me" })).status).toBe(400);
});
