import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BRIDGE_PROTOCOL } from "@edgecall/core/protocol/names.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelRequests } from "../../../test/model-requests.ts";
import { type ModelRequest, script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";
import type { AgentView } from "../api/answers.ts";

const callCpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
const success = { status: "success", tool: "cpu", result: "load 0.5" };
const results = { text: "$results" };

/** Makes one edge_call with these arguments. @returns what the model was told */
async function outcomeOf(args: Record<string, unknown>) {
  const { body } = await say(crypto.randomUUID(), script({ calls: [{ arguments: args }] }, results));
  return { text: body.answer, call: body.calls[0] };
}

describe("edge_call", () => {
  test("an offline agent is answered at once, with the time when it was last seen", async () => {
    const tenMinutesAgo = Date.now() - 600_000;
    const bridge = await TestBridge.connect([
      agent("pi"),
      agent("attic", { online: false, reason: "last will", last_seen: tenMinutesAgo }),
    ]);
    const { text, call } = await outcomeOf({ agent_id: "attic", query: "how warm is it?" });
    expect(text).toBe(
      "Error: Agent 'attic' is not online (last seen 10 min ago, last will). Nothing was run.\nTell the user, or ask an agent that is online.",
    );
    expect(call?.error_type).toBe("offline");
    expect(bridge.calls()).toEqual([]);
  });

  test("an unknown agent, a missing query, a wrong action, a query without a model: an error text with the names", async () => {
    await TestBridge.connect([agent("pi", { features: ["tool"], tools: [CPU, SIREN] })]);
    expect((await outcomeOf({ agent_id: "nobody", query: "x" })).text).toContain(
      "Agent 'nobody' not found. Online agents: pi.",
    );
    expect((await outcomeOf({ agent_id: "pi" })).text).toContain("missing 'query' or 'action'");
    expect((await outcomeOf({ agent_id: "pi", action: "fly" })).text).toContain(
      "has no action 'fly'.\nRequired: [agent_id]. Optional: [query, action, params].\nActions of 'pi': cpu, siren.",
    );
    expect((await outcomeOf({ agent_id: "pi", query: "how are you" })).text).toContain(
      "has no model and cannot be asked in words; use 'action'",
    );
    expect((await outcomeOf({ query: "x" })).text).toContain(
      "Error: Invalid parameters for 'edge_call': missing 'agent_id'.\nRequired: [agent_id].",
    );
  });

  test("wrong params are answered with the action's schema", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => ({
      status: "error",
      tool: "cpu",
      error: "Error: Invalid parameters for 'cpu': x",
      error_type: "invalid_params",
    });
    expect((await outcomeOf({ agent_id: "pi", action: "cpu", params: { no: 1 } })).text).toContain(
      `Schema of 'cpu': {"type":"object","properties":{}}`,
    );
  });

  test("a query is a prompt; its inner calls are within the call's record", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = (call) => {
      expect(JSON.parse(call.payload)).toMatchObject({
        command: "prompt",
        payload: { prompt: "how is the cpu?" },
      });
      return {
        status: "success",
        content: "idle",
        calls: [{ id: "1", name: "cpu", status: "success", result: "load 0.1", elapsed_ms: 3 }],
      };
    };
    const { text, call } = await outcomeOf({ agent_id: "pi", query: "how is the cpu?" });
    expect(text).toBe("idle");
    expect(call?.calls).toEqual([
      { id: "1", name: "cpu", status: "success", result: "load 0.1", elapsed_ms: 3 },
    ]);
  });

  test("an agent without tools gets an action as a prompt, with the seed's text", async () => {
    const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
    bridge.onCall = (call) => {
      // A foreign agent gets only EvoClaw's fields.
      expect(Object.keys(JSON.parse(call.payload))).toEqual(["command", "payload", "request_id"]);
      return { status: "success", content: JSON.parse(call.payload).payload.prompt, model: "m" };
    };
    const { text } = await outcomeOf({
      agent_id: "rust",
      action: "snapshot",
      params: { resolution: "640x480" },
    });
    expect(text).toBe('Execute action: snapshot with params: {"resolution":"640x480"}');
  });

  test("is built from the online agents, and absent without any", async () => {
    const bridge = await TestBridge.connect([agent("zoe"), agent("pi", { line: "Pi\nnode\u0007  — warm" })]);
    const seen = script({ text: "x" });
    await say("built", seen);
    bridge.send({ t: "agent", agent: agent("pi", { online: false }) });
    bridge.send({ t: "agent", agent: agent("zoe", { online: false }) });
    await until(async () => (await agents()).every((one) => !one.online));
    await say("built", script({ text: "y" }));
    const [first, second] = await requestsOf("built");
    expect(first?.tools[0]?.function.description).toBe(
      "Call an edge agent to handle a query using its own tools and sensors. Online edge agents:\n  - pi: Pi node — warm [actions: cpu]\n  - zoe: zoe edge agent [actions: cpu]",
    );
    expect(second?.tools).toEqual([]);
    expect(second?.messages[0]?.content).toMatch(
      /Known edge agents that are offline and cannot be called:\n(.*\n)* {2}- pi \(last seen \d+ s ago\): pi edge agent\n/,
    );
  });

  test("a report of another agent for the call does not count", async () => {
    const bridge = await TestBridge.connect([agent("pi"), agent("mallory")]);
    bridge.onCall = (call) => {
      bridge.report(call.id, "mallory", { status: "success", result: "forged" });
      return success;
    };
    expect((await outcomeOf({ agent_id: "pi", action: "cpu" })).text).toBe("load 0.5");
  });

  test("a refused call says that nothing was run", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = (call) => {
      bridge.send({
        t: "refused",
        id: call.id,
        code: "not_listening",
        message: "it does not listen on its commands",
      });
      return undefined;
    };
    const { text, call } = await outcomeOf({ agent_id: "pi", action: "cpu" });
    expect(text).toContain("could not be asked: it does not listen on its commands. Nothing was run.");
    expect(call?.error_type).toBe("offline");
  });
});

test("an agent is running while it has a call, and idle afterwards, with its counts and its last activity", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU, SIREN] })]);
  const seen = async () => (await (await ask("/v1/agents/pi")).json()) as AgentView;
  const before = await seen();
  bridge.onCall = () => undefined;
  const turn = outcomeOf({ agent_id: "pi", action: "cpu" });
  const call = await until(() => bridge.calls()[0], { what: "pi is called" });
  const open = before.counts.open + 1;
  expect(await seen()).toMatchObject({ status: "running", counts: { open } });
  const since = Date.now();
  bridge.report(call.id, "pi", success);
  await turn;
  const after = await until(
    async () => {
      const now = await seen();
      return now.counts.calls > before.counts.calls && now;
    },
    { what: "its counts" },
  );
  expect(after).toMatchObject({
    status: "idle",
    counts: { open: before.counts.open, success: before.counts.success + 1, error: before.counts.error },
  });
  expect(after.last_active).toBeGreaterThanOrEqual(since - 1_000);
});

describe("silence", () => {
  const brief = { ...CPU, timeout_ms: 1 };
  test("an unanswered read timed out; anything else has an unknown outcome", async () => {
    const bridge = await TestBridge.connect([agent("pi", { tools: [brief, { ...SIREN, timeout_ms: 1 }] })]);
    bridge.onCall = () => undefined;
    const [read, siren] = await Promise.all([
      outcomeOf({ agent_id: "pi", action: "cpu" }),
      outcomeOf({ agent_id: "pi", action: "siren" }),
    ]);
    expect(read.call?.error_type).toBe("timeout");
    expect(read.text).toContain("Agent 'pi' did not answer 'cpu' within 10 s.");
    expect(siren.call?.error_type).toBe("outcome_unknown");
    expect(siren.text).toContain(
      "it may or may not have run.\nDo not repeat it blindly and do not say that it is done.",
    );
  }, 20_000);
});

test("after a failure no text claims that nothing was done if it may have been", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [SIREN] })]);
  bridge.onCall = () => ({
    status: "error",
    tool: "siren",
    error: "Error: lost",
    error_type: "outcome_unknown",
  });
  const siren = { calls: [{ arguments: { agent_id: "pi", action: "siren" } }] };
  const { body } = await say("unsure", script(siren, { status: 401 }));
  expect(body.answer).toContain(
    "It is unknown whether this was done: action 'siren' on 'pi'. Please check before you ask again.",
  );
  expect(body.answer).not.toContain("Nothing was done");
});

describe("the bridge", () => {
  test("gets open calls again when it returns, and a call is settled once", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    const answer = say("again", script(callCpu, results));
    const call = await until(() => bridge.calls()[0]);
    bridge.close();
    const next = await TestBridge.connect([agent("pi")]);
    const again = await until(() => next.calls().find(({ id }) => id === call.id));
    expect(JSON.parse(again.payload).n).toBeGreaterThan(JSON.parse(call.payload).n);
    next.report(call.id, "pi", success);
    next.report(call.id, "pi", { ...success, result: "twice" });
    expect((await answer).body.answer).toBe("load 0.5");
    await until(() => next.acks().filter((id) => id === call.id).length === 2);
  });

  test("a foreign agent never gets a call twice", async () => {
    const foreign = agent("rust", { foreign: true, features: [], tools: [] });
    const bridge = await TestBridge.connect([foreign]);
    const answer = say(
      "foreign",
      script({ calls: [{ arguments: { agent_id: "rust", query: "?" } }] }, results),
    );
    const call = await until(() => bridge.calls()[0]);
    bridge.close();
    const next = await TestBridge.connect([foreign]);
    next.report(call.id, "rust", { status: "success", content: "late but whole" });
    expect((await answer).body.answer).toBe("late but whole");
    expect(next.calls()).toEqual([]);
  });

  test("the newest one serves, and the older one is told so", async () => {
    const older = await TestBridge.connect([agent("pi")]);
    await TestBridge.connect([agent("pi")]);
    expect(await until(() => older.closed)).toMatchObject({ code: 4001 });
  });

  test.each([
    [
      "not a hello first",
      JSON.stringify({ t: "snapshot", agents: [], last: true }),
      4002,
      "the first frame must be hello",
    ],
    ["not JSON", "{", 4002, "hello: not JSON"],
    ["a hello without protocol", JSON.stringify({ t: "hello", bridge: "b", version: "1" }), 4002, "protocol"],
    [
      "another protocol",
      JSON.stringify({ t: "hello", protocol: 99, bridge: "b", version: "1" }),
      4003,
      "update the gateway",
    ],
    [
      "a huge hello",
      JSON.stringify({ t: "hello", protocol: 1, bridge: "b", version: "x".repeat(70_000) }),
      4002,
      "65536 allowed",
    ],
  ])("%s is refused with a text", async (_, frame, code, reason) => {
    const bridge = await TestBridge.dial();
    bridge.raw(frame);
    const closed = await until(() => bridge.closed);
    expect(closed.code).toBe(code);
    expect(closed.reason).toContain(reason);
  });

  test("that sends nothing is disconnected after 5 s", async () => {
    const bridge = await TestBridge.dial();
    expect(await until(() => bridge.closed, { within: 8_000 })).toMatchObject({ code: 4002 });
  }, 12_000);

  test("a wrong frame is answered with its field, and nothing is lost", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.raw(JSON.stringify({ t: "agent", agent: { id: "a/b" } }));
    const error = await until(() => bridge.received.find((frame) => frame.t === "error"));
    expect(error).toMatchObject({ code: "bad_frame", message: expect.stringContaining("agent.id") });
    bridge.onCall = () => success;
    expect((await outcomeOf({ agent_id: "pi", action: "cpu" })).text).toBe("load 0.5");
  });

  test("D16 an agent with an empty or invisible line has a default line", async () => {
    const lines = ["", "  ", "\u200b\u2060", "\u00a0\u3000"];
    const ids = lines.map((_, index) => `mute-${index}`);
    const told = lines.map((line, index) =>
      agent(ids[index] ?? "", { capabilities: JSON.stringify({ capabilities: line, features: ["tool"] }) }),
    );
    await TestBridge.connect(told);
    const seen = (await agents()).filter(({ id }) => ids.includes(id));
    expect(seen.map(({ capabilities }) => capabilities)).toEqual(ids.map((id) => `${id} edge agent`));
  });

  test("an unreadable advert is reported, and does not hide the agent", async () => {
    await TestBridge.connect([agent("pi", { tools: [CPU], capabilities: '{"capabilities": 5}' })]);
    const pi = (await agents()).find(({ id }) => id === "pi");
    expect(pi).toMatchObject({ id: "pi", online: true, problem: expect.stringContaining("capabilities") });
  });

  test("agents that are missing in a snapshot are offline; an agent without an advert is gone", async () => {
    await TestBridge.connect([agent("pi"), agent("old")]);
    const next = await TestBridge.connect([agent("pi")]);
    await until(async () => (await agents()).find(({ id }) => id === "old")?.online === false);
    next.send({ t: "gone", agent: "old" });
    await until(async () => !(await agents()).some(({ id }) => id === "old"));
  });
});

describe("a home survives", () => {
  test.each(["evict", "abort"] as const)("%s while a device works", async (how) => {
    const bridge = await TestBridge.connect([agent("pi")]);
    const answer = say(`home-${how}`, script(callCpu, results));
    const call = await until(() => bridge.calls()[0]);
    if (how === "evict") await evictDurableObject(env.HOME.getByName("a"));
    else await abortAllDurableObjects();
    const again = how === "abort" ? await TestBridge.connect([agent("pi")]) : bridge;
    again.report(call.id, "pi", success);
    expect((await answer).body.answer).toBe("load 0.5");
  });
});

describe("tenancy", () => {
  test("a token of one home gets 404 for everything of another", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => success;
    const { body } = await say("mine", script(callCpu, results));
    const token = TOKENS.otherHome;
    const paths = [
      "/v1/conversations/mine",
      `/v1/conversations/mine/turns/${body.turn}`,
      `/v1/conversations/mine/turns/${body.turn}/events`,
      "/v1/agents/pi",
    ];
    for (const path of paths) expect((await ask(path, { token })).status, path).toBe(404);
    expect(
      (await ask(`/v1/conversations/mine/turns/${body.turn}/cancel`, { token, method: "POST" })).status,
    ).toBe(404);
    const command = await ask("/v1/agents/pi/commands", {
      token,
      method: "POST",
      body: JSON.stringify({ command: "ping" }),
    });
    expect(command.status).toBe(404);
    expect(await (await ask("/v1/agents", { token })).json()).toEqual({
      agents: [],
      next: null,
      total: 0,
      online: 0,
      counts: { calls: 0, success: 0, error: 0, open: 0 },
    });
    expect((await (await ask("/v1/status", { token })).json()) as object).toMatchObject({
      home: "b",
      calls: [],
    });
    expect((await ask("/v1/conversations/mine")).status).toBe(200);
  });

  test("a bridge of one home cannot speak for another", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => undefined;
    const answer = say("other-bridge", script(callCpu, results));
    const call = await until(() => bridge.calls()[0]);
    const other = await TestBridge.connect([agent("pi")], TOKENS.otherBridge);
    other.report(call.id, "pi", { ...success, result: "forged" });
    await until(() => other.acks().includes(call.id));
    bridge.report(call.id, "pi", success);
    expect((await answer).body.answer).toBe("load 0.5");
  });
});

/** Returns the requests to the model endpoint for a conversation, by the scripts in its messages. */
async function requestsOf(conversation: string): Promise<ModelRequest[]> {
  const history = (await (await ask(`/v1/conversations/${conversation}`)).json()) as {
    turns: Array<{ text: string }>;
  };
  return (await Promise.all(history.turns.map(({ text }) => modelRequests({ question: text })))).flat();
}

async function agents() {
  return (
    (await (await ask("/v1/agents")).json()) as {
      agents: Array<{ id: string; online: boolean; capabilities: string; problem?: string }>;
    }
  ).agents;
}

test("the protocol version is the one that the tests speak", () => expect(BRIDGE_PROTOCOL).toBe(1));

test("any frame of a bridge: the home keeps working", async () => {
  const bridge = await TestBridge.connect([agent("pi")]);
  bridge.onCall = () => ({ status: "success", tool: "cpu", result: "load 0.5" });
  const frame = fc.oneof(
    fc.json(),
    fc.string(),
    fc.record({
      t: fc.constantFrom("hello", "snapshot", "agent", "gone", "taken", "refused", "event", "report"),
      id: fc.option(fc.string()),
      agent: fc.anything(),
      payload: fc.option(fc.json()),
      code: fc.option(fc.constantFrom("expired", "x")),
      message: fc.option(fc.string()),
      agents: fc.anything(),
      last: fc.boolean(),
    }),
  );
  await fc.assert(
    fc.asyncProperty(frame, async (value) => {
      bridge.raw(typeof value === "string" ? value : JSON.stringify(value));
    }),
    { numRuns: 200 },
  );
  bridge.send({ t: "snapshot", agents: [agent("pi")], last: true });
  await until(
    async () => ((await (await ask("/v1/agents/pi")).json()) as { online?: boolean }).online === true,
  );
  const { body } = await say(
    "after-fuzz",
    script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "$results" }),
  );
  expect(body.answer).toBe("load 0.5");
});
