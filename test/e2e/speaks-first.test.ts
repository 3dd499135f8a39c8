/** What rules say reaches the chat where they were made, with real programs: a watch, its buttons, and reminders. */
import { afterAll, afterEach, expect, test } from "vitest";
import { everybody, OWNER, type Person } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import {
  button,
  CHECKED_MS,
  count,
  forgetRules,
  isAnswered,
  messageWith,
  rulesOf,
  tool,
} from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "gate", env });
  await stack.gateway.online("gate");
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));
afterEach(() => forgetRules(stack));
const { telegram, slack, discord, generic } = PEOPLE;
const FOUR: readonly Person[] = [telegram, slack, discord, generic];
/** Each has the agent to itself that goes away, so all are told at the same time. */
const inAll = <T>(act: (person: Person) => Promise<T>) => Promise.all(FOUR.map(act));

const offline = (name: string, more: object = {}) =>
  tool("watch", { name, agent_id: "gate", reading: "presence", is: "offline", for_minutes: 0, ...more });

test("a watch is confirmed by the gateway, told, answered by its button, and its end is told", async () => {
  const made = await inAll(async (person) => {
    const name = `Gate of ${person.channel}`;
    const sent = await person.say(script(offline(name, { repeat: "until_ack" }), { text: "made it" }), OWNER);
    await messageWith(sent, `“${name}” when it is offline`, "Undo");
    await waitForText(sent, "made it");
    return { person, name, sent };
  });
  await stack.agent("gate").kill();
  const answered = await Promise.all(
    made.map(async ({ person, name, sent }) => {
      const told = await messageWith(sent, `${name}: offline since`, "Got it", 60_000);
      expect(told.buttons.map(({ label }) => label)).toEqual(["Got it", "Snooze 1 h", "Stop this watch"]);
      // The platform's message loses it.
      const gotIt = button(told, "Got it");
      // Two people, or one who presses twice: one answers, and the other hears so or sees it.
      await Promise.all([person.press(gotIt, OWNER), person.press(gotIt, OWNER)]);
      await isAnswered(
        person,
        sent,
        told,
        /(Answered by (<@1001>|@\u2060?p1001|P 1001|1001))|has answered already/,
      );
      return { person, name, sent, gotIt };
    }),
  );
  await stack.restartAgent("gate");
  for (const { person, name, sent, gotIt } of answered) {
    await waitForText(sent, `${name}: over at`, CHECKED_MS);
    const late = await person.press(gotIt, OWNER);
    await until(() => late.words ?? sent.messages().find(({ text }) => text.includes("over already")), {
      what: `it is over already, on ${person.channel}`,
    });
    expect(count(sent, `${name}: offline since`)).toBe(1);
    expect(count(sent, `${name}: over at`)).toBe(1);
  }
}, 360_000);

test("a button in the message of a firing that is over says so, and goes; 'Stop this watch' stops it also then", async () => {
  const made = await inAll(async (person) => {
    const name = `Shed of ${person.channel}`;
    const sent = await person.say(script(offline(name), { text: "made this" }), OWNER);
    await messageWith(sent, `“${name}” when it is offline`, "Undo");
    return { person, name, sent };
  });
  await stack.agent("gate").kill();
  const told = await Promise.all(
    made.map(async (one) => ({
      ...one,
      told: await messageWith(one.sent, `${one.name}: offline since`, "Got it", 60_000),
    })),
  );
  const pressed = told.map((one) => ({
    ...one,
    snooze: button(one.told, "Snooze 1 h"),
    stop: button(one.told, "Stop this watch"),
  }));
  await stack.restartAgent("gate");
  for (const { person, name, sent, told, snooze, stop } of pressed) {
    await waitForText(sent, `${name}: over at`, CHECKED_MS);
    // The platform takes nothing for a second, so the second press comes before the first one's words.
    person.limit(1);
    await person.press(snooze, OWNER);
    const stopped = await person.press(stop, OWNER);
    await isAnswered(person, sent, told, /over already/);
    expect(count(sent, "silent until")).toBe(0);
    await until(() => stopped.words?.includes("Stopped by") || count(sent, "Stopped by") > 0, {
      what: `it is stopped, on ${person.channel}`,
    });
    expect((await rulesOf(stack)).map((rule) => rule.name)).not.toContain(name);
  }
}, 360_000);

test("Undo ends a rule that was just made; /rules lists what is left", async () => {
  await inAll(async (person) => {
    const text = `tea for ${person.channel}`;
    const sent = await person.say(script(tool("remind", { text, in_minutes: 600 }), { text: "yes" }), OWNER);
    const made = await messageWith(sent, text, "Undo");
    expect(made.text).toContain("Reminds you here once");
    const listed = await person.say("/rules", OWNER);
    await waitForText(listed, `“${text}” once`);
    await person.press(button(made, "Undo"), OWNER);
    await isAnswered(person, sent, made, /Stopped by (<@1001>|@\u2060?p1001|P 1001|1001)/);
  });
});

test("a reminder says its words", async () => {
  const sent = await telegram.say(
    script(tool("remind", { text: "water the roses", in_minutes: 1 }), { text: "ok" }),
    OWNER,
  );
  await waitForText(sent, "⏰ water the roses", 120_000);
}, 180_000);
