/** An agent with a registered key: which messages in its name count, when an attacker controls the broker. */
import { evictDurableObject } from "cloudflare:test";
import { importPublicKey, isSigned } from "@edgecall/core/protocol/signing.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, passed, post, useKeyedHome, view } from "../../../../test/keyed-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, TestBridge } from "../../../../test/workerd.ts";

const home = useKeyedHome();

/** Drops the instance from memory. Rows and the bridge's socket stay. */
const evict = () => evictDurableObject(theHome());

describe("an agent with a key", () => {
  test("is offline until it sends its signed presence", async () => {
    const bridge = await TestBridge.dial();
    await bridge.hello();
    const unsigned = { ...agent("pi"), presence: JSON.stringify({ state: "online", boot_id: "b" }) };
    bridge.send({ t: "snapshot", agents: [unsigned], last: true });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false, problem: expect.stringContaining("not signed") });
    expect((await post("/v1/agents/pi/commands", { command: "ping" })).status).toBe(409);
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await until(async () => (await view("pi")).online);
  });

  test("S10 is online through a signed report of its present run, if its presence is an old one; not through an old report", async () => {
    const bridge = await home.connect();
    const { presence: old, capabilities, tools } = await home.pi.state();
    const heartbeat = () => home.pi.say("reports", { report_type: "heartbeat", payload: {} });
    const before = await heartbeat();
    bridge.send({ t: "agent", agent: await home.pi.state({ online: false }) });
    await until(async () => !(await view("pi")).online);
    const told = { ...agent("pi"), capabilities, tools, presence: old };
    bridge.send({ t: "agent", agent: { ...told, alive: before } });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false });
    const stranger = await SignedAgent.make("pi");
    stranger.n = home.pi.n + 10;
    const forged = await stranger.say("reports", { report_type: "heartbeat", payload: {} });
    bridge.send({ t: "agent", agent: { ...told, alive: forged } });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false });
    home.pi.bootId = "the present run";
    bridge.send({ t: "agent", agent: { ...told, alive: await heartbeat() } });
    await until(async () => (await view("pi")).online);
    expect((await view("pi")).problem).toBeUndefined();
    const { out } = await home.commandOut(bridge);
    expect(JSON.parse(out.payload)).toMatchObject({ boot_id: "the present run" });
    // The accepted presence stays: an old one is still no change.
    bridge.send({ t: "agent", agent: told });
    await until(async () => !(await view("pi")).online);
  });

  test("gets commands with its home's signature, for its present run", async () => {
    const bridge = await home.connect();
    const { out } = await home.commandOut(bridge);
    const key = await importPublicKey(home.gatewayKey);
    if (!key) throw new Error("the home's key is none");
    expect(await isSigned(key, { agent: "pi", kind: "commands" }, out.payload)).toBe(true);
    expect(JSON.parse(out.payload)).toMatchObject({
      command: "ping",
      boot_id: home.pi.bootId,
      n: expect.any(Number),
    });
  });

  test("gets them signed from its first message on, before its advert lists its features", async () => {
    const bridge = await TestBridge.dial();
    await bridge.hello();
    const { capabilities: _, tools: __, ...born } = await home.pi.state();
    bridge.send({ t: "snapshot", agents: [born], last: true });
    await until(async () => (await view("pi")).online);
    const { out } = await home.commandOut(bridge);
    expect(JSON.parse(out.payload)).toMatchObject({ boot_id: home.pi.bootId, sig: expect.any(String) });
  });

  test("after a restart it gets open commands again, for its new run", async () => {
    const bridge = await home.connect();
    const { out, answer } = await home.commandOut(bridge);
    home.pi.bootId = "the next run";
    // Too short for the bridge to report that it was offline.
    bridge.send({ t: "agent", agent: await home.pi.state() });
    const again = await until(() => bridge.calls().filter(({ id }) => id === out.id)[1], {
      what: "it is sent again",
    });
    expect(JSON.parse(again.payload)).toMatchObject({ boot_id: "the next run" });
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
  });

  test("a forged report settles nothing, and is acknowledged only to the bridge; the real one counts", async () => {
    const bridge = await home.connect();
    const { out, answer } = await home.commandOut(bridge);
    const stranger = await SignedAgent.make("pi");
    bridge.report(out.id, "pi", { pong: "forged" });
    await home.report(bridge, out.id, { pong: "forged" }, stranger);
    // Signed for another topic of its own.
    const elsewhere = await home.pi.say("events", {
      report_type: "result",
      payload: { pong: "forged", request_id: out.id },
    });
    bridge.send({ t: "report", id: out.id, agent: "pi", payload: elsewhere });
    // Signed by another agent of the home.
    const other = await SignedAgent.make("eye");
    await home.report(bridge, out.id, { pong: "forged" }, other);
    await until(() => bridge.acks().filter((id) => id === out.id).length === 4);
    expect(
      bridge.received.filter((frame) => frame.t === "ack" && frame.id === out.id && frame.payload),
    ).toEqual([]);
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
  });

  test("a recorded report or question of one call is not valid for another", async () => {
    const bridge = await home.connect();
    const first = await home.commandOut(bridge);
    const report = await home.pi.report(first.out.id, { pong: "first" });
    bridge.send({ t: "report", id: first.out.id, agent: "pi", payload: report });
    expect((await first.answer).body.payload).toMatchObject({ pong: "first" });
    const { out, answer } = await home.commandOut(bridge);
    bridge.send({ t: "report", id: out.id, agent: "pi", payload: report });
    const fields = { question_id: "q", text: "of the first", expires_in_ms: 60_000 };
    const question = await home.pi.say("events", { type: "question", request_id: first.out.id, ...fields });
    bridge.send({ t: "event", id: out.id, agent: "pi", payload: question });
    await until(() => bridge.acks().includes(out.id));
    expect((await call("/v1/questions")).body.questions).toEqual([]);
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
  });

  test("the device's own unsigned refusal of a forgery does not answer the call that the forgery names", async () => {
    const bridge = await home.connect();
    const { out, answer } = await home.commandOut(bridge);
    bridge.report(out.id, "pi", { error: "This device obeys its own gateway alone" }, "error");
    await until(() => bridge.acks().includes(out.id));
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
  });

  test("a forged or repeated question is not asked; its own is, once", async () => {
    const bridge = await home.connect();
    const { out } = await home.commandOut(bridge);
    const asked = (text: string) => ({
      type: "question",
      request_id: out.id,
      question_id: text,
      text,
      expires_in_ms: 60_000,
    });
    const send = (payload: string) => bridge.send({ t: "event", id: out.id, agent: "pi", payload });
    send(JSON.stringify(asked("forged")));
    send(await (await SignedAgent.make("pi")).say("events", asked("a stranger's")));
    const recorded = await home.pi.say("events", asked("recorded, never delivered"));
    const own = await home.pi.say("events", asked("own"));
    send(own);
    await evict();
    send(recorded);
    send(own);
    await passed(bridge);
    const { questions } = (await call("/v1/questions")).body as { questions: Array<{ text: string }> };
    expect(questions.map(({ text }) => text)).toEqual(["own"]);
  });

  test("a recorded advert or presence does not count again, also after a restart of Home", async () => {
    const bridge = await home.connect();
    const before = await home.pi.state({ line: "the first line", tools: [CPU] });
    const now = await home.pi.state({ line: "the second line" });
    bridge.send({ t: "agent", agent: now });
    await until(async () => (await view("pi")).capabilities === "the second line");
    await evict();
    bridge.send({ t: "agent", agent: { ...before, presence: now.presence } });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: true, capabilities: "the second line", actions: [] });
    expect((await view("pi")).problem).toMatch(/^capabilities: an old one, said again/);

    const goodbye = await home.pi.state({ online: false });
    bridge.send({ t: "agent", agent: goodbye });
    await until(async () => !(await view("pi")).online);
    await evict();
    // A bridge that was deceived by the recorded birth.
    bridge.send({ t: "agent", agent: now });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false, reason: "presence: an old one, said again" });
  });

  test("the same adverts in the next snapshot do not count as old", async () => {
    const bridge = await home.connect();
    const state = await home.pi.state({ line: "here", tools: [CPU] });
    bridge.send({ t: "agent", agent: state });
    bridge.send({ t: "snapshot", agents: [state], last: true });
    await passed(bridge);
    const seen = await view("pi");
    expect(seen).toMatchObject({ online: true, capabilities: "here", actions: ["cpu"] });
    expect(seen.problem).toBeUndefined();
  });

  test("a recorded batch of its audit log does not replace a newer one", async () => {
    const bridge = await home.connect();
    const line = (tool: string) => ({
      timestamp: "2026-11-22T10:00:00.000Z",
      agent_id: "pi",
      tool,
      parameters: {},
      result: "success",
      exit_code: null,
      elapsed_ms: 1,
      call_id: "c",
      request_id: "r",
      caller: { principal: "anna", role: "owner", channel: "api" },
    });
    const batch = (lines: unknown[]) =>
      home.pi.say("events", { type: "audit", request_id: "batch-1", lines });
    const shorter = await batch([line("cpu")]);
    const longer = await batch([line("cpu"), line("siren")]);
    const send = (payload: string) => bridge.send({ t: "event", id: "batch-1", agent: "pi", payload });
    send(longer);
    await until(() => bridge.acks().includes("batch-1"));
    await evict();
    send(shorter);
    send(JSON.stringify({ type: "audit", request_id: "batch-1", lines: [] }));
    await passed(bridge);
    const { entries } = (await call("/v1/audit?agent=pi")).body as { entries: Array<{ tool: string }> };
    expect(entries.map(({ tool }) => tool).sort()).toEqual(["cpu", "siren"]);
  });

  test("removing its advert from the broker takes it offline, and does not delete it", async () => {
    const bridge = await home.connect();
    bridge.send({ t: "gone", agent: "pi" });
    await until(async () => !(await view("pi")).online);
    expect(await view("pi")).toMatchObject({ reason: "its advert was taken from the broker" });
    // Without a signature it does not come back.
    bridge.send({ t: "agent", agent: agent("pi") });
    await passed(bridge);
    expect((await view("pi")).online).toBe(false);
  });

  test("its messages are handled in their order, however long each check takes", async () => {
    const bridge = await home.connect();
    for (let i = 0; i < 20; i += 1) {
      bridge.send({
        t: "agent",
        agent: await home.pi.state({ line: `line ${i}`, tools: Array(50).fill(CPU) }),
      });
    }
    const { out, answer } = await home.commandOut(bridge);
    await home.report(bridge, out.id, { pong: true });
    await answer;
    expect((await view("pi")).capabilities).toBe("line 19");
  });

  test("whatever a stranger sends in its name: nothing is accepted, nothing crashes", async () => {
    const bridge = await home.connect();
    const { out, answer } = await home.commandOut(bridge);
    const true_ = await home.pi.report(out.id, { pong: "changed" });
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.nat(true_.length - 1), fc.string({ maxLength: 2 }))
        .map(([at, put]) => true_.slice(0, at) + put + true_.slice(at + 1)),
    );
    for (const payload of fc.sample(text, 100).filter((payload) => payload !== true_)) {
      bridge.send({ t: "report", id: out.id, agent: "pi", payload });
      bridge.send({ t: "event", id: out.id, agent: "pi", payload });
      bridge.send({
        t: "agent",
        agent: { ...agent("pi"), presence: payload, capabilities: payload, tools: payload },
      });
    }
    await passed(bridge);
    expect(await view("pi")).toMatchObject({
      online: false,
      capabilities: "pi edge agent",
      actions: ["cpu"],
    });
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
    expect(bridge.received.filter((frame) => frame.t === "error" && frame.code === "internal")).toEqual([]);
  });
});
