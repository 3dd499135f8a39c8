/** A rule tells the owners in their private chats, whose own ids are not known before, in Slack and Discord: they answer there. */
import { afterAll, expect, test } from "vitest";
import { privateChannel } from "../platforms/discord.ts";
import { onDiscord } from "../platforms/on-discord.ts";
import { onSlack } from "../platforms/on-slack.ts";
import { OWNER, type SentMessage } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { button, count, isAnswered, messageWith, tool } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "UTC" };
const stack = useStack({ vars }, async (stack) => {
  await stack.startAgent({ id: "gate" });
  await stack.gateway.online("gate");
});
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);
const [slack, discord] = [await onSlack(post), await onDiscord(post)];
vars.CHANNELS = JSON.stringify([slack.settings, discord.settings]);
afterAll(() => Promise.all([slack.server.close(), discord.server.close()]));

const chat = (messages: () => ChatMessage[]): SentMessage => ({
  status: 200,
  ms: 0,
  words: undefined,
  messages,
});
const inSlack = chat(() => slack.fake.channel(`D${OWNER}`));
const inDiscord = chat(() => discord.fake.channels.get(privateChannel(OWNER)) ?? []);

/** Makes a watch that tells the owners, and lets it fire. */
async function fires(): Promise<void> {
  const conversation = crypto.randomUUID();
  const gate = { agent_id: "gate", reading: "presence", is: "offline", for_minutes: 0, to: "owners" };
  const turn = await stack.gateway.begin(
    script(tool("watch", { name: "Gate away", ...gate }), { text: "ok" }),
    conversation,
  );
  await stack.gateway.answer((await stack.gateway.question(conversation)).id, "approve");
  await stack.gateway.settled(conversation, turn);
  await stack.agent("gate").kill();
}

test("a press there takes the buttons away and is told once; /ack answers it too", async () => {
  await fires();
  const firing = "Gate away: offline since";
  const asked = await messageWith(inDiscord, firing, "Snooze 1 h", 60_000);
  await discord.press(button(asked, "Snooze 1 h"), OWNER);
  await isAnswered(discord, inDiscord, asked, /silent until/);
  // The others hear of it, so whatever came of it was said by then.
  await waitForText(inSlack, "silent until");
  expect(count(inDiscord, "silent until")).toBe(1);

  const answer = await waitForText(await discord.say("/ack 600", OWNER), "silent until");
  expect(answer.text).toContain("Gate away");
  await slack.say("/ack 90", OWNER);
  // Of both answers on Discord it was told.
  await until(() => count(inSlack, "silent until") === 3, { what: "the answer to /ack" });

  const told = await messageWith(inSlack, firing, "Got it");
  await slack.press(button(told, "Got it"), OWNER);
  await isAnswered(slack, inSlack, told, /Answered by <@1001>/);
  await waitForText(inDiscord, "Answered by");
  expect(count(inSlack, "Answered by")).toBe(1);
  expect(count(inSlack, "silent until")).toBe(3);
  expect(count(inDiscord, "silent until")).toBe(2);
  expect(slack.fake.whispers).toEqual([]);
}, 180_000);
