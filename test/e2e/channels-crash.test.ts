/** An answer reaches the chat whatever is killed on the way, and no part of it is sent twice without need. */
import { afterAll, expect, test } from "vitest";
import { everybody, OWNER, type Person, type SentMessage } from "../platforms/people.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env });
  await stack.gateway.online("eye");
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const { telegram, slack, discord, generic } = PEOPLE;

/** The two parts of a test with each person: up to the kill, and after it. */
type Before = (person: Person) => Promise<{ after: () => Promise<void> }>;

/** One kill for all people, because a start is slow. */
async function killed(people: readonly Person[], before: Before): Promise<void> {
  const begun = await Promise.all(people.map(before));
  await stack.worker.kill();
  await stack.startWorker();
  await Promise.all(begun.map(({ after }) => after()));
}

const holding = (sent: SentMessage, words: string) =>
  sent.messages().filter(({ text }) => text.includes(words));
const arrived = (sent: SentMessage, words: string) =>
  until(() => holding(sent, words).length > 0, { within: 30_000, what: words });

test("the gateway is killed between its acknowledgement and the answer", async () => {
  await killed(Object.values(PEOPLE), async (person) => {
    const { channel } = person;
    const answer = `after the crash, on ${channel}`;
    const delivery = "424242";
    const sent = await person.say(script({ hang: "before" }, { text: answer }), OWNER, { delivery });
    expect(sent.status).toBeLessThan(300);
    const isAsked = () =>
      stack.model.requests.some(({ messages }) => JSON.stringify(messages).includes(answer));
    await until(isAsked, { what: `the model is asked for ${channel}` });
    const after = async () => {
      await arrived(sent, answer);
      const again = await person.say(script({ text: `second run on ${channel}` }), OWNER, { delivery });
      // A platform's id names one message; a program that gives another message the same id hears so.
      expect(again.status).toBe(channel === "generic" ? 422 : 200);
      const help = await person.say("/help", OWNER);
      await arrived(help, "in your own words");
      expect(holding(sent, answer)).toHaveLength(1);
      expect(holding(sent, "second run")).toHaveLength(0);
    };
    return { after };
  });
});

/** Returns two messages. The second is a picture on platforms where no question can hold an answer of two messages. */
function twoParts({ channel, textMax }: Person): { steps: Step[]; first: string } {
  const first = `first of ${channel}`;
  const picture = { agent_id: "eye", action: "picture", params: { bytes: 100 } };
  if (textMax > 20_000) return { steps: [{ calls: [{ arguments: picture }] }, { text: first }], first };
  const filled = [first, "second"].map((words) => `${words} `.repeat((textMax * 0.9) / (words.length + 1)));
  return { steps: [{ text: filled.join("\n\n") }], first };
}

test("the platform is down when the turn ends, and the gateway is killed while it waits: parts that arrived are not sent again", async () => {
  await killed([telegram, slack, generic], async (person) => {
    const { steps, first } = twoParts(person);
    const delivered = () =>
      person.server.calls.filter(({ path, status }) => isMessage(path) && status < 300).length;
    const before = delivered();
    person.server.limit(
      3,
      () => ({ status: 503 }),
      (path) => isMessage(path) && delivered() > before,
    );
    const sent = await person.say(script(...steps), OWNER);
    await until(() => person.server.calls.some(({ status }) => status === 503), { what: "a refusal" });
    expect(holding(sent, first)).toHaveLength(1);
    const after = async () => {
      const isRest = () => sent.messages().some(({ text, file }) => text.includes("second second") || file);
      await until(isRest, { within: 30_000, what: `the rest on ${person.channel}` });
      const tries = person.server.calls.filter(({ body, status }) => status < 300 && body.includes(first));
      expect(tries).toHaveLength(1);
    };
    return { after };
  });
});

const isMessage = (path: string) => /\/(sendMessage|chat\.postMessage|told)$/.test(path);

test("the gateway is killed while an answer is being written: the same message gets the whole answer, once", async () => {
  await killed([telegram, slack, discord], async (person) => {
    const name = `half on ${person.channel} `;
    const slow: Step = { text: name.repeat(200), pieces: 200, everyMs: 100 };
    const whole = `whole on ${person.channel}`;
    const sent = await person.say(script(slow, { text: whole }), OWNER);
    // After one edit the gateway knows that the message exists.
    const writes = () => person.server.calls.filter(({ body }) => body.includes(name));
    await until(() => writes().length > 1, { what: `words on ${person.channel}` });
    const [draft] = holding(sent, name);
    const after = async () => {
      await arrived(sent, whole);
      expect(holding(sent, whole).map(({ id }) => id)).toEqual([draft?.id]);
      expect(holding(sent, name)).toEqual([]);
      const next = await person.say(script({ text: `next on ${person.channel}` }), OWNER);
      await arrived(next, `next on ${person.channel}`);
      expect(holding(sent, whole)).toHaveLength(1);
    };
    return { after };
  });
});
