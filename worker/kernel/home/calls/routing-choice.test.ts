/** Which agent a call for any gets: by the group, by what the caller may do, by who is there, and by who has the least to do. */

import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { theHome } from "../../../../test/states.ts";
import { hold, rowsOf, stop } from "../../../../test/stopping.ts";
import { cancel, on, results } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import type { SubmitRequest } from "../../api/calls.ts";
import { homeOf } from "../../api/stubs.ts";
import { type Candidate, inOrder } from "./choose-agent.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch", "job", "route"];
const TOOLS = [CPU, SIREN];

/** @param group as it says itself */
function member(id: string, group?: string, more: Parameters<typeof agent>[1] = {}) {
  const state = agent(id, { features: FEATURES, tools: TOOLS, ...more });
  const capabilities = JSON.parse(state.capabilities ?? "{}") as object;
  return { ...state, capabilities: JSON.stringify({ ...capabilities, ...(group && { group }) }) };
}

// Each test has its own home.
afterEach(reset);

const CALLER = { principal: "olga", role: "owner", channel: "mcp" } as const;

/** A call without a conversation. */
function submit(args: SubmitRequest["args"], more: Partial<SubmitRequest> = {}) {
  const request = {
    id: crypto.randomUUID(),
    conversation: null,
    args,
    caller: CALLER,
    watched: false,
    tainted: false,
  };
  return homeOf(env, "a").calls.submit({ ...request, ...more });
}

const cpu = { agent_id: "any", action: "cpu" };
const siren = { agent_id: "any", action: "siren" };

/** The agents that were sent calls. */
const called = (bridge: TestBridge) => bridge.calls().map((frame) => frame.agent);

/** @returns the text of the refusal */
async function refused(...of: Parameters<typeof submit>): Promise<string> {
  const reply = await submit(...of);
  expect(reply.accepted).toBe(false);
  return reply.accepted ? "" : reply.outcome.text;
}

describe("the order of agents", () => {
  const one = (id: string, more: Partial<Candidate> = {}): Candidate => ({
    id,
    foreign: false,
    isSilent: false,
    open: 0,
    timeMs: undefined,
    given: 0,
    ...more,
  });
  test.each<[string, Candidate[]]>([
    ["the fewest open calls", [one("b"), one("a", { open: 1 })]],
    [
      "one that answers before one that has less to do",
      [one("b", { open: 9 }), one("a", { isSilent: true })],
    ],
    ["one of ours before a foreign one", [one("b", { open: 9 }), one("a", { foreign: true })]],
    ["one that is much quicker", [one("b", { timeMs: 100, given: 9 }), one("a", { timeMs: 500 })]],
    ["not one that is a little quicker", [one("b", { timeMs: 300 }), one("a", { timeMs: 100, given: 1 })]],
    ["below 200 ms all are quick", [one("b", { timeMs: 199 }), one("a", { timeMs: 1, given: 1 })]],
    [
      "one that is not known is neither quick nor slow",
      [one("b", { timeMs: 5_000 }), one("a", { given: 1 })],
    ],
    ["whoever was given the fewest lately", [one("b", { given: 1 }), one("a", { given: 1.1 })]],
    ["then by name", [one("a"), one("b")]],
  ])("%s", (_, [first, ...others]) => {
    const candidates = [first, ...others].filter((candidate) => candidate !== undefined);
    expect(inOrder(candidates.toReversed())[0]).toEqual(first);
    expect(inOrder(candidates)[0]).toEqual(first);
  });
});

describe("who is there", () => {
  test("an agent that answers no ping gets nothing, and the next one it", async () => {
    const bridge = await TestBridge.connect(["a1", "a2"].map((id) => member(id)));
    bridge.isThere = (id) => id !== "a1";
    expect(await submit(cpu)).toMatchObject({ accepted: true });
    expect(called(bridge)).toEqual(["a2"]);
    // It is asked last from now on.
    const pings = () =>
      bridge.received.filter((frame) => frame.t === "publish" && frame.agent === "a1").length;
    const before = pings();
    await submit(cpu);
    expect([called(bridge), pings()]).toEqual([["a2", "a2"], before]);
  });

  test("none of them: it is said whom Home asked, and nothing is sent", async () => {
    const bridge = await TestBridge.connect(["a1", "a2", "a3", "a4"].map((id) => member(id)));
    bridge.isThere = () => false;
    expect(await refused(siren)).toBe(
      "Error: None of the 4 agents that fit answers now (a1, a2, a3, a4). Nothing was run.",
    );
    expect([called(bridge), await rowsOf(theHome(), "SELECT id FROM call")]).toEqual([[], []]);
  });

  test("a busy one that answers gets it, however many others are silent", async () => {
    const silent = Array.from({ length: 10 }, (_, n) => `a${n}`);
    const bridge = await TestBridge.connect([...silent, "zed"].map((id) => member(id)));
    bridge.isThere = (id) => id === "zed";
    // It sent something just now.
    bridge.onCall = () => ({ status: "success", result: "1 %" });
    await submit({ agent_id: "zed", action: "cpu" });
    bridge.onCall = () => undefined;
    await submit({ agent_id: "zed", action: "cpu" });
    await submit(cpu);
    await until(() => called(bridge).length === 3, { what: "all calls" });
    expect(called(bridge)).toEqual(["zed", "zed", "zed"]);
  });

  test("all are offline, or none has the action", async () => {
    await TestBridge.connect([member("a1", undefined, { online: false })]);
    expect(await refused(cpu)).toBe("Error: None of the 1 agents that fit is online (a1). Nothing was run.");
    expect(await refused({ agent_id: "any", action: "dance" })).toBe(
      "Error: No agent in reach has the action 'dance'. Nothing was run.",
    );
    expect(await refused({ agent_id: "any" })).toBe(
      "Error: A call to 'any' needs an 'action' or a 'query'. Nothing was run.",
    );
  });

  test("a foreign agent cannot be asked whether it is there, so one of ours comes first", async () => {
    const rust = agent("rust", { foreign: true, features: [], tools: [] });
    const bridge = await TestBridge.connect([member("zed"), rust]);
    bridge.isThere = (id) => id === "zed";
    await submit({ agent_id: "any", query: "How are you?" });
    expect(called(bridge)).toEqual(["zed"]);
  });

  test("a foreign agent gets it when none of ours answers", async () => {
    const rust = agent("rust", { foreign: true, features: [], tools: [] });
    const bridge = await TestBridge.connect([member("zed"), rust]);
    bridge.isThere = () => false;
    await submit({ agent_id: "any", query: "How are you?" });
    expect(called(bridge)).toEqual(["rust"]);
  });
});

describe("who has the least to do", () => {
  const four = ["a1", "a2", "a3", "a4"];

  test("one after the other: each gets as many", async () => {
    // On a busy machine the first call takes long, and its agent would count as a slow one.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const bridge = await TestBridge.connect(four.map((id) => member(id)));
    bridge.onCall = () => ({ status: "success", result: "1 %" });
    for (let n = 0; n < 12; n += 1) {
      await submit(cpu);
      await until(
        async () => (await rowsOf(theHome(), "SELECT id FROM call WHERE state <> 'settled'")).length === 0,
        {
          what: "it is answered",
        },
      );
    }
    expect(called(bridge).sort()).toEqual(four.flatMap((id) => [id, id, id]));
  });

  test("eight at once: each gets two, also when all have to be asked first", async () => {
    const bridge = await TestBridge.connect(four.map((id) => member(id)));
    await Promise.all(Array.from({ length: 8 }, () => submit(cpu)));
    await until(() => called(bridge).length === 8, { what: "all calls" });
    expect(called(bridge).sort()).toEqual(four.flatMap((id) => [id, id]));
  });

  test("calls that name an agent count, and are never given to another", async () => {
    const bridge = await TestBridge.connect(four.map((id) => member(id)));
    for (let n = 0; n < 3; n += 1) await submit({ agent_id: "a1", action: "cpu" });
    for (let n = 0; n < 3; n += 1) await submit(cpu);
    expect(called(bridge)).toEqual(["a1", "a1", "a1", "a2", "a3", "a4"]);
  });
});

describe("who may", () => {
  test("within the agents of the caller's reach, and not one that is in the chain already", async () => {
    const bridge = await TestBridge.connect(["a1", "a2", "a3"].map((id) => member(id)));
    await submit(cpu, { limits: { agents: ["a2", "a3"] } });
    const chain = { id: crypto.randomUUID(), via: ["a1", "a2"] };
    await submit(cpu, { caller: { ...CALLER, chain } });
    expect(called(bridge)).toEqual(["a2", "a3"]);
    expect(await refused(cpu, { limits: { agents: ["b"] } })).toContain(
      "No agent in reach has the action 'cpu'",
    );
    expect(await refused(cpu, { caller: { ...CALLER, chain: { ...chain, via: ["a1", "a2", "a3"] } } })).toBe(
      "Error: None of the 3 agents that fit can take it now. Nothing was run.",
    );
  });

  test("reads alone, where the chat may do no more", async () => {
    const bridge = await TestBridge.connect([member("a1"), member("a2", undefined, { tools: [CPU] })]);
    expect(await refused(siren, { limits: { readsOnly: true } })).toContain(
      "only actions that read are allowed",
    );
    await submit(cpu, { limits: { readsOnly: true } });
    expect(called(bridge)).toEqual(["a1"]);
  });

  test("what a person has to approve goes to an agent that asks", async () => {
    const mute = { features: ["tool", "cancel", "ack"] };
    const bridge = await TestBridge.connect([member("a1", undefined, mute), member("a2")]);
    await submit(siren, { tainted: true });
    await submit(cpu, { tainted: true });
    expect(called(bridge)).toEqual(["a2", "a1"]);
    expect(await refused(siren, { tainted: true, limits: { agents: ["a1"] } })).toContain(
      "A person has to approve this first, and none of the agents that fit can ask.",
    );
  });
});

describe("groups", () => {
  test("a group counts once an owner has accepted it, and every call to it goes to one that is in it", async () => {
    const states = [member("a1"), member("b1", "lathes"), member("b2", "lathes")];
    const bridge = await TestBridge.connectUnread(states);
    const lathes = { agent_id: "lathes", action: "cpu" };
    expect(await refused(lathes)).toContain("Agent 'lathes' not found");
    const seen = async () =>
      (await (await ask("/v1/agents/b1")).json()) as { group?: string; new_text?: { group?: string } };
    expect(await seen()).toMatchObject({ group: "lathes", new_text: { group: "lathes" } });
    await ask("/v1/agents/b1/accept-text", { method: "POST" });
    expect((await seen()).new_text).toBeUndefined();
    await submit(lathes);
    await submit(lathes);
    expect(called(bridge)).toEqual(["b1", "b1"]);
    await ask("/v1/agents/b2/accept-text", { method: "POST" });
    await submit(lathes);
    expect(called(bridge).at(-1)).toBe("b2");
  });

  test("another group is new again, and no group is none", async () => {
    const bridge = await TestBridge.connect([member("b1", "lathes")]);
    const says = async (group?: string) => {
      bridge.send({ t: "agent", agent: member("b1", group) });
      const isSaid = async () =>
        ((await (await ask("/v1/agents/b1")).json()) as { group?: string }).group === group;
      await until(isSaid, { what: `its group is ${group}` });
    };
    const drills = { agent_id: "drills", action: "cpu" };
    const lathes = { ...drills, agent_id: "lathes" };
    await says("drills");
    expect(await refused(drills)).toContain("not found");
    expect(await refused(lathes)).toContain("not found");
    await says("lathes");
    expect(await submit(lathes)).toMatchObject({ accepted: true });
    await says(undefined);
    expect(await refused(lathes)).toContain("not found");
  });

  test("S26: an agent that had the name before the group keeps it, and 'any' is none's", async () => {
    const bridge = await TestBridge.connect([member("any"), member("b1", "b2"), member("b2")]);
    await submit(cpu);
    await submit({ ...cpu, agent_id: "b2" });
    expect(called(bridge)).toEqual(["b1", "b2"]);
  });

  test("words that no agent's line has: of a group, any can be asked", async () => {
    const bridge = await TestBridge.connect([member("a1"), member("b1", "lathes")]);
    await submit({ agent_id: "lathes", query: "xyzzy" });
    expect(called(bridge)).toEqual(["b1"]);
  });
});

describe("once", () => {
  test("a call that is submitted twice while agents are asked is sent once", async () => {
    const bridge = await TestBridge.connect(["a1", "a2"].map((id) => member(id)));
    bridge.isThere = (id) => id !== "a1";
    const id = crypto.randomUUID();
    const replies = await Promise.all([submit(siren, { id }), submit(siren, { id, sentBefore: true })]);
    expect(replies.map(({ accepted }) => accepted)).toEqual([true, true]);
    expect(called(bridge)).toEqual(["a2"]);
  });

  test("Home is lost while agents are asked: nothing was sent, so another Home chooses anew", async () => {
    const first = await TestBridge.connect(["a1", "a2"].map((id) => member(id)));
    first.isThere = () => false;
    const waiting = say(crypto.randomUUID(), script({ calls: [on("any", { action: "siren" })] }, results));
    await until(() => first.received.some(({ t }) => t === "publish"), { what: "an agent is asked" });
    await stop("abort", theHome());
    const bridge = await TestBridge.connect(["a1", "a2"].map((id) => member(id)));
    bridge.onCall = () => ({ status: "success", tool: "siren", result: "it sounds" });
    expect((await waiting).body.calls).toMatchObject([{ status: "success" }]);
    expect([called(first), called(bridge).length]).toEqual([[], 1]);
  });

  test("a turn that is cancelled while agents are asked sends nothing", async () => {
    const bridge = await TestBridge.connect(["a1", "a2"].map((id) => member(id)));
    bridge.isThere = () => false;
    const id = crypto.randomUUID();
    const submitted = hold(Home, "calls.submit", "after");
    const waiting = say(id, script({ calls: [on("any", { action: "siren" })] }, results));
    await until(() => bridge.received.some(({ t }) => t === "publish"), { what: "an agent is asked" });
    await cancel(id);
    bridge.isThere = () => true;
    await submitted.reached();
    submitted.release();
    expect((await waiting).body.status).toBe("cancelled");
    expect(called(bridge)).toEqual([]);
  });

  test("its outcome is there under the name by which it was asked for, and says who was chosen", async () => {
    const bridge = await TestBridge.connect([member("a1")]);
    bridge.onCall = () => ({ status: "success", result: "1 %" });
    const id = crypto.randomUUID();
    await submit(cpu, { id });
    const viewer = { name: "olga", role: "owner" as const, scopes: ["ask" as const, "command" as const] };
    const stub = env.HOME.getByName("a");
    const outcome = await until(async () => await stub["calls.outcome"]("any", id, viewer), {
      what: "the outcome",
    });
    expect(outcome).toMatchObject({
      status: "success",
      routed: { agent: "a1", why: "chosen of 1: online, has 'cpu', no open call" },
      sources: ["agent:a1"],
    });
    expect(await stub["calls.outcome"]("a2", id, viewer)).toBeUndefined();
  });
});
