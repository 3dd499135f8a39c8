/** Chat apps connected by hand in the console: pasted, delivered, kept over a restart, checked, and removed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { DISCORD_TOKEN, FakeDiscord } from "../platforms/discord.ts";
import { FakeSlack, SLACK_SECRET, SLACK_TOKEN, slackHeaders } from "../platforms/slack.ts";
import { BOT_TOKEN, FakeTelegram } from "../platforms/telegram.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { addressInBrowser, axeFinds, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const telegram = await FakeTelegram.start();
const slack = await FakeSlack.start();
const discord = await FakeDiscord.start();
afterAll(() => Promise.all([telegram, slack, discord].map(({ server }) => server.close())));

const stack = useStack({
  vars: { CHANNELS: "", CONNECTIONS_KEY: "a key of these tests that is long enough" },
});

/** Delivers a message as Telegram would: to the stored address, with the stored secret. */
async function writes(text: string, from = 71): Promise<Response> {
  const { url, secret_token } = telegram.webhook ?? { url: "", secret_token: "" };
  updates += 1;
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret_token },
    body: JSON.stringify({
      update_id: updates,
      message: {
        message_id: updates,
        date: 0,
        from: { id: from, first_name: "Mia" },
        chat: { id: from, type: "private" },
        text,
      },
    }),
  });
}
let updates = 0;

const answered = (text: string) =>
  until(() => telegram.chat(71).find((message) => message.text.includes(text)), {
    within: 20_000,
    what: `'${text}' in the chat`,
  });

describe("chat apps in Setup", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser, { width: 1280, height: 900 });
    await signIn(page, stack.gateway.url, TOKENS.owner);
    await openScreen(page, "People");
    await page.getByText("No chat app is connected yet").waitFor();
  });

  async function fill(app: string, name: string, token: string, api: string) {
    await page.getByLabel(/^App/).selectOption(app);
    await page.getByLabel("Name here").fill(name);
    await page.getByLabel("Bot token").fill(token);
    if (!(await page.getByLabel("API address").isVisible()))
      await page.getByText("Different API address").click();
    await page.getByLabel("API address").fill(api);
  }
  const connect = (app: string) => page.getByRole("button", { name: `Connect ${app}` }).click();

  test("a token that Telegram does not know is reported in words, and is not stored", async () => {
    await fill("telegram", "family", "999:no-such-token-of-telegram", telegram.server.url);
    await connect("Telegram");
    await page.getByRole("alert").getByText("Telegram does not know this token").waitFor();
    expect(telegram.webhook).toBeUndefined();
    await page.getByText("No chat app is connected yet").waitFor();
  });

  test("Telegram by pasting a token: a person writes, is admitted, and is answered", async () => {
    await page.getByLabel("Bot token").fill(BOT_TOKEN);
    await connect("Telegram");
    await page.getByRole("status").getByText("Connected as @home_test_bot").waitFor();
    expect(telegram.webhook).toEqual({
      url: `${addressInBrowser(stack.gateway.url)}/webhooks/telegram/a~family`,
      secret_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      allowed_updates: ["message", "callback_query"],
    });
    expect(await page.getByLabel("Bot token").inputValue()).toBe("");

    const knocked = (await (await writes("hello?")).json()) as { text: string };
    expect(knocked.text).toContain("I do not know you yet");
    await page.reload();
    await page.getByLabel("Role of Mia").selectOption("owner");
    await page.getByRole("button", { name: "Let Mia in" }).click();
    await page.getByRole("button", { name: "Remove Mia" }).waitFor();
    expect((await writes(script({ text: "It is warm." }))).status).toBe(200);
    await answered("It is warm.");
  });

  test("it survives a restart, and its secrets are stored only encrypted", async () => {
    await stack.worker.stop();
    const rows = filesBelow(stack.gatewayDir).map((file) => readFileSync(file).toString("latin1"));
    const secret = telegram.webhook?.secret_token ?? "";
    for (const text of [BOT_TOKEN, secret]) expect(rows.some((row) => row.includes(text))).toBe(false);
    expect(rows.some((row) => row.includes("family"))).toBe(true);
    expect(stack.worker.lines.join("\n")).not.toContain(BOT_TOKEN);
    expect(stack.worker.lines.join("\n")).not.toContain(secret);
    await stack.startWorker();
    expect((await writes(script({ text: "Still here." }))).status).toBe(200);
    await answered("Still here.");
  });

  test("delivery errors are shown, and a changed address is set again", async () => {
    telegram.lastError = "Wrong response from the webhook: 502 Bad Gateway";
    if (telegram.webhook)
      telegram.webhook.url = "https://an-earlier-tunnel.example/webhooks/telegram/a~family";
    await page.reload();
    const card = page.getByRole("article", { name: "Telegram family" });
    await card.getByRole("button", { name: "Check Telegram family" }).click();
    await card.getByText("elsewhere: https://an-earlier-tunnel.example").waitFor();
    await card.getByText("3 waiting").waitFor();
    await card.getByText("502 Bad Gateway").waitFor();
    telegram.lastError = undefined;
    await card.getByRole("button", { name: "Have Telegram family deliver here" }).click();
    await card.getByRole("status").getByText("It delivers here now.").waitFor();
    expect(telegram.webhook?.url).toBe(`${addressInBrowser(stack.gateway.url)}/webhooks/telegram/a~family`);
    expect((await writes(script({ text: "And again." }))).status).toBe(200);
    await answered("And again.");
  });

  test("Discord: commands and address are set; its valid ping is answered and a forged one refused", async () => {
    await fill("discord", "club", DISCORD_TOKEN, discord.server.url);
    await connect("Discord");
    await page.getByRole("status").getByText("Connected as Home").waitFor();
    expect(discord.endpoint).toBe(`${addressInBrowser(stack.gateway.url)}/webhooks/discord/a~club`);
    expect(discord.commands.map(({ name }) => name).sort()).toEqual([
      "Ask about this",
      "ack",
      "agents",
      "answer",
      "approve",
      "ask",
      "away",
      "back",
      "help",
      "new",
      "rules",
      "status",
      "stop",
    ]);
    const invite = page.getByRole("status").getByRole("link", { name: "Home" });
    expect(await invite.getAttribute("href")).toBe(
      "https://discord.com/oauth2/authorize?client_id=4242&scope=bot+applications.commands",
    );
  });

  test("Slack: a link opens its page with our manifest; the token and the signing secret are pasted afterwards", async () => {
    await page.getByLabel(/^App/).selectOption("slack");
    await page.getByLabel("Name here").fill("work");
    const link = page.getByRole("link", { name: /^Create the app at Slack/ });
    const address = new URL((await link.getAttribute("href")) ?? "");
    expect([address.origin + address.pathname, address.searchParams.get("new_app")]).toEqual([
      "https://api.slack.com/apps",
      "1",
    ]);
    const webhook = `${addressInBrowser(stack.gateway.url)}/webhooks/slack/a~work`;
    expect(JSON.parse(address.searchParams.get("manifest_json") ?? "")).toMatchObject({
      settings: {
        event_subscriptions: { request_url: webhook, bot_events: ["app_mention", "message.im"] },
        interactivity: { is_enabled: true, request_url: webhook },
      },
    });
    await fill("slack", "work", SLACK_TOKEN, `${slack.server.url}/api`);
    await page.getByLabel("Signing secret").fill(SLACK_SECRET);
    await connect("Slack");
    await page.getByRole("status").getByText("press Retry there").waitFor();
    for (const name of ["Telegram family", "Discord club", "Slack work"])
      await page.getByRole("button", { name: `Check ${name}` }).click();
    await page.getByText("unknown at this platform").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFinds(page), colorScheme).toEqual([]);
    }
    const body = JSON.stringify({ type: "url_verification", challenge: "are you there" });
    const tried = await fetch(webhook, { method: "POST", body, headers: slackHeaders(body) });
    expect(await tried.json()).toEqual({ challenge: "are you there" });
  });

  test("no role ever gets a secret back; another home's administrator sees no connection", async () => {
    const asked = async (path: string, token: string) =>
      fetch(`${stack.gateway.url}${path}`, { headers: { authorization: `Bearer ${token}` } }).then(
        (response) => response.text(),
      );
    const own = await Promise.all(
      ["/v1/connections", "/v1/connections/telegram/family", "/v1/connections/slack/work"].map((path) =>
        asked(path, TOKENS.owner),
      ),
    );
    expect(own[0]).toContain('"connection":"work"');
    for (const text of own)
      for (const secret of [
        BOT_TOKEN,
        SLACK_TOKEN,
        SLACK_SECRET,
        DISCORD_TOKEN,
        telegram.webhook?.secret_token,
      ])
        expect(text).not.toContain(secret);
    expect(JSON.parse(await asked("/v1/connections", TOKENS.otherHome))).toMatchObject({ connections: [] });
    expect(await asked("/v1/connections/telegram/family", TOKENS.otherHome)).toContain("no such connection");
  });

  test("after disconnecting, Telegram has no address, and late deliveries are refused", async () => {
    const { url = "", secret_token = "" } = telegram.webhook ?? {};
    await page.getByRole("button", { name: "Disconnect Telegram family" }).click();
    await page.getByText("people who were let in stay listed").waitFor();
    await page.getByRole("button", { name: "Yes, disconnect" }).click();
    await page.getByRole("article", { name: "Telegram family" }).waitFor({ state: "detached" });
    expect(telegram.webhook).toBeUndefined();
    const headers = { "x-telegram-bot-api-secret-token": secret_token };
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(404);
  });
});

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
