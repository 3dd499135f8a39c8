/** A stranger without any token can make the gateway store nothing, and cannot learn which homes exist. */
import { generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { countRows } from "../hostile/rows.ts";
import { TOKENS, testVars } from "../tokens.ts";

/** The first has a device and rows, the second was named in the settings and never used, the others are invented. */
const KINDS = ["lived-in", "blank", "ghost"] as const;
const homeOf = (kind: (typeof KINDS)[number]) => (kind === "ghost" ? `ghost-${randomUUID()}` : kind);

const NAMED = { a: "lived-in", b: "blank" };
const named = (records: string) =>
  JSON.stringify(
    (JSON.parse(records) as Array<{ home: keyof typeof NAMED }>).map((one) => ({
      ...one,
      home: NAMED[one.home],
    })),
  );
const VARS = {
  ...testVars,
  API_TOKENS: named(testVars.API_TOKENS),
  BRIDGE_TOKENS: named(testVars.BRIDGE_TOKENS),
  CHANNELS: named(testVars.CHANNELS),
  LLM_BASE_URL: "http://127.0.0.1:9",
};

const stranger = generateKeyPairSync("ed25519");
const publicKey = stranger.publicKey
  .export({ type: "spki", format: "der" })
  .subarray(-32)
  .toString("base64url");

function signedToken(domain: string, claims: object): string {
  const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${body}.${sign(null, Buffer.from(`${domain}\n${body}`), stranger.privateKey).toString("base64url")}`;
}

/** Everything in it is valid except the key. */
const relayToken = (home: string, host: string, agent = "paired") =>
  signedToken("edgecall relay token v1", {
    agent,
    exp: Math.floor(Date.now() / 1_000) + 240,
    for: `${host}/v1/relay/${home}`,
    nonce: randomUUID(),
  });
const bridgeToken = (home: string, host: string) =>
  signedToken("edgecall bridge token v1", { home, for: host, n: Date.now() });

const mac = () => randomBytes(32).toString("base64url");
const code = () =>
  Array.from(randomBytes(12), (byte) => "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[byte % 32]).join("");
const later = () => Math.floor(Date.now() / 1_000) + 3_600;
const MEDIA = `${randomUUID()}.${Buffer.from("api/kept").toString("base64url")}`;

type Request = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  upgrade?: boolean;
};

const json = (value: unknown): Pick<Request, "method" | "body"> => ({ method: "POST", body: value });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const QUESTION = { messages: [{ role: "user", content: "Open the door." }] };

/** Each way in which a name in a path, a body or a token could reach an object. */
const WAYS: Record<string, (home: string, host: string) => Request> = {
  "relay, right claims": (home, host) => ({
    path: `/v1/relay/${home}/chat/completions`,
    headers: bearer(relayToken(home, host)),
    ...json(QUESTION),
  }),
  "relay, an agent that nobody knows": (home, host) => ({
    path: `/v1/relay/${home}/chat/completions`,
    headers: bearer(relayToken(home, host, "nobody")),
    ...json(QUESTION),
  }),
  "relay, no signature": (home) => ({
    path: `/v1/relay/${home}/chat/completions`,
    headers: bearer(`${randomUUID()}.${mac()}`),
    ...json(QUESTION),
  }),
  "bridge, a token of its own making": (home, host) => ({
    path: "/bridge",
    headers: bearer(bridgeToken(home, host)),
    upgrade: true,
  }),
  "bridge, the relay's token": (home, host) => ({
    path: "/bridge",
    headers: bearer(relayToken(home, host)),
    upgrade: true,
  }),
  "bridge, no upgrade": (home, host) => ({ path: "/bridge", headers: bearer(bridgeToken(home, host)) }),
  "pair, a code": (home) => ({
    path: "/pair",
    ...json({ code: `${home}-${code()}`, agent_id: "evil", public_key: publicKey }),
  }),
  "pair, as a bridge": (home) => ({
    path: "/pair",
    ...json({
      code: `${home}-${code()}`.toUpperCase(),
      agent_id: "evil",
      public_key: publicKey,
      bridge: { public_key: publicKey, broker: "mqtt://10.0.0.9:1883" },
    }),
  }),
  "the program's manifest": (home) => ({
    path: `/edgecall.json?home=${home}&key=${publicKey}&nonce=${"n".repeat(22)}`,
  }),
  "the installer with a code": (home) => ({ path: `/install.sh?code=${home}-${code()}` }),
  "a media link": (home) => ({ path: `/v1/media/${MEDIA}?home=${home}&until=${later()}&mac=${mac()}` }),
  "an upload": (home) => ({
    path: `/v1/media/${MEDIA}`,
    method: "PUT",
    headers: bearer(
      `${Buffer.from(JSON.stringify({ id: MEDIA, conversation: `${home}/api/x`, bytes: 1 })).toString("base64url")}.${mac()}`,
    ),
    body: "x",
  }),
  "a Telegram webhook": (home) => ({
    path: `/webhooks/telegram/${home}~bot`,
    headers: { "x-telegram-bot-api-secret-token": "guess" },
    ...json({ update_id: 1 }),
  }),
  "a Slack webhook": (home) => ({
    path: `/webhooks/slack/${home}~bot`,
    headers: { "x-slack-signature": "v0=00", "x-slack-request-timestamp": String(later()) },
    ...json({ type: "event_callback" }),
  }),
  "a Discord webhook": (home) => ({
    path: `/webhooks/discord/${home}~bot`,
    headers: { "x-signature-ed25519": "00".repeat(64), "x-signature-timestamp": "1" },
    ...json({ type: 1 }),
  }),
  "a generic webhook": (home) => ({ path: `/webhooks/generic/${home}~door`, ...json({ text: "hi" }) }),
  "the API with a token that names a home": (home) => ({
    path: "/v1/conversations/x/messages",
    headers: bearer(`edgecall_${home}_${mac()}`),
    ...json({ text: "hi" }),
  }),
  "a token of two parts": (home) => ({ path: "/v1/agents", headers: bearer(`${home}.${mac()}`) }),
  "MCP with a token that names a home": (home) => ({
    path: "/mcp",
    headers: { ...bearer(`${home}~${mac()}`), accept: "application/json, text/event-stream" },
    ...json({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  }),
  "OpenAI's door with a token that names a home": (home) => ({
    path: "/v1/chat/completions",
    headers: bearer(`${home}-${mac()}`),
    ...json({ model: "edgecall", ...QUESTION }),
  }),
  "a session of the console": (home) => ({
    path: "/v1/status",
    headers: {
      cookie: `__Host-edgecall=${randomBytes(16).toString("hex")}.${later()}.${mac()}`,
      "x-home": home,
    },
  }),
  "an object's own address": (home) => ({ path: `/wait?call=${randomUUID()}&home=${home}`, upgrade: true }),
  "a conversation's own address": (home) => ({ path: `/attach?turn=${home}&after=0`, upgrade: true }),
  "a home's name in other letters": (home, host) => ({
    path: `/v1/relay/%${home.charCodeAt(0).toString(16)}${home.slice(1)}/chat/completions`,
    headers: bearer(relayToken(home, host)),
    ...json(QUESTION),
  }),
};
const NAMES = [
  "__proto__",
  "constructor",
  "a".repeat(63),
  "A",
  "a/b",
  "a%2fb",
  "..",
  "x".repeat(64),
  "a~b",
  "-",
  "0",
];

let gateway: Gateway;
const dir = mkdtempSync(join(tmpdir(), "edgecall-strangers-"));
const start = async (vars: Record<string, string> = {}) => {
  gateway = await startWorker({ port: 0, dir, vars: { ...VARS, ...vars }, onLog: () => {} });
};
const host = () => new URL(gateway.url).host;

async function send({ path, method = "GET", headers = {}, body, upgrade }: Request, from = "192.0.2.1") {
  const all = { "cf-connecting-ip": from, ...headers };
  if (upgrade) return await dial(path, all);
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { ...all, "content-type": "application/json" },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: namesOf(response.headers) };
}

function dial(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; text: string; headers: string }>((resolve, reject) => {
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}${path}`, { headers });
    socket.on("unexpected-response", (_, response) => {
      response.setEncoding("utf8");
      let text = "";
      response.on("data", (part) => {
        text += part;
      });
      const names = namesOf(new Headers(response.headers as Record<string, string>));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: names }));
    });
    socket.on("open", () => {
      socket.terminate();
      resolve({ status: 101, text: "it was let in", headers: "" });
    });
    socket.on("error", reject);
  });
}

/** Returns header names, without those that depend on the body's length. */
function namesOf(headers: Headers): string {
  const OF_THE_LINE = ["content-length", "transfer-encoding", "content-encoding", "connection", "date"];
  return [...headers]
    .flatMap(([name, value]) => (OF_THE_LINE.includes(name) ? [] : `${name}: ${value}`))
    .join("\n");
}

/** Adds a device to home a, so that there is a key to guess. */
async function furnish(): Promise<void> {
  const { publicKey: device } = generateKeyPairSync("ed25519");
  const public_key = device.export({ type: "spki", format: "der" }).subarray(-32).toString("base64url");
  const response = await fetch(`${gateway.url}/v1/agents/paired/key`, {
    method: "POST",
    headers: { ...bearer(TOKENS.owner), "content-type": "application/json" },
    body: JSON.stringify({ public_key }),
  });
  expect(response.status).toBe(200);
}

beforeAll(async () => {
  await start();
  await furnish();
  await gateway.stop();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("S9 strangers' storage: every way to name a home adds no database and no row", async () => {
  const before = countRows(dir);
  // Home b was not woken before and is now: it may have a file, but no table.
  expect(before["Home databases"]).toBe(1);
  await start();
  let attempts = 0;
  const through: string[] = [];
  const attempt = async (name: string, request: Request) => {
    attempts += 1;
    const { status, text } = await send(request);
    const isAsked = status >= 400 && status < 500;
    // The installer is public.
    if (!isAsked && !(request.path.startsWith("/install.sh") && status === 200))
      through.push(`${name}: ${status} ${text.slice(0, 100)}`);
  };
  for (let round = 0; round < 3; round += 1)
    for (const [name, way] of Object.entries(WAYS))
      for (const kind of KINDS) await attempt(`${name}, ${kind}`, way(homeOf(kind), host()));
  for (const name of NAMES) {
    const way = WAYS["relay, right claims"] as (home: string, host: string) => Request;
    await attempt(`a home named ${name}`, way(name, host()));
    await attempt(`a bridge of ${name}`, {
      path: "/bridge",
      headers: bearer(bridgeToken(name, host())),
      upgrade: true,
    });
    await attempt(`a code of ${name}`, {
      path: "/pair",
      ...json({ code: `${name}-${code()}`, agent_id: "evil", public_key: publicKey }),
    });
  }
  await gateway.stop();
  expect(through).toEqual([]);
  expect(attempts).toBeGreaterThan(200);
  const { "Home databases": databases, ...rows } = countRows(dir);
  const { "Home databases": _, ...rowsBefore } = before;
  expect(rows).toEqual(rowsBefore);
  // The second is the empty one of home b, which the settings name.
  expect(databases).toBeLessThanOrEqual(2);
}, 120_000);

describe("S9 refusals do not reveal which homes exist", () => {
  beforeAll(() => start());
  afterAll(() => gateway.stop());

  test.each(Object.entries(WAYS).filter(([name]) => !/installer|own address|other letters/.test(name)))(
    "S9 %s: the same refusal for a home with devices, an unused one and an invented one",
    async (_, way) => {
      const answers = await Promise.all(
        KINDS.map(async (kind) => {
          const home = homeOf(kind);
          const { status, text, headers } = await send(way(home, host()));
          return { status, text: text.replaceAll(home, "HOME"), headers };
        }),
      );
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    },
  );
});

describe("S9 guesses are counted on every route that accepts a token", () => {
  beforeAll(() => start({ RATE_LIMITS: "on" }));
  afterAll(() => gateway.stop());

  const LIMITED = Object.entries(WAYS).filter(
    ([name]) => !/installer|address|no upgrade|Slack|Discord|generic/.test(name),
  );
  test.each(LIMITED)("S9 %s: 429 after 30 wrong tokens", async (name, way) => {
    for (const kind of ["lived-in", "ghost"] as const) {
      const from = `198.51.${LIMITED.findIndex(([one]) => one === name)}.${kind === "ghost" ? 2 : 1}`;
      const statuses = new Set<number>();
      // The minute may end among them, and the next 30 are counted anew.
      for (let i = 0; i < 61 && !statuses.has(429); i += 1)
        statuses.add((await send(way(homeOf(kind), host()), from)).status);
      expect([...statuses], kind).toContain(429);
    }
  });
});
