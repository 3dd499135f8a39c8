/** Names, a rule's own words and a device's text are shown as they are in each chat app, and others' presses change nothing. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { put, skillFolder } from "../../pi-agent/testing/skill-folder.ts";
import { everybody, GUEST, OWNER, type Person } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { button, CHECKED_MS, messageWith, rulesOf, shown, tool } from "./rule-chats.ts";
import { useStack } from "./stack.ts";

const MARKS = "*bold* _it_ [a](http://x) <b> @channel";
const SAYS =
  "**Look** ~~now~~ `code` <!channel> <@1001> - x # y :smile: \\* ✔ Answered by slack:1001, by discord:1001";
const DEVICE = "<i>dev</i> *is* [b](http://y) @here ||s||";

const { path: skills } = skillFolder();
const sensor = join(dirname(skills), "bell");
put(skills, {
  "bell/skill.toml": `[[tools]]\nname = "bell"\ndescription = "Reads the bell"\npermissions = []\n`,
  "bell/bin/dt-bell": `#!/bin/sh\nexec cat '${sensor}'\n`,
});
const vars: Record<string, string> = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
const stack = useStack({ vars }, async (stack) => {
  writeFileSync(sensor, "silent");
  await stack.startAgent({ id: "pi", top: { tools: { skills_path: skills, sandboxing: "none" } } });
  await stack.gateway.online("pi");
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));
const { telegram, slack, discord, generic } = PEOPLE;
const FOUR: readonly Person[] = [telegram, slack, discord, generic];

/** Nothing in it was markup, and each character of these words is there. */
function isLiteral(message: ChatMessage, ...words: string[]) {
  for (const one of words) expect(shown(message)).toContain(one);
  expect({ text: message.text, literal: message.literal }).toEqual({ text: message.text, literal: true });
}

test("names, words and a device's text with marks of Markdown are shown as they are", async () => {
  const made = await Promise.all(
    FOUR.map(async (person) => {
      const name = `${person.channel} ${MARKS}`;
      const args = { name, agent_id: "pi", reading: "bell", is: "changes", say: SAYS };
      const sent = await person.say(script(tool("watch", args), { text: "made" }), OWNER);
      isLiteral(await messageWith(sent, "Watching pi", "Undo"), name);
      const listed = await person.say("/rules", OWNER);
      isLiteral(await waitForText(listed, /w-[0-9a-f]+: /), name);
      return { person, name, sent };
    }),
  );
  writeFileSync(sensor, DEVICE);
  await Promise.all(
    made.map(async ({ person, name, sent }) => {
      const told = await waitForMessage(
        sent,
        (message) => message.buttons.some(({ label }) => label === "Got it"),
        `the firing, on ${person.channel}`,
        CHECKED_MS,
      );
      isLiteral(told, name, SAYS, `“${DEVICE}”`);
      await person.press(button(told, "Got it"), OWNER);
      isLiteral(await waitForText(sent, "Answered by"), name);
    }),
  );
}, 360_000);

test.each([telegram, slack, discord])(
  "$channel: a press by a guest or a stranger in a group is refused in words, and changes nothing",
  async (person) => {
    const before = await rulesOf(stack);
    const rule = before.find(({ name }) => name.startsWith(person.channel));
    for (const act of ["ack:ID:1", "snooze:ID:1", "stop:ID:0"])
      for (const [from, words] of [
        [GUEST, "Only whoever is told of this may answer."],
        ["9999", "I do not know you"],
      ] as const) {
        const pressed = await person.press(`r:${act.replace("ID", rule?.id ?? "")}`, from, GUEST, {
          group: true,
        });
        await until(() => pressed.words, { what: `words for ${from}` });
        expect(pressed.words).toContain(words);
      }
    expect(await rulesOf(stack)).toEqual(before);
  },
);
