/** Every chat platform with real programs: a person's message, a device's work, the answer in the chat. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { privateChannel } from "../platforms/discord.ts";
import { everybody, MEMBER, OWNER, type Person, type SentMessage } from "../platforms/people.ts";
import { type ChatMessage, PNG } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env, top: { policy: { file_write: "ask" } } });
  await stack.gateway.online("eye");
});
const post = (path: string, init: RequestInit) => fetch(`${stack.gateway.url}${path}`, init);

const PEOPLE = await everybody(post);
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const call = (action: string, params: object): Step => ({
  calls: [{ arguments: { agent_id: "eye", action, params } }],
});
/** Each test has its own chat. */
let lastId = 5_000;
function newId(): string {
  lastId += 1;
  return String(lastId);
}

describe.each(Object.values(PEOPLE) as Person[])("$channel", (person) => {
  test("a request with a forged signature or an old time is refused, and starts nothing", async () => {
    expect(await person.forged()).toBe(401);
    if (person.old) expect(await person.old()).toBe(401);
  });

  // Of the time that it takes `channels-slow` tells, beside which nothing runs.
  test("a message is acknowledged while the turn runs; so is a repetition, which does not run again", async () => {
    const name = `${person.channel}-slow`;
    const question = script({ hold: name, step: { text: `slow answer of ${name}` } });
    const delivery = `9${newId()}`;
    const sent = await person.say(question, OWNER, { delivery });
    const again = await person.say(question, OWNER, { delivery });
    for (const { status } of [sent, again]) expect(status).toBeLessThan(300);
    const asked = () =>
      stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(name));
    await until(() => asked().length > 0, { what: "the model is asked" });
    expect(sent.messages().some(({ text }) => text.includes("slow answer"))).toBe(false);
    stack.model.release(name);
    await waitForText(sent, `slow answer of ${name}`);
    const after = await person.say(question, OWNER, { delivery });
    expect(after.status).toBeLessThan(300);
    const next = await person.say(script({ text: `next of ${name}` }), OWNER);
    await waitForText(next, `next of ${name}`);
    expect(asked()).toHaveLength(2);
    expect(sent.messages().filter(({ text }) => text.includes(`slow answer of ${name}`))).toHaveLength(1);
  });

  test("S17 the links of an answer are not fetched for a preview", async () => {
    const link = `https://collect.example/${person.channel}?secret=1`;
    const sent = await person.say(script({ text: `See ${link} for more.` }), OWNER);
    const message = await waitForText(sent, link);
    expect(message.previewed ?? false).toBe(false);
  });

  test("a device's picture is delivered", async () => {
    const done = `picture for ${person.channel}`;
    const sent = await person.say(script(call("picture", { bytes: 20_000 }), { text: done }), OWNER);
    await waitForText(sent, done);
    const { file } = await waitForMessage(sent, (message) => message.file !== undefined, "a picture");
    expect(file).toMatchObject({ bytes: 20_000, type: "image/jpeg" });
  });

  test("an approval by its button: not by a member, once by the owner, and then the buttons disappear", async () => {
    const file = `${person.channel}.txt`;
    const write = call("write", { path: file, content: "hello" });
    const sent = await person.say(script(write, { text: `written for ${person.channel}` }), OWNER);
    const asked = await waitForMessage(sent, (message) => message.buttons.length === 2, "the buttons");
    expect(asked.text).toContain(file);
    const [approve, deny] = asked.buttons;
    const refused = await person.press(approve?.data ?? "", MEMBER);
    await until(() => refused.words !== undefined, { what: "words for the member" });
    expect(refused.words).toMatch(/Only somebody who is allowed|not open/);
    expect(existsSync(join(stack.workspaceOf("eye"), file))).toBe(false);
    const pressed = await person.press(approve?.data ?? "", OWNER);
    // On WhatsApp a text to one person is a normal message.
    if (person.channel !== "whatsapp") expect(pressed.words).toBeUndefined();
    await waitForText(sent, `written for ${person.channel}`);
    expect(existsSync(join(stack.workspaceOf("eye"), file))).toBe(true);
    const decided = await waitForText(sent, "Approved");
    // G14, N10: by name, as the platform shows or gives it, and not by id.
    const names: Record<string, RegExp> = { telegram: /@p\w+/, whatsapp: /P \w+/, generic: /\w+/ };
    const name = names[person.channel] ?? /<@\w+>/;
    expect(decided.text).toMatch(new RegExp(`Approved by ${name.source}\\.`));
    if (person.channel !== "whatsapp" && person.channel !== "generic")
      expect(sent.messages().find(({ id }) => id === asked.id)?.buttons).toEqual([]);
    const late = await person.press(deny?.data ?? "", OWNER);
    await until(() => late.words !== undefined, { what: "words for who is late" });
    expect(late.words).toMatch(/already|not open/);
  });

  test("N10: a denial is told alike by the question, the list of calls and the answer", async () => {
    const file = `denied-${person.channel}.txt`;
    const write = call("write", { path: file, content: "hello" });
    const earlier = new Set((await person.say("/help", OWNER)).messages().map(({ id }) => id));
    const sent = await person.say(script(write, { text: `left alone for ${person.channel}` }), OWNER);
    const isAsked = ({ text, buttons }: ChatMessage) => buttons.length === 2 && text.includes(file);
    const asked = await waitForMessage(sent, isAsked, "the buttons");
    await person.press(asked.buttons[1]?.data ?? "", OWNER);
    await waitForText(sent, `left alone for ${person.channel}`);
    await waitForText(sent, "Denied");
    const said = sent.messages().flatMap(({ id, text }) => (earlier.has(id) ? [] : [text]));
    expect(said.filter((text) => /\d ms|✓|Approved/.test(text))).toEqual([]);
    if (said.some((text) => text.includes("eye · write")))
      expect(said.join("\n")).toContain("✗ eye · write (denied)");
    expect(existsSync(join(stack.workspaceOf("eye"), file))).toBe(false);
  });

  test("after a rate limit the answer arrives in time", async () => {
    person.limit(2);
    const began = performance.now();
    const sent = await person.say(script({ text: `limited ${person.channel}` }), OWNER);
    await waitForText(sent, `limited ${person.channel}`);
    expect(performance.now() - began).toBeGreaterThan(2_000);
    expect(person.server.tooEarly).toEqual([]);
  });

  test("a stranger gets no access but a code, and the owner admits them", async () => {
    const stranger = newId();
    const secret = `the stranger of ${person.channel}`;
    const sent = await person.say(script({ text: secret }), stranger);
    await until(() => sent.words !== undefined, { what: "words for the stranger" });
    const [, code] = /Your code is ([A-Z2-9]{6}):/.exec(sent.words ?? "") ?? [];
    expect(code).toBeDefined();
    expect(JSON.stringify(stack.model.requests)).not.toContain(secret);
    const tried = await person.say(`/approve ${code}`, MEMBER);
    await waitForText(tried, "Only an owner can let somebody in");
    const approved = await person.say(`/approve ${code} guest`, OWNER);
    await waitForText(approved, /may speak now, as a guest/);
    const welcome = await person.say(script({ text: secret }), stranger);
    await waitForText(welcome, secret);
    // Guests may only read.
    const write = call("write", { path: "guest.txt", content: "x" });
    const refused = await person.say(script(write, { text: "$results" }), stranger);
    await waitForText(refused, "only actions that read are allowed");
    expect(existsSync(join(stack.workspaceOf("eye"), "guest.txt"))).toBe(false);
  });

  test("G14 a mistyped command gets a suggestion, and is not sent to the model", async () => {
    const asked = stack.model.requests.length;
    const sent = await person.say("/stauts", OWNER);
    await waitForText(sent, "Did you mean /status?");
    expect(
      stack.model.requests
        .slice(asked)
        .filter(({ messages }) => JSON.stringify(messages.at(-1)).includes("/stauts")),
    ).toEqual([]);
  });

  test("commands: /agents, /status, /help, /stop, /new", async () => {
    await waitForText(await person.say("/agents", OWNER), /eye \(online\)/);
    await waitForText(await person.say("/help", OWNER), "in your own words");
    await waitForText(await person.say("/stop", OWNER), "Nothing is running.");
    const name = `${person.channel}-stopped`;
    const sent = await person.say(script({ hold: name, step: { text: "never said" } }), OWNER);
    await waitForText(
      await person.say("/status", OWNER),
      /Running in this conversation: 1[\s\S]*1 of 1 devices is online/,
    );
    await person.say("/stop", OWNER);
    await waitForText(sent, "Cancelled.");
    await waitForText(await person.say("/new", OWNER), "A new conversation");
    const fresh = await person.say(script({ text: `fresh ${person.channel}` }), OWNER);
    await waitForText(fresh, `fresh ${person.channel}`);
    const last = stack.model.requests.findLast(({ messages }) =>
      JSON.stringify(messages).includes(`fresh ${person.channel}`),
    );
    expect(last?.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });
});

/** `The **log** <now>` as each platform writes it. */
const TITLE: Record<string, string> = {
  telegram: "<b>log</b> &lt;now&gt;",
  slack: "*log* <now>",
  discord: "**log** <now>",
  whatsapp: "*log* <now>",
  generic: "**log** <now>",
};

describe.each(Object.values(PEOPLE) as Person[])("$channel: what a chat shows", (person) => {
  test("a long answer arrives in messages of the platform's length, each with its fence closed", async () => {
    const lines = Array.from({ length: Math.ceil((person.textMax * 2.4) / 40) }, (_, at) =>
      `line ${at} `.padEnd(38, "."),
    );
    // From a file, because a question has its own limit.
    writeFileSync(join(stack.workspaceOf("eye"), "log.txt"), lines.slice(0, lines.length / 2).join("\n"));
    const text = "The **log** <now>:\n\n```sh\n$results\n$results\n```\n\nThe end &amp; more&hellip;";
    const sent = await person.say(script(call("read", { path: "log.txt" }), { text }), OWNER);
    await waitForText(sent, /The end (&|&amp;) more…/);
    await waitForText(sent, TITLE[person.channel] ?? "");
    const parts = sent.messages().filter((message) => /\bline \d+ \./.test(message.text));
    expect(parts.length).toBeGreaterThan(2);
    const all = parts.map((part) => part.text).join("\n");
    for (const at of [0, 1, Math.floor(lines.length / 2) - 1]) expect(all).toContain(`line ${at} .`);
    for (const part of parts) {
      if (person.channel === "telegram") expect(part.text).toMatch(/<pre>.*<\/pre>/s);
      else expect(part.text.match(/^```/gm)?.length).toBe(2);
    }
  });

  test("a person's picture reaches the model", async () => {
    const sent = await person.say(script({ text: "I see $pictures" }), OWNER, { picture: true });
    const length = "data:image/png;base64,".length + Math.ceil(PNG.length / 3) * 4;
    await waitForText(sent, `I see data:image/png ${length}`);
  });
});

const IN_GROUPS = [PEOPLE.telegram, PEOPLE.slack, PEOPLE.discord, PEOPLE.whatsapp] as Person[];
describe.each(IN_GROUPS)("$channel: groups", (person) => {
  test("an owner in a group may only read; a stranger there gets no answer, or one that nobody else reads", async () => {
    const write = call("write", { path: "group.txt", content: "x" });
    const sent = await person.say(script(write, { text: "$results" }), OWNER, { group: true });
    await waitForText(sent, "only actions that read are allowed");
    const read = await person.say(script(call("cpu", {}), { text: "read it" }), OWNER, { group: true });
    await waitForText(read, "read it");
    const stranger = await person.say(script({ text: "nothing" }), newId(), {
      group: true,
    });
    expect(stranger.status).toBe(200);
    // On Telegram and WhatsApp everybody there would read it.
    if (["telegram", "whatsapp"].includes(person.channel)) return expect(stranger.words).toBeUndefined();
    await until(() => stranger.words?.includes("I do not know you"), {
      what: "C3: a reason, for them alone",
    });
  });
});

describe.each([PEOPLE.telegram, PEOPLE.slack] as Person[])("$channel: while devices work", (person) => {
  test("a message shows the calls, and stays above the answer as their record", async () => {
    const name = `${person.channel}-working`;
    const steps = [call("picture", { bytes: 100 }), { hold: name, step: { text: `done of ${name}` } }];
    const sent = await person.say(script(...steps), OWNER);
    const message = await waitForMessage(sent, ({ text }) => /^[⏳✓] eye · picture/.test(text), "the call");
    stack.model.release(name);
    await waitForText(sent, `done of ${name}`);
    const at = (id: string) => sent.messages().findIndex((one) => one.id === id);
    expect(sent.messages()[at(message.id)]?.text).toMatch(/^✓ eye · picture \(\d+ ms\)$/);
    expect(sent.messages().findIndex(({ text }) => text.includes(`done of ${name}`))).toBeGreaterThan(
      at(message.id),
    );
  });
});

test("owners on every platform are told once an hour what WhatsApp did not deliver", async () => {
  const failed = (phone_number_id: unknown, code: number) => ({
    metadata: { phone_number_id },
    statuses: [{ id: "wamid.x", status: "failed", errors: [{ code }] }],
  });
  await PEOPLE.whatsapp.deliver([failed("999", 131_053)]);
  for (let times = 0; times < 4; times += 1)
    await PEOPLE.whatsapp.deliver([failed(PEOPLE.whatsapp.settings.phone_number_id, 131_026)]);
  const chat = (messages: () => ChatMessage[]): SentMessage => ({
    status: 200,
    ms: 0,
    words: undefined,
    messages: messages,
  });
  const chats = {
    whatsapp: chat(() => PEOPLE.whatsapp.fake.chat(OWNER)),
    telegram: chat(() => PEOPLE.telegram.fake.chat(Number(OWNER))),
    slack: chat(() => PEOPLE.slack.fake.channel(`D${OWNER}`)),
    discord: chat(() => PEOPLE.discord.fake.channels.get(privateChannel(OWNER)) ?? []),
    generic: chat(() =>
      PEOPLE.generic.fake.answers
        .filter(({ conversation }) => conversation === OWNER)
        .map(({ id, text }) => ({ id, text: String(text), buttons: [] })),
    ),
  };
  for (const one of Object.values(chats)) await waitForText(one, "did not deliver a message of mine");
  const notices = Object.values(chats).map((one) =>
    one.messages().filter(({ text }) => text.includes("did not deliver")),
  );
  for (const texts of notices) {
    // One more when the hour ends in between.
    expect(texts.length).toBeLessThanOrEqual(2);
    for (const { text } of texts) expect(text).toContain("131026");
  }
});

test("D10 D11 over HTTP a call has its text for the person, and separately the device's time and the wait", async () => {
  writeFileSync(join(stack.workspaceOf("eye"), "d11.txt"), "one\ntwo\n");
  const conversation = crypto.randomUUID();
  const write = call("write", { path: "d11.txt", content: "one\nthree\n", overwrite: true });
  const turn = await stack.gateway.begin(script(write, { text: "done: $results" }), conversation);
  const question = await stack.gateway.question(conversation);
  const askedAt = Date.now();
  await until(() => Date.now() - askedAt > 1_200, { what: "the person takes their time" });
  await stack.gateway.answer(question.id, "approve");
  const { calls, answer } = await stack.gateway.settled(conversation, turn);
  expect(calls[0]).toMatchObject({ status: "success", for_user: expect.stringContaining("-two\n+three") });
  expect(answer).not.toContain("-two");
  expect(calls[0]?.elapsed_ms).toBeLessThan(1_000);
  expect(calls[0]?.waited_ms).toBeGreaterThan(1_000);
});

test("D10 the diff of a change reaches the chat, and not the model", async () => {
  const person = PEOPLE.telegram;
  writeFileSync(join(stack.workspaceOf("eye"), "d10.txt"), "one\ntwo\n");
  const write = call("write", { path: "d10.txt", content: "one\n```three\n", overwrite: true });
  const sent = await person.say(script(write, { text: "changed d10: $results" }), OWNER);
  const { buttons } = await waitForMessage(
    sent,
    (message) => message.buttons.length === 2 && message.text.includes("d10.txt"),
    "the buttons",
  );
  await person.press(buttons[0]?.data ?? "", OWNER);
  const answer = await waitForText(sent, "changed d10");
  expect(answer.text).not.toContain("-two");
  const diff = await waitForText(sent, "From eye");
  expect(diff.text).toContain("-two");
  expect(diff.text).toContain("+```three");
});
