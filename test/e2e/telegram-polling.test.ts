/** Telegram without a webhook: the real Worker, and the polling beside it. A bot from the settings, and one from the console. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeTelegram } from "../platforms/telegram.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const OWNER = 1001;
const MEMBER = 1002;
const vars: Record<string, string> = { TELEGRAM_POLLING: "on", CONNECTIONS_KEY: "k".repeat(43) };
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env, top: { policy: { file_write: "ask" } } });
  await stack.gateway.online("eye");
});
const telegram = await FakeTelegram.start();
vars.CHANNELS = JSON.stringify([
  {
    connection: "family",
    channel: "telegram",
    home: "a",
    token: "123456:test-bot-token-of-telegram",
    secret: "test-webhook-secret-of-telegram",
    base_url: telegram.server.url,
    role_of: { [OWNER]: "owner", [MEMBER]: "member" },
  },
]);
let other: FakeTelegram;
beforeAll(async () => {
  other = await FakeTelegram.start();
});
afterAll(() => Promise.all([telegram.server.close(), other.server.close()]));

let updates = 500;
const message = (fake: FakeTelegram, text: string, from = OWNER) =>
  fake.push({
    update_id: ++updates,
    message: {
      message_id: updates,
      from: { id: from, is_bot: false, first_name: "P" },
      chat: { id: from, type: "private" },
      text,
    },
  });
const hears = (fake: FakeTelegram, words: string, chat = OWNER) =>
  until(() => fake.chat(chat).find(({ text }) => text.includes(words)), {
    within: 20_000,
    what: `the chat has ${words}`,
  });
const calls = (fake: FakeTelegram, method: string) =>
  fake.server.calls.filter(({ path }) => path.endsWith(`/${method}`));

test("a device's answer comes to the chat; an approval's button works; a stranger gets a code", async () => {
  const call = {
    calls: [{ arguments: { agent_id: "eye", action: "write", params: { path: "a.txt", content: "x" } } }],
  };
  message(telegram, script(call, { text: "written for you" }));
  const asked = await until(() => telegram.chat(OWNER).find(({ buttons }) => buttons.length === 2), {
    within: 20_000,
  });
  telegram.push({
    update_id: ++updates,
    callback_query: {
      id: "q1",
      from: { id: OWNER, is_bot: false },
      message: { message_id: Number(asked.id), chat: { id: OWNER, type: "private" } },
      data: asked.buttons[0]?.data,
    },
  });
  await hears(telegram, "written for you");
  // Until this call the button would show that it waits.
  await until(() => calls(telegram, "answerCallbackQuery").length === 1);
  message(telegram, "let me in", 41);
  await hears(telegram, "I do not know you yet. Your code is", 41);
});

test("the gateway is killed in the middle of a message: it is answered once", async () => {
  const hold = "until the gateway was killed";
  const answer = { text: "once and for all" };
  // After its restart the gateway asks the model once more.
  const question = script({ hold, step: answer }, answer);
  message(telegram, question);
  await until(() => stack.model.requests.some(({ messages }) => JSON.stringify(messages).includes(hold)), {
    what: "the model is asked",
  });
  await stack.worker.kill();
  message(telegram, script({ text: "asked meanwhile" }), MEMBER);
  stack.model.release(hold);
  await stack.startWorker();
  await hears(telegram, "once and for all");
  await hears(telegram, "asked meanwhile", MEMBER);
  expect(telegram.chat(OWNER).filter(({ text }) => text.includes("once and for all"))).toHaveLength(1);
  await until(() => telegram.updates.length === 0, { within: 20_000, what: "Telegram is told" });
});

test("connected in the console: a webhook that is set stays until the person ends it, and then messages come", async () => {
  other.webhook = { url: "https://elsewhere.example/hook", secret_token: "s", allowed_updates: [] };
  const connection = {
    channel: "telegram",
    connection: "attic",
    token: "123456:test-bot-token-of-telegram",
    base_url: other.server.url,
  };
  const made = await stack.gateway.fetch("/v1/connections", {
    method: "POST",
    body: JSON.stringify(connection),
  });
  expect([made.status, await made.json()]).toEqual([
    201,
    expect.objectContaining({
      todo: [
        `This bot's messages go to https://elsewhere.example/hook, so they cannot be fetched from here. "Deliver here" ends that.`,
      ],
    }),
  ]);
  await until(
    () => stack.worker.lines.some((line) => /telegram attic: this bot's messages go to a webhook/.test(line)),
    {
      within: 20_000,
      what: "the log says so",
    },
  );
  expect(other.webhook?.url).toBe("https://elsewhere.example/hook");
  const state = async () =>
    ((await (await stack.gateway.fetch("/v1/connections/telegram/attic")).json()) as { deliveries: object })
      .deliveries;
  expect(await state()).toMatchObject({ webhook: "https://elsewhere.example/hook", here: false });
  const moved = await stack.gateway.fetch("/v1/connections/telegram/attic/webhook", { method: "POST" });
  expect(await moved.json()).toMatchObject({ todo: [] });
  expect(await state()).toMatchObject({ webhook: null, here: true });
  message(other, "hello", 42);
  await hears(other, "I do not know you yet", 42);
  expect(calls(other, "setWebhook")).toEqual([]);

  // Another program may have set one since. It is not ours to delete.
  other.webhook = { url: "https://elsewhere.example/again", secret_token: "s", allowed_updates: [] };
  expect((await stack.gateway.fetch("/v1/connections/telegram/attic", { method: "DELETE" })).status).toBe(
    204,
  );
  expect(other.webhook.url).toBe("https://elsewhere.example/again");
});

test("the bots' tokens are for the polling alone", async () => {
  const get = (init?: RequestInit) => stack.gateway.fetch("/v1/polling", init);
  expect((await get()).status).toBe(401);
  expect((await fetch(`${stack.gateway.url}/v1/polling`)).status).toBe(401);
  expect(await (await get()).text()).not.toContain("test-bot-token");
});
