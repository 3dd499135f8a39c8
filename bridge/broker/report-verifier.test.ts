/**
 * The bridge accepts only an agent's own messages: tested by itself, and between a real broker and a simulated Home.
 */

import { textHash } from "@edgecall/core/protocol/text-hash.ts";
import type { LogFields } from "@edgecall/node/log.ts";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SignedAgent } from "../../test/signed-agent.ts";
import { until } from "../../test/wait.ts";
import { type Bridge, startBridge } from "../bridge.ts";
import { readSettings } from "../settings.ts";
import { PlayedAgent } from "../testkit/agent.ts";
import { type PlayedBroker, startAedes } from "../testkit/brokers.ts";
import { PlayedHome } from "../testkit/home.ts";
import { ReportVerifier } from "./report-verifier.ts";

const NOT_SIGNED = "not signed with the agent's key";
const BEFORE = "it was said before";
const OLD = "an old one, said again";

describe("a message", () => {
  let pi: SignedAgent;
  let verifier: ReportVerifier;
  beforeEach(async () => {
    pi = await SignedAgent.make("pi");
    verifier = new ReportVerifier();
    verifier.learn([{ id: "pi", key: pi.publicKey, n: 0 }]);
  });

  test("counts when the agent signed it for that topic; once when live, and as often as the broker repeats it when retained", async () => {
    const report = await pi.say("reports", { a: 1 });
    expect(verifier.problem("pi", "events", report, true)).toBe(NOT_SIGNED);
    expect(verifier.problem("eye", "reports", report, true)).toBeUndefined();
    expect(verifier.problem("pi", "reports", report, true)).toBeUndefined();
    expect(verifier.problem("pi", "reports", report, true)).toBe(BEFORE);
    const advert = await pi.say("capabilities", { capabilities: "x" });
    for (let i = 0; i < 3; i += 1)
      expect(verifier.problem("pi", "capabilities", advert, false)).toBeUndefined();
    expect(verifier.problem("pi", "capabilities", "", false)).toBe(NOT_SIGNED);
  });

  test("that Home has stored is not verified again, until the key changes; any other is", async () => {
    const stored = await (await SignedAgent.make("pi")).say("tools", { hash: "h", tools: [] });
    verifier.learnStored([{ id: "pi", tools: await textHash(stored) }]);
    expect(verifier.isStored("pi", "tools", stored)).toBe(true);
    expect(verifier.problem("pi", "tools", stored, false)).toBeUndefined();
    expect(verifier.problem("pi", "capabilities", stored, false)).toBe(NOT_SIGNED);
    expect(verifier.problem("pi", "tools", `${stored} `, false)).toBe(NOT_SIGNED);
    verifier.learn([{ id: "pi", key: (await SignedAgent.make("pi")).publicKey, n: 0 }]);
    expect(verifier.problem("pi", "tools", stored, false)).toBe(NOT_SIGNED);
  });

  test("from before the newest presence is outdated, whichever client repeats it", async () => {
    const birth = await pi.say("presence", { state: "online" });
    const heartbeat = await pi.say("reports", { report_type: "heartbeat" });
    const unheard = await pi.say("reports", { report_type: "heartbeat", n: 2 });
    const will = await pi.say("presence", { state: "offline" });
    for (const [kind, text] of [
      ["presence", birth],
      ["reports", heartbeat],
      ["presence", will],
    ] as const)
      expect(verifier.problem("pi", kind, text, true)).toBeUndefined();
    expect(verifier.problem("pi", "presence", birth, true)).toBe(OLD);
    expect(verifier.problem("pi", "reports", heartbeat, true)).toBe(BEFORE);
    expect(verifier.problem("pi", "reports", unheard, true)).toBe(BEFORE);
    // A restarted bridge learns from Home how far the counters were.
    const { n } = JSON.parse(will) as { n: number };
    const next = new ReportVerifier();
    next.learn([{ id: "pi", key: pi.publicKey, n }]);
    expect(next.problem("pi", "presence", birth, false)).toBe(OLD);
    expect(next.problem("pi", "reports", unheard, true)).toBe(BEFORE);
    expect(next.problem("pi", "presence", will, false)).toBeUndefined();
    expect(
      next.problem("pi", "presence", await pi.say("presence", { state: "online" }), true),
    ).toBeUndefined();
  });

  test("of a revoked agent never counts; the other keys keep their counters", async () => {
    const report = await pi.say("reports", { a: 1 });
    expect(verifier.problem("pi", "reports", report, true)).toBeUndefined();
    expect(verifier.learn([{ id: "pi", key: pi.publicKey, n: 0 }])).toEqual([]);
    expect(verifier.problem("pi", "reports", report, true)).toBe(BEFORE);
    expect(verifier.learn([{ id: "pi", key: null, n: 0 }])).toEqual(["pi"]);
    expect(verifier.problem("pi", "reports", await pi.say("reports", { a: 2 }), true)).toBe(
      "the agent's key was revoked",
    );
  });

  test("S10 an older presence never replaces a later live message; the birth of the present run stays valid", async () => {
    const goodbye = await pi.say("presence", { state: "offline" });
    const old = await pi.say("presence", { state: "online" });
    const birth = await pi.say("presence", { state: "online" });
    const heartbeat = await pi.say("reports", { report_type: "heartbeat" });
    const will = await pi.say("presence", { state: "offline" });
    expect(verifier.problem("pi", "reports", heartbeat, true)).toBeUndefined();
    expect(verifier.problem("pi", "presence", goodbye, false)).toBe(OLD);
    expect(verifier.problem("pi", "presence", old, false)).toBe(OLD);
    const { n } = JSON.parse(birth) as { n: number };
    const next = new ReportVerifier();
    next.learn([{ id: "pi", key: pi.publicKey, n }]);
    expect(next.problem("pi", "reports", heartbeat, true)).toBeUndefined();
    // The broker repeats it when only the bridge lost its connection.
    expect(next.problem("pi", "presence", birth, false)).toBeUndefined();
    expect(next.problem("pi", "presence", will, true)).toBeUndefined();
  });

  /** Gives pi a session with somebody's half. @returns its keys, and what the bridge learns of it */
  async function shared() {
    const gateway = await SignedAgent.make("gateway");
    await Promise.all([pi.offerSession(), gateway.offerSession()]);
    const keys = await pi.takeSession(gateway.publicKey, gateway.half?.publicKey ?? "");
    return { keys, session: { boot_id: pi.bootId, key: pi.bridgeKey } };
  }

  test("of a session counts by the bridge's key, once; by no other key, and not where the broker retains it", async () => {
    const { keys, session } = await shared();
    const early = await pi.reportInSession("r0", {});
    expect(verifier.problem("pi", "reports", early, true)).toBe(NOT_SIGNED);
    verifier.learnSession("pi", session);
    const report = await pi.reportInSession("r1", {});
    expect(verifier.problem("pi", "events", report, true)).toBe(NOT_SIGNED);
    expect(verifier.problem("pi", "reports", report, true)).toBeUndefined();
    expect(verifier.problem("pi", "reports", report, true)).toBe(BEFORE);
    for (const forged of [
      await pi.reportInSession("r2", {}, [keys.reports, keys.reports]),
      await pi.reportInSession("r2", {}, [keys.commands, keys.commands]),
      (await pi.reportInSession("r2", {})).replace('"r2"', '"r3"'),
      (await pi.reportInSession("r2", {})).replace(/"mac":"(.{43}).*$/, '"mac":"$1"}'),
      (await pi.reportInSession("r2", {})).replace(/,"mac":".*$/, "}"),
    ])
      expect(verifier.problem("pi", "reports", forged, true)).toBe(NOT_SIGNED);
    for (const kind of ["presence", "capabilities", "tools", "status"] as const)
      expect(verifier.problem("pi", kind, await pi.sayInSession(kind, { a: 1 }), true)).toBe(NOT_SIGNED);
    expect(verifier.problem("pi", "reports", await pi.report("r4", {}), true)).toBeUndefined();
  });

  test("of a session that is over does not count: of a run before, of a revoked agent, or when Home names none", async () => {
    const { session } = await shared();
    verifier.learnSession("pi", session);
    verifier.learnSession("nobody", session);
    const { bootId } = pi;
    pi.bootId = "another run";
    expect(verifier.problem("pi", "reports", await pi.reportInSession("r1", {}), true)).toBe(NOT_SIGNED);
    pi.bootId = bootId;
    verifier.learn([{ id: "pi", key: pi.publicKey, n: 0, session }]);
    expect(verifier.problem("pi", "reports", await pi.reportInSession("r2", {}), true)).toBeUndefined();
    verifier.learn([{ id: "pi", key: pi.publicKey, n: 0 }]);
    expect(verifier.problem("pi", "reports", await pi.reportInSession("r3", {}), true)).toBe(NOT_SIGNED);
    verifier.learn([{ id: "pi", key: null, n: 0 }]);
    verifier.learnSession("pi", session);
    expect(verifier.problem("pi", "reports", await pi.reportInSession("r4", {}), true)).toBe(
      "the agent's key was revoked",
    );
  });

  test("with any content causes no exception", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.json()),
        fc.constantFrom("reports", "presence", "tools", "events", "status"),
        fc.boolean(),
        (text, kind, live) => {
          expect(verifier.problem("pi", kind as "reports", text, live)).toBe(NOT_SIGNED);
        },
      ),
    );
  });
});

describe("between broker and Home", () => {
  let broker: PlayedBroker;
  let home: PlayedHome;
  let bridge: Bridge;
  let pi: SignedAgent;
  let played: PlayedAgent;
  let logged: Array<{ event: string; fields: LogFields | undefined }>;
  let env: Record<string, string>;

  function start(): Bridge {
    const settings = readSettings(env);
    if (!settings.ok) throw new Error(settings.errors.join("; "));
    return startBridge(settings.settings, (_, event, fields) => logged.push({ event, fields }));
  }

  beforeEach(async () => {
    logged = [];
    home = new PlayedHome();
    pi = await SignedAgent.make("pi");
    home.keys = [{ id: "pi", key: pi.publicKey, n: 0 }];
    const [started, gateway] = await Promise.all([startAedes(), home.start()]);
    broker = started;
    env = { GATEWAY_URL: gateway, BRIDGE_TOKEN: "secret", MQTT_URL: broker.url, HEALTH_PORT: "0" };
    played = await PlayedAgent.silent("pi", broker.url);
  });
  afterEach(async () => {
    await bridge.stop();
    await played.stop();
    await home.stop();
    await broker.stop();
  });

  async function birth(): Promise<void> {
    await played.say("presence", await pi.say("presence", { state: "online" }), true);
    await played.say(
      "capabilities",
      await pi.say("capabilities", { capabilities: "x", features: ["ack"] }),
      true,
    );
  }
  const latest = () => home.of("agent").findLast(({ agent }) => agent.id === "pi")?.agent;
  const dropped = (error: string) =>
    logged.some(({ event, fields }) => event === "broker.message_dropped" && fields?.error === error);

  test("forged presence, adverts, heartbeats and goodbyes change nothing; the agent's own messages do", async () => {
    bridge = start();
    await home.next("snapshot");
    await birth();
    await home.next("agent", ({ agent }) => agent.id === "pi" && agent.online);
    await played.say("presence", { state: "offline", boot_id: pi.bootId, reason: "forged" }, true);
    await played.say("capabilities", "", true);
    await played.say("tools", { hash: "h", tools: [] }, true);
    await until(() => dropped(NOT_SIGNED));
    await played.say("tools", await pi.say("tools", { hash: "own", tools: [] }), true);
    await home.next("agent", ({ agent }) => agent.tools?.includes("own") === true);
    expect(latest()).toMatchObject({
      online: true,
      foreign: false,
      capabilities: expect.stringContaining('"x"'),
    });
    expect(home.of("gone")).toEqual([]);
    await played.say("presence", await pi.say("presence", { state: "offline", reason: "last will" }), true);
    await home.next("agent", ({ agent }) => !agent.online && agent.reason === "last will");
    await played.heartbeat();
    await played.say("presence", { state: "online", boot_id: pi.bootId }, true);
    await played.say("tools", await pi.say("tools", { hash: "later", tools: [] }), true);
    await home.next("agent", ({ agent }) => agent.tools?.includes("later") === true);
    expect(latest()?.online).toBe(false);
  });

  test("a forged report neither reaches Home nor replaces the real one", async () => {
    bridge = start();
    await home.next("snapshot");
    await birth();
    await home.next("agent", ({ agent }) => agent.online);
    const id = crypto.randomUUID();
    await played.report("result", { request_id: id, forged: true });
    const own = await pi.report(id, { forged: false });
    await played.say("reports", own);
    await played.say("reports", own);
    await played.report("result", { request_id: id, forged: true });
    await until(() => dropped(BEFORE));
    await home.next("report", (frame) => frame.id === id);
    expect(home.of("report").map(({ payload }) => payload)).toEqual([own]);
  });

  test("a report of the session reaches Home, a forged one does not; acks in a command, or many at once, delete it", async () => {
    bridge = start();
    await home.next("snapshot");
    await birth();
    await home.next("agent", ({ agent }) => agent.online);
    const gateway = await SignedAgent.make("gateway");
    await Promise.all([pi.offerSession(), gateway.offerSession()]);
    await pi.takeSession(gateway.publicKey, gateway.half?.publicKey ?? "");
    home.send({ t: "session", agent: "pi", session: { boot_id: pi.bootId, key: pi.bridgeKey } });
    const payload = JSON.stringify({ command: "ping", payload: {}, request_id: "c1", acks: ["r1"] });
    const reports: string[] = [];
    for (const id of ["r1", "r2", "r3", "r4"]) {
      const report = await pi.reportInSession(id, {});
      reports.push(report);
      // Until the bridge has read the session's key, it drops the report.
      await until(async () => {
        await played.say("reports", report.replace(`"${id}"`, `"${id}x"`));
        await played.say("reports", report);
        return home.of("report").some((frame) => frame.id === id);
      });
    }
    expect(home.of("report").map((frame) => frame.payload)).toEqual(reports);
    home.send({ t: "call", id: "c1", agent: "pi", payload, expires_in_ms: 10_000 });
    const ack = JSON.stringify({ command: "ack", payload: { request_ids: ["r2", "r3"] }, request_id: "a1" });
    home.send({ t: "acks", agent: "pi", ids: ["r2", "r3"], payload: ack });
    await until(() => played.commands.length === 2);
    expect(played.commands.map(({ request_id }) => request_id).sort()).toEqual(["a1", "c1"]);
    // What is left is sent again at the next connection.
    const before = home.of("report").length;
    home.keys = [{ id: "pi", key: pi.publicKey, n: 0, session: { boot_id: pi.bootId, key: pi.bridgeKey } }];
    home.drop();
    await until(() => home.of("report").length > before, { within: 10_000 });
    await played.say("reports", await pi.reportInSession("r5", {}));
    await home.next("report", (frame) => frame.id === "r5");
    expect(
      home
        .of("report")
        .slice(before)
        .map(({ id }) => id),
    ).toEqual(["r4", "r5"]);
  });

  test("a session goes on when the key of another agent changes", async () => {
    bridge = start();
    await home.next("snapshot");
    await birth();
    await home.next("agent", ({ agent }) => agent.online);
    const gateway = await SignedAgent.make("gateway");
    await Promise.all([pi.offerSession(), gateway.offerSession()]);
    await pi.takeSession(gateway.publicKey, gateway.half?.publicKey ?? "");
    home.send({ t: "session", agent: "pi", session: { boot_id: pi.bootId, key: pi.bridgeKey } });
    home.send({ t: "keys", keys: [{ id: "eye", key: gateway.publicKey, n: 0 }], part: true });
    // The bridge takes frames in order, so it has the keys when this call is with the broker.
    const payload = JSON.stringify({ command: "ping", payload: {}, request_id: "c1" });
    home.send({ t: "call", id: "c1", agent: "pi", payload, expires_in_ms: 10_000 });
    await until(() => played.commands.length === 1);
    await played.say("reports", await pi.reportInSession("c1", {}));
    await home.next("report", ({ id }) => id === "c1");
  });

  test("a new run reaches Home before its reports, whose acknowledgements are for that run", async () => {
    bridge = start();
    await home.next("snapshot");
    await birth();
    await home.next("agent", ({ agent }) => agent.online);
    const before = home.frames.length;
    pi.bootId = "the next run";
    await birth();
    await played.say("reports", await pi.report("r1", { status: "success" }));
    await home.next("report");
    const after = home.frames.slice(before).map(({ t }) => t);
    expect(after.indexOf("agent")).toBeGreaterThanOrEqual(0);
    expect(after.indexOf("agent")).toBeLessThan(after.indexOf("report"));
  });

  test("S10 its own old 'online' replayed as retained: the next heartbeat brings the healthy device back", async () => {
    const old = await pi.say("presence", { state: "online" });
    pi.bootId = "the present run";
    const newest = await pi.say("presence", { state: "online" });
    home.keys = [{ id: "pi", key: pi.publicKey, n: (JSON.parse(newest) as { n: number }).n }];
    await played.say("presence", old, true);
    bridge = start();
    await home.next("snapshot", ({ last }) => last);
    await until(() => dropped(OLD));
    const heartbeat = await pi.say("reports", { report_type: "heartbeat", payload: {} });
    await played.say("reports", heartbeat);
    const { agent } = await home.next("agent", (frame) => frame.agent.online);
    expect(agent).toMatchObject({ id: "pi", foreign: false, alive: heartbeat });
    // A second replay changes nothing.
    await played.say("presence", old, true);
    await played.say("tools", await pi.say("tools", { hash: "behind it", tools: [] }), true);
    await home.next("agent", (frame) => frame.agent.tools !== undefined);
    expect(latest()?.online).toBe(true);
  });

  test("what was accepted before a key was known is checked again", async () => {
    home.keys = [];
    await played.say("capabilities", { capabilities: "forged", features: ["ack"] }, true);
    await played.say("presence", { state: "online", boot_id: "forged" }, true);
    bridge = start();
    await home.next("snapshot", ({ agents }) => agents.some(({ online }) => online));
    home.send({ t: "keys", keys: [{ id: "pi", key: pi.publicKey, n: 0 }] });
    await home.next("gone", ({ agent }) => agent === "pi");
    await birth();
    await home.next("agent", ({ agent }) => agent.online && agent.capabilities?.includes('"x"') === true);
  });
});
