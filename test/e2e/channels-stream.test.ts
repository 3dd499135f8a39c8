/**
 * An answer is written in the chat while the model produces it: in one message, which finally holds the whole answer.
 */
import { afterAll, expect, test } from "vitest";
import { everybody, type Person, type SentMessage } from "../platforms/people.ts";
import type { Call, ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

/** Some timers fire a little early. */
const EARLY_MS = 60;
/** Between a message and its edit, or two edits; a group has its own. */
const EDIT_MS = 1_500;
const GROUP_EDIT_MS = 4_000;
/** Before the edit that makes it the answer. */
const ANSWER_MS = 1_000;

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env });
  await stack.gateway.online("eye");
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify(
  Object.values(PEOPLE).map(({ settings }) => ({ ...settings, allow: ["*"], reads_only: [] })),
);
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const { telegram, slack, discord, whatsapp, generic } = PEOPLE;
const EDITORS: Person[] = [telegram, slack, discord];

/** Each test has its own chat. */
let lastId = 7_000;
function newId(): string {
  lastId += 1;
  return String(lastId);
}

type Check = (person: Person, name: string) => Promise<void>;
type Run = (what: string, check: () => Promise<void>) => void;

/** Runs a check on every platform that can edit, side by side with the other tests, so that slow waits overlap. */
function onEach(what: string, check: Check, run: Run = test.concurrent): void {
  run(what, async () => {
    const done = EDITORS.map(async (person) => {
      const name = `${person.channel} ${newId()}`;
      await check(person, name).catch((error: unknown) => {
        throw new Error(`${person.channel}: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      });
    });
    await Promise.all(done);
  });
}

const picture: Step = {
  calls: [{ arguments: { agent_id: "eye", action: "picture", params: { bytes: 100 } } }],
};

const isHalf = ({ text }: ChatMessage) => text.endsWith("…");
const half = (sent: SentMessage, words: string) =>
  waitForMessage(sent, (message) => message.text.includes(words) && isHalf(message), `half of '${words}'`);
const whole = (sent: SentMessage, words: string) =>
  waitForMessage(sent, (message) => message.text.includes(words) && !isHalf(message), `all of '${words}'`);
const holding = (sent: SentMessage, words: string) =>
  sent.messages().filter(({ text }) => text.includes(words));

/** Returns the calls with these words, in order. */
function callsWith({ server }: Person, words: string): Call[] {
  return server.calls.filter(({ body }) => body.includes(words));
}

const isEdit = ({ path, method }: Call) => /editMessageText|chat\.update/.test(path) || method === "PATCH";
const isTaken = ({ status, reply }: Call) =>
  status === 200 && (reply as { ok?: boolean } | undefined)?.ok !== false;

/** Checks that the text has one fence that opens and closes. */
function expectFence(person: Person, text: string): void {
  const ends = person === telegram ? /<\/?pre>|<pre><code.*?>/g : /^```/gm;
  expect(text.match(ends), text).toHaveLength(2);
}

/** Checks the time from the platform's answer to a message or edit until the next edit arrives. The last edit is the answer. */
function expectPace(calls: readonly Call[], editMs = EDIT_MS): void {
  const seen = calls.filter((call, at) => at === 0 || isEdit(call));
  for (const [at, call] of seen.entries()) {
    const before = seen[at - 1];
    const least = at === seen.length - 1 ? ANSWER_MS : editMs;
    if (before) expect(call.at - before.answeredAt, `before edit ${at}`).toBeGreaterThan(least - EARLY_MS);
  }
}

onEach(
  "half of it stands in the chat, open marks and all; then all of it, in its place",
  async (person, name) => {
    const begun = `${name}: **bold** [link](https://example.org/) <b> &\n\n\`\`\`sh\nls -l **`;
    const text = `${begun}${"x".repeat(begun.length - 4)}\n\`\`\``;
    const sent = await person.say(script({ text, pause: name }), newId());
    const draft = await half(sent, name);
    expect(draft.text).toContain("ls -l");
    expectFence(person, draft.text);
    expect(draft.text).not.toContain("xx");
    if (person === telegram) expect(draft.text).toContain("<b>bold</b>");
    stack.model.release(name);
    const answer = await whole(sent, "xxx");
    expect(answer.id).toBe(draft.id);
    expect(holding(sent, name)).toHaveLength(1);
    const calls = callsWith(person, name);
    expect(calls.every(isTaken)).toBe(true);
    expectPace(calls);
  },
);

onEach(
  "a slow and long answer: edited at a pace that the platform takes, and split at its end",
  async (person, name) => {
    const lines = (person.textMax * 1.8) / 60;
    const text = `Of ${name}:\n\n\`\`\`\n${`${name} ${".".repeat(58 - name.length)}\n`.repeat(lines)}\`\`\`\nThe end of ${name}.`;
    const slow: Step = { text, pieces: 60, everyMs: 100 };
    const sent = await person.say(script(slow), newId());
    const draft = await half(sent, name);
    await waitForText(sent, `The end of ${name}.`);
    const messages = holding(sent, name);
    expect(messages[0]?.id).toBe(draft.id);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.some(isHalf)).toBe(false);
    for (const { text } of messages) expectFence(person, text);
    const calls = callsWith(person, name);
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.every(isTaken)).toBe(true);
    expectPace(calls);
  },
);

test.concurrent("in a Telegram group edits are rarer, because all messages there count", async () => {
  const name = `group ${newId()}`;
  const slow: Step = { text: `${name} word`.repeat(60), pieces: 60, everyMs: 100 };
  const sent = await telegram.say(script(slow), newId(), { group: true });
  await half(sent, name);
  const answer = await whole(sent, name);
  expect(holding(sent, name)).toEqual([answer]);
  expectPace(callsWith(telegram, name), GROUP_EDIT_MS);
});

onEach(
  "a platform that answers slowly: the pace counts from its answers, so what waits meanwhile comes in no hurry",
  async (person, name) => {
    person.server.slow(name, 700);
    const slow: Step = { text: `${name} word `.repeat(90), pieces: 90, everyMs: 100 };
    const sent = await person.say(script(slow), newId());
    await half(sent, name);
    await whole(sent, name);
    const calls = callsWith(person, name);
    expect(calls.length).toBeGreaterThan(2);
    expectPace(calls);
  },
);

onEach("a step that is tried again: what was said is rubbed out", async (person, name) => {
  const broken: Step = { text: `void ${name} `.repeat(2), pause: name, breakOff: true };
  const again: Step = { hold: `${name} again`, step: { text: `right ${name}` } };
  const sent = await person.say(script(broken, again), newId());
  const draft = await half(sent, `void ${name}`);
  stack.model.release(name);
  await waitForMessage(sent, ({ id, text }) => id === draft.id && text === "…", "nothing of it");
  stack.model.release(`${name} again`);
  const answer = await whole(sent, `right ${name}`);
  expect(answer.id).toBe(draft.id);
  expect(holding(sent, name)).toHaveLength(1);
});

onEach(
  "words before calls make room for their record; the answer is written below it",
  async (person, name) => {
    const asks: Step = {
      text: `let me look ${name} `.repeat(2),
      pause: name,
      calls: [{ arguments: { agent_id: "eye", action: "picture", params: { bytes: 100 } } }],
    };
    const answers: Step = { text: `seen ${name} `.repeat(2), pause: `${name} seen` };
    const sent = await person.say(script(asks, answers), newId());
    const draft = await half(sent, `let me look ${name}`);
    stack.model.release(name);
    const record = await waitForText(sent, /^[⏳✓] eye · picture/);
    expect(record.id).toBe(draft.id);
    const next = await half(sent, `seen ${name}`);
    stack.model.release(`${name} seen`);
    const answer = await whole(sent, `seen ${name}`);
    expect(answer.id).toBe(next.id);
    expect(holding(sent, "let me look")).toEqual([]);
    await waitForMessage(sent, ({ file }) => file !== undefined, "the picture");
    if (person === discord) return;
    // On Discord the answer replaces "thinking …" and the record of calls.
    const [first, second] = sent.messages();
    expect(first?.id).toBe(record.id);
    expect(first?.text).toMatch(/^✓ eye · picture \(\d+ ms\)$/);
    expect(second?.id).toBe(answer.id);
  },
);

onEach("a quick answer is one message, sent once", async (person, name) => {
  const sent = await person.say(script({ text: `quick ${name}` }), newId());
  await whole(sent, `quick ${name}`);
  const next = await person.say(script({ text: `next ${name}` }), newId());
  await whole(next, `next ${name}`);
  expect(callsWith(person, `quick ${name}`)).toHaveLength(1);
});

onEach(
  "/stop in the middle: that takes its place, and /new takes nothing of another's",
  async (person, name) => {
    const from = newId();
    for (const command of ["/stop", "/new"]) {
      const pause = `${name} ${command}`;
      const sent = await person.say(script({ text: `${pause} `.repeat(2), pause }), from);
      const draft = await half(sent, pause);
      await person.say(command, from);
      await waitForMessage(
        sent,
        ({ id, text }) => id === draft.id && text.startsWith("Cancelled."),
        "its end",
      );
      expect(holding(sent, pause)).toEqual([]);
      const next = await person.say(script({ text: `after ${pause}` }), from);
      const answer = await whole(next, `after ${pause}`);
      if (person !== discord) expect(answer.id).not.toBe(draft.id);
      expect(sent.messages().find(({ id }) => id === draft.id)?.text).toMatch(/^Cancelled\./);
    }
  },
);

onEach(
  "somebody deletes the message in the middle: no edit comes after that, and the answer is sent anew",
  async (person, name) => {
    const slow: Step = { text: `${name} word `.repeat(60), pieces: 60, everyMs: 100 };
    const sent = await person.say(script(slow), newId());
    const draft = await half(sent, name);
    const messages = sent.messages();
    messages.splice(messages.indexOf(draft), 1);
    await whole(sent, name);
    expect(holding(sent, name)).toHaveLength(1);
    // One edit during the stream, and the final one.
    expect(callsWith(person, name).filter((call) => !isTaken(call))).toHaveLength(2);
  },
);

test.concurrent("Discord's token expires during the stream: the bot sends the answer, once", async () => {
  const name = `token ${newId()}`;
  const slow: Step = { text: `${name} word `.repeat(60), pieces: 60, everyMs: 80 };
  const from = newId();
  const sent = await discord.say(script(slow), from, { delivery: "4711" });
  await half(sent, name);
  discord.fake.interactions.delete("tok-4711");
  const ofBot = () => [...discord.fake.channels.values()].flat().filter(({ text }) => text.includes(name));
  await until(() => ofBot().length > 0, { within: 20_000, what: "the bot's message" });
  const next = await discord.say(script({ text: `after ${name}` }), from);
  await whole(next, `after ${name}`);
  expect(ofBot()).toHaveLength(1);
  expect(ofBot().some(isHalf)).toBe(false);
});

test.concurrent.each([whatsapp, generic] as Person[])(
  "$channel cannot edit: the answer is sent when it is complete",
  async (person) => {
    const name = `whole ${person.channel}`;
    const slow: Step = { text: `${name} `.repeat(20), pieces: 20, everyMs: 100 };
    const sent = await person.say(script(picture, slow), newId());
    await waitForText(sent, name);
    await waitForMessage(sent, ({ file }) => file !== undefined, "the picture");
    // There is also no list of calls.
    expect(sent.messages()).toHaveLength(2);
    expect(callsWith(person, name)).toHaveLength(1);
  },
);

onEach(
  "a limit in the middle is obeyed: edits are left out, the answer comes after it",
  async (person, name) => {
    const slow: Step = { text: `${name} word `.repeat(60), pieces: 60, everyMs: 80 };
    const sent = await person.say(script(slow), newId());
    const draft = await half(sent, name);
    person.limit(4);
    const answer = await whole(sent, name);
    expect(answer.id).toBe(draft.id);
    expect(holding(sent, name)).toHaveLength(1);
    expect(person.server.tooEarly).toEqual([]);
    const refused = callsWith(person, name).filter((call) => !isTaken(call));
    expect(refused).toHaveLength(1);
  },
  // The other tests would be limited too.
  test,
);
