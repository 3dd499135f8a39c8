/** What a rule says goes to browsers and topics too, each until its server has it. The servers are played. */
import { reset, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { alarmOf, rowsOf } from "../../../test/stopping.ts";
import { setVariables } from "../../../test/variables.ts";
import { ask, say } from "../../../test/workerd.ts";

type Sent = { url: string; headers: Record<string, string> };
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
  const fetch = async (url: string, { headers }: RequestInit) => {
    sent.push({ url, headers: headers as Record<string, string> });
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
