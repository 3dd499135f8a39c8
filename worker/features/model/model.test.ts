/** The model that an owner sets: what may be set, where its key goes, what it changes, and a trial of it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { ask, say } from "../../../test/workerd.ts";

const NO_MODEL = { LLM_BASE_URL: undefined, LLM_MODEL: undefined, LLM_MODELS: undefined };
const AT_HOME = { ...NO_MODEL, AI: undefined, WEB: { fetch: () => new Response() } };
/** Of the scripted model. */
const MODEL_URL = String(env.LLM_BASE_URL);
const KEY = "sk-test-0123456789";

beforeEach(() => setVariables(AT_HOME));
afterEach(async () => {
  vi.restoreAllMocks();
  await ask("/v1/model", { method: "DELETE" });
});

async function send(method: string, path: string, body?: unknown, token?: string) {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }), ...(token && { token }) };
  const response = await ask(path, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("/json");
  return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
}

const scripted = () => ({ base_url: MODEL_URL, model: "scripted" });

/** Answers for the world in place of the network. @returns what was asked, with its key */
function world(answer: (url: string) => Response | Promise<Response>) {
  const real = globalThis.fetch;
  const asked: Array<{ url: string; key: string | null; redirect: string | undefined }> = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    if (!url.includes("llm.example")) return await real(input, init);
    asked.push({ url, key: new Headers(init?.headers).get("authorization"), redirect: init?.redirect });
    return await answer(url);
  });
  return asked;
}

const refusal = () => Response.json({ error: { message: "no such key" } }, { status: 401 });

test("a model that is set answers turns at once, is listed and chosen, and removing it ends that", async () => {
  const question = script({ text: "by the model of Setup" });
  expect((await say("set", question)).body).toMatchObject({ status: "failed", error: { code: "no_model" } });
  const set = await send("PUT", "/v1/model", scripted());
  expect(set.body).toMatchObject({
    set_by: "setup",
    model: "scripted",
    by: "anna",
    has_key: false,
    reach: "home",
  });
  expect((await say("set", script({ text: "by the model of Setup, too" }))).body).toMatchObject({
    status: "done",
    answer: "by the model of Setup, too",
  });
  const { body } = await send("GET", "/v1/models");
  expect(body.data.map(({ id }: { id: string }) => id)).toContain("scripted");
  expect((await send("DELETE", "/v1/model")).status).toBe(204);
  expect((await say("set", script({ text: "x" }))).body.error?.code).toBe("no_model");
  expect((await send("GET", "/v1/model")).body).toMatchObject({ set_by: "none", model: null, by: null });
  const record = await send("GET", "/v1/audit");
  expect(record.text).toContain('"tool":"model"');
  expect(record.text).toContain('"tool":"model_remove"');
});

test("the settings of the gateway win, and the console changes nothing then", async () => {
  setVariables({ LLM_BASE_URL: "https://hidden:pw@llm.example/v1/secret-path", LLM_MODEL: "named" });
  const { body, text } = await send("GET", "/v1/model");
  expect(body).toMatchObject({ set_by: "variables", model: "named", base_url: "https://llm.example" });
  expect(text).not.toMatch(/hidden|secret-path/);
  const refused = await send("PUT", "/v1/model", scripted());
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
});

test("the key is stored encrypted, is in no answer, in no record and in no back-up", async () => {
  setVariables({ CONNECTIONS_KEY: "k".repeat(40) });
  // A home that has read no secret yet.
  const set = { base_url: "https://llm.example/v1", model: "x", api_key: ` ${KEY} ` };
  await send("PUT", "/v1/model", set, TOKENS.otherHome);
  const row = await runInDurableObject(env.HOME.getByName("b"), (_, { storage }) =>
    storage.sql.exec<{ key: string }>("SELECT key FROM own_model").one(),
  );
  expect(row.key).toMatch(/^aes:/);
  for (const path of ["/v1/model", "/v1/audit", "/v1/export", "/v1/models"])
    expect((await send("GET", path, undefined, TOKENS.otherHome)).text).not.toContain(KEY);
  expect((await send("GET", "/v1/export", undefined, TOKENS.otherHome)).text).not.toContain("own_model");
  expect((await send("GET", "/v1/model", undefined, TOKENS.otherHome)).body).toMatchObject({
    has_key: true,
    set_by: "setup",
  });
});

test("the key goes to the address that it was typed for, and to no other one", async () => {
  const asked = world(refusal);
  const first = { base_url: "https://llm.example/v1", model: "x" };
  await send("PUT", "/v1/model", { ...first, api_key: KEY });
  const keyOf = async (body: object) => {
    asked.length = 0;
    await send("POST", "/v1/model/try", body);
    expect(asked.length).toBeGreaterThan(0);
    return [...new Set(asked.map(({ key }) => key))];
  };
  expect(await keyOf({})).toEqual([`Bearer ${KEY}`]);
  expect(await keyOf({ ...first, model: "y" })).toEqual([`Bearer ${KEY}`]);
  expect(await keyOf({ ...first, api_key: null })).toEqual([null]);
  expect(await keyOf({ ...first, base_url: "https://llm.example/v1/x" })).toEqual([null]);
  expect(await keyOf({ ...first, base_url: "https://evil.llm.example/v1" })).toEqual([null]);
  expect(await keyOf({ ...first, base_url: "https://llm.example:8443/v1" })).toEqual([null]);
  // The same holds where it is set.
  await send("PUT", "/v1/model", { base_url: "https://evil.llm.example/v1", model: "x" });
  expect((await send("GET", "/v1/model")).body.has_key).toBe(false);
});

test("a key that cannot be read stays when another model is chosen at its address, and goes with the address", async () => {
  const first = { base_url: "https://llm.example/v1", model: "x" };
  const stored = () =>
    runInDurableObject(env.HOME.getByName("b"), (_, { storage }) =>
      storage.sql.exec<{ key: string | null; model: string }>("SELECT key, model FROM own_model").one(),
    );
  const put = (body: object) => send("PUT", "/v1/model", body, TOKENS.otherHome);
  await put({ ...first, api_key: KEY });
  // As another CONNECTIONS_KEY leaves it.
  const unreadable = "aes:AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  await runInDurableObject(env.HOME.getByName("b"), (_, { storage }) =>
    storage.sql.exec("UPDATE own_model SET key = ?", unreadable),
  );
  const chosen = await put({ ...first, model: "y" });
  expect(chosen.body).toMatchObject({ has_key: true, model: "y" });
  expect(await stored()).toEqual({ key: unreadable, model: "y" });
  await put({ ...first, api_key: null });
  expect((await stored()).key).toBeNull();
  await put({ ...first, api_key: KEY });
  await put({ ...first, base_url: "https://llm.example/other" });
  expect((await stored()).key).toBeNull();
});

test("an address holds no secret, so the record and the card have none", async () => {
  for (const base_url of [
    "https://anna:pw-secret@llm.example/v1",
    "https://llm.example/v1?key=pw-secret",
    "https://llm.example/v1?api-version=1&api-key=pw-secret",
  ]) {
    const refused = await send("PUT", "/v1/model", { base_url, model: "x" });
    expect(refused.body.error.message).toMatch(/^base_url: expected an address without a /);
    expect(refused.text).not.toContain("pw-secret");
  }
  for (const path of ["/v1/model", "/v1/audit"])
    expect((await send("GET", path)).text).not.toContain("pw-secret");
});

test("a trial follows no redirect", async () => {
  const asked = world(() => Response.redirect("https://other.llm.example/v1/chat/completions", 307));
  const { text } = await send("POST", "/v1/model/try", {
    base_url: "https://llm.example/v1",
    model: "x",
    api_key: KEY,
  });
  expect(asked.length).toBeGreaterThan(0);
  for (const { url, redirect } of asked)
    expect([new URL(url).host, redirect]).toEqual(["llm.example", "manual"]);
  expect(text).toContain('"good":false');
});

test("a trial tells each thing as it is found, and a verdict", async () => {
  const { status, text } = await send("POST", "/v1/model/try", scripted());
  expect(status).toBe(200);
  expect(text).toMatch(/^event: habit\ndata: \{"habit":"form"/);
  expect(text).toContain('"habit":"calls tools"');
  expect(text).toContain("event: window");
  expect(text).toMatch(/event: verdict\ndata: \{"good":(true|false)/);
});

test("hanging up ends a trial: the model is asked no more", async () => {
  let aborted = 0;
  const asked = world(async () => await new Promise<Response>(() => {}));
  vi.spyOn(AbortSignal, "any").mockImplementation((signals) => {
    const control = new AbortController();
    for (const signal of signals)
      signal.addEventListener("abort", () => {
        aborted += 1;
        control.abort(signal.reason);
      });
    return control.signal;
  });
  const response = await ask("/v1/model/try", {
    method: "POST",
    body: JSON.stringify({ base_url: "https://llm.example/v1", model: "x" }),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await until(() => asked.length === 1, { what: "the model is asked" });
  await reader?.cancel();
  await until(() => aborted > 0, { what: "the trial is ended" });
  expect(asked).toHaveLength(1);
});

test.each([
  ["base_url", { base_url: "ollama", model: "x" }],
  ["base_url", { base_url: "http://llm.example/v1", model: "x" }],
  ["base_url", { base_url: "http://169.254.169.254/v1", model: "x" }],
  ["model", { base_url: "https://llm.example/v1" }],
  ["model", { base_url: "https://llm.example/v1", model: " " }],
  ["api_key", { base_url: "https://llm.example/v1", model: "x", api_key: "a\nx-other: 1" }],
  ["api", { base_url: "https://llm.example/v1", model: "x", api: "soap" }],
])("a wrong %s is named: %j", async (field, body) => {
  const answer = await send("PUT", "/v1/model", body);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_body" } } });
  expect(answer.body.error.message).toContain(field);
});

test("on Cloudflare only a public address is taken, and no machine is looked at", async () => {
  setVariables({ WEB: undefined });
  const asked = world(refusal);
  for (const base_url of ["http://127.0.0.1:11434/v1", "https://192.168.1.20/v1"])
    expect((await send("PUT", "/v1/model", { base_url, model: "x" })).body.error.message).toContain(
      "public https address",
    );
  expect((await send("GET", "/v1/model")).body).toMatchObject({ reach: "cloudflare", found: [] });
  expect(asked).toEqual([]);
  expect(
    (await send("PUT", "/v1/model", { base_url: "https://llm.example", model: "x" })).body,
  ).toMatchObject({ base_url: "https://llm.example/v1", set_by: "setup" });
});

test("on Cloudflare its own default is told, and an owner's choice comes in its place", async () => {
  setVariables({ WEB: undefined, AI: { run: () => Promise.reject(new Error("not asked")) } });
  const before = await send("GET", "/v1/model");
  expect(before.body).toMatchObject({ set_by: "cloudflare", base_url: null });
  await send("PUT", "/v1/model", { base_url: "https://llm.example/v1", model: "x" });
  expect((await send("GET", "/v1/model")).body).toMatchObject({ set_by: "setup", model: "x" });
});

test("only an owner reads, sets, tries or removes it", async () => {
  for (const token of [TOKENS.guest, TOKENS.member, TOKENS.approver])
    for (const [method, path] of [
      ["GET", "/v1/model"],
      ["PUT", "/v1/model"],
      ["DELETE", "/v1/model"],
      ["POST", "/v1/model/try"],
    ] as const)
      expect((await send(method, path, method === "GET" ? undefined : scripted(), token)).status).toBe(403);
});
