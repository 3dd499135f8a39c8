/** A paired bridge: what its key gives access to, and that no other key does. */
import {
  createExecutionContext,
  evictDurableObject,
  listDurableObjectIds,
  reset,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { newPassword, passwordHash } from "@edgecall/core/broker/mosquitto.ts";
import { bridgeTokenBody } from "@edgecall/core/protocol/bridge-token.ts";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { signedBytes, stamped } from "@edgecall/core/protocol/signing.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { SignedBridge } from "../../../../test/signed-bridge.ts";
import { theHome } from "../../../../test/states.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import worker from "../../../index.ts";
import type { Env } from "../../env.ts";

type Reply = {
  status: number;
  body: Record<string, unknown> & { error?: { code: string; message: string } };
};

async function call(path: string, init: Parameters<typeof ask>[1] = {}): Promise<Reply> {
  const response = await ask(path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Reply["body"]) };
}

const post = (path: string, body: unknown, token: string | null = TOKENS.owner) =>
  call(path, { method: "POST", body: JSON.stringify(body), token });

async function newCode(body: object = {}, token = TOKENS.owner): Promise<string> {
  return String((await post("/v1/device-codes", body, token)).body.code);
}

const pair = (code: string, pi: SignedAgent, more: object = {}) =>
  post("/pair", { code, agent_id: pi.id, public_key: pi.publicKey, ...more }, null);

/** Dials, and returns the answer when the dial is refused. */
async function dial(token: string): Promise<Reply> {
  const response = await ask("/bridge", { token, headers: { upgrade: "websocket" } });
  if (response.webSocket) {
    response.webSocket.accept();
    response.webSocket.close();
    return { status: response.status, body: {} };
  }
  return { status: response.status, body: await response.json() };
}

const NO_AGENTS = {
  agents: [],
  next: null,
  total: 0,
  online: 0,
  counts: { calls: 0, success: 0, error: 0, open: 0 },
};

const bridgeIs = async () => (await call("/v1/status")).body.bridge as { online: boolean };

async function connected(bridgeOf: SignedBridge): Promise<TestBridge> {
  const bridge = await TestBridge.dial(await bridgeOf.token());
  await bridge.hello();
  bridge.send({ t: "snapshot", agents: [], last: true });
  await until(async () => (await bridgeIs()).online, { what: "the bridge is online" });
  return bridge;
}

let pi: SignedAgent;
let hub: SignedBridge;
let stranger: SignedBridge;
const BROKER = "mqtt://10.0.0.2:1883";

/** The first machine of a home: an agent and the bridge, with one code. */
async function firstMachine(more: object = {}): Promise<Reply> {
  const paired = await pair(await newCode({ agent: "@bridge" }), pi, {
    bridge: { public_key: hub.publicKey, broker: BROKER },
    ...more,
  });
  expect(paired.status, JSON.stringify(paired.body)).toBe(200);
  return paired;
}

beforeEach(async () => {
  pi = await SignedAgent.make("pi");
  hub = await SignedBridge.make();
  stranger = await SignedBridge.make();
});
afterEach(async () => await reset());

test("one code admits an agent and its home's bridge; the key gives access to the socket", async () => {
  await firstMachine();
  const bridge = await connected(hub);
  const { keys } = (await call("/v1/keys")).body as { keys: Array<Record<string, unknown>> };
  expect(keys).toMatchObject([
    { agent: "@bridge", public_key: hub.publicKey, revoked_at: null, fingerprint: expect.any(String) },
    { agent: "pi" },
  ]);
  // The bridge is no agent: neither the bridge itself nor a person sees one with that name.
  expect(bridge.received[0]).toMatchObject({ t: "welcome", keys: [{ id: "pi" }] });
  expect((await call("/v1/agents")).body).toEqual(NO_AGENTS);
  // The settings' token is still valid.
  await (await TestBridge.dial()).hello();
  await until(() => bridge.closed?.code === CLOSE.replaced);
});

describe("refused, and the connected bridge stays", () => {
  const cases: Array<[string, (now: number) => Promise<string>, string]> = [
    ["signed by nobody's key", () => stranger.token(), "unauthorized"],
    [
      "signed by the agent's key",
      async () => {
        const body = bridgeTokenBody({ home: "a", for: "gateway", n: Date.now() });
        const said = await pi.relayToken("gateway/v1/relay/a");
        return `${body}.${said.split(".")[1]}`;
      },
      "unauthorized",
    ],
    ["too old", (now) => hub.token({ n: now - 61_000 }), "stale_token"],
    ["from the future", (now) => hub.token({ n: now + 3_600_000 }), "stale_token"],
    ["of another home's bridge", () => stranger.token({ home: "b" }), "unauthorized"],
    ["for another home", () => hub.token({ home: "b" }), "unauthorized"],
    ["for a home that is none", () => hub.token({ home: "nowhere" }), "unauthorized"],
    ["for another gateway", () => hub.token({ for: "gateway.example" }), "unauthorized"],
    ["a token of the relay", () => pi.relayToken("gateway/v1/relay/a"), "unauthorized"],
    ["with a field more", (now) => hub.token({ n: now, admin: true } as object), "unauthorized"],
    ["with no signature", async () => (await hub.token()).split(".")[0] ?? "", "unauthorized"],
    [
      "with a word changed",
      async () => {
        const [, signature] = (await hub.token()).split(".");
        return `${bridgeTokenBody({ home: "a", for: "gateway", n: Date.now() + 1 })}.${signature}`;
      },
      "unauthorized",
    ],
  ];
  test.each(cases)("a token %s", async (_, make, code) => {
    await firstMachine();
    // The other home has its own bridge, so that there is a key to compare with.
    const other = await pair(
      await newCode({ agent: "@bridge" }, TOKENS.otherHome),
      await SignedAgent.make("eye"),
      {
        bridge: { public_key: (await SignedBridge.make()).publicKey },
      },
    );
    expect(other.status).toBe(200);
    const bridge = await connected(hub);
    expect(await dial(await make(Date.now()))).toMatchObject({ status: 401, body: { error: { code } } });
    expect(await bridgeIs()).toMatchObject({ online: true });
    expect(bridge.closed).toBeUndefined();
  });

  test("a token that was used, also after a restart of the object", async () => {
    await firstMachine();
    const token = await hub.token();
    const bridge = await TestBridge.dial(token);
    await bridge.hello();
    const refused = { status: 401, body: { error: { code: "stale_token" } } };
    expect(await dial(token)).toMatchObject(refused);
    expect(bridge.closed).toBeUndefined();
    bridge.close();
    await until(async () => !(await bridgeIs()).online);
    await evictDurableObject(theHome());
    expect(await dial(token)).toMatchObject(refused);
    // Recorded and held back: invalid as soon as the bridge has sent a newer one.
    const kept = await hub.token();
    await (await TestBridge.dial(await hub.token())).hello();
    expect(await dial(kept)).toMatchObject(refused);
  });
});

test("a bridge with a wrong clock is told the time", async () => {
  await firstMachine();
  const token = await hub.token({ n: 1_000 });
  const response = await ask("/bridge", { token, headers: { upgrade: "websocket" } });
  const date = Date.parse(response.headers.get("date") ?? "");
  expect(Math.abs(date - Date.now())).toBeLessThan(5_000);
});

test("a signature for one purpose is not valid for another", async () => {
  await firstMachine();
  const token = await hub.token();
  expect((await call("/v1/agents", { token })).status).toBe(401);
  const relay = await call("/v1/relay/a/chat/completions", {
    token,
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
  });
  expect(relay).toMatchObject({ status: 401 });

  // With the bridge's key in an agent's name, and in its own.
  const bridge = await TestBridge.dial(await hub.token());
  await bridge.hello();
  for (const id of ["pi", "@bridge"]) {
    const body = stamped(JSON.stringify({ state: "online" }), { boot_id: "b", n: 5 });
    const sig = await hub.sign(signedBytes({ agent: id, kind: "presence" }, body));
    const presence = `${body.slice(0, -1)},"sig":"${sig}"}`;
    bridge.send({ t: "snapshot", agents: [{ ...agent(id), presence }], last: true });
  }
  await until(() => bridge.received.some((frame) => frame.t === "error"), { what: "@bridge is no agent" });
  const { agents } = (await call("/v1/agents")).body as { agents: Array<{ id: string; online: boolean }> };
  expect(agents.map(({ id, online }) => [id, online])).toEqual([["pi", false]]);
});

test("revoked: the socket is closed at once, and later frames on it are ignored", async () => {
  await firstMachine();
  const bridge = await connected(hub);
  const token = await hub.token();
  // A peer that ignores the close keeps sending.
  const frames = [
    { t: "hello", protocol: 1, bridge: "again", version: "0" },
    { t: "snapshot", agents: [agent("ghost")], last: true },
  ];
  await runInDurableObject(theHome(), async (home: Home, state) => {
    const [socket] = state.getWebSockets("bridge");
    if (!socket) throw new Error("no socket");
    expect(await home["agents.revokeAgentKey"]("@bridge")).toBe(true);
    for (const frame of frames) await home.webSocketMessage(socket, JSON.stringify(frame));
  });
  await until(() => bridge.closed);
  expect(bridge.closed).toMatchObject({ code: CLOSE.revoked, reason: expect.stringContaining("Replace") });
  expect(await bridgeIs()).toMatchObject({ online: false, id: "test" });
  expect((await call("/v1/agents")).body).toEqual(NO_AGENTS);
  expect(await dial(token)).toMatchObject({
    status: 401,
    body: { error: { code: "key_revoked", message: expect.stringContaining("Replace") } },
  });
  expect((await call("/v1/agents/@bridge/key", { method: "DELETE" })).status).toBe(404);
});

test("a home's bridge is replaced only with a code for that", async () => {
  await firstMachine();
  const before = await TestBridge.dial(await hub.token());
  await before.hello();
  const eye = await SignedAgent.make("eye");
  const theirs = { bridge: { public_key: stranger.publicKey } };
  const code = await newCode();
  expect(await pair(code, eye, theirs)).toMatchObject({
    status: 409,
    body: { error: { code: "not_for_bridge", message: expect.stringContaining("--with-bridge") } },
  });
  // It had no effect, and the code is still valid.
  expect((await pair(code, eye)).status).toBe(200);
  // Later the same code cannot admit a bridge either.
  expect((await pair(code, eye, theirs)).status).toBe(403);
  expect(before.closed).toBeUndefined();

  const made = await post("/v1/device-codes", { agent: "@bridge" });
  expect(made.body.command).toMatch(/ --with-bridge$/);
  const replaced = await pair(String(made.body.code), eye, theirs);
  expect(replaced).toMatchObject({ status: 200, body: { broker: null, broker_login: null } });
  await until(() => before.closed?.code === CLOSE.revoked);
  expect((await dial(await hub.token())).body.error?.code).toBe("unauthorized");
  expect((await dial(await stranger.token())).status).toBe(101);
});

test("a code for a device cannot make a bridge, even if there is none, or the settings' one is offline", async () => {
  const theirs = { bridge: { public_key: hub.publicKey } };
  const refused = { status: 409, body: { error: { code: "not_for_bridge" } } };
  expect(await pair(await newCode(), pi, theirs)).toMatchObject(refused);
  expect(await pair(await newCode({ agent: "pi" }), pi, theirs)).toMatchObject(refused);
  const bridge = await TestBridge.connect([]);
  expect(await pair(await newCode(), pi, theirs)).toMatchObject(refused);
  expect(bridge.closed).toBeUndefined();
  await firstMachine();
  await call("/v1/agents/@bridge/key", { method: "DELETE" });
  expect(await pair(await newCode({ agent: "pi" }), pi, theirs)).toMatchObject(refused);
  const { keys } = (await call("/v1/keys")).body as { keys: Array<Record<string, unknown>> };
  expect(keys).toMatchObject([{ agent: "@bridge", revoked_at: expect.any(Number) }, { agent: "pi" }]);
});

describe("logins at the home's own broker", () => {
  const login = () => passwordHash(newPassword());

  test("the hash goes only to the bridge, and is removed with the key", async () => {
    const first = await login();
    expect((await firstMachine({ broker_login: first })).body).toMatchObject({
      broker: { url: BROKER },
      broker_login: "waiting",
    });
    const bridge = await TestBridge.dial(await hub.token());
    await bridge.hello();
    expect(bridge.received[0]).toMatchObject({ keys: [{ id: "pi", login: first }] });

    const eye = await SignedAgent.make("eye");
    const second = await login();
    const code = await newCode();
    const paired = await pair(code, eye, { broker_login: second });
    expect(paired.body).toMatchObject({ broker: { url: BROKER }, broker_login: "sent" });
    const keys = () => bridge.received.findLast((frame) => frame.t === "keys")?.keys;
    await until(() => keys()?.some(({ id, login }) => id === "eye" && login === second));
    // Requested again it is the same login, and a second hash replaces no other.
    const again = await pair(code, eye, { broker_login: await login() });
    expect(again.body).toEqual(paired.body);
    for (const path of ["/v1/keys", "/v1/agents", "/v1/status", `/v1/device-codes/${code}`])
      expect(JSON.stringify((await call(path)).body), path).not.toContain("$7$");

    // With its own signature a device gets another key, and keeps its login.
    const next = await SignedAgent.make("eye");
    const signature = await eye.nameSuccessor(next.publicKey);
    expect((await post("/v1/agents/eye/key", { public_key: next.publicKey, signature })).status).toBe(200);
    await until(() => keys()?.some(({ key, login }) => key === next.publicKey && login === second));

    expect((await call("/v1/agents/eye/key", { method: "DELETE" })).status).toBe(204);
    await until(() => keys()?.some(({ id, key }) => id === "eye" && key === null));
    expect(JSON.stringify(keys())).not.toContain(second);
    // Admitted again without a login, it has none.
    expect((await pair(await newCode({ agent: "eye" }), next)).body.broker_login).toBeNull();
    await until(() => keys()?.some(({ key }) => key === next.publicKey));
    expect(JSON.stringify(keys())).not.toContain(second);
    const exported = await (await ask("/v1/export")).text();
    expect(exported).toContain(first);
    expect(exported).not.toContain(second);
  });

  test("with another person's broker the device is told that it has no login", async () => {
    const paired = await pair(await newCode({ agent: "@bridge" }), pi, {
      bridge: { public_key: hub.publicKey },
      broker_login: await login(),
    });
    expect(paired.body).toMatchObject({ broker: null, broker_login: null });
  });

  test("the console's broker address has priority", async () => {
    await firstMachine();
    const told = { url: "mqtt://broker.lan:1883" };
    const eye = await SignedAgent.make("eye");
    const paired = await pair(await newCode({ broker: told }), eye, { broker_login: await login() });
    expect(paired.body).toMatchObject({ broker: told, broker_login: "waiting" });
  });
});

describe("bad input of /pair names its field", () => {
  const salt = "A".repeat(16);
  const hash = `${"A".repeat(86)}==`;
  test.each<[string, object]>([
    ["broker_login", { broker_login: `$7$101$${salt}$${hash}\neve:$7$101$${salt}$${hash}` }],
    ["broker_login", { broker_login: `eve:$7$101$${salt}$${hash}` }],
    ["broker_login", { broker_login: `$7$101$${salt}$${hash}\n` }],
    ["broker_login", { broker_login: `$7$999999999$${salt}$${hash}` }],
    ["broker_login", { broker_login: `$6$${salt}$${hash}` }],
    ["broker_login", { broker_login: `$7$101$${salt}$${hash.slice(2)}` }],
    ["broker_login", { broker_login: "" }],
    ["broker_login", { broker_login: 7 }],
    ["bridge.public_key", { bridge: {} }],
    ["bridge.public_key", { bridge: { public_key: "short" } }],
    ["bridge.broker", { bridge: { public_key: "A".repeat(43), broker: "http://x" } }],
    ["bridge.broker", { bridge: { public_key: "A".repeat(43), broker: "mqtt://eve@x" } }],
    ["bridge", { bridge: "yes" }],
    ["code", { code: 7 }],
    ["agent_id", { agent_id: "@bridge" }],
    ["public_key", { public_key: "short" }],
    ["name", { name: "x".repeat(65) }],
    ["surprise", { surprise: 1 }],
  ])("%s", async (field, wrong) => {
    const refused = await pair("a-ABCDEFGHJKLM", pi, wrong);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "invalid_body" } } });
    expect(refused.body.error?.message).toContain(field);
  });
});

test("a client that guesses too often is told so before any object wakes", async () => {
  const from = { "cf-connecting-ip": "203.0.113.9" };
  const limited = { ...(env as Env), RATE_LIMITS: "on" };
  const send = (path: string, init: RequestInit) =>
    Promise.resolve(
      worker.fetch(
        new Request(`https://gateway${path}`, { ...init, headers: { ...from, ...init.headers } }),
        limited,
        createExecutionContext(),
      ),
    );
  // A window of the counter may end meanwhile.
  let wrong = 0;
  await until(async () => {
    wrong += 1;
    return (
      (await send("/v1/agents", { headers: { authorization: "Bearer wrong-token-of-nobody" } })).status ===
      429
    );
  });
  expect(wrong).toBeGreaterThan(30);
  const homes = (await listDurableObjectIds(env.HOME)).length;
  const body = JSON.stringify({ code: "b-ABCDEFGHJKLM", agent_id: "pi", public_key: pi.publicKey });
  const asked = [
    () => send("/pair", { method: "POST", body }),
    () => send(`/edgecall.json?home=b&key=${pi.publicKey}&nonce=0123456789abcdef`, {}),
    async () =>
      send("/bridge", {
        headers: { authorization: `Bearer ${await hub.token({ home: "b" })}`, upgrade: "websocket" },
      }),
  ];
  for (const one of asked) {
    const response = await one();
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "60"]);
  }
  expect((await listDurableObjectIds(env.HOME)).length).toBe(homes);
});

test("S19 a paired bridge that dials repeatedly uses up no guesses of its network; wrong keys there are counted", async () => {
  await firstMachine();
  let guesses = 0;
  const RATE_GUESSES = {
    limit: async () => {
      guesses += 1;
      return { success: guesses <= 4 };
    },
  };
  const vars = { ...(env as unknown as Env), RATE_LIMITS: "on", RATE_GUESSES } as Env;
  const status = async (of: SignedBridge) => {
    const headers = {
      authorization: `Bearer ${await of.token()}`,
      upgrade: "websocket",
      "cf-connecting-ip": "203.0.113.9",
    };
    const request = new Request("https://gateway/bridge", { headers });
    const answer = await worker.fetch(request, vars, createExecutionContext());
    if (answer.webSocket) {
      answer.webSocket.accept();
      answer.webSocket.close();
    }
    return answer.status;
  };
  for (let n = 0; n < 10; n += 1) expect(await status(hub)).toBe(101);
  expect(guesses).toBe(1);
  // The first wrong one is counted after Home's answer, the others before Home is asked.
  expect([await status(stranger), await status(stranger), await status(stranger)]).toEqual([401, 401, 401]);
  expect(guesses).toBe(4);
  expect(await status(stranger)).toBe(429);
});
