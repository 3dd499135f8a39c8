/** A model asks about the past of a device: who may, what the bridge is asked, and what it is told when nothing is there. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { device } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { call } from "../../../../test/mcp-requests.ts";
import { at, make, T0 } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { sourcesOf } from "../../../kernel/conversation/store/sources.ts";
import { Transcript } from "../../../kernel/conversation/store/transcript.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ TIMEZONE: "Europe/Berlin", GATEWAY_TOOLS: "history" });
  at(T0);
});

type PastFrame = HomeFrame & { t: "past" };

const reply: PastReply = { text: "Front door, Contact, Mon to Tue: open 3 times." };

async function hosting(features = ["devices", "kept", "history"]): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(features);
  await bridge.snapshot([device("front-door", { line: "sensor (door)" })]);
  return bridge;
}

const asked = { agent_id: "front-door", reading: "Contact", ask: "count", is: "open", period: "24 h" };
const past = (more: object = {}) => script(make("past", { ...asked, ...more }), { text: "$results" });
const frames = (bridge: TestBridge) =>
  bridge.received.filter((frame): frame is PastFrame => frame.t === "past");

/** Says it, and the bridge answers what it is asked. @returns what the model read */
async function answered(bridge: TestBridge, words: string, token = TOKENS.owner, answer: PastReply = reply) {
  bridge.onPast = () => answer;
  // A conversation is one person's.
  const { body } = await say(token === TOKENS.owner ? "kitchen" : "hall", words, { token });
  return body.answer;
}

describe("a member asks", () => {
  test("and the bridge is asked in the same words, by the home's clock; the model reads its answer", async () => {
    const bridge = await hosting();
    const text = await answered(bridge, past({ by: "hour", compare: "yesterday" }));
    const question = {
      agent: "front-door",
      name: "Front door",
      reading: "Contact",
      ask: "count",
      is: "open",
      period: "24 h",
      by: "hour",
      compare: "yesterday",
      zone: "Europe/Berlin",
    };
    expect(frames(bridge).map((frame) => frame.question)).toEqual([question]);
    expect(text).toContain("Front door, Contact, Mon to Tue: open 3 times.");
  });

  test("and reads the bridge's error, which names the field", async () => {
    const bridge = await hosting();
    const text = await answered(bridge, past({ period: "tomorrow" }), TOKENS.owner, {
      error: "period: expected today",
    });
    expect(text).toContain("Error: period: expected today.");
  });

  test("words that read like more than a label are a stranger's", async () => {
    const bridge = await hosting();
    const sources = async (conversation: string, answer: PastReply) => {
      bridge.onPast = () => answer;
      await say(conversation, past());
      return await runInDurableObject(env.CONVERSATION.getByName(`a/api/${conversation}`), (_, { storage }) =>
        sourcesOf(new Transcript(storage).entriesBetween(0, Number.MAX_SAFE_INTEGER)),
      );
    };
    expect(await sources("plain", reply)).toEqual([]);
    expect(await sources("odd", { ...reply, tainted: true })).toEqual([STRANGER]);
  });

  test.each([
    [{ ask: "often" }, "ask"],
    [{ agent_id: "pump" }, "there is none of 'pump'"],
  ])("%o: the error names the field, and the bridge is not asked", async (more, error) => {
    const bridge = await hosting();
    expect(await answered(bridge, past(more))).toContain(error);
    expect(frames(bridge)).toEqual([]);
  });
});

describe("why it changed", () => {
  const changed = (last: number): PastReply => ({ ...reply, last });

  test("is the command that was under way, with its person for owners alone", async () => {
    const bridge = await hosting();
    await commanded();
    const text = await answered(bridge, past({ ask: "why" }), TOKENS.owner, changed(T0 + 2_000));
    expect(text).toMatch(/By edgecall: set, asked for by \S+ \(api\) at 09:00\./);
    const member = await answered(bridge, past({ ask: "why" }), TOKENS.member, changed(T0 + 2_000));
    expect(member).toContain("asked for by another person of the home");
    expect(frames(bridge).every(({ question }) => question.ask === "last")).toBe(true);

    async function commanded() {
      bridge.onCall = () => ({ status: "success", result: "done", tainted: false, confirmed: true });
      setVariables({ GATEWAY_TOOLS: "history" });
      await ask("/v1/devices/front-door", {
        method: "PATCH",
        body: JSON.stringify({ mode: "allowed", allow: "allow-front-door" }),
      });
      await say(
        "kitchen",
        script(
          { calls: [{ arguments: { agent_id: "front-door", action: "set", params: { on: true } } }] },
          { text: "ok" },
        ),
      );
    }
  });

  test("is not guessed: any other change was not by edgecall", async () => {
    const bridge = await hosting();
    const text = await answered(bridge, past({ ask: "why" }), TOKENS.owner, changed(T0 - 3_600_000));
    expect(text).toContain("Not by edgecall: a switch, another program, or the device itself.");
  });
});

describe("an agent that keeps readings of its own", () => {
  const FEATURES = ["tool", "cancel", "ack", "acks", "route", "rules", "history"];

  async function paired(features = FEATURES) {
    const pi = await SignedAgent.make("pi");
    await post("/v1/agents/pi/key", { public_key: pi.publicKey, name: "Shed" });
    const bridge = await TestBridge.dial();
    await bridge.hello(["devices", "kept", "acks"]);
    bridge.send({ t: "snapshot", agents: [await pi.state({ tools: [CPU], features })], last: true });
    await bridge.snapshotStored();
    await ask("/v1/agents/pi/accept-text", { method: "POST" });
    return { pi, bridge };
  }

  type Sent = { command: string; request_id: string; payload: object; caller: { role: string } };
  const commands = (bridge: TestBridge) =>
    bridge.received
      .flatMap((frame) => (frame.t === "publish" ? [JSON.parse(frame.payload) as Sent] : []))
      .filter(({ command }) => command === "past");

  async function answers({ pi, bridge }: Awaited<ReturnType<typeof paired>>, answer: unknown): Promise<Sent> {
    const sent = await until(() => commands(bridge)[0], { what: "the question" });
    const payload = await pi.report(sent.request_id, { past: answer });
    bridge.send({ t: "report", id: sent.request_id, agent: "pi", payload });
    return sent;
  }

  const ofPi = { agent_id: "pi", reading: "temperature", ask: "mean", is: "" };

  test("is asked itself, in the same words, and the model reads its answer", async () => {
    const line = await paired();
    const answering = answers(line, { text: "pi, temperature celsius: mean 41.2 °C." });
    const { body } = await say("shed", past(ofPi));
    expect(body.answer).toContain("pi, temperature celsius: mean 41.2 °C.");
    const question = { reading: "temperature", ask: "mean", period: "24 h", zone: "Europe/Berlin" };
    expect((await answering).payload).toEqual({ ...question, agent: "pi", name: "pi" });
    expect(frames(line.bridge)).toEqual([]);
  });

  test.each([
    [{ error: "reading: nothing is kept of 'temperature'; it has disk" }, "it has disk."],
    ["rubbish", "does not answer now"],
  ])("that answers %o", async (answer, text) => {
    const line = await paired();
    const answering = answers(line, answer);
    const { body } = await say("shed", past(ofPi));
    expect(body.answer).toContain(text);
    await answering;
  });

  test("one that keeps none is not asked", async () => {
    const { bridge } = await paired(FEATURES.filter((feature) => feature !== "history"));
    const { body } = await say("shed", past(ofPi));
    expect(body.answer).not.toContain("mean");
    expect(commands(bridge)).toEqual([]);
  });

  test("a guest is told nothing of it", async () => {
    const { bridge } = await paired();
    const { body } = await say("shed", past(ofPi), { token: TOKENS.guest });
    expect(body.answer).toContain("Tool 'past' not found");
    expect(commands(bridge)).toEqual([]);
  });
});

test("a chart is a picture for a connected program too", async () => {
  const bridge = await hosting();
  bridge.onPast = () => ({ ...reply, picture: "aGk=" });
  const { content } = await call("past", { ...asked, ask: "chart" }, { token: TOKENS.owner });
  expect(content).toMatchObject([
    { type: "text", text: expect.stringContaining("Front door, Contact") },
    { type: "image", data: "aGk=", mimeType: "image/png" },
  ]);
});

test("the past is at home: while the bridge is away that is said", async () => {
  const bridge = await hosting();
  bridge.close();
  await until(async () => (await answered(bridge, past())).includes("not connected now"));
});

test("a bridge that keeps nothing is asked nothing, and no tool is offered", async () => {
  const older = await hosting(["devices", "kept"]);
  expect(await answered(older, past())).toContain("Tool 'past' not found");
  expect(frames(older)).toEqual([]);
});

test("a guest has no past, and is offered no tool for it", async () => {
  const bridge = await hosting();
  expect(await answered(bridge, past(), TOKENS.guest)).toContain("Tool 'past' not found");
  expect(frames(bridge)).toEqual([]);
});
