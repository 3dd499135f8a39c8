import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Aedes } from "aedes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkBroker, checkMachine, checkSettings } from "./preflight.ts";

const MODEL = { LLM_BASE_URL: "http://127.0.0.1:11434/v1", LLM_MODEL: "qwen3:8b" };

test.each([
  [
    { ...MODEL, LLM_BASE_URL: "api.openai.com/v1" },
    "LLM_BASE_URL: expected an http(s) address that ends in /v1",
  ],
  [{ MAX_TOKENS: "many" }, "MAX_TOKENS: expected a whole number from 1 to 1000000, got 'many'"],
  [{ BUDGET_DAY_TOKENS: "-1" }, "BUDGET_DAY_TOKENS: expected"],
  [{ MQTT_PASSWORD: "x" }, "MQTT_USERNAME: missing"],
  [{ MQTT_CA: "/nowhere.pem" }, "MQTT_CA"],
])("C11 %j is reported before anything starts", async (env, words) => {
  const checked = await checkSettings(env);
  expect(checked).toMatchObject({ ok: false, error: expect.stringContaining(words) });
});

test("C11 correct settings reach the bridge", async () => {
  expect(await checkSettings({ ...MODEL, MQTT_URL: "mqtt://10.0.0.2" })).toMatchObject({
    ok: true,
    value: { mqttUrl: "mqtt://10.0.0.2" },
  });
});

const closing: Array<() => unknown> = [];
let url: string;
beforeAll(async () => {
  const broker = await Aedes.createBroker({
    authenticate: (_client, user, password, done) => done(null, user === "anna" && `${password}` === "right"),
  });
  const server = createServer(broker.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closing.push(
    () => server.close(),
    () => new Promise<void>((resolve) => broker.close(resolve)),
  );
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function broker(env: Record<string, string>): Promise<string> {
  const checked = await checkSettings({ MQTT_URL: url, ...env });
  if (!checked.ok) throw new Error(checked.error);
  return await checkBroker(checked.value).then(
    () => "there",
    (error: Error) => error.message,
  );
}

test("C11 a broker that refuses the login and a missing one are distinguished", async () => {
  expect(await broker({ MQTT_USERNAME: "anna", MQTT_PASSWORD: "right" })).toBe("there");
  const refused = `the broker at ${url.slice(7)} refused the login`;
  expect(await broker({ MQTT_USERNAME: "anna", MQTT_PASSWORD: "wrong" })).toContain(refused);
  const none = await broker({});
  expect(none).toContain(refused);
  expect(none).toContain("MQTT_USERNAME and MQTT_PASSWORD have to be those of a user there");
  expect(await broker({ MQTT_URL: "mqtt://127.0.0.1:1" })).toBe(
    "MQTT_URL: no connection to a broker at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1",
  );
});

test.each([
  ["win32", "x64", "WSL"],
  ["linux", "arm", "needs a 64-bit processor, and this Node is for arm"],
] as const)(
  "a machine that workerd is not built for is told what it can be: %s %s",
  (platform, arch, words) => {
    expect(() => checkMachine({ platform, arch })).toThrow(words);
    expect(() => checkMachine({ platform: "linux", arch: "arm64" })).not.toThrow();
  },
);
