/**
 * A thief has the broker's password. He reads everything, writes on every topic, and keeps what he read. Over a real
 * Mosquitto, through restarts of each program, he can neither command a device nor speak for one.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { Identity } from "../../pi-agent/link/identity.ts";
import { until } from "../wait.ts";
import { BrokerFence, FENCE } from "./broker-fence.ts";
import type { Agent } from "./gateway-client.ts";
import { Observer, type Seen } from "./observer.ts";
import { useStack } from "./stack.ts";

const mosquitto = findMosquitto();
const folder = mkdtempSync(join(tmpdir(), "edgecall-stolen-"));
const marks = join(folder, "marks");
const APPEND = { tool: "append", parameters: {} };

/** Returns how often the device ran the command. */
const done = () => (existsSync(marks) ? readFileSync(marks, "utf8").split("\n").length - 1 : 0);

describe("a thief with the broker's password", { tags: ["needs/mosquitto"] }, () => {
  const stack = useStack({ mosquitto, vars: { ALLOW_UNSIGNED_AGENTS: "" } }, async (stack) => {
    const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marks };
    await stack.startAgent({ id: "pi", env, top: { policy: { append: "allow" } } });
    await stack.gateway.online("pi");
  });
  /** He has read everything from the beginning. */
  let thief: Observer;
  let fence: BrokerFence;
  const own = new Identity(KeyPair.make());
  const played: PlayedAgent[] = [];

  beforeAll(async () => {
    thief = await Observer.start(stack.mqttUrl);
    fence = await BrokerFence.pair(stack.gateway, thief.client);
    await appends(1);
  });
  afterAll(async () => {
    await Promise.all(played.map((agent) => agent.stop()));
    await thief.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (kind: TopicKind, text: string, retain = false) =>
    thief.client.publishAsync(`evoclaw/agents/pi/${kind}`, text, { qos: 1, retain });
  const ping = async () => (await stack.gateway.command("pi", "ping")).body.payload?.pong;
  /** Waits until agent, bridge and gateway have seen everything that was written before. */
  async function passed(): Promise<Agent[][]> {
    const looks = await fence.passed();
    // Whatever was stopped before dials again after 30 s at most.
    await until(ping, { within: 45_000, every: 100, what: "pi answers a ping" });
    return looks;
  }

  async function appends(times: number): Promise<void> {
    const before = done();
    for (let i = 0; i < times; i += 1) {
      const { body } = await stack.gateway.command("pi", "tool", APPEND);
      expect(body.payload, JSON.stringify(body)).toMatchObject({ status: "success" });
    }
    expect(done()).toBe(before + times);
  }

  /** Returns the messages that he recorded. */
  const recorded = (kind: string): Seen[] =>
    thief.of("pi", kind).filter(({ body }) => "sig" in body || "mac" in body);
  const bootId = () => String(recorded("presence").at(-1)?.body.boot_id);

  async function expectNothingDone(texts: readonly string[]): Promise<void> {
    const before = done();
    await Promise.all(texts.map((text) => write("commands", text)));
    await passed();
    // A run that pi had begun would be counted before this one ends, because each append takes the same steps.
    await appends(1);
    expect(done()).toBe(before + 1);
  }

  const commandText = (more: Record<string, unknown> = {}) =>
    JSON.stringify({ command: "tool", payload: APPEND, request_id: crypto.randomUUID(), ...more });

  test("finds every message and every command signed, or with the HMAC of the run's session", async () => {
    await appends(2);
    for (const kind of ["presence", "capabilities", "tools"])
      for (const { body, text } of thief.of("pi", kind)) expect(body.sig, `${kind} ${text}`).toBeDefined();
    for (const kind of ["commands", "reports"]) {
      for (const { body, text } of thief.of("pi", kind))
        expect(body.sig ?? body.mac, `${kind} ${text}`).toBeDefined();
      expect(recorded(kind).some(({ body }) => "mac" in body)).toBe(true);
    }
    expect(recorded("commands").filter(({ body }) => body.command === "tool").length).toBeGreaterThanOrEqual(
      2,
    );
  });

  test("ends no session, and makes nobody accept less: not by what he takes out of it, or puts in", async () => {
    await appends(2);
    const texts = recorded("commands").map(({ text }) => text);
    const half = texts.find((text) => text.includes('"session":'));
    expect(half).toBeDefined();
    const next = `"n":${Date.now() + 60_000}`;
    await expectNothingDone([
      ...texts.map((text) => text.replace(/,"(mac|sig)":"[^"]*"/, "")),
      ...texts.map((text) => text.replace(/"n":\d+/, next)),
      ...texts.map((text) => text.replace(/,"session":"[^"]*"/, "").replace(/"n":\d+/, next)),
      ...texts.map((text) => text.replace('"mac":', '"sig":')),
      ...recorded("reports").map(({ text }) => text),
    ]);
    const presence = recorded("presence").at(-1)?.text ?? "";
    await write("presence", presence.replace(/,"session":"[^"]*"/, ""), true);
    await passed();
    await appends(1);
    expect(recorded("commands").at(-1)?.body).toHaveProperty("mac");
    expect(recorded("reports").findLast(({ body }) => body.report_type === "result")?.body).toHaveProperty(
      "mac",
    );
  });

  test("commands nothing: not unsigned, not with his own key, not with recordings", async () => {
    const caller = { principal: "anna", role: "owner", channel: "api" };
    const mine = stamped(commandText({ caller }), { boot_id: bootId(), n: Date.now() + 60_000 });
    const tape = recorded("commands").map(({ text }) => text);
    await expectNothingDone([
      commandText(),
      commandText({ caller, n: Date.now() + 60_000, boot_id: bootId() }),
      own.sign({ agent: "pi", kind: "commands" }, mine),
      ...tape,
      ...tape.map((text) => text.replace(/"request_id":"[^"]*"/, `"request_id":"${crypto.randomUUID()}"`)),
    ]);
    expect(stack.agent("pi").events("command.refused").length).toBeGreaterThan(0);
    await write("commands", JSON.stringify({ command: "shutdown", payload: {}, request_id: "s" }));
    await passed();
    expect(stack.agent("pi").running).toBe(true);
  });

  test("cannot answer a call, ask a person, or publish in the device's name", async () => {
    const asking = stack.gateway.command("pi", "tool", { tool: "append", parameters: { wait_ms: 1_500 } });
    const call = await until(
      () => thief.commands("pi", "tool").find(({ body }) => JSON.stringify(body).includes("wait_ms")),
      { what: "the call is on the wire" },
    );
    const id = String(call.body.request_id);
    const result = { status: "success", tool: "append", result: "forged", request_id: id };
    const report = {
      agent_id: "pi",
      agent_type: "monitor",
      report_type: "result",
      payload: result,
      timestamp: 1,
    };
    const question = {
      type: "question",
      request_id: id,
      question_id: "q",
      text: "Your password, please?",
      expires_in_ms: 60_000,
    };
    const stamp = { boot_id: bootId(), n: 2 ** 52 };
    for (const [kind, forgery] of [
      ["reports", report],
      ["events", question],
    ] as const) {
      await write(kind, JSON.stringify(forgery));
      await write(kind, own.sign({ agent: "pi", kind }, stamped(JSON.stringify(forgery), stamp)));
    }
    // The device reports that it refused this command. That does not answer the call with the same id.
    await write("commands", JSON.stringify({ command: "tool", payload: APPEND, request_id: id }));
    await passed();
    const { questions } = (await (await stack.gateway.fetch("/v1/questions")).json()) as {
      questions: unknown[];
    };
    expect(questions).toEqual([]);
    expect((await asking).body.payload).toMatchObject({
      status: "success",
      result: expect.stringMatching(/^appended/),
    });
  });

  test("can neither take it offline nor change its description, also for a newly connected bridge", async () => {
    const forge = async () => {
      await write(
        "presence",
        JSON.stringify({ state: "offline", boot_id: bootId(), reason: "forged" }),
        true,
      );
      await write("capabilities", JSON.stringify({ capabilities: "forged", features: ["tool"] }), true);
      await write("tools", JSON.stringify({ hash: "forged", tools: [] }), true);
    };
    const staysAsBefore = async () => {
      for (const agents of [...(await passed()), await stack.gateway.agents()]) {
        const seen = agents.find(({ id }) => id === "pi");
        expect(seen).toMatchObject({ online: true, actions: expect.arrayContaining(["append"]) });
        expect(JSON.stringify(seen)).not.toContain("forged");
      }
    };
    await forge();
    await staysAsBefore();
    await stack.bridge.kill();
    await forge();
    await stack.startBridge();
    await stack.gateway.online("pi");
    await staysAsBefore();
  });

  test("cannot add an agent of his own", async () => {
    const ghost = await PlayedAgent.own("ghost", stack.mqttUrl);
    played.push(ghost);
    const unsigned = async () => {
      const keys = (await (await stack.gateway.fetch("/v1/keys")).json()) as { unsigned: unknown[] };
      return keys.unsigned;
    };
    await until(async () => (await unsigned()).length > 0, { what: "the gateway knows of it" });
    expect(await unsigned()).toEqual([{ agent: "ghost", served: false }]);
    expect((await stack.gateway.agents()).map(({ id }) => id)).toEqual([FENCE, "pi"]);
    expect((await stack.gateway.command("ghost", "ping")).status).toBe(404);
  });

  describe("his recordings do nothing after a restart of", () => {
    const restarts: Record<string, () => Promise<unknown>> = {
      "the agent": async () => {
        await stack.agent("pi").kill();
        await stack.restartAgent("pi");
      },
      "the bridge": async () => {
        await stack.bridge.kill();
        await stack.startBridge();
      },
      "the Worker": async () => {
        await stack.worker.kill();
        await stack.startWorker();
      },
      "the broker": () => stack.restartBroker(),
    };
    test.each(Object.entries(restarts))("%s", async (_, restart) => {
      await appends(1);
      const tape = recorded("commands").map(({ text }) => text);
      await restart();
      await passed();
      await expectNothingDone(tape);
      for (const kind of ["reports", "events"] as const)
        await Promise.all(recorded(kind).map(({ text }) => write(kind, text)));
      await appends(1);
    });
  });

  test("cannot make an offline device look online, whichever program restarts", async () => {
    await stack.agent("pi").kill();
    await stack.gateway.offline("pi");
    const tape = ["presence", "capabilities", "tools", "reports", "events"] as const;
    const replay = async () => {
      for (const kind of tape) {
        const retain = kind !== "reports" && kind !== "events";
        // The last will itself, which is true, arrives last on its own topic.
        const texts = recorded(kind).filter(({ body }) => body.state !== "offline");
        await Promise.all(texts.map(({ text }) => write(kind, text, retain)));
      }
      await write("reports", JSON.stringify({ report_type: "heartbeat", payload: {} }));
    };
    const isStillDead = async () => {
      await replay();
      expect((await stack.gateway.command("pi", "ping")).status).toBe(409);
      expect((await stack.gateway.agent("pi"))?.online).toBe(false);
    };
    await isStillDead();
    await stack.bridge.kill();
    await replay();
    await stack.startBridge();
    await isStillDead();
    await stack.worker.kill();
    await stack.startWorker();
    await until(() => stack.gateway.agent("pi"), { within: 20_000, what: "the gateway is back" });
    await isStillDead();
    await stack.restartAgent("pi");
    await stack.gateway.online("pi");
    await passed();
    await appends(1);
  });

  test("is stopped at once when a key is revoked", async () => {
    expect((await stack.gateway.fetch("/v1/agents/pi/key", { method: "DELETE" })).status).toBe(204);
    const { status, body } = await stack.gateway.command("pi", "tool", APPEND);
    expect([status, body.error?.message]).toEqual([409, expect.stringContaining("its key was revoked")]);
    await stack.agent("pi").kill();
    await stack.restartAgent("pi");
    expect((await stack.gateway.agent("pi"))?.online).toBe(false);
  });
});
