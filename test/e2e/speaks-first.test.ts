/** What rules say reaches the chat where they were made, with real programs: a watch, its buttons, reminders and a briefing. */
import { afterAll, describe, expect, test } from "vitest";
import { everybody, OWNER, type Person, type SentMessage } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "gate", env });
  await stack.startAgent({ id: "garden", env });
  await stack.gateway.online("gate");
  await stack.gateway.online("garden");
});
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);

const PEOPLE = await everybody(post);
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const tool = (name: string, args: object): Step => ({ calls: [{ name, arguments: args }] });
const button = (message: ChatMessage, label: string) =>
  message.buttons.find((one) => one.label === label)?.data ?? `no ${label}`;
const hasButton = (label: string) => (message: ChatMessage) =>
  message.buttons.some((one) => one.label === label);
const messageWith = (sent: SentMessage, text: string, label: string) =>
  waitForMessage(
    sent,
    (message) => message.text.includes(text) && hasButton(label)(message),
    `${text} with ${label}`,
  );
/** The buttons are gone, and below the words stands what came of it. WhatsApp and a webhook cannot change a message. */
async function isAnswered(person: Person, sent: SentMessage, asked: ChatMessage, words: RegExp) {
  await waitForText(sent, words);
  if (person.channel === "whatsapp" || person.channel === "generic") return;
  expect(sent.messages().find(({ id }) => id === asked.id)?.buttons).toEqual([]);
}

const people = [PEOPLE.telegram, PEOPLE.slack, PEOPLE.discord, PEOPLE.generic] as Person[];
describe.each(people)("$channel", (person) => {
  test("a watch is confirmed by the gateway, told, answered by its button, and its end is told", async () => {
    const name = `Gate of ${person.channel}`;
    const watch = {
      name,
      agent_id: "gate",
      reading: "presence",
      is: "offline",
      for_minutes: 0,
      repeat: "until_ack",
    };
    const sent = await person.say(script(tool("watch", watch), { text: "done" }), OWNER);
    await messageWith(sent, `“${name}” when it is offline`, "Undo");
    await waitForText(sent, "done");
    await stack.agent("gate").kill();
    const told = await messageWith(sent, `${name}: offline since`, "Got it");
    expect(told.buttons.map(({ label }) => label)).toEqual(["Got it", "Snooze 1 h", "Stop this watch"]);
    // The platform's message loses it.
    const gotIt = button(told, "Got it");
    await person.press(gotIt, OWNER);
    await isAnswered(person, sent, told, /Answered by (<@1001>|\w+:1001)/);
    await stack.restartAgent("gate");
    // A watch of presence is over when it was so for a minute.
    await waitForText(sent, `${name}: over at`, 120_000);
    const late = await person.press(gotIt, OWNER);
    await until(() => late.words ?? sent.messages().find(({ text }) => text.includes("over already")), {
      what: "it is over already",
    });
  }, 240_000);

  test("Undo ends a rule that was just made; /rules lists what is left", async () => {
    const text = `tea for ${person.channel}`;
    const sent = await person.say(script(tool("remind", { text, in_minutes: 600 }), { text: "yes" }), OWNER);
    const made = await messageWith(sent, text, "Undo");
    expect(made.text).toContain("Reminds you here once");
    const listed = await person.say("/rules", OWNER);
    await waitForText(listed, `“${text}” once`);
    await person.press(button(made, "Undo"), OWNER);
    await isAnswered(person, sent, made, /Stopped by (<@1001>|\w+:1001)/);
  });
});

test("each morning's briefing asks a person first, then reads the devices and writes; a reminder says its words", async () => {
  const person = PEOPLE.telegram;
  // Its steps are those of the turn that the time begins.
  const brief = script(
    { calls: [{ arguments: { agent_id: "garden", action: "status", params: {} } }] },
    { text: "Good morning: all is well." },
  );
  const asked = await person.say(
    script(
      tool("remind", { text: `the garden\n${brief}`, in_minutes: 1, do: "brief" }),
      tool("remind", { text: "water the roses", in_minutes: 1 }),
      { text: "ok" },
    ),
    OWNER,
  );
  const question = await messageWith(asked, "remind", "Approve");
  expect(question.text).toContain("costs tokens");
  await person.press(button(question, "Approve"), OWNER);
  await waitForText(asked, "Briefs you here once");
  await waitForText(asked, "⏰ water the roses", 120_000);
  await waitForText(asked, "Good morning: all is well.", 120_000);
}, 240_000);
