/** What rules say in a conversation, with Home's part played by the test. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { afterEach, describe, expect, test } from "vitest";
import { modelCalls, modelRequests, releaseModel } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { storedTurns } from "../../../../test/stopping.ts";
import { AGENTS } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../../test/workerd.ts";
import type { Briefing } from "../../../kernel/api/briefing.ts";
import type { Notice } from "../../../kernel/api/notices.ts";

afterEach(reset);

const BUTTONS: Notice["buttons"] = [
  { label: "Got it", do: "ack", rule: "w-7f2c", occurrence: 12 },
  { label: "Snooze 1 h", do: "snooze", rule: "w-7f2c", occurrence: 12 },
  { label: "Stop this watch", do: "stop", rule: "w-7f2c", occurrence: 12 },
];
const WARM = "⚠ Freezer too warm: −11.4 °C at 03:12 (limit −15 °C for 10 min). Freezer, Cellar.";

function notice(id: string, more: Partial<Notice> = {}): Notice {
  return { id, text: WARM, rules: ["w-7f2c"], buttons: BUTTONS, critical: false, at: Date.now(), ...more };
}
const conversation = (name: string) => env.CONVERSATION.getByName(`a/api/${name}`);

describe("a notice", () => {
  test("is a turn without a model, once for each id, and the model knows of it with the next question", async () => {
    const made = script({ text: "I watch it." });
    await say("warm", made);
    expect(await conversation("warm").notice(notice("n1"))).toEqual({ accepted: true });
    expect(await conversation("warm").notice(notice("n1"))).toEqual({ accepted: true });
    expect(await modelCalls(made)).toBe(1);
    const history = (await (await ask("/v1/conversations/warm")).json()) as { turns: object[] };
    expect(history.turns).toHaveLength(2);
    expect(history.turns[1]).toMatchObject({
      text: "",
      status: "done",
      answer: WARM,
      calls: [],
      rules: [{ buttons: BUTTONS }],
    });
    const question = script({ text: "Since three." });
    await say("warm", question);
    const [request] = await modelRequests({ question });
    const said = JSON.stringify(request?.messages);
    expect(said).toContain("w-7f2c");
    expect(said).toContain("Freezer too warm");
  });

  test("comes while a turn runs, and changes nothing in it", async () => {
    await TestBridge.connect(AGENTS);
    const question = script({ hold: "slow-notice", step: { text: "the answer" } });
    const answered = say("busy", question);
    await until(async () => (await modelCalls(question)) === 1, { what: "the model is asked" });
    await conversation("busy").notice(notice("n2"));
    expect((await storedTurns(conversation("busy"))).map(({ status }) => status)).toEqual([
      "running",
      "done",
    ]);
    await releaseModel("slow-notice");
    expect((await answered).body.answer).toBe("the answer");
  });

  test("with a device's words taints what is asked after it", async () => {
    await say("taint", script({ text: "I watch it." }));
    await conversation("taint").notice(notice("n3", { sources: [STRANGER] }));
    const turns = await storedTurns(conversation("taint"));
    expect(turns.at(-1)?.sources).toEqual([STRANGER]);
  });

  test("for a conversation that was deleted is not taken", async () => {
    expect(await conversation("gone").notice(notice("n4"))).toEqual({
      accepted: false,
      why: "the conversation is not there any more",
    });
    expect(await storedTurns(conversation("gone"))).toEqual([]);
  });
});

describe("a briefing", () => {
  const by: Briefing["by"] = { principal: "anna", role: "owner" };
  const brief = { id: "b1", rule: "r-0a1b", text: "how warm the garden is", tainted: false, by };

  test("only reads, has none of the conversation before it, and no tools that begin something", async () => {
    const bridge = await TestBridge.connect(AGENTS);
    bridge.onCall = () => ({ status: "success", tool: "cpu", result: "12 °C" });
    await say("brief", script({ text: "every morning then" }));
    const calls = [
      { arguments: { agent_id: "pi", action: "cpu" } },
      { arguments: { agent_id: "pi", action: "siren", params: {} } },
    ];
    const text = script({ calls }, { text: "$results" });
    const made = await conversation("brief").brief({ ...brief, text });
    expect(made).toEqual({ accepted: true });
    expect(await conversation("brief").brief({ ...brief, text })).toEqual({ accepted: true });
    const turns = await until(async () => {
      const stored = await storedTurns(conversation("brief"));
      return stored.every(({ status }) => status === "done") ? stored : undefined;
    });
    expect(turns).toHaveLength(2);
    expect(turns[1]?.answer).toContain("12 °C");
    expect(turns[1]?.answer).toContain("only actions that read are allowed");
    expect(bridge.calls()).toHaveLength(1);
    const [request] = await modelRequests({ words: brief.rule });
    expect(request?.tools.map((tool) => tool.function.name)).toEqual(["edge_call"]);
    expect(JSON.stringify(request?.messages)).not.toContain("every morning then");
    // The conversation goes on with all of it.
    const question = script({ text: "x" });
    await say("brief", question);
    const [next] = await modelRequests({ question });
    expect(JSON.stringify(next?.messages)).toContain("every morning then");
    expect(JSON.stringify(next?.messages)).toContain("12 °C");
  });

  test("is its maker's, with their role and the agents in their reach, whoever wrote last", async () => {
    const bridge = await TestBridge.connect(AGENTS);
    bridge.onCall = () => ({ status: "success", tool: "cpu", result: "12 °C" });
    await say("theirs", script({ text: "written by an owner, who reaches all" }));
    const text = script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "$results" });
    const member: Briefing["by"] = { principal: "ben", role: "member", limits: { agents: ["attic"] } };
    await conversation("theirs").brief({ ...brief, text, by: member });
    const turn = await until(async () => {
      const [, briefing] = await storedTurns(conversation("theirs"));
      return briefing?.status === "done" ? briefing : undefined;
    });
    expect(turn.origin).toMatchObject({ ...member, limits: { agents: ["attic"], readsOnly: true } });
    expect(turn.answer).not.toContain("12 °C");
    expect(bridge.calls()).toEqual([]);
  });

  test.each([
    ["Good morning.", "Good morning.\n\nNot read: pi."],
    // A word that has the id within is not its name.
    ["All is happily quiet.", "All is happily quiet.\n\nNot read: pi."],
    ["All is quiet; pi said nothing.", "All is quiet; pi said nothing."],
  ])("says what it could not read, also where the model leaves that out: %s", async (written, expected) => {
    const bridge = await TestBridge.connect(AGENTS);
    bridge.onCall = () => ({
      status: "error",
      error: "Error: the sensor is gone",
      error_type: "execution_failed",
    });
    await say("offline", script({ text: "ok" }));
    const text = script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: written });
    await conversation("offline").brief({ ...brief, text });
    const answer = await until(async () => (await storedTurns(conversation("offline")))[1]?.answer);
    expect(answer).toBe(expected);
  });
});
