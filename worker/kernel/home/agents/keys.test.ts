/** Registered agent keys: listed, replaced, sent to the bridge, revoked. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { call, passed, post, useKeyedHome, view } from "../../../../test/keyed-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { agent, TestBridge } from "../../../../test/workerd.ts";

const home = useKeyedHome();

/** Drops the instance from memory. Rows and the bridge's socket stay. */
const evict = () => evictDurableObject(theHome());

describe("keys", () => {
  test("are listed with their fingerprints, and the home's own key does not change", async () => {
    await evict();
    const { body } = await call("/v1/keys");
    const form = expect.stringMatching(/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/);
    expect(body).toEqual({
      gateway: { public_key: home.gatewayKey, fingerprint: form },
      keys: [
        {
          agent: "pi",
          public_key: home.pi.publicKey,
          name: "Shed",
          enrolled_at: expect.any(Number),
          revoked_at: null,
          fingerprint: form,
        },
      ],
      next: null,
      total: 1,
      unsigned: [],
      unsigned_total: 0,
    });
    await TestBridge.connect([agent("other")]);
    expect((await call("/v1/keys")).body.unsigned).toEqual([{ agent: "other", served: true }]);
  });

  test("are for administrators, and for their home", async () => {
    for (const [method, path] of [
      ["GET", "/v1/keys"],
      ["POST", "/v1/agents/pi/key"],
      ["DELETE", "/v1/agents/pi/key"],
    ] as const)
      expect((await call(path, { method, token: TOKENS.guest })).status, path).toBe(403);
    const other = (await call("/v1/keys", { token: TOKENS.otherHome })).body;
    expect(other.keys).toEqual([]);
    expect(other.gateway).not.toMatchObject({ public_key: home.gatewayKey });
    expect((await call("/v1/agents/pi/key", { method: "DELETE", token: TOKENS.otherHome })).status).toBe(404);
  });

  test("that are invalid are refused by name", async () => {
    for (const public_key of ["short", "A".repeat(43)])
      expect((await post("/v1/agents/pi/key", { public_key })).body.error?.message).toBe(
        "public_key: expected an Ed25519 public key, 32 bytes as base64url",
      );
    expect((await post("/v1/agents/a%2Fb/key", { public_key: home.pi.publicKey })).status).toBe(400);
  });

  test("replace another key only with its signature", async () => {
    const next = await SignedAgent.make("pi");
    const stranger = await SignedAgent.make("pi");
    const put = (signature?: string) =>
      post("/v1/agents/pi/key", { public_key: next.publicKey, ...(signature && { signature }) });
    expect((await put()).body.error).toMatchObject({
      code: "has_a_key",
      message: expect.stringContaining("--new-key"),
    });
    expect((await put(await stranger.nameSuccessor(next.publicKey))).body.error?.code).toBe(
      "wrong_signature",
    );
    // Signed for another key.
    expect((await put(await home.pi.nameSuccessor(stranger.publicKey))).status).toBe(403);
    expect((await put(await home.pi.nameSuccessor(next.publicKey))).status).toBe(200);
    const bridge = await TestBridge.dial();
    await bridge.hello();
    bridge.send({ t: "snapshot", agents: [await home.pi.state()], last: true });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false, problem: expect.stringContaining("not signed") });
    bridge.send({ t: "agent", agent: await next.state() });
    await until(async () => (await view("pi")).online);
  });

  test("the same key again is no change, and interrupts nothing", async () => {
    await home.connect();
    expect((await post("/v1/agents/pi/key", { public_key: home.pi.publicKey })).body.gateway_key).toBe(
      home.gatewayKey,
    );
    expect((await view("pi")).online).toBe(true);
  });

  test("are sent to a bridge in the welcome, and again after a change", async () => {
    const bridge = await home.connect();
    const welcome = bridge.received.find(({ t }) => t === "welcome");
    expect(welcome).toMatchObject({
      gateway_key: home.gatewayKey,
      keys: [{ id: "pi", key: home.pi.publicKey, n: 0 }],
    });
    expect((await call("/v1/agents/pi/key", { method: "DELETE" })).status).toBe(204);
    const keys = await until(() => bridge.received.find(({ t }) => t === "keys"));
    expect(keys).toMatchObject({ keys: [{ id: "pi", key: null }] });
  });
});

describe("a revoked key", () => {
  test("is invalid at once: open calls end, the next report is refused, and so are calls", async () => {
    const bridge = await home.connect();
    const { out, answer } = await home.commandOut(bridge);
    expect((await call("/v1/agents/pi/key", { method: "DELETE" })).status).toBe(204);
    expect((await answer).body.error).toMatchObject({
      code: "outcome_unknown",
      message: expect.stringContaining("was revoked while this was under way"),
    });
    await home.report(bridge, out.id, { pong: true });
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await passed(bridge);
    expect((await call(`/v1/agents/pi/commands/${out.id}`)).body.error?.code).toBe("outcome_unknown");
    const refused = await post("/v1/agents/pi/commands", { command: "ping" });
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      expect.stringContaining("its key was revoked"),
    ]);
    expect((await call("/v1/keys")).body.keys).toMatchObject([{ revoked_at: expect.any(Number) }]);
    expect((await call("/v1/agents/pi/key", { method: "DELETE" })).status).toBe(404);
  });

  test("C12 its device is removed from the list, and later reports do not bring it back", async () => {
    const bridge = await home.connect();
    bridge.send({ t: "agent", agent: await home.pi.state({ online: false }) });
    await passed(bridge);
    const remove = (token?: string) => call("/v1/agents/pi", { method: "DELETE", ...(token && { token }) });
    expect((await remove(TOKENS.guest)).status).toBe(403);
    expect((await remove(TOKENS.otherHome)).status).toBe(404);
    expect((await remove()).body.error).toMatchObject({ code: "has_a_key" });
    await call("/v1/agents/pi/key", { method: "DELETE" });
    expect((await remove()).status).toBe(204);
    expect((await call("/v1/agents/pi")).status).toBe(404);
    bridge.send({ t: "agent", agent: await home.pi.state() });
    bridge.send({ t: "snapshot", agents: [agent("pi")], last: true });
    await passed(bridge);
    expect((await call("/v1/agents/pi")).status).toBe(404);
    expect((await remove()).status).toBe(404);
    // After it is paired again, it is listed again.
    const next = await SignedAgent.make("pi");
    expect((await post("/v1/agents/pi/key", { public_key: next.publicKey })).status).toBe(200);
    bridge.send({ t: "agent", agent: await next.state() });
    await until(async () => (await view("pi")).online);
  });

  test("is never accepted again, not even without a signature; a person must admit the device again", async () => {
    await call("/v1/agents/pi/key", { method: "DELETE" });
    await evict();
    const bridge = await TestBridge.dial();
    await bridge.hello();
    bridge.send({ t: "snapshot", agents: [agent("pi")], last: true });
    await passed(bridge);
    expect((await view("pi")).online).toBe(false);
    const next = await SignedAgent.make("pi");
    expect((await post("/v1/agents/pi/key", { public_key: next.publicKey })).status).toBe(200);
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await passed(bridge);
    expect((await view("pi")).online).toBe(false);
    bridge.send({ t: "agent", agent: await next.state() });
    await until(async () => (await view("pi")).online);
  });

  test("that a person admits again is accepted from then on: earlier recordings do not count", async () => {
    const bridge = await home.connect();
    const recorded = await home.pi.state();
    bridge.send({ t: "agent", agent: await home.pi.state({ online: false }) });
    await until(async () => !(await view("pi")).online);
    await call("/v1/agents/pi/key", { method: "DELETE" });
    expect((await post("/v1/agents/pi/key", { public_key: home.pi.publicKey })).status).toBe(200);
    bridge.send({ t: "agent", agent: recorded });
    await passed(bridge);
    expect(await view("pi")).toMatchObject({ online: false, problem: expect.stringContaining("said again") });
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await until(async () => (await view("pi")).online);
  });
});
