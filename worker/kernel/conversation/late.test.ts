import { abortAllDurableObjects } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { until } from "../../../test/wait.ts";
import { type Answer, agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

const results = { text: "$results" };
const FEATURES = ["tool", "prompt", "cancel", "ack", "watch", "job"];

async function turnsOf(conversation: string) {
  const response = await ask(`/v1/conversations/${conversation}`);
  return ((await response.json()) as { turns: Answer[] }).turns;
}

describe("a late result", () => {
  test("replaces the unknown outcome, and the next model call is told", async () => {
    const bridge = await TestBridge.connect([
      agent("pi", { features: FEATURES, tools: [{ ...SIREN, timeout_ms: 1 }] }),
    ]);
    bridge.onCall = () => undefined;
    const { body } = await say(
      "late",
      script({ calls: [{ arguments: { agent_id: "pi", action: "siren" } }] }, results),
    );
    expect(body.calls[0]?.error_type).toBe("outcome_unknown");
    bridge.report(body.calls[0]?.id ?? "", "pi", { status: "success", result: "it sounded after all" });
    await until(async () => (await turnsOf("late"))[0]?.calls[0]?.status === "success");
    // A client that has seen the end gets the later events, and is then disconnected.
    const [turn] = await turnsOf("late");
    const events = await ask(`/v1/conversations/late/turns/${turn?.turn}/events`, {
      headers: { "last-event-id": "4" },
    });
    expect(await events.text()).toContain("it sounded after all");
    // Reported again, because its acknowledgement was lost: nothing happens twice.
    bridge.report(body.calls[0]?.id ?? "", "pi", { status: "success", result: "it sounded after all" });
    const next = await say("late", script({ text: "$notes" }));
    expect(next.body.answer).toMatch(
      /^\[edgecall\] The result of an earlier call \(agent 'pi', action 'siren'\) has arrived\. It succeeded\. Result:\nit sounded after all$/,
    );
  }, 20_000);
});

test("a device's own word that nothing is known is replaced by what it reports after its time", async () => {
  const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [SIREN] })]);
  const error = "Error: Sent to pi; it did not answer within 5 s.";
  bridge.onCall = () => ({ status: "error", error, error_type: "outcome_unknown" });
  const siren = { calls: [{ arguments: { agent_id: "pi", action: "siren" } }] };
  const { body } = await say("late-own", script(siren, results));
  expect(body.calls[0]).toMatchObject({ error_type: "outcome_unknown" });
  bridge.report(body.calls[0]?.id ?? "", "pi", { status: "success", result: "pi: on, reported 8.0 s after" });
  const late = await until(async () =>
    (await turnsOf("late-own"))[0]?.calls.find(({ status }) => status === "success"),
  );
  expect(late).toMatchObject({ result: "pi: on, reported 8.0 s after" });
});

describe("a job", () => {
  const accepted = {
    status: "accepted",
    job: "job-token-0001",
    tool: "backup",
    result: "The backup has begun.",
  };
  test("is accepted, the conversation continues, and the result arrives as a separate message", async () => {
    const bridge = await TestBridge.connect([
      agent("pi", { features: FEATURES, tools: [{ ...SIREN, name: "backup" }] }),
    ]);
    bridge.onCall = () => ({ ...accepted, job: "job-token-0001" });
    const { body } = await say(
      "job",
      script({ calls: [{ arguments: { agent_id: "pi", action: "backup" } }] }, results),
    );
    expect(body.answer).toContain("The backup has begun.\nAccepted, not done: the result arrives later");
    expect(
      (await say("job", script({ text: "meanwhile" }, { text: "The backup is done: $notes" }))).body.answer,
    ).toBe("meanwhile");

    const status = (await (await ask("/v1/status")).json()) as {
      calls: Array<{ id: string; command: string }>;
    };
    expect(status.calls).toMatchObject([{ id: "job-token-0001", command: "job" }]);

    await abortAllDurableObjects();
    const again = await TestBridge.connect([
      agent("pi", { features: FEATURES, tools: [{ ...SIREN, name: "backup" }] }),
    ]);
    again.report("job-token-0001", "pi", { status: "success", tool: "backup", result: "12 GB saved" });
    const turn = await until(async () =>
      (await turnsOf("job")).find((one) => one.status === "done" && one.answer.includes("12 GB saved")),
    );
    expect(turn.answer).toContain("The backup is done");
    expect((await turnsOf("job"))[0]?.calls[0]).toMatchObject({ status: "success", result: "12 GB saved" });
    // It was never sent as a command, and is no longer waited for.
    expect(again.calls()).toEqual([]);
    expect(((await (await ask("/v1/status")).json()) as { calls: unknown[] }).calls).toEqual([]);
  });
});

describe("a call that may wait for its agent", () => {
  test("is queued, sent when the agent comes online, and its result is a separate message", async () => {
    const patient = { ...CPU, name: "water", effect: "device", idempotent: false, queue_ms: 3_600_000 };
    const garden = (online: boolean) => agent("garden", { online, features: FEATURES, tools: [patient] });
    const bridge = await TestBridge.connect([garden(false)]);
    const water = { calls: [{ arguments: { agent_id: "garden", action: "water" } }] };
    const { body } = await say("queue-online", script(water, results, { text: "In the end: $notes" }));
    expect(body.answer).toContain("Queued: agent 'garden' is not online.");
    expect(bridge.calls()).toEqual([]);
    bridge.onCall = () => ({ status: "success", result: "watered" });
    bridge.send({ t: "agent", agent: garden(true) });
    await until(async () =>
      (await turnsOf("queue-online")).some(({ answer }) => answer?.includes("watered")),
    );
    expect(bridge.calls()).toHaveLength(1);
  });

  test("to an agent without such actions is answered at once", async () => {
    await TestBridge.connect([agent("shed", { online: false, tools: [CPU] }), agent("pi")]);
    const { body } = await say(
      "no-queue",
      script({ calls: [{ arguments: { agent_id: "shed", action: "cpu" } }] }, results),
    );
    expect(body.calls[0]?.error_type).toBe("offline");
  });
});

describe("watching", () => {
  test("a device's output reaches the person while it is produced, and is requested only for a watching person", async () => {
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [CPU] })]);
    bridge.onCall = () => undefined;
    const response = await ask("/v1/conversations/watch/messages", {
      method: "POST",
      headers: { accept: "text/event-stream" },
      body: JSON.stringify({
        text: script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, results),
      }),
    });
    const text = response.text();
    const call = await until(() => bridge.calls()[0]);
    const watching = () =>
      JSON.parse(call.payload).watch === true ||
      bridge.received.some((frame) => frame.t === "publish" && JSON.parse(frame.payload).command === "watch");
    await until(watching, { what: "the device is told that somebody watches" });
    for (const chunk of ["one ", "two "]) {
      bridge.send({
        t: "event",
        id: call.id,
        agent: "pi",
        payload: JSON.stringify({ type: "progress", request_id: call.id, tool: "cpu", text: chunk }),
      });
    }
    bridge.report(call.id, "pi", { status: "success", result: "one two" });
    const events = (await text).split("\n\n").filter((event) => event.includes("event: progress"));
    expect(events.map((event) => JSON.parse(event.split("data: ")[1] ?? "{}"))).toEqual([
      { call: call.id, tool: "cpu", text: "one " },
      { call: call.id, tool: "cpu", text: "two " },
    ]);
    expect(events.join()).not.toContain("id: ");
  });
});

describe("cancelling", () => {
  test("a call that is cancelled before it reached the home never starts", async () => {
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES })]);
    bridge.onCall = () => undefined;
    const waiting = say(
      "cancel-out",
      script(
        {
          calls: [1, 2, 3].map((core) => ({
            arguments: { agent_id: "pi", action: "cpu", params: { core } },
          })),
        },
        { text: "never" },
      ),
    );
    const turn = await until(async () => {
      const response = await ask("/v1/conversations/cancel-out");
      return response.ok && ((await response.json()) as { turns: Answer[] }).turns[0];
    });
    await ask(`/v1/conversations/cancel-out/turns/${turn.turn}/cancel`, { method: "POST" });
    expect((await waiting).body.status).toBe("cancelled");
    const cancelled = bridge.received.flatMap((frame) =>
      frame.t === "publish" ? [JSON.parse(frame.payload).payload.request_id] : [],
    );
    // Every sent call is cancelled, and nothing is sent afterwards.
    expect(new Set(cancelled)).toEqual(new Set(bridge.calls().map(({ id }) => id)));
  });
});
