/** "It wasn't me" below a message in ntfy: what it ends, and what takes a chat. The topic's server is played. */
import { reset } from "cloudflare:test";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hosting } from "../../../../test/hosted-device.ts";
import { PasskeyBrowser } from "../../../../test/passkey-browser.ts";
import { command, keeping, LAMP, permissions } from "../../../../test/permission-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask } from "../../../../test/workerd.ts";
import { telegram } from "../../chat/platforms/telegram.ts";

type Shown = { message: string; actions: Array<{ label: string; url: string }> };

let shown: Shown[] = [];

beforeEach(async () => {
  shown = [];
  const fetch = async (_: string, { body }: RequestInit) => {
    shown.push(JSON.parse(String(body)) as Shown);
    return new Response(null, { status: 200 });
  };
  setVariables({ WEB: { fetch } });
  const body = JSON.stringify({ url: "https://ntfy.example.org/home" });
  expect((await ask("/v1/push/topics", { method: "POST", body })).status).toBe(201);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

/** The buttons below the message with these words. */
const below = async (words: string) =>
  (
    await until(() => shown.find(({ message }) => message.includes(words)), {
      what: `the topic has: ${words}`,
    })
  ).actions;
/** As ntfy presses it: without any token of the home. */
const press = async (actions: Shown["actions"], label: string) =>
  await ask(new URL(actions.find((one) => one.label === label)?.url ?? "").pathname, {
    method: "POST",
    token: null,
  });

test("it ends the permission, and what was allowed asks again", async () => {
  const bridge = await hosting([LAMP]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
  expect((await keeping({ offer: "always" }, "lamp", { on: true })).status).toBe(200);
  const actions = await below("without a question");
  expect(await command("lamp", "set", { on: false })).toBe("ran");
  expect((await press(actions, "It wasn't me")).status).toBe(200);
  expect(await permissions("?ended=yes")).toMatchObject([{ device: "lamp", ended: { why: "not_me" } }]);
  expect(await command("lamp", "set", { on: false })).toBe("asks");
});

test("a topic that was added in German has passkeys and permissions in German", async () => {
  const body = JSON.stringify({ url: "https://ntfy.example.org/haus", language: "de" });
  setVariables({ ASSETS: { fetch: async () => Response.json(de) } });
  expect((await ask("/v1/push/topics", { method: "POST", body })).status).toBe(201);
  const bridge = await hosting([LAMP]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
  expect((await keeping({ offer: "always" }, "lamp", { on: true })).status).toBe(200);
  expect((await below("ohne Frage bis")).map(({ label }) => label)).toEqual(["Das war ich nicht"]);
  await below("without a question");
  const anna = await PasskeyBrowser.signIn(TOKENS.owner);
  expect((await anna.register({ token: TOKENS.owner })).status).toBe(201);
  expect((await below("neuer Passkey")).map(({ label }) => label)).toEqual(["Das war ich nicht"]);
  const refused = JSON.stringify({ url: "https://ntfy.example.org/haus", language: "xx" });
  expect((await ask("/v1/push/topics", { method: "POST", body: refused })).status).toBe(400);
});

test("it ends no passkey that counts: that takes an owner's chat", async () => {
  const anna = await PasskeyBrowser.signIn(TOKENS.owner);
  expect((await anna.register({ token: TOKENS.owner })).status).toBe(201);
  const actions = await below("added the passkey");
  expect(actions.map(({ label }) => label)).toEqual(["It wasn't me"]);
  const answer = (await (await press(actions, "It wasn't me")).json()) as { done: boolean };
  expect(answer).toMatchObject({ done: false });
  expect((await anna.send("GET /v1/passkeys")).body.passkeys).toHaveLength(1);
});

test("it stops a passkey that waits; letting it count takes an owner's chat", async () => {
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  const said = vi.spyOn(telegram, "text").mockImplementation(async () => "1");
  vi.spyOn(telegram, "question").mockImplementation(async () => "2");
  // Somebody has to be able to stop it.
  await ask("/webhooks/telegram/family", {
    method: "POST",
    token: null,
    headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
    body: JSON.stringify({
      update_id: 1,
      message: {
        ...{ message_id: 1, chat: { id: 1, type: "private" }, from: { id: 1, first_name: "Anna" } },
        text: script({ text: "hello" }),
      },
    }),
  });
  await until(() => said.mock.calls.length > 0, { what: "the owner's chat is known" });
  const anna = await PasskeyBrowser.signIn(TOKENS.owner);
  expect((await anna.register({ wait: true })).status).toBe(201);
  const actions = await below("counts only from");
  await press(actions, "Let it count");
  const passkeys = async () => (await anna.send("GET /v1/passkeys")).body.passkeys as { counts_at: number }[];
  expect((await passkeys())[0]?.counts_at).toBeGreaterThan(Date.now());
  expect(((await (await press(actions, "It wasn't me")).json()) as { done: boolean }).done).toBe(true);
  expect(await passkeys()).toEqual([]);
});
