/** This home lends: what a borrower at another gateway may do, and everything that is refused. */
import { reset } from "cloudflare:test";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FarHome, isGoodToken } from "../../../../test/far-home.ts";
import { call, post } from "../../../../test/keyed-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { answerQuestion, openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import { readInvitation } from "../contract.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "route"];
const TERMS = {
  label: "next door",
  agents: ["lathe", "mute"],
  scopes: ["ask", "command"],
  reads_only: false,
  expires_in_days: 30,
};

type Outcome = { status: string; text: string; error_type?: string };

let bridge: TestBridge;
let far: FarHome;
/** This home's, as the invitation names it. */
let lenderKey = "";

beforeEach(async () => {
  bridge = await connect();
  far = await FarHome.make();
});
afterEach(reset);

const connect = () =>
  TestBridge.connect([
    agent("lathe", { features: FEATURES, tools: [CPU, SIREN] }),
    agent("mute", { features: ["tool", "prompt", "cancel", "ack"], tools: [CPU, SIREN] }),
    agent("press", { features: FEATURES, tools: [CPU] }),
  ]);

async function lend(more: Partial<typeof TERMS> = {}) {
  const { status, body } = await post("/v1/lending", { ...TERMS, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as unknown as { invitation: string; lent: { id: string } };
}

async function lent(more: Partial<typeof TERMS> = {}) {
  const made = await lend(more);
  lenderKey = readInvitation(made.invitation)?.key ?? "";
  expect((await far.take(made.invitation)).status).toBe(200);
  return made.lent.id;
}

const cpu = (id: string = crypto.randomUUID()) => ({
  id,
  agent: "lathe",
  action: "cpu",
  params: {},
  chain: { steps: 0 },
});
const siren = (id: string = crypto.randomUUID()) => ({ ...cpu(id), action: "siren" });

const outcomeIn = ({ body }: { body: object }) => (body as { outcome?: Outcome }).outcome;
/** The outcome that was brought to the borrower. */
const brought = (id: string) =>
  until(() => far.of("outcome").find(({ body }) => body.id === id)?.body.outcome as Outcome | undefined, {
    what: "the outcome at the borrower",
    within: 10_000,
  });

const rows = () =>
  rowsOf<{ id: string; state: string; delivered: number; asker: string }>(
    theHome(),
    "SELECT id, state, delivered, asker FROM call WHERE asker IS NOT NULL ORDER BY n",
  );

describe("a grant", () => {
  test("is an owner's to give, with the scope admin", async () => {
    for (const token of [TOKENS.admin, TOKENS.member, TOKENS.guest, TOKENS.scraper]) {
      expect((await post("/v1/lending", TERMS, token)).status).toBe(403);
      expect((await post("/v1/borrowing", { invitation: "ecl_", name: "x" }, token)).status).toBe(403);
      expect((await call("/v1/lending", { token })).status).toBe(403);
    }
  });

  test.each([
    ["an unknown agent", { agents: ["nobody"] }, 404],
    ["an agent that is lent to this home", { agents: ["work/lathe"] }, 400],
    ["no agent", { agents: [] }, 400],
    ["another scope", { scopes: ["approve"] }, 400],
    ["more than a year", { expires_in_days: 367 }, 400],
    ["a label that imitates a sender", { label: "home:x" }, 400],
  ])("is refused for %s", async (_, more, status) => {
    expect((await post("/v1/lending", { ...TERMS, ...more })).status).toBe(status);
  });

  test("is offered, lent and revoked; the invitation is good once and no list has it", async () => {
    const { invitation, lent: grant } = await lend();
    const list = async () =>
      (await call("/v1/lending")).body as { lent?: Array<{ state: string; id: string }> };
    expect((await list()).lent).toMatchObject([{ id: grant.id, state: "offered" }]);
    const taken = await far.take(invitation);
    expect(taken.status).toBe(200);
    expect(taken.body).toMatchObject({
      agents: [
        { id: "lathe", online: true, takes_queries: true },
        { id: "mute", online: true },
      ],
      scopes: ["ask", "command"],
      reads_only: false,
    });
    // The answer was lost: the same borrower may ask again, another one may not.
    expect((await far.take(invitation)).status).toBe(200);
    const other = await newKeyPair();
    expect((await far.take(invitation, { key: other.publicKey }, { keys: other })).status).toBe(401);
    expect((await list()).lent).toMatchObject([{ state: "lent" }]);
    expect(JSON.stringify(await list())).not.toContain("ecl_");
    expect((await call(`/v1/lending/${grant.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(`/v1/lending/${grant.id}`, { method: "DELETE" })).status).toBe(404);
    expect((await list()).lent).toMatchObject([{ state: "revoked" }]);
    expect((await far.take(invitation)).status).toBe(401);
    const audit = (await call("/v1/audit?agent=@gateway")).body as { entries?: Array<{ tool: string }> };
    expect(audit.entries?.filter(({ tool }) => tool === "lend")).toHaveLength(3);
  });

  test("with reads only, or without actions, shows nothing else", async () => {
    await lent({ reads_only: true, scopes: ["command"], agents: ["lathe"] });
    const { body } = await far.ask("agents", {});
    expect(body).toMatchObject({
      agents: [{ id: "lathe", takes_queries: false, actions: [{ name: "cpu" }] }],
    });
    expect(JSON.stringify(body)).not.toMatch(/siren|press|mute|anna/);
  });

  test("with reads only offers questions in words to agents alone that can do nothing else", async () => {
    await lent({ reads_only: true, agents: ["lathe", "press"] });
    expect((await far.ask("agents", {})).body).toMatchObject({
      agents: [
        { id: "lathe", takes_queries: false },
        { id: "press", takes_queries: true },
      ],
    });
    const asked = { ...cpu(), action: undefined, query: "look" };
    expect(outcomeIn(await far.ask("call", asked))?.text).toContain("only actions that read");
    expect(
      outcomeIn(await far.ask("call", { ...asked, agent: "press", id: crypto.randomUUID() })),
    ).toBeUndefined();
  });

  test.each([
    ["http beyond this machine", "http://far.example"],
    ["a path", "https://far.example/x"],
    ["a login", "https://a:b@far.example"],
    ["none, from another gateway", ""],
  ])("is not taken by a borrower whose address has %s", async (_, url) => {
    const { invitation } = await lend();
    expect((await far.take(invitation, { url })).status).toBe(400);
    expect((await far.take(invitation)).status).toBe(200);
  });
});

describe("one answer, whatever is wrong", () => {
  const REFUSAL = {
    error: { code: "unauthorized", message: "there is no such grant here, or it has ended" },
  };

  test.each<[string, Parameters<FarHome["ask"]>[2]]>([
    ["another grant", { grant: crypto.randomUUID() }],
    ["the other side", { from: "lender" }],
    ["another place", { for: "gateway/v1/peer/b/call" }],
    ["another kind", { for: "gateway/v1/peer/a/agents" }],
    ["another host", { for: "elsewhere/v1/peer/a/call" }],
    ["no host", { for: "/v1/peer/a/call" }],
    ["another body", { body: "{}" }],
    ["an old token", { now: Date.now() - 301_000 }],
    ["a token from the future", { now: Date.now() + 120_000 }],
  ])("%s", async (_, claims) => {
    await lent();
    expect(await far.ask("call", cpu(), claims)).toEqual({ status: 401, body: REFUSAL });
    expect(bridge.calls()).toEqual([]);
  });

  test("another key, a revoked grant, an expired one, an unknown home", async () => {
    const id = await lent();
    expect(await far.ask("call", cpu(), { keys: await newKeyPair() })).toEqual({
      status: 401,
      body: REFUSAL,
    });
    expect(await far.request({ home: "nowhere", grant: id, from: "borrower" }, "call", cpu())).toEqual({
      status: 401,
      body: REFUSAL,
    });
    expect(await far.request({ home: "b", grant: id, from: "borrower" }, "call", cpu())).toEqual({
      status: 401,
      body: REFUSAL,
    });
    await rowsOf(theHome(), `UPDATE lent SET expires_at = ${Date.now() - 1}`);
    expect(await far.ask("call", cpu())).toEqual({ status: 401, body: REFUSAL });
    expect(bridge.calls()).toEqual([]);
  });

  test("what takes no key to see wakes no home", async () => {
    const id = await lent();
    const real = Home.prototype["lending.peer"];
    let woken = 0;
    Home.prototype["lending.peer"] = async function (this: Home, ...args) {
      woken += 1;
      return await real.apply(this, args);
    };
    try {
      await far.request({ home: "nowhere", grant: id, from: "borrower" }, "call", cpu());
      for (const claims of [{ for: "elsewhere/v1/peer/a/call" }, { body: "{}" }, { now: 0 }])
        await far.ask("call", cpu(), claims);
      for (const [path, token] of [
        ["/v1/peer/a/call", "none"],
        ["/v1/peer/a/call", null],
        ["/v1/peer/a/nothing", TOKENS.owner],
      ] as const)
        expect((await call(path, { method: "POST", body: "{}", token })).status).toBe(401);
      expect(woken).toBe(0);
      await far.ask("agents", {});
      expect(woken).toBe(1);
    } finally {
      Home.prototype["lending.peer"] = real;
    }
  });
});

describe("a call", () => {
  test("reaches the agent as tainted, in the borrower's name alone, and its outcome is brought once it is there", async () => {
    const grant = await lent();
    const asked = cpu();
    const reply = await far.ask("call", asked);
    expect(reply).toMatchObject({ status: 200, body: { left_ms: expect.any(Number) } });
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    expect(JSON.parse(frame.payload)).toMatchObject({
      command: "tool",
      payload: { tool: "cpu" },
      tainted: true,
      caller: { principal: "home:next door", role: "guest", channel: "federation" },
    });
    expect(frame.payload).not.toContain(asked.id);
    expect(await rows()).toMatchObject([
      { state: expect.any(String), asker: JSON.stringify({ by: "home", grant, call: asked.id }) },
    ]);
    bridge.report(frame.id, "lathe", { status: "success", result: "12 %" });
    expect(await brought(asked.id)).toMatchObject({ status: "success", text: "12 %" });
    await until(async () => (await rows())[0]?.delivered === 1, { what: "it is delivered" });
    const [outcome] = far.of("outcome");
    expect(outcome && (await isGoodToken(outcome, lenderKey))).toBe(true);
    // It comes again: the same answer, and nothing is run twice.
    expect(outcomeIn(await far.ask("call", asked))).toMatchObject({ text: "12 %" });
    expect(bridge.calls()).toHaveLength(1);
  });

  test.each([
    ["an agent that is not lent", { ...cpu(), agent: "press" }, {}, "'press' is not lent"],
    ["an agent that is not there", { ...cpu(), agent: "nobody" }, {}, "'nobody' is not lent"],
    ["an action, with the scope ask alone", cpu(), { scopes: ["ask"] }, "questions in words only"],
    [
      "a question, with the scope command alone",
      { ...cpu(), action: undefined, query: "hi" },
      { scopes: ["command"] },
      "take actions only",
    ],
    ["a write, with reads only", siren(), { reads_only: true }, "only actions that read"],
    ["an unknown action", { ...cpu(), action: "dig" }, {}, "no action 'dig'"],
  ])("for %s is refused in words that name no other agent", async (_, asked, more, words) => {
    await lent(more);
    const outcome = outcomeIn(await far.ask("call", asked));
    expect(outcome).toMatchObject({ status: "error", text: expect.stringContaining(words) });
    expect(JSON.stringify(outcome).replaceAll(`'${asked.agent}'`, "")).not.toMatch(/press|anna/);
    expect(bridge.calls()).toEqual([]);
  });

  test("for an agent that is away does not wait for it", async () => {
    await lent();
    bridge.close();
    await until(async () => /not online/.test(outcomeIn(await far.ask("call", cpu()))?.text ?? ""), {
      what: "the refusal",
    });
  });

  test("with the id of another grant's call is a call of its own", async () => {
    await lent();
    const asked = cpu();
    await far.ask("call", asked);
    await lent({ label: "others" });
    await far.ask("call", asked);
    await until(() => bridge.calls().length === 2, { what: "two calls" });
    expect(new Set((await rows()).map(({ id }) => id)).size).toBe(2);
  });

  test("beyond twenty at once is refused", async () => {
    await lent();
    for (let n = 0; n < 20; n += 1) expect(outcomeIn(await far.ask("call", cpu()))).toBeUndefined();
    expect(outcomeIn(await far.ask("call", cpu()))?.text).toContain("20 calls under this grant are open");
  });

  test("of an agent that cannot ask waits for an owner here, and the borrower learns how long", async () => {
    await lent();
    const asked = { ...siren(), agent: "mute" };
    const reply = await far.ask("call", asked);
    expect(Number((reply.body as { left_ms?: number }).left_ms)).toBeGreaterThan(500_000);
    const [question] = await openQuestions();
    expect(question?.text).toBe("Run siren on mute?");
    expect(bridge.calls()).toEqual([]);
    await answerQuestion(question?.id ?? "", "approve");
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "mute", { status: "success", result: "it sounds" });
    expect(await brought(asked.id)).toMatchObject({ text: "it sounds" });
  });

  test("that waits for an approval here is told so, without a word about who is asked", async () => {
    await lent();
    const asked = { ...siren(), agent: "mute" };
    await far.ask("call", asked);
    const told = async (count: number) => {
      await until(() => far.of("progress").length >= count, { what: "the borrower is told", within: 10_000 });
      return far.of("progress").map(({ body }) => body);
    };
    expect(await told(1)).toEqual([{ id: asked.id, waits_for: "approval" }]);
    await answerQuestion((await openQuestions())[0]?.id ?? "", "approve");
    expect((await told(2))[1]).toEqual({ id: asked.id, waits_for: "nothing" });
    for (const { token, body } of far.of("progress"))
      expect(await isGoodToken({ kind: "progress", token, body }, lenderKey)).toBe(true);
  });

  test("that somebody watches there has its output told, gathered in few requests", async () => {
    await lent();
    const asked = { ...cpu(), watched: true };
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    expect(JSON.parse(frame.payload)).toMatchObject({ watch: true });
    for (let part = 1; part <= 5; part += 1) {
      const payload = JSON.stringify({
        type: "progress",
        request_id: frame.id,
        tool: "cpu",
        text: `${part}\n`,
      });
      bridge.send({ t: "event", id: frame.id, agent: "lathe", payload });
    }
    const text = () =>
      far
        .of("progress")
        .map(({ body }) => body.text)
        .join("");
    await until(() => text() === "1\n2\n3\n4\n5\n", { what: "all of it", within: 10_000 });
    expect(far.of("progress").length).toBeLessThanOrEqual(2);
    bridge.report(frame.id, "lathe", { status: "success", result: "12 %" });
    await brought(asked.id);
  });

  test("that an owner denies was not run", async () => {
    await lent();
    const asked = { ...siren(), agent: "mute" };
    await far.ask("call", asked);
    await answerQuestion((await openQuestions())[0]?.id ?? "", "deny");
    expect((await brought(asked.id)).text).toContain("it was not approved. Nothing was run.");
  });

  test("is cancelled, also before it comes", async () => {
    await lent();
    const asked = siren();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    expect((await far.ask("cancel", { id: asked.id })).status).toBe(200);
    await until(() => bridge.received.some((one) => one.t === "publish" && one.payload.includes(frame.id)), {
      what: "the device is told",
    });
    const early = siren();
    await far.ask("cancel", { id: early.id });
    expect(outcomeIn(await far.ask("call", early))?.text).toContain("Cancelled");
    expect(bridge.calls()).toHaveLength(1);
  });
});

describe("the outcome", () => {
  test("is brought again until the borrower has it, also by the next life of the home", async () => {
    await lent();
    far.onAsked = () => undefined;
    const asked = cpu();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "success", result: "12 %" });
    await until(() => far.of("outcome").length > 0, { what: "the first try" });
    await stop("abort", theHome());
    far.onAsked = () => ({ status: 200, body: {} });
    const tries = far.of("outcome").length;
    bridge = await connect();
    await until(() => far.of("outcome").length > tries, { what: "another try", within: 15_000 });
    await until(async () => (await rows())[0]?.delivered === 1, { what: "it is delivered" });
  });

  test("is dropped when the borrower borrows no more", async () => {
    await lent();
    far.onAsked = () => ({ status: 401, body: {} });
    await far.ask("call", cpu());
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "success", result: "12 %" });
    await until(async () => (await rows())[0]?.delivered === 1, { what: "it is done with" });
  });

  test("has small pictures with it; a file that was uploaded stays here", async () => {
    await lent();
    const asked = cpu();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    const place = btoa(`command/${frame.id}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const stored = {
      media_type: "image/png",
      bytes: 300_000,
      sha256: "0".repeat(64),
      id: `${asked.id}.${place}`,
    };
    const small = { media_type: "image/png", bytes: 3, data: "AAAA" };
    bridge.report(frame.id, "lathe", { status: "success", result: "seen", media: [small, stored] });
    expect(await brought(asked.id)).toMatchObject({
      text: "seen\n(Stays with the lender: image/png, 300000 bytes.)",
      media: [small],
    });
  });

  test("of a job follows under the job's token", async () => {
    await lent();
    const asked = siren();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "accepted", job: "job-12345678" });
    expect(await brought(asked.id)).toMatchObject({ job: "job-12345678" });
    bridge.report("job-12345678", "lathe", { status: "success", result: "it sounded", job_of: frame.id });
    expect(await brought("job-12345678")).toMatchObject({ text: "it sounded" });
  });

  test("of a job waits until the borrower has the outcome of the call that began it, since it would drop it", async () => {
    await lent();
    const asked = siren();
    let isAway = true;
    far.onAsked = ({ body }) => (isAway && body.id === asked.id ? undefined : { status: 200, body: {} });
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "accepted", job: "job-12345678" });
    await brought(asked.id);
    bridge.report("job-12345678", "lathe", { status: "success", result: "it sounded", job_of: frame.id });
    await until(async () => (await rows()).every(({ state }) => state === "settled"), {
      what: "the job's end",
    });
    isAway = false;
    // The next life of the home tries at once.
    await stop("abort", theHome());
    bridge = await connect();
    const isDelivered = async () => (await rows()).every(({ delivered }) => delivered === 1);
    await until(isDelivered, { what: "both are delivered", within: 15_000 });
    const ids = far.of("outcome").map(({ body }) => body.id);
    expect(ids.filter((id) => id === "job-12345678")).toHaveLength(1);
    expect(ids.lastIndexOf(asked.id)).toBeLessThan(ids.indexOf("job-12345678"));
  });

  test("of a job may be given up: the job is cancelled by its token", async () => {
    await lent();
    const asked = siren();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "accepted", job: "job-12345678" });
    await brought(asked.id);
    await far.ask("cancel", { id: "job-12345678" });
    expect((await rows()).map(({ id, state }) => [id.slice(0, 4), state])).toEqual([
      [frame.id.slice(0, 4), "settled"],
      ["job-", "settled"],
    ]);
  });
});

describe("taken back", () => {
  test("while the agent is at it: the device is told, and the borrower gets the end", async () => {
    const grant = await lent();
    const asked = siren();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    await call(`/v1/lending/${grant}`, { method: "DELETE" });
    expect(await brought(asked.id)).toMatchObject({
      error_type: "outcome_unknown",
      text: "Error: The lender took the grant back while it ran: it may or may not have run.",
    });
    expect(bridge.received.some((one) => one.t === "publish" && one.payload.includes(frame.id))).toBe(true);
    expect((await far.ask("call", asked)).status).toBe(401);
  });

  test("while it waits for an approval: nothing was run, and the question is closed", async () => {
    const grant = await lent();
    const asked = { ...siren(), agent: "mute" };
    await far.ask("call", asked);
    expect(await openQuestions()).toHaveLength(1);
    await call(`/v1/lending/${grant}`, { method: "DELETE" });
    expect((await brought(asked.id)).text).toBe("Error: The lender took the grant back. Nothing was run.");
    expect(await openQuestions()).toEqual([]);
    expect(bridge.calls()).toEqual([]);
  });

  test("after its end: the outcome is as it was", async () => {
    const grant = await lent();
    const asked = cpu();
    await far.ask("call", asked);
    const frame = await until(() => bridge.calls()[0], { what: "the call" });
    bridge.report(frame.id, "lathe", { status: "success", result: "12 %" });
    await brought(asked.id);
    await call(`/v1/lending/${grant}`, { method: "DELETE" });
    expect(far.of("outcome")).toHaveLength(1);
  });
});

describe("a lent agent that signs", () => {
  /** Another home asks it in words. @returns ann's way to ask this home for something in the middle of that call */
  async function annIsAsked() {
    setVariables({ GATEWAY_TOOLS: "sessions" });
    const ann = await SignedAgent.make("ann");
    await post("/v1/agents/ann/key", { public_key: ann.publicKey, name: "Ann" });
    bridge = await TestBridge.dial();
    await bridge.hello(["call", "acks"]);
    const tools = [CPU, SIREN];
    const features = [...FEATURES, "gateway", "call"];
    await bridge.snapshot([
      await ann.state({ tools: [CPU], features }),
      agent("lathe", { features: FEATURES, tools }),
      agent("press", { features: FEATURES, tools }),
    ]);
    await lent({ agents: ["ann", "lathe"] });
    await far.ask("call", { ...cpu(), agent: "ann", action: undefined, query: "look", chain: { steps: 2 } });
    const frame = await until(() => bridge.calls()[0], { what: "ann's call" });
    return async (name: string, args: object) => {
      const call_id = crypto.randomUUID();
      const event = { type: "call", request_id: frame.id, call_id, name, args };
      bridge.send({ t: "event", id: frame.id, agent: "ann", payload: await ann.say("events", event) });
      return await until(
        () => {
          const notice = bridge.received.find((one) => one.t === "publish" && one.payload.includes(call_id));
          const sent = bridge.calls().find(({ id }) => id === call_id);
          return notice?.t === "publish" ? notice.payload : sent?.payload;
        },
        { what: "an answer, or the call" },
      );
    };
  }

  test("asks others within the grant alone, and hears of no other agent", async () => {
    const asks = await annIsAsked();
    for (const id of ["press", "nobody"]) {
      const words = await asks("edge_call", { agent_id: id, action: "cpu" });
      expect(words).toContain(`agent '${id}' is not in reach of this caller. Nothing was run.`);
      expect(words.replaceAll(`'${id}'`, "")).not.toContain("press");
    }
    for (const [tool, args] of [
      ["find_agents", { text: "cpu" }],
      ["agents_list", {}],
    ] as const) {
      const words = await asks(tool, args);
      expect(words).toContain("lathe");
      expect(words).not.toContain("press");
    }
    const called = await asks("edge_call", { agent_id: "lathe", action: "cpu" });
    expect(JSON.parse(called) as object).toMatchObject({
      tainted: true,
      caller: { principal: "home:next door", chain: { via: ["home:next door", "home:next door", "ann"] } },
    });
  });

  test("neither sees nor begins sessions here for another home", async () => {
    await say("diary", script({ text: "the safe is behind the clock" }));
    const body = JSON.stringify({ with: ["agent:ann"] });
    await call("/v1/conversations/diary/share", { method: "POST", body });
    const asks = await annIsAsked();
    for (const [tool, args] of [
      ["sessions_list", {}],
      ["sessions_history", { session: "diary" }],
      ["session_status", { session: "diary" }],
      ["sessions_send", { session: "diary", message: "Who is at home?" }],
      ["sessions_spawn", { task: "Who is at home?" }],
    ] as const) {
      const words = await asks(tool, args);
      expect(words).toContain("Sessions are not for calls of another home. Nothing was done.");
      expect(words).not.toMatch(/diary|safe|anna/);
    }
    const { conversations } = (await call("/v1/conversations?all=yes")).body as { conversations?: object[] };
    expect(conversations).toMatchObject([{ id: "diary" }]);
  });
});
