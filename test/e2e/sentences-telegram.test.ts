/** Plain sentences in Telegram: the demo home in three languages, while the model refuses. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER, onTelegram, type SentMessage } from "../platforms/people.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { until } from "../wait.ts";
import { button, messageWith, shown } from "./rule-chats.ts";
import { SPOKEN, useSpokenHome } from "./spoken-home.ts";

const vars: Record<string, string> = {};
const { stack, house, refused, settle } = useSpokenHome(vars);
const person = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify([person.settings]);
afterAll(() => person.server.close());

const say = (text: string) => person.say(text, OWNER);
const told = (sent: SentMessage, text: RegExp) =>
  waitForMessage(sent, (message) => text.test(shown(message)), `${text} in the chat`);

describe.each(SPOKEN)("$language", (spoken) => {
  beforeAll(async () => {
    await settle(spoken);
    await say("/new");
  });

  test("a command is done when the device says so", async () => {
    const [says, answer] = spoken.command;
    await waitForText(await say(says), answer);
  });

  test("a question is answered from what the device reported", async () => {
    const [says, answer] = spoken.question;
    await told(await say(says), answer);
  });

  test("which of two is meant is asked back, and the name of one is enough", async () => {
    const [says, back] = spoken.which;
    await waitForText(await say(says), back);
    const [chosen, answer] = spoken.chosen;
    await waitForText(await say(chosen), answer);
  });

  test("a watch is made, and tells when it is so", async () => {
    const [says, made] = spoken.watch;
    const sent = await say(says);
    expect(shown(await waitForText(sent, made)), "an unmade one").not.toMatch(spoken.fires);
    house().happen("leak");
    const { buttons } = await told(sent, spoken.fires);
    expect(buttons).toHaveLength(3);
  });

  test("many devices are asked about in one message, and each is told with what it said", async () => {
    const [says, [done, dead]] = spoken.plural;
    const sent = await say(says);
    const [sentence, verb] = spoken.asks;
    const asked = await messageWith(sent, "bedroom-light", verb);
    expect(shown(asked)).toMatch(sentence);
    await person.press(button(asked, verb), OWNER);
    const answer = await waitForText(sent, dead);
    expect(shown(answer).split("\n")).toContain(done);
    const isOpen = () => sent.messages().some(({ buttons }) => buttons.some(({ label }) => label === verb));
    await until(() => !isOpen(), { what: "no question is left" });
  });

  test("what needs the model, which is down, is said with what works without it", async () => {
    const [says, parts] = spoken.general;
    const before = refused();
    const answer = shown(await waitForText(await say(says), parts.at(-1) ?? ""));
    for (const part of ["401", ...parts]) expect(answer).toContain(part);
    expect(refused()).toBe(before + 1);
  });
});

test("the home counts which answers no model gave", async () => {
  const page = await (await stack.gateway.fetch("/metrics")).text();
  const [, count] = /turns_without_model_total\{[^}]*\} (\d+)/.exec(page) ?? [];
  expect(Number(count)).toBe(6 * SPOKEN.length);
  const usage = await (await stack.gateway.fetch("/v1/console/usage")).json();
  expect(usage).toMatchObject({ turns_without_model: 6 * SPOKEN.length, turns: expect.any(Number) });
  expect(refused()).toBe(SPOKEN.length);
});
