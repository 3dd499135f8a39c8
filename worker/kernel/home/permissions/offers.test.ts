/** What is offered to keep where one yes is for several calls, and where another agent asks. */
import { reset } from "cloudflare:test";
import { afterEach, describe, expect, test } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { answer, command, LAMP, permissions, questions, RADIATOR } from "../../../../test/permission-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { on } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { CPU, say, type TestBridge } from "../../../../test/workerd.ts";

const DESK = device("desk-lamp");

afterEach(reset);

async function devices(): Promise<TestBridge> {
  const bridge = await hosting([RADIATOR, LAMP, DESK]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
  return bridge;
}

describe("a question that lists several calls", () => {
  const set = (agent_id: string, params: object) => ({ arguments: { agent_id, action: "set", params } });

  /** Two lamps, and a radiator with a secret: nothing is offered for that one. */
  async function batch() {
    await devices();
    const calls = [set("lamp", { on: true }), set("desk-lamp", { on: true }), set("radiator", { code: "1" })];
    const turn = say("evening", script({ calls }, { text: "$results" }));
    const question = await until(
      async () => (await questions()).find(({ members }) => members?.length === 3),
      {
        what: "one question",
      },
    );
    const lines = Object.fromEntries((question.members ?? []).map(({ agent, id }) => [agent, id]));
    return { turn, question, lines };
  }

  test("offers for each of its lines, and keeps a row of its own for each that is ticked", async () => {
    const { turn, question, lines } = await batch();
    const always = question.offers?.filter(({ id }) => id === "always");
    expect(always?.map((one) => [one.device, one.question])).toEqual([
      ["lamp", lines.lamp],
      ["desk-lamp", lines["desk-lamp"]],
    ]);
    const keep = { offer: "always", questions: [lines["desk-lamp"]], who: "everybody" };
    expect((await answer(question.id, { answer: "approve", keep })).status).toBe(200);
    await turn;
    expect(await permissions()).toMatchObject([
      {
        device: "desk-lamp",
        actions: { set: { on: { oneOf: [true, false] } } },
        question: lines["desk-lamp"],
      },
    ]);
    expect(await command("desk-lamp", "set", { on: false })).toBe("ran");
    expect(await command("lamp", "set", { on: false })).toBe("asks");
    expect(await command("radiator", "set", { code: "1" })).toBe("asks");
  });

  test("keeps several rows with one yes, each with its own bounds and end", async () => {
    const { turn, question, lines } = await batch();
    const keep = { offer: "always", questions: [lines.lamp, lines["desk-lamp"], lines.lamp] };
    expect((await answer(question.id, { answer: "approve", keep })).status).toBe(200);
    await turn;
    const rows = await permissions();
    expect(rows.map((one) => one.device).toSorted()).toEqual(["desk-lamp", "lamp"]);
    expect(new Set(rows.map(({ at }) => at)).size).toBe(1);
  });

  test("keeps nothing for a line without an offer, of another question, or with bounds of one of them", async () => {
    const { turn, question, lines } = await batch();
    const both = [lines.lamp, lines["desk-lamp"]];
    for (const [keep, field] of [
      [{ offer: "always" }, "keep.offer"],
      [{ offer: "always", questions: [lines.radiator] }, "keep.offer"],
      [{ offer: "always", questions: [...both, lines.radiator] }, "keep.offer"],
      [{ offer: "always", questions: [question.id] }, "keep.questions"],
      [{ offer: "always", questions: [crypto.randomUUID()] }, "keep.questions"],
      [{ offer: "always", questions: [] }, "questions"],
      [{ offer: "always", questions: both, bounds: { on: { is: true } } }, "keep.bounds"],
      [{ offer: "always", questions: [lines.lamp], bounds: { on: { is: 1 } } }, "keep.bounds.on"],
    ] as const) {
      const refused = await answer(question.id, { answer: "approve", keep });
      expect
        .soft([keep, refused.status, await refused.text()])
        .toEqual([keep, 400, expect.stringContaining(field)]);
    }
    expect(await permissions("?ended=yes")).toEqual([]);
    await answer(question.id, { answer: "deny" });
    await turn;
  });
});

test("a change for which another agent asks is kept only where the yes says so, for this person alone", async () => {
  const ann = await SignedAgent.make("ann");
  await post("/v1/agents/ann/key", { public_key: ann.publicKey, name: "Ann" });
  const bridge = await devices();
  const features = ["tool", "prompt", "cancel", "ack", "question", "gateway", "call"];
  bridge.send({ t: "agent", agent: await ann.state({ tools: [CPU], features }) });
  bridge.onCall = ({ agent }) =>
    agent === "ann" ? undefined : { status: "success", confirmed: true, result: "done", tainted: false };
  const HEATS = { agent_id: "radiator", action: "set", params: { temperature: 21 } };
  /** Someone asks ann in words, and ann asks for the change. @returns the question; undefined: nobody was asked */
  const annHeats = async (conversation: string, keep?: object) => {
    const before = bridge.calls().length;
    const turn = say(conversation, script({ calls: [on("ann", { query: "warm" })] }, { text: "$results" }));
    const call = await until(
      () =>
        bridge
          .calls()
          .slice(before)
          .find(({ agent }) => agent === "ann"),
      {
        what: "ann's call",
      },
    );
    const event = {
      type: "call",
      request_id: call.id,
      call_id: crypto.randomUUID(),
      name: "edge_call",
      args: HEATS,
    };
    bridge.send({ t: "event", id: call.id, agent: "ann", payload: await ann.say("events", event) });
    const ran = () =>
      bridge
        .calls()
        .slice(before)
        .some(({ agent }) => agent === "radiator");
    const asked = await until(async () => (await questions())[0] ?? (ran() ? "ran" : undefined), {
      what: "a question or the change",
    });
    if (asked !== "ran") {
      const status = (await answer(asked.id, keep ? { answer: "approve", keep } : { answer: "deny" })).status;
      expect(status).toBe(200);
    }
    const report = await ann.report(call.id, { status: "success", content: "warm" });
    bridge.send({ t: "report", id: call.id, agent: "ann", payload: report });
    await turn;
    return asked === "ran" ? undefined : asked;
  };

  const first = await annHeats("one", { offer: "always" });
  expect(first?.offers).toMatchObject([
    { id: "always", who: [{ person: "anna" }], tainted: true, chain: true, level: "verified" },
  ]);
  // It was kept for the person's own calls.
  expect(await command("radiator", "set", { temperature: 22 })).toBe("ran");
  expect(await annHeats("two", { offer: "always", tainted: true })).toBeDefined();
  expect(await annHeats("three", { offer: "always", tainted: true, chain: true })).toBeDefined();
  expect(await annHeats("four")).toBeUndefined();
  expect((await permissions()).map(({ tainted, chain }) => [tainted, chain])).toEqual([
    [true, true],
    [true, false],
    [false, false],
  ]);
  // Nobody asked for another agent's call here.
  expect(await command("lamp", "set", { on: true })).toBe("asks");
  const [own] = await questions();
  const keep = { offer: "always", chain: true };
  const refused = await answer(own?.id ?? "", { answer: "approve", keep });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("keep.chain")]);
});
