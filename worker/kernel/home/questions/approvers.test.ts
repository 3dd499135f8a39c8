/** An approval that somebody without the right to approve causes is shown to those who may decide it. */
import { reset } from "cloudflare:test";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { turnOnBrowser } from "../../../../test/browsers.ts";
import { script } from "../../../../test/scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, type CallFrame, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import type { Button, Line } from "../../../features/chat/platforms/chat-platform.ts";
import { type Content, isPlain } from "../../../features/chat/platforms/format/blocks.ts";
import { telegramHtml } from "../../../features/chat/platforms/format/telegram-html.ts";
import { telegram } from "../../../features/chat/platforms/telegram.ts";

const OWNER = 1;
const MEMBER = 7;
const PUSH = "https://push.example.org/anna";

type Sent = { chat: number; text: string; buttons: readonly Button[] };
let sent: Sent[] = [];
let pushed: string[] = [];
let closed: Array<{ chat: number; text: string }> = [];
let updates = 0;

beforeEach(() => {
  [sent, pushed, closed] = [[], [], []];
  const fetch = async (url: string) => {
    pushed.push(url);
    return new Response(null, { status: 201 });
  };
  setVariables({ WEB: { fetch } });
  const note = (line: Line, content: Content, buttons: readonly Button[]) => {
    sent.push({ chat: Number(line.address.chat), text: wordsOf(content), buttons });
    return String(sent.length);
  };
  vi.spyOn(telegram, "text").mockImplementation(async (line, content) => note(line, content, []));
  vi.spyOn(telegram, "question").mockImplementation(async (line, content, buttons) =>
    note(line, content, buttons),
  );
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  vi.spyOn(telegram, "close").mockImplementation(async (line, _, content) => {
    closed.push({ chat: Number(line.address.chat), text: wordsOf(content) });
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

function wordsOf(content: Content): string {
  if (!isPlain(content)) return telegramHtml(content.blocks);
  return content.blocks.map((block) => (block.kind === "plain" ? block.text : "")).join("\n");
}

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
const presses = (from: number, data: string | undefined, names = {}) =>
  update({ callback_query: { id: "q", from: { id: from, ...names }, message: privateChat(from), data } });

/** An agent whose policy asks before it sounds the siren. */
async function cautiousAgent() {
  const bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "prompt", "cancel", "ack", "question", "watch"], tools: [SIREN] }),
  ]);
  let asking: CallFrame | undefined;
  bridge.onCall = (call) => {
    const { command, payload } = JSON.parse(call.payload) as {
      command: string;
      payload: { tool: string; parameters: Record<string, unknown>; answer?: string };
    };
    if (command !== "answer") {
      asking = call;
      void approvalHash("pi", payload.tool, payload.parameters).then((hash) => {
        const { tool, parameters } = payload;
        const approval = { tool, parameters, reason: "the policy says ask", hash };
        const event = { type: "question", request_id: call.id, question_id: "q1", text: "May I?", approval };
        const json = JSON.stringify({ ...event, expires_in_ms: 60_000 });
        bridge.send({ t: "event", id: call.id, agent: "pi", payload: json });
      });
      return undefined;
    }
    bridge.report(call.id, "pi", { status: "answered" });
    const done = { status: "success", tool: "siren", result: "it sounds" };
    const denied = { status: "error", tool: "siren", error: "Error: no", error_type: "permission_denied" };
    if (asking) bridge.report(asking.id, "pi", payload.answer === "approve" ? done : denied);
    return undefined;
  };
  return bridge;
}

const sound = () =>
  script(
    { calls: [{ arguments: { agent_id: "pi", action: "siren", params: { loud: true } } }] },
    { text: "so: $results" },
  );
const questionTo = (chat: number) =>
  until(() => sent.find((one) => one.chat === chat && one.buttons.length > 0), {
    what: `a question to ${chat}`,
  });

test("C4: an approval that a member causes is decided in an owner's chat, and the answer reaches the member", async () => {
  await cautiousAgent();
  expect((await says(MEMBER, sound())).status).toBe(200);
  const members = await questionTo(MEMBER);
  expect(members.text).toMatch(/You cannot decide this yourself\. telegram:1 was asked, \d\d:\d\d\./);
  const owners = await questionTo(OWNER);
  expect(owners.text).toContain(`${MEMBER} asked, by Telegram`);
  expect(owners.text).toContain("siren");
  expect(owners.text).toContain("loud");
  expect(owners.text).not.toContain("You cannot decide");
  const alert = await (await presses(MEMBER, members.buttons[0]?.data)).text();
  expect(alert).toContain("Only somebody who is allowed to approve");
  await presses(OWNER, owners.buttons[0]?.data);
  await until(() => sent.find((one) => one.chat === MEMBER && one.text.includes("so: it sounds")));
  // The buttons go in both chats.
  await until(() => closed.length === 2);
  expect(closed.map(({ chat }) => chat).sort()).toEqual([OWNER, MEMBER]);
  for (const { text } of closed) expect(text).toContain(`✔ Approved by telegram:${OWNER}`);
});

test("N10: a decision names the person as the chat app calls them, in each chat that shows it", async () => {
  await cautiousAgent();
  await says(MEMBER, sound());
  const { buttons } = await questionTo(OWNER);
  await presses(OWNER, buttons[1]?.data, { username: "an_na", first_name: "Anna" });
  await until(() => closed.length === 2);
  for (const { text } of closed) expect(text).toMatch(/✖ Denied by @an_na\.$/);
});

test("N10: markup in a person's name is no markup in the decision", async () => {
  await cautiousAgent();
  await says(OWNER, sound());
  const { buttons } = await questionTo(OWNER);
  await presses(OWNER, buttons[1]?.data, { first_name: "**An`na** [x](https://evil.example)" });
  await until(() => closed.length === 1);
  expect(closed[0]?.text).toMatch(/✖ Denied by Anna xhttpsevil\.example\.$/);
});

test("C4: browsers and topics of tokens that may approve are told too; those of others are not", async () => {
  await cautiousAgent();
  await turnOnBrowser(PUSH, TOKENS.owner);
  await turnOnBrowser("https://push.example.org/mia", TOKENS.member);
  await says(MEMBER, sound());
  const { text } = await questionTo(MEMBER);
  expect(text).toMatch(/telegram:1 and anna were asked, \d\d:\d\d\./);
  await until(() => pushed.length > 0);
  expect(pushed).toEqual([PUSH]);
});

test("C4: an owner's own approval is asked for in their chat alone", async () => {
  await cautiousAgent();
  await says(OWNER, sound());
  const { text, buttons } = await questionTo(OWNER);
  expect(text).not.toContain("You cannot decide");
  await presses(OWNER, buttons[1]?.data);
  await until(() => sent.some((one) => one.text.includes("so: ")));
  expect(new Set(sent.map(({ chat }) => chat))).toEqual(new Set([OWNER]));
  expect(sent.filter((one) => one.buttons.length > 0)).toHaveLength(1);
});

test("C4: a token without the right to approve: the owner is asked in the chat, and it ends there too", async () => {
  await cautiousAgent();
  const turn = say("mias", sound(), { token: TOKENS.member });
  const { text, buttons } = await questionTo(OWNER);
  expect(text).toContain("mia asked");
  await presses(OWNER, buttons[1]?.data);
  await until(() => closed.length === 1);
  expect(closed[0]?.text).toContain("✖ Denied");
  expect((await turn).body.answer).toContain("so: ");
});
