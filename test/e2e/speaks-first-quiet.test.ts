// @module-tag needs/mosquitto
/**
 * Quiet hours and their digest, critical watches, and who may make them, in Telegram and Slack. The quiet hours are real ones,
 * by the machine's clock: they began before, and end at a full minute that the test waits for.
 */
import { afterAll, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { onSlack } from "../platforms/on-slack.ts";
import { MEMBER, OWNER, onTelegram } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { button, count, messageWith, rulesOf, shown, tool } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const MINUTE = 60_000;
const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "UTC" };
const stack = useStack({ vars, mosquitto: findMosquitto() }, async (stack) => {
  await Promise.all(["gate", "shed"].map((id) => stack.startAgent({ id })));
  await Promise.all(["gate", "shed"].map((id) => stack.gateway.online(id)));
});
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);
const PEOPLE = [await onTelegram(post), await onSlack(post)] as const;
vars.CHANNELS = JSON.stringify(PEOPLE.map(({ settings }) => settings));
afterAll(() => Promise.all(PEOPLE.map(({ server }) => server.close())));

const offline = (name: string, agent_id: string, more: object = {}) =>
  tool("watch", { name, agent_id, reading: "presence", is: "offline", for_minutes: 0, ...more });
const clock = (at: number) => new Date(at).toISOString().slice(11, 16);

test("a member makes no critical watch", async () => {
  for (const person of PEOPLE) {
    const sent = await person.say(
      script(offline("Loud", "gate", { severity: "critical" }), { text: "It says: $results" }),
      MEMBER,
    );
    const answer = await waitForText(sent, "It says:");
    expect(shown(answer)).toContain("severity: only an owner may make a critical watch");
    expect(sent.messages().flatMap(({ buttons }) => buttons)).toEqual([]);
  }
  expect(await rulesOf(stack)).toEqual([]);
});

test(
  "a critical watch asks an owner first; in the quiet hours it tells at once, and the others come as one list at their end",
  async () => {
    const made = await Promise.all(
      PEOPLE.map(async (person) => {
        const of = person.channel;
        const sent = await person.say(
          script(
            offline(`Gate away, ${of}`, "gate"),
            offline(`Shed away, ${of}`, "shed", { severity: "warning" }),
            offline(`Gate lost, ${of}`, "gate", { severity: "critical" }),
            { text: "all made" },
          ),
          OWNER,
        );
        const question = await messageWith(sent, "Start this watch?", "Start");
        expect(question.text).toContain("it tells at night too, as often as it happens");
        await person.press(button(question, "Start"), OWNER);
        await messageWith(sent, `“Gate lost, ${of}”`, "Undo");
        await waitForText(sent, "all made");
        return { of, sent };
      }),
    );

    await stack.worker.stop();
    // So long that what happens in them has happened before their end, also on a busy machine.
    const end = (Math.floor(Date.now() / MINUTE) + 3) * MINUTE;
    vars.QUIET_HOURS = `${clock(end - 60 * MINUTE)}-${clock(end)}`;
    await stack.startWorker();
    for (const id of ["gate", "shed"]) await stack.gateway.online(id, MINUTE);
    await stack.agent("shed").kill();
    await stack.gateway.offline("shed", MINUTE);
    await stack.agent("gate").kill();
    for (const { of, sent } of made) {
      const told = await messageWith(sent, `Gate lost, ${of}: offline since`, "Got it", MINUTE);
      expect(shown(told)).toMatch(/^🚨 /);
    }
    expect(Date.now()).toBeLessThan(end);
    for (const { of, sent } of made) expect(count(sent, `away, ${of}: offline since`)).toBe(0);

    for (const { of, sent } of made) {
      const list = shown(await waitForText(sent, "☀ During the quiet hours:", 4 * MINUTE));
      expect(Date.now()).toBeGreaterThanOrEqual(end);
      expect(list).toMatch(new RegExp(`\\n• Gate away, ${of}: offline since \\d\\d:\\d\\d\\. gate\\.`));
      expect(list).toMatch(new RegExp(`\\n• Shed away, ${of}: offline since \\d\\d:\\d\\d\\. shed\\.`));
      expect(list).not.toContain("Gate lost");
      expect(count(sent, `away, ${of}: offline since`)).toBe(1);
    }
  },
  8 * MINUTE,
);
