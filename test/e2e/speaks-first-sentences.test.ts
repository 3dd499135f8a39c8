// @module-tag needs/mosquitto
/**
 * The three sentences that people say on the first day, in Telegram and Slack: real programs, a paired agent whose readings
 * are files of this test, and a model that fills in the tools.
 *
 * Time is the machine's. An agent looks every 10 s, and the test waits for that. What comes after minutes and hours is due
 * when the times in Home's rows were set back while the gateway was down (setBack). The home's zone is one in which it is
 * some minutes past eight, so the reminder of 08:00 was missed by less than an hour and is told.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { put, skillFolder } from "../../pi-agent/testing/skill-folder.ts";
import { onSlack } from "../platforms/on-slack.ts";
import { OWNER, onTelegram, type Person, type SentMessage } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import {
  button,
  CHECKED_MS,
  count,
  forgetRules,
  isAnswered,
  messageWith,
  setBack,
  shown,
  toldBefore,
  tool,
} from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const vars: Record<string, string> = { GATEWAY_TOOLS: "rules" };

const { path: skills } = skillFolder();
/** The device's sensor says this from now on. */
const says = (sensor: string, value: string) => writeFileSync(join(dirname(skills), sensor), value);
const program = (sensor: string) => `#!/bin/sh\nexec cat '${join(dirname(skills), sensor)}'\n`;
const described = (sensor: string) =>
  `[[tools]]\nname = "${sensor}"\ndescription = "Reads the ${sensor}"\npermissions = []\n`;
put(skills, {
  "sensors/skill.toml": ["freezer", "gate", "garden"].map(described).join(""),
  "sensors/bin/dt-freezer": program("freezer"),
  "sensors/bin/dt-gate": program("gate"),
  "sensors/bin/dt-garden": program("garden"),
});

beforeAll(async () => {
  // Time for the first test before the hour ends.
  await until(() => new Date().getUTCMinutes() < 57, {
    within: 4 * MINUTE,
    every: 1_000,
    what: "a new hour",
  });
  const ahead = ((8 - new Date().getUTCHours() + 36) % 24) - 12;
  // The signs of these zones are the other way round.
  vars.TIMEZONE = `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}, 5 * MINUTE);
const stack = useStack({ vars, mosquitto: findMosquitto() }, async (stack) => {
  says("freezer", "-18.2 °C");
  says("gate", "nobody");
  says("garden", "12.5 °C");
  await stack.startAgent({ id: "pi", top: { tools: { skills_path: skills, sandboxing: "none" } } });
  await stack.gateway.online("pi");
});
afterEach(() => forgetRules(stack));

const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);
const PEOPLE = [await onTelegram(post), await onSlack(post)] as const;
vars.CHANNELS = JSON.stringify(PEOPLE.map(({ settings }) => settings));
afterAll(() => Promise.all(PEOPLE.map(({ server }) => server.close())));

type Chat = { person: Person; sent: SentMessage };
/** In both chats at once. @returns what `act` returns, by the chat's place */
const inBoth = <T, C extends { person: Person }>(chats: readonly C[], act: (chat: C) => Promise<T>) =>
  Promise.all(chats.map(act));
/** Each person says it, and the model makes the rule. */
const ask = (sentence: string, name: string, args: object): Promise<Chat[]> =>
  inBoth(
    PEOPLE.map((person) => ({ person })),
    async ({ person }) => ({
      person,
      sent: await person.say(`${sentence}\n${script(tool(name, args), { text: "I do." })}`, OWNER),
    }),
  );

test(
  "Every morning at 8 the garden's temperature: asked first, confirmed with the next three times, and it comes",
  async () => {
    const brief = script(
      { calls: [{ arguments: { agent_id: "pi", action: "garden", params: {} } }] },
      { text: "In the garden: $results" },
    );
    const chats = await ask("Every morning at 8 the garden's temperature.", "remind", {
      text: `the garden's temperature\n${brief}`,
      every: "day",
      at: "08:00",
      do: "brief",
    });
    await inBoth(chats, async ({ person, sent }) => {
      const question = await messageWith(sent, "Set this reminder?", "Set");
      expect(question.text).toContain("it asks the model each time, which costs tokens");
      await person.press(button(question, "Set"), OWNER);
      const made = shown(await messageWith(sent, "Briefs you here every day at 08:00", "Undo"));
      expect(made.match(/Next: (.*)$/)?.[1]).toMatch(/^[^;]*, 08:00; [^;]*, 08:00; [^;]*, 08:00\.$/);
    });
    const eight = Math.floor(Date.now() / HOUR) * HOUR;
    await setBack(stack, ({ id }, home) => {
      home.prepare("UPDATE rule SET due = ?, handled = ? WHERE id = ?").run(eight, eight - HOUR, id);
    });
    await stack.gateway.online("pi", 60_000);
    await inBoth(chats, async ({ sent }) => {
      // Before it is whole, a part of it may stand there.
      const isIt = ({ text }: ChatMessage) => text.startsWith("In the garden:");
      const isWhole = (message: ChatMessage) => isIt(message) && message.text.includes("12.5 °C");
      await waitForMessage(sent, isWhole, "the briefing", MINUTE);
      expect(sent.messages().filter(isIt)).toHaveLength(1);
    });
  },
  5 * MINUTE,
);

test(
  "Tell me when the freezer is above −15: told in the words of the rule, answered, and its end told once",
  async () => {
    const chats = await ask("Tell me when the freezer is above −15.", "watch", {
      name: "Freezer too warm",
      agent_id: "pi",
      reading: "freezer",
      is: "above",
      value: -15,
      for_minutes: 0,
      check_seconds: 10,
      severity: "warning",
    });
    await inBoth(chats, async ({ sent }) => {
      const made = shown(await messageWith(sent, "Watching pi", "Undo"));
      expect(made).toContain(
        "tells you here “Freezer too warm” when freezer is above −15 °C, again at most every 30 min. Now: −18.2 °C. Checked by the device every 10 s.",
      );
    });
    says("freezer", "-11.4 °C");
    await inBoth(chats, async ({ person, sent }) => {
      const told = await messageWith(sent, "Freezer too warm: −11.4", "Got it", CHECKED_MS);
      expect(shown(told)).toMatch(/^⚠ Freezer too warm: −11\.4 °C at \d\d:\d\d \(limit −15 °C\)\. pi\.$/);
      await person.press(button(told, "Got it"), OWNER);
      await isAnswered(
        person,
        sent,
        told,
        /Answered by (<@1001>|@\u2060?p1001|P 1001|1001): Freezer too warm\./,
      );
    });
    says("freezer", "-16.0 °C");
    await inBoth(chats, async ({ sent }) => {
      const over = await waitForText(sent, "Freezer too warm: over at", 2 * CHECKED_MS);
      expect(shown(over)).toMatch(
        /^✓ Freezer too warm: over at \d\d:\d\d, −16 °C\. It lasted \d+ (min|s)\. pi\.$/,
      );
    });
    says("freezer", "-18.2 °C");
    await inBoth(chats, async ({ person, sent }) => {
      await waitForText(await person.say("/rules", OWNER), "Freezer too warm");
      expect(count(sent, "Freezer too warm: −11.4")).toBe(1);
      expect(count(sent, "Freezer too warm: over at")).toBe(1);
    });
  },
  10 * MINUTE,
);

test(
  "Is anybody still at the gate? Tell me until I answer: repeated, silent for an hour, and until 'Got it'",
  async () => {
    const name = "Somebody at the gate";
    const chats = await ask("Is anybody still at the gate? Tell me until I answer.", "watch", {
      name,
      agent_id: "pi",
      reading: "gate",
      is: "equal",
      value: "somebody",
      check_seconds: 10,
      repeat: "until_ack",
    });
    await inBoth(chats, async ({ sent }) => {
      const made = shown(await messageWith(sent, `tells you here “${name}”`, "Undo"));
      expect(made).toContain("again after 5, 15, 30 and 60 min and then hourly until somebody answers");
    });
    says("gate", "somebody");
    await inBoth(chats, ({ sent }) => messageWith(sent, `${name}: “somebody” at`, "Got it", CHECKED_MS));

    /** Waits for the repeat of this number. */
    const repeated = ({ sent }: Chat, times: number): Promise<ChatMessage> =>
      until(
        () =>
          count(sent, `${name}: still so, since`) === times &&
          sent.messages().findLast((one) => shown(one).includes(`${name}: still so, since`)),
        { within: MINUTE, what: `repeat ${times}` },
      );
    await setBack(stack, (rule, home) => toldBefore(6 * MINUTE, rule, home));
    await inBoth(chats, async ({ person, sent }) => {
      const again = await repeated({ person, sent }, 1);
      expect(shown(again)).toContain("Nobody has answered yet.");
      if (person.channel === "telegram") {
        await person.press(button(again, "Snooze 1 h"), OWNER);
        await isAnswered(person, sent, again, /💤 Somebody at the gate: silent until \d\d:\d\d\./);
      } else
        await waitForText(
          await person.say("/ack 60", OWNER),
          /💤 Somebody at the gate: silent until \d\d:\d\d\./,
        );
    });

    await setBack(stack, (rule, home) => toldBefore(61 * MINUTE, rule, home));
    await inBoth(chats, async ({ person, sent }) => {
      const again = await repeated({ person, sent }, 2);
      await person.press(button(again, "Got it"), OWNER);
      await isAnswered(
        person,
        sent,
        again,
        /Answered by (<@1001>|@\u2060?p1001|P 1001|1001): Somebody at the gate\./,
      );
    });

    await setBack(stack, (rule, home) => toldBefore(5 * HOUR, rule, home));
    await stack.gateway.online("pi", 60_000);
    says("gate", "nobody");
    await inBoth(chats, async ({ sent }) => {
      await waitForText(sent, `${name}: over at`, 2 * CHECKED_MS);
      expect(count(sent, `${name}: still so, since`)).toBe(2);
      expect(count(sent, `${name}: over at`)).toBe(1);
    });
  },
  10 * MINUTE,
);
