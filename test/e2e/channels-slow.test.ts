/** A turn that really takes 20 s, on every platform at the same time, so that the test waits only once. */
import { afterAll, expect, test } from "vitest";
import { everybody, OWNER } from "../platforms/people.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

/** The strictest platform allows 3 s. After that it delivers again, or disables the webhook. */
const ACK_WITHIN_MS = 1_000;
const TOOL_MS = 20_000;

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env });
  await stack.gateway.online("eye");
});
const PEOPLE = Object.values(await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init)));
vars.CHANNELS = JSON.stringify(PEOPLE.map(({ settings }) => settings));
afterAll(() => Promise.all(PEOPLE.map(({ server }) => server.close())));

test("a tool works for 20 s: message and repeat are acknowledged within 1 s, and run once", async () => {
  const slow = { calls: [{ arguments: { agent_id: "eye", action: "slow", params: { ms: TOOL_MS } } }] };
  await Promise.all(
    PEOPLE.map(async (person) => {
      const answer = `slow answer for ${person.channel}`;
      const question = script(slow, { text: answer });
      const began = performance.now();
      const sent = await person.say(question, OWNER, { delivery: "77777" });
      const asked = () =>
        stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(answer)).length;
      await until(() => asked() === 1, { within: 10_000, what: `the model of ${person.channel}` });
      // Sent while the device works.
      const repeat = await person.say(question, OWNER, { delivery: "77777" });
      const status = await person.say("/status", OWNER);
      for (const ack of [sent, repeat, status]) {
        expect(ack.status).toBeLessThan(300);
        expect(ack.ms, person.channel).toBeLessThan(ACK_WITHIN_MS);
      }
      expect(performance.now() - began).toBeLessThan(TOOL_MS);
      const answers = () => sent.messages().filter(({ text }) => text.includes(answer));
      expect(answers()).toEqual([]);
      await until(() => answers().length > 0, { within: TOOL_MS + 20_000, what: answer });
      expect(performance.now() - began).toBeGreaterThan(TOOL_MS);
      expect((await person.say(question, OWNER, { delivery: "77777" })).ms).toBeLessThan(ACK_WITHIN_MS);
      // A later question is answered later, so no answer to a repetition can follow.
      const last = await person.say(script({ text: `after ${person.channel}` }), OWNER);
      await until(() => last.messages().some(({ text }) => text.includes(`after ${person.channel}`)), {
        within: 20_000,
      });
      // Two steps of one turn, and one request of the last message.
      expect(asked()).toBe(3);
      expect(answers()).toHaveLength(1);
    }),
  );
}, 90_000);
