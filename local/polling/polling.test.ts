/** The polling against Telegram's emulator and a played Worker, which both can be held at each step. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Call, type PlatformServer, startPlatform } from "../../test/platforms/server.ts";
import { BOT_TOKEN, FakeTelegram } from "../../test/platforms/telegram.ts";
import { until } from "../../test/wait.ts";
import { type BotState, type Polling, startPolling } from "./polling.ts";

const PROGRAM = join(import.meta.dirname, "../testing/main.ts");
const TOKEN = "the-polling-token-of-32-characters";
const FAST = { longPollS: 1, lookEveryMs: 50, retries: { baseMs: 20, capMs: 50 } };

let dir: string;
let telegram: FakeTelegram;
let worker: PlatformServer;
/** What the Worker took, in order; as the real one it knows an update by its id. */
let taken: number[];
/** Answers the handing over of an update; undefined: the Worker takes it. */
let onUpdate: (id: number) => { status: number; body?: unknown } | undefined | Promise<undefined>;
let bots: object[];
let running: Polling[];
let children: ChildProcess[];
let lines: string[];
let states: readonly BotState[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "edgecall-polling-"));
  telegram = await FakeTelegram.start();
  [taken, onUpdate, running, children, lines, states] = [[], () => undefined, [], [], [], []];
  bots = [bot()];
  worker = await startPlatform(async ({ path, headers, body }) => {
    if (path === "/v1/polling")
      return headers.authorization === `Bearer ${TOKEN}` ? { status: 200, body: { bots } } : { status: 401 };
    if (headers["x-telegram-bot-api-secret-token"] !== "the-secret-of-the-webhook") return { status: 401 };
    const { update_id: id } = JSON.parse(body.toString()) as { update_id: number };
    const other = await onUpdate(id);
    if (other && other.status !== 200) return other;
    if (!taken.includes(id)) taken.push(id);
    return other ?? { status: 200 };
  });
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(running.map((one) => one.stop()));
  await Promise.all([telegram.server.close(), worker.close()]);
  rmSync(dir, { recursive: true, force: true });
});

function bot(more: object = {}) {
  return {
    home: "home",
    connection: "family",
    token: BOT_TOKEN,
    secret: "the-secret-of-the-webhook",
    base_url: telegram.server.url,
    path: "/webhooks/telegram/home~family",
    allowed_updates: ["message", "callback_query"],
    ...more,
  };
}

function start(): Polling {
  const polling = startPolling({
    ...FAST,
    workerUrl: worker.url,
    token: TOKEN,
    dir,
    say: (line) => lines.push(line),
    onChange: (next) => {
      states = structuredClone(next);
    },
  });
  running.push(polling);
  return polling;
}

/** The same as a program. */
function startProgram(): ChildProcess {
  const options = JSON.stringify({ ...FAST, workerUrl: worker.url, token: TOKEN, dir });
  const child = spawn(process.execPath, [PROGRAM, options], { stdio: ["ignore", "inherit", "inherit"] });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

const say = (...ids: number[]) => {
  for (const update_id of ids) telegram.push({ update_id, message: { text: `message ${update_id}` } });
};
const calls = (method: string): Call[] =>
  telegram.server.calls.filter(({ path }) => path.endsWith(`/${method}`));
const handedOver = () => worker.calls.filter(({ path }) => path.startsWith("/webhooks/"));
const idsHandedOver = () =>
  handedOver().map(({ body }) => (JSON.parse(body.toString()) as { update_id: number }).update_id);
const isTaken = (...ids: number[]) =>
  until(() => ids.every((id) => taken.includes(id)), { what: `the Worker has ${ids}` });
const isConfirmed = () => until(() => telegram.updates.length === 0, { what: "Telegram is told" });
const kept = () =>
  existsSync(join(dir, "telegram-home~family.json"))
    ? JSON.parse(readFileSync(join(dir, "telegram-home~family.json"), "utf8")).next
    : undefined;

test("messages reach the Worker in their order, as Telegram's webhook would bring them, and Telegram is told afterwards", async () => {
  say(100, 101);
  start();
  await isTaken(100, 101);
  say(102);
  await isTaken(102);
  await isConfirmed();
  expect(idsHandedOver()).toEqual([100, 101, 102]);
  expect(handedOver()[0]).toMatchObject({ method: "POST", path: "/webhooks/telegram/home~family" });
  expect(JSON.parse(handedOver()[0]?.body.toString() ?? "")).toEqual({
    update_id: 100,
    message: { text: "message 100" },
  });
  expect(kept()).toBe(103);
  expect(JSON.parse(calls("getUpdates")[0]?.body.toString() ?? "")).toEqual({
    timeout: 1,
    allowed_updates: ["message", "callback_query"],
  });
  // The webhook that is not set is not deleted either.
  expect(calls("deleteWebhook")).toEqual([]);
});

test("a call of Telegram's API in the Worker's answer is made, with nothing but its parameters", async () => {
  onUpdate = () => ({
    status: 200,
    body: { method: "sendMessage", chat_id: 7, text: "I do not know you yet." },
  });
  say(1);
  start();
  await until(() => telegram.chat(7).length === 1, { what: "the answer is sent" });
  expect(telegram.chat(7)[0]?.text).toBe("I do not know you yet.");
  expect(JSON.parse(calls("sendMessage")[0]?.body.toString() ?? "")).toEqual({
    chat_id: 7,
    text: "I do not know you yet.",
  });
});

describe("kill -9", () => {
  /** Holds one request of the program for as long as the program lives. */
  function held() {
    const reached = Promise.withResolvers<void>();
    const never = new Promise<undefined>(() => {});
    const hold = () => {
      reached.resolve();
      return never;
    };
    return { reached: reached.promise, hold };
  }

  test("while Telegram is asked", async () => {
    const first = startProgram();
    await until(() => telegram.server.url && worker.calls.length > 0, { what: "it runs" });
    await kill(first);
    say(5);
    startProgram();
    await isTaken(5);
    await isConfirmed();
    expect(idsHandedOver()).toEqual([5]);
  });

  test("before the Worker has the message", async () => {
    const { reached, hold } = held();
    onUpdate = hold;
    say(5, 6);
    const first = startProgram();
    await reached;
    expect([kept(), telegram.updates.length]).toEqual([undefined, 2]);
    await kill(first);
    onUpdate = () => undefined;
    startProgram();
    await isTaken(5, 6);
    await isConfirmed();
    expect(taken).toEqual([5, 6]);
  });

  test("when the Worker has the message, and has not said so: it gets it again, and knows it", async () => {
    const { reached, hold } = held();
    onUpdate = (id) => {
      taken.push(id);
      return hold();
    };
    say(5);
    const first = startProgram();
    await reached;
    await kill(first);
    onUpdate = () => undefined;
    startProgram();
    await isConfirmed();
    expect(taken).toEqual([5]);
  });

  test("when the Worker's answer is being sent, before the offset is on disk", async () => {
    onUpdate = () => ({ status: 200, body: { method: "sendMessage", chat_id: 7, text: "words" } });
    const { reached, hold } = held();
    const answer = telegram.answer.bind(telegram);
    let isHeld = true;
    telegram.answer = (call) =>
      isHeld && call.path.endsWith("/sendMessage") ? (hold() as never) : answer(call);
    say(5);
    const first = startProgram();
    await reached;
    expect(kept()).toBe(undefined);
    await kill(first);
    isHeld = false;
    startProgram();
    await isConfirmed();
    expect(taken).toEqual([5]);
    expect(telegram.chat(7)).toHaveLength(1);
  });

  test("when the offset is on disk, and Telegram was not told: the Worker does not see the message again", async () => {
    const { reached, hold } = held();
    const answer = telegram.answer.bind(telegram);
    let isHeld = true;
    telegram.answer = (call) =>
      isHeld && call.path.endsWith("/getUpdates") && call.body.includes('"offset":6')
        ? (hold() as never)
        : answer(call);
    say(5);
    const first = startProgram();
    await reached;
    expect([kept(), telegram.updates.length]).toEqual([6, 1]);
    await kill(first);
    isHeld = false;
    startProgram();
    await isConfirmed();
    say(6);
    await isTaken(6);
    expect(idsHandedOver()).toEqual([5, 6]);
  });

  test("at any moment of fifty messages: each arrives, in order", async () => {
    let more = 1;
    let child = startProgram();
    for (let round = 0; round < 5; round += 1) {
      for (let n = 0; n < 10; n += 1) say(more++);
      await until(() => taken.length > round * 10 + round * 2, { what: "some have arrived" });
      await kill(child);
      child = startProgram();
    }
    await until(() => taken.length === 50, { what: "all have arrived" });
    await isConfirmed();
    expect(taken).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
  });
});

describe("trouble", () => {
  const problem = () => states[0]?.problem;

  test("a webhook is set: nothing is deleted, the words say what to do, and afterwards it goes on", async () => {
    telegram.webhook = { url: "https://elsewhere.example/hook", secret_token: "s", allowed_updates: [] };
    start();
    await until(() => problem()?.includes("go to a webhook"), { what: "it says so" });
    expect(lines.filter((line) => line.includes("webhook"))).toHaveLength(1);
    expect([calls("deleteWebhook"), telegram.webhook.url]).toEqual([[], "https://elsewhere.example/hook"]);
    telegram.webhook = undefined;
    say(1);
    await isTaken(1);
    await until(() => problem() === undefined);
    expect(lines.at(-1)).toBe("telegram family: messages are fetched");
  });

  test("another program fetches: that is said, and nothing is lost when it ends", async () => {
    start();
    const other = new AbortController();
    const url = `${telegram.server.url}/bot${BOT_TOKEN}/getUpdates`;
    const fetching = (async () => {
      while (!other.signal.aborted)
        await fetch(url, { method: "POST", body: `{"timeout":1}`, signal: other.signal }).catch(() => {});
    })();
    await until(() => problem()?.includes("another program"), { what: "it says so" });
    other.abort();
    await fetching;
    say(1);
    await isTaken(1);
  });

  test("the network is away, for the poller or for Telegram's part of it", async () => {
    const answer = telegram.answer.bind(telegram);
    let isAway = true;
    telegram.answer = async (call) => (isAway ? { status: 502, body: "Bad Gateway" } : answer(call));
    start();
    await until(() => problem()?.startsWith("Telegram refuses: 502"), { what: "it says so" });
    isAway = false;
    await until(() => problem() === undefined);
    const { url } = telegram.server;
    await telegram.server.close();
    await until(() => /does not answer \((ECONN|UND_ERR|TypeError)/.test(problem() ?? ""), {
      what: "it says that too",
    });
    expect(lines.join("\n")).not.toContain(BOT_TOKEN);
    expect(url).not.toBe("");
  });

  test("the token is revoked; Telegram's wait is kept", async () => {
    const answer = telegram.answer.bind(telegram);
    let reply: Record<string, unknown> | undefined = {
      status: 401,
      body: { ok: false, description: "Unauthorized" },
    };
    telegram.answer = async (call) => (reply as never) ?? answer(call);
    start();
    await until(() => problem()?.includes("does not know this token"));
    reply = {
      status: 429,
      body: { ok: false, description: "Too Many Requests", parameters: { retry_after: 1 } },
    };
    await until(() => problem()?.startsWith("Telegram refuses: 429"));
    const before = telegram.server.calls.length;
    reply = undefined;
    const at = performance.now();
    await until(() => telegram.server.calls.length > before, { what: "it asks again" });
    expect(performance.now() - at).toBeGreaterThan(700);
  });

  test.each([500, 429, 401, 404])(
    "the Worker answers %i: the message is tried until it has it",
    async (status) => {
      let failures = 3;
      onUpdate = () => (failures-- > 0 ? { status } : undefined);
      say(1, 2);
      start();
      await isTaken(1, 2);
      expect(taken).toEqual([1, 2]);
      expect(lines.some((line) => line.includes(`did not take a message (${status})`))).toBe(true);
    },
  );

  test("an update that the Worker cannot read holds up nothing", async () => {
    onUpdate = (id) => (id === 1 ? { status: 400, body: { error: "unreadable" } } : undefined);
    say(1, 2);
    start();
    await isTaken(2);
    await isConfirmed();
    expect(taken).toEqual([2]);
    expect(lines).toContainEqual(expect.stringContaining("refused the update 1"));
  });

  test("the Worker is away when the poller starts", async () => {
    bots = [];
    const { url } = worker;
    expect(url).toContain("127.0.0.1");
    start();
    await until(() => worker.calls.length > 1);
    bots = [bot()];
    say(1);
    await isTaken(1);
  });
});

test("a connection that is removed or gets another token is polled no longer, or by that", async () => {
  start();
  await until(() => states.length === 1);
  bots = [bot({ connection: "other", path: "/webhooks/telegram/home~other" })];
  await until(() => states.map(({ connection }) => connection).join() === "other");
  say(1);
  await isTaken(1);
  await isConfirmed();
  expect(handedOver().at(-1)?.path).toBe("/webhooks/telegram/home~other");
  bots = [];
  await until(() => states.length === 0);
});

test.each([
  ["older than six days", { bot: "123456", next: 900, at: Date.now() - 6.1 * 86_400_000 }],
  ["of another bot", { bot: "999", next: 900, at: Date.now() }],
  ["torn", "{"],
])("an offset that is %s is not used: Telegram would forget what is below it", async (_, offset) => {
  writeFileSync(
    join(dir, "telegram-home~family.json"),
    typeof offset === "string" ? offset : JSON.stringify(offset),
  );
  say(5);
  start();
  await isTaken(5);
  await isConfirmed();
  expect(readdirSync(dir)).toEqual(["telegram-home~family.json"]);
});

test("an offset is told once: after a week of silence Telegram may begin with a smaller number", async () => {
  say(900);
  start();
  await isTaken(900);
  await isConfirmed();
  await until(() => calls("getUpdates").length > 2, { within: 5_000, what: "it asked again" });
  say(5);
  await isTaken(5);
});
