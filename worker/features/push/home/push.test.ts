/** What a rule says goes to browsers and topics too, each until its server has it. The servers are played. */
import { evictDurableObject, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { alarmOf, rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { pressLink } from "../press-links.ts";

type Sent = { url: string; headers: Record<string, string>; redirect: RequestInit["redirect"] };
const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};
/** Tuesday, 09:00 in Berlin. */
const T0 = Date.UTC(2027, 10, 23, 8, 0);
const MINUTE = 60_000;
let sent: Sent[] = [];
let answers: Response[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  sent = [];
  answers = [];
  const fetch = async (url: string, { headers, redirect }: RequestInit) => {
    sent.push({ url, headers: headers as Record<string, string>, redirect });
    return answers.shift() ?? new Response(null, { status: 201 });
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  vi.useFakeTimers({ toFake: ["Date"], now: T0 });
});

const home = () => env.HOME.getByName("a");

/** The alarm goes off at each of its times until then. */
async function passUntil(time: number): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const next = await alarmOf(home());
    if (next === null || next > time) break;
    vi.setSystemTime(Math.max(next, Date.now()));
    await runDurableObjectAlarm(home());
  }
  vi.setSystemTime(time);
}

const addBrowser = (endpoint = "https://push.example.org/one") =>
  ask("/v1/push/browsers", { method: "POST", body: JSON.stringify({ endpoint, keys: KEYS }) });

const addTopic = (body: object) => ask("/v1/push/topics", { method: "POST", body: JSON.stringify(body) });

async function remindInAMinute(): Promise<void> {
  await say(
    "garden",
    script({ calls: [{ name: "remind", arguments: { text: "water", in_minutes: 1 } }] }, { text: "ok" }),
  );
}
const outlets = async () =>
  ((await (await ask("/v1/push")).json()) as { outlets: Array<{ problem: string | null }> }).outlets;

test("a server that wants a pause gets the message after it, and no second time", async () => {
  expect((await addBrowser()).status).toBe(201);
  await remindInAMinute();
  answers = [new Response(null, { status: 429, headers: { "retry-after": "300" } })];
  await passUntil(T0 + 5 * MINUTE);
  expect(sent).toHaveLength(1);
  expect(await outlets()).toMatchObject([{ problem: "the server answered 429" }]);
  await passUntil(T0 + 10 * MINUTE);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({
    url: "https://push.example.org/one",
    headers: { "content-encoding": "aes128gcm", ttl: "86400", urgency: "normal" },
  });
  expect(await outlets()).toMatchObject([{ problem: null }]);
  await passUntil(T0 + 60 * MINUTE);
  expect(sent).toHaveLength(2);
  expect(await rowsOf(home(), "SELECT id FROM notice")).toEqual([]);
});

test("a server that takes its time gets the message once, whatever else happens meanwhile", async () => {
  expect((await addBrowser()).status).toBe(201);
  await remindInAMinute();
  let answer = (_: Response) => {};
  const slow = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  const fetch = async (url: string) => {
    sent.push({ url, headers: {}, redirect: undefined });
    return await slow;
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  const telling = passUntil(T0 + 2 * MINUTE);
  await until(() => sent.length > 0, { what: "the message" });
  vi.setSystemTime(Date.now() + 5_000);
  // A bridge that connects has Home look at what it has to say.
  await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  expect(sent).toHaveLength(1);
  answer(new Response(null, { status: 201 }));
  await telling;
  await passUntil(T0 + 5 * MINUTE);
  expect(sent).toHaveLength(1);
});

test("a message of one rule replaces an older one there, and a message of several replaces none", async () => {
  await addBrowser();
  const bridge = await TestBridge.connect([agent("shed", { online: true, tools: [CPU] })]);
  const offline = (name: string) => ({
    name: "watch",
    arguments: { name, agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 },
  });
  await say("one", script({ calls: [offline("Shed")] }, { text: "ok" }));
  bridge.send({ t: "agents", agents: [agent("shed", { online: false, tools: [CPU] })] });
  await until(() => sent.length === 1, { what: "the first" });
  const [rule] = await rowsOf<{ id: string }>(home(), "SELECT id FROM rule");
  expect(sent[0]?.headers.topic).toBe(rule?.id);
  // It is so already: what comes within 30 s of a message becomes one.
  await say("one", script({ calls: [offline("Again"), offline("Once more")] }, { text: "ok" }));
  await passUntil(T0 + MINUTE);
  expect(sent.map(({ headers }) => headers.topic)).toEqual([rule?.id, undefined]);
});

test("a browser that its push service does not know any more is forgotten", async () => {
  await addBrowser();
  await remindInAMinute();
  answers = [new Response(null, { status: 410 })];
  await passUntil(T0 + 2 * MINUTE);
  expect(sent).toHaveLength(1);
  expect(await outlets()).toEqual([]);
});

test.each(["http://push.example.org/x", "https://127.0.0.1/x", "https://router.local/x", "nonsense"])(
  "the endpoint %s is refused",
  async (endpoint) => {
    const response = await addBrowser(endpoint);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("endpoint: it");
  },
);

test("a person has ten at most, and the same one again is one", async () => {
  for (let at = 0; at < 10; at += 1) await addBrowser(`https://push.example.org/${at}`);
  expect((await addBrowser("https://push.example.org/3")).status).toBe(201);
  expect((await addBrowser("https://push.example.org/10")).status).toBe(409);
  expect(await outlets()).toHaveLength(10);
});

/** The local gateway's WEB reaches public addresses alone, whatever a name resolves to (local/gateway.test.ts). */
test("a push goes through WEB, and a redirect is not followed", async () => {
  await addBrowser();
  await remindInAMinute();
  answers = [new Response(null, { status: 302, headers: { location: "http://192.168.1.1/admin" } })];
  await passUntil(T0 + 60 * MINUTE);
  expect(sent).toEqual([
    expect.objectContaining({ url: "https://push.example.org/one", redirect: "manual" }),
  ]);
  expect(await outlets()).toMatchObject([{ problem: "the server answered 302" }]);
});

test.each<[kind: string, add: () => Promise<Response>]>([
  ["browser", () => addBrowser("https://192.168.1.5/push")],
  ["topic", () => addTopic({ url: "http://192.168.1.5:8080/garden" })],
])("a private server of a %s is written to only while PUSH_SERVERS names it", async (_, add) => {
  expect((await add()).status).toBe(400);
  setVariables({ PUSH_SERVERS: "https://192.168.1.5,http://192.168.1.5:8080" });
  expect((await add()).status).toBe(201);
  await remindInAMinute();
  setVariables({ PUSH_SERVERS: "http://192.168.1.6" });
  await passUntil(T0 + 60 * MINUTE);
  expect(sent).toEqual([]);
  expect(await outlets()).toMatchObject([
    { problem: expect.stringContaining("its address leads to a private") },
  ]);
  expect(await rowsOf(home(), "SELECT id FROM notice")).toEqual([]);
});

test("a button's link ends with the token of whoever turned the topic on", async () => {
  const body = JSON.stringify({ name: "visitor", role: "member", scopes: ["ask"] });
  const made = await ask("/v1/tokens", { method: "POST", body });
  const { token, record } = (await made.json()) as { token: string; record: { id: string } };
  const tea = script(
    { calls: [{ name: "remind", arguments: { text: "tea", every: "day", at: "12:00" } }] },
    { text: "ok" },
  );
  await say("tea", tea, { method: "POST", body: JSON.stringify({ text: tea }), token });
  const topic = JSON.stringify({ url: "https://ntfy.example.org/garden" });
  const added = await ask("/v1/push/topics", { method: "POST", body: topic, token });
  const outlet = ((await added.json()) as { id: string }).id;
  const rules = () => rowsOf<{ id: string }>(home(), "SELECT id FROM rule");
  const rule = (await rules())[0]?.id ?? "";
  const press = async (act: "ack" | "stop") => {
    const { pathname } = new URL(
      await pressLink(env, "https://edgecall.example.org", {
        home: "a",
        outlet,
        do: act,
        rule,
        occurrence: 0,
      }),
    );
    return (await ask(pathname, { method: "POST", token: null })).status;
  };
  expect(await press("ack")).toBe(200);
  expect((await ask(`/v1/tokens/${record.id}`, { method: "DELETE" })).ok).toBe(true);
  expect(await press("stop")).toBe(410);
  expect(await rules()).toHaveLength(1);
});

describe("the access token of a topic", () => {
  const topic = { url: "https://ntfy.example.org/garden", token: "tk_secret-of-the-topic" };
  const stored = async () => JSON.stringify(await rowsOf(home(), "SELECT * FROM outlet"));
  const exported = async () => await (await ask("/v1/export")).text();

  test("is encrypted with CONNECTIONS_KEY in rows and back-up, and shown to the topic's server alone", async () => {
    setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
    const added = await addTopic(topic);
    expect([added.status, await added.text()]).toEqual([201, expect.not.stringContaining(topic.token)]);
    expect(await stored()).toContain("aes:");
    const file = await exported();
    expect(file).toContain("ntfy.example.org");
    for (const text of [await stored(), file, await (await ask("/v1/push")).text()])
      expect(text).not.toContain(topic.token);
    await remindInAMinute();
    await passUntil(T0 + 2 * MINUTE);
    expect(sent).toMatchObject([{ headers: { authorization: `Bearer ${topic.token}` } }]);
  });

  test("that was kept with another key is not used, and the list says what to do", async () => {
    setVariables({ CONNECTIONS_KEY: "k".repeat(43) });
    await addTopic(topic);
    await remindInAMinute();
    // Another gateway read the back-up.
    const rows = await rowsOf<{ target: string }>(home(), "SELECT target FROM outlet");
    const target = String(rows[0]?.target).replace(
      /aes:([^.]+)\.(.)/,
      (_, nonce, first) => `aes:${nonce}.${first === "A" ? "B" : "A"}`,
    );
    await runInDurableObject(home(), (_, { storage }) =>
      storage.sql.exec("UPDATE outlet SET target = ?", target),
    );
    await evictDurableObject(home());
    await passUntil(T0 + 60 * MINUTE);
    expect(sent).toEqual([]);
    expect(await outlets()).toMatchObject([
      {
        problem: expect.stringMatching(
          /^its access token was kept with another CONNECTIONS_KEY.*add it again$/,
        ),
      },
    ]);
  });

  test("without CONNECTIONS_KEY works as well", async () => {
    await addTopic(topic);
    await remindInAMinute();
    await passUntil(T0 + 2 * MINUTE);
    expect(sent).toMatchObject([{ headers: { authorization: `Bearer ${topic.token}` } }]);
  });
});
