/** Rules that act in a chat app: a member asks, the owners have the card in their own chats, and "/away". */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { acting, CARD, INPUT, listed, openQuestion, sets } from "../../../../test/acting-home.ts";
import { make } from "../../../../test/rule-clock.ts";
import { MEMBER, OWNER } from "../../../../test/rule-people.ts";
import { script } from "../../../../test/scripted-model.ts";
import { CHANNEL_SECRETS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, type TestBridge } from "../../../../test/workerd.ts";
import type { Button, Line } from "../../chat/platforms/chat-platform.ts";
import { type Content, isPlain } from "../../chat/platforms/format/blocks.ts";
import { telegramHtml } from "../../chat/platforms/format/telegram-html.ts";
import { telegram } from "../../chat/platforms/telegram.ts";

type Sent = { chat: number; text: string; buttons: readonly Button[] };
let sent: Sent[] = [];
let updates = 0;
let bridge: TestBridge;

beforeEach(async () => {
  sent = [];
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  const note = (line: Line, content: Content, buttons: readonly Button[]) => {
    const text = isPlain(content)
      ? content.blocks.map((block) => (block.kind === "plain" ? block.text : "")).join("\n")
      : telegramHtml(content.blocks);
    sent.push({ chat: Number(line.address.chat), text, buttons });
    return String(sent.length);
  };
  vi.spyOn(telegram, "text").mockImplementation(async (line, content) => note(line, content, []));
  vi.spyOn(telegram, "question").mockImplementation(async (line, content, buttons) =>
    note(line, content, buttons),
  );
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  vi.spyOn(telegram, "close").mockImplementation(async () => undefined);
  bridge = await acting();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

function update(body: Record<string, unknown>) {
  updates += 1;
  return ask("/webhooks/telegram/family", {
    method: "POST",
    token: null,
    headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
    body: JSON.stringify({ update_id: updates, ...body }),
  });
}
const privateChat = (id: number) => ({ message_id: 1, chat: { id, type: "private" } });
const says = (from: number, text: string) =>
  update({ message: { ...privateChat(from), from: { id: from, first_name: "Mia" }, text } });
const presses = (from: number, data: string | undefined) =>
  update({ callback_query: { id: "q", from: { id: from }, message: privateChat(from), data } });
const heard = (chat: number, words: string) =>
  until(() => sent.find((one) => one.chat === chat && one.text.includes(words)), {
    what: `${chat}: ${words}`,
  });

test("a member asks: the owner reads each line of the card in their own chat, and allows there", async () => {
  await says(MEMBER, script(make("automate", INPUT), { text: "$results" }));
  const asked = await heard(OWNER, "Make this rule?");
  for (const line of CARD.slice(1)) expect(asked.text).toContain(line);
  expect(asked.buttons.map(({ label }) => label)).toEqual(["Allow", "No"]);
  expect(asked.text).not.toContain("hysteresis");
  await presses(MEMBER, asked.buttons[0]?.data);
  await openQuestion();
  expect(sets(bridge)).toEqual([]);
  await presses(OWNER, asked.buttons[0]?.data);
  await heard(MEMBER, "acts from now on");
  expect(await listed()).toMatchObject({
    automations: [{ by: `telegram:${MEMBER}`, allowed_by: `telegram:${OWNER}`, status: "active" }],
  });
});

test("a person writes /away and /back", async () => {
  await says(MEMBER, "/away");
  await heard(MEMBER, "You count as away.");
  const words = () => bridge.received.filter((frame) => frame.t === "presence_said");
  expect(words().at(-1)).toMatchObject({ all: [{ person: `telegram:${MEMBER}`, away: true }] });
  await says(MEMBER, "/back");
  await heard(MEMBER, "You count as being at home.");
  expect(words().at(-1)).toMatchObject({ all: [{ person: `telegram:${MEMBER}`, away: false }] });
});
