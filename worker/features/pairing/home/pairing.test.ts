/** Codes for new devices: who makes them, what they are valid for, and what wrong ones do. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { beforeEach, expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { ask } from "../../../../test/workerd.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { plainOrigin } from "../install-files.ts";
import { joining } from "../routes.ts";
import { TRIES_MAX } from "./device-codes.ts";

type Answer = {
  status: number;
  body: Record<string, unknown> & { error?: { code: string; message: string } };
};

async function send(path: string, body?: unknown, token: string | null = TOKENS.owner): Promise<Answer> {
  const response = await ask(path, {
    token,
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function newCode(body: object = {}): Promise<string> {
  const made = await send("/v1/device-codes", body);
  expect(made.status).toBe(200);
  return String(made.body.code);
}

const pair = (code: string, agent_id: string, public_key: string) =>
  send("/pair", { code, agent_id, public_key }, null);

/** Another letter at the end. */
const wrong = (code: string) => `${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}`;

let key: string;
let other: string;
let agent: string;
beforeEach(async () => {
  key = (await newKeyPair()).publicKey;
  other = (await newKeyPair()).publicKey;
  agent = `eye-${crypto.randomUUID().slice(0, 8)}`;
});

test("a code is for one device, which may ask again; the console is told", async () => {
  const broker = { url: "mqtt://10.0.0.2:1883", username: "eye", password: "secret" };
  const made = await send("/v1/device-codes", { broker });
  expect(made.body).toMatchObject({
    code: expect.stringMatching(/^[a-z0-9-]+-[A-Z2-9]{12}$/),
    command: expect.stringMatching(/^curl -fsS https?:\/\/\S+\/install\.sh \| sudo sh -s -- \S+$/),
  });
  const code = String(made.body.code);
  expect((await send(`/v1/device-codes/${code}`)).body).toEqual({ state: "open" });

  const first = await pair(code.toLowerCase(), agent, key);
  expect(first).toMatchObject({ status: 200, body: { agent_id: agent, broker, online: false } });
  const { gateway } = (await send("/v1/keys")).body as { gateway?: { public_key: string } };
  expect(first.body.gateway_key).toBe(gateway?.public_key);
  expect((await pair(code, agent, key)).body).toEqual(first.body);
  expect(await pair(code, agent, other)).toMatchObject({
    status: 403,
    body: { error: { code: "wrong_code" } },
  });
  expect(await pair(code, `${agent}-2`, key)).toMatchObject({ status: 403 });
  expect((await send(`/v1/device-codes/${code}`)).body).toMatchObject({
    state: "used",
    agent,
    online: false,
    fingerprint: expect.any(String),
  });
});

test("a revoked key cannot return with the code that admitted it", async () => {
  const code = await newCode();
  expect((await pair(code, agent, key)).status).toBe(200);
  expect((await ask(`/v1/agents/${agent}/key`, { token: TOKENS.owner, method: "DELETE" })).status).toBe(204);
  expect((await pair(code, agent, key)).status).toBe(403);
});

test("a code ends after this many wrong tries, and others do not", async () => {
  const [code, another] = [await newCode(), await newCode()];
  for (let n = 0; n < TRIES_MAX; n += 1) expect((await pair(wrong(code), agent, key)).status).toBe(403);
  expect((await pair(code, agent, key)).status).toBe(403);
  expect((await send(`/v1/device-codes/${code}`)).body).toEqual({ state: "expired" });
  expect((await pair(another, agent, key)).status).toBe(200);
});

test("it expires", async () => {
  const code = await newCode();
  const home = code.slice(0, code.lastIndexOf("-"));
  await runInDurableObject(await madeHome(home), (_, { storage }) => {
    storage.sql.exec("UPDATE device_code SET expires_at = ?", Date.now() - 1);
  });
  expect((await pair(code, agent, key)).status).toBe(403);
  expect((await send(`/v1/device-codes/${code}`)).body).toEqual({ state: "expired" });
});

test("another device's name cannot be taken, unless the code is for that", async () => {
  expect((await pair(await newCode(), agent, key)).status).toBe(200);
  const code = await newCode();
  const refused = await pair(code, agent, other);
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "has_a_key" } } });
  expect(refused.body.error?.message).toContain("--name");
  // The attempt did not use the code up.
  expect((await pair(code, `${agent}-2`, other)).status).toBe(200);

  const replacing = await newCode({ agent });
  expect(await pair(replacing, `${agent}-3`, other)).toMatchObject({
    status: 409,
    body: { error: { code: "other_agent", message: expect.stringContaining(`--name ${agent}`) } },
  });
  expect((await pair(replacing, agent, other)).status).toBe(200);
});

test("a request without a home wakes no object; wrong input names the field", async () => {
  const before = (await listDurableObjectIds(env.HOME)).length;
  for (const code of ["nowhere-ABCDEFGHJKLM", "ABCDEFGHJKLM", "", "-", "a/b-ABCDEFGHJKLM", "a-SHORT"])
    expect((await pair(code, agent, key)).status, code).toBe(403);
  expect((await listDurableObjectIds(env.HOME)).length).toBe(before);
  expect(
    (await send("/pair", { code: "x", agent_id: "no spaces", public_key: key }, null)).body.error?.message,
  ).toContain("agent_id");
  expect(await pair(await newCode(), agent, "too-short")).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_body", message: expect.stringContaining("public_key") } },
  });
});

test("codes belong to the administrators of one home", async () => {
  expect((await send("/v1/device-codes", {}, TOKENS.guest)).status).toBe(403);
  expect((await send("/v1/device-codes", {}, null)).status).toBe(401);
  const code = await newCode();
  expect((await send(`/v1/device-codes/elsewhere-${code.slice(-12)}`)).status).toBe(404);
  expect((await send("/v1/device-codes", { broker: { url: "http://x" } })).body.error?.message).toContain(
    "broker.url",
  );
});

test("if neither the code nor the home has the broker's address, the setting's is used", async () => {
  const set = { ...env, BROKER_URL: "mqtt://10.0.0.3:1883" };
  const told = async (code: string, agent_id: string) => {
    const body = JSON.stringify({ code, agent_id, public_key: key });
    const headers = { "content-type": "application/json" };
    return await (await joining.request("/pair", { method: "POST", headers, body }, set)).json();
  };
  expect(await told(await newCode(), agent)).toMatchObject({ broker: { url: set.BROKER_URL } });
  const broker = { url: "mqtt://10.0.0.2:1883" };
  expect(await told(await newCode({ broker }), `${agent}-2`)).toMatchObject({ broker });
  expect((await pair(await newCode(), `${agent}-3`, key)).body.broker).toBe(null);
  for (const wrong of ["10.0.0.3", "http://10.0.0.3", "mqtt://eye:word@10.0.0.3"])
    expect(() => readSettings({ ...env, BROKER_URL: wrong }), wrong).toThrow("BROKER_URL: expected mqtt://");
});

test("an address that a shell would interpret is in no script and in no command", () => {
  for (const host of ["a'b.example", "a$(id).example", "a`id`.example", "a b", "a/../b", "a;b", "a@b"])
    expect(() => plainOrigin(`https://${host}`), host).toThrow("Host: expected a plain host name");
  for (const origin of ["https://x.workers.dev", "http://127.0.0.1:8787", "http://[::1]:1"])
    expect(plainOrigin(origin)).toBe(origin);
});

test("/v1/pairings is the old name of /v1/device-codes", async () => {
  const made = await send("/v1/pairings", {});
  expect(made).toMatchObject({ status: 200, body: { command: expect.stringContaining("/install.sh") } });
  const code = String(made.body.code);
  expect(await send(`/v1/pairings/${code}`)).toEqual(await send(`/v1/device-codes/${code}`));
  expect((await send("/v1/pairings", {}, TOKENS.guest)).status).toBe(403);
});
