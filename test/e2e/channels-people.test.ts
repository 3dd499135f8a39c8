/** The rights of people in a chat, the questions of devices there, and which message belongs to which conversation. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { privateChannel } from "../platforms/discord.ts";
import { everybody, GUEST, MEMBER, OWNER, type Person } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  const top = { policy: { file_write: "ask" } };
  await Promise.all(["eye", "shed"].map((id) => stack.startAgent({ id, env, top })));
  await Promise.all(["eye", "shed"].map((id) => stack.gateway.online(id)));
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
/** More owners, so that each test has its own chat. */
const OWNERS = { asked: "1101", long: "1102", any: "1103", burst: "1104", sees: "1105", edits: "1106" };
/** A program that waits for its answer. */
const DOOR = {
  connection: "door",
  channel: "generic",
  home: "a",
  secret: "a-bearer-token-of-the-door",
  allow: ["*"],
};
vars.CHANNELS = JSON.stringify([
  DOOR,
  ...Object.values(PEOPLE).map(({ settings }) => ({
    ...settings,
    role_of: {
      [OWNER]: "owner",
      [MEMBER]: "member",
      [GUEST]: "guest",
      ...Object.fromEntries(Object.values(OWNERS).map((id) => [id, "owner"])),
    },
    agents: { guest: ["eye"] },
  })),
]);
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const ALL = Object.values(PEOPLE) as Person[];
const call = (action: string, params: object, agent_id = "eye"): Step => ({
  calls: [{ arguments: { agent_id, action, params } }],
});
const RESULTS = { text: "$results" };
/** Owners are also asked for what members need (C4). */
const isOwn = ({ buttons, text }: ChatMessage) => buttons.length === 2 && !text.includes("Write member-");
const askedWith = (text: string) =>
  stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(text));

describe.each(ALL)("$channel", (person) => {
  const { channel } = person;

  test("roles: a guest sees and reaches only the guests' agents, and only reads; a member reaches all agents and cannot approve", async () => {
    const seen = await waitForText(await person.say("/agents", GUEST), /eye \(online\)/);
    expect(seen.text).not.toContain("shed");
    const reached = await person.say(script(call("cpu", {}, "shed"), { text: "guest: $results" }), GUEST);
    await waitForText(reached, /guest: .*shed/s);
    const read = await person.say(script(call("cpu", {}), { text: "guest read: $results" }), GUEST);
    expect((await waitForText(read, "guest read: ")).text).not.toContain("Error");
    expect(
      askedWith("guest read: ")[0]
        ?.tools.map((tool) => tool.function.description)
        .join(),
    ).not.toContain("shed");

    await waitForText(await person.say("/agents", MEMBER), /shed \(online\)/);
    const file = `member-${channel}.txt`;
    const write = call("write", { path: file, content: "x" }, "shed");
    const sent = await person.say(script(write, RESULTS), MEMBER);
    const { buttons } = await waitForMessage(sent, (one) => one.buttons.length === 2, "the buttons");
    const refused = await person.press(buttons[0]?.data ?? "", MEMBER, MEMBER);
    await until(() => refused.words !== undefined, { what: "words for the member" });
    expect(refused.words).toMatch(/Only somebody who is allowed/);
    expect(existsSync(join(stack.workspaceOf("shed"), file))).toBe(false);
    const stopped = await person.say("/stop", MEMBER);
    await waitForText(sent, "No longer needed");
    await waitForText(sent, "Cancelled.");
    if (channel === "discord") await waitForText(stopped, "Done.");
  });

  test("a device's question is answered by its button, only by the asked person; or by /answer with words or a number", async () => {
    const asks = (text: string, options?: string[]) =>
      script(call("ask_me", { text, ...(options && { options }) }), RESULTS);
    const chosen = await person.say(asks("Which bed?", ["roses & co", "tulips"]), OWNERS.asked);
    const { buttons } = await waitForMessage(chosen, isOwn, "two options");
    const other = await person.press(buttons[1]?.data ?? "", MEMBER, OWNERS.asked);
    await until(() => other.words !== undefined, { what: "words for who was not asked" });
    expect(other.words).toMatch(/not yours|not open/);
    await person.press(buttons[0]?.data ?? "", OWNERS.asked, OWNERS.asked);
    await waitForText(chosen, /the answer was: roses (&|&amp;) co/);
    await waitForText(chosen, /✔ Answered by .*: roses/);

    const free = await person.say(asks("How long?"), OWNERS.asked);
    await waitForText(free, "How long?");
    const answered = await person.say("/answer ten minutes", OWNERS.asked);
    await waitForText(free, "the answer was: ten minutes");
    // On Discord an interaction waits for its own answer; elsewhere the next message is the answer.
    if (channel === "discord") await waitForText(answered, "Done.");

    const options = ["a very long option, the first", "a very long option, the second", "c", "d"];
    const many = await person.say(asks("Which of four?", options), OWNERS.asked);
    const four = await waitForText(many, "Which of four?");
    expect(four.buttons.length).toBe(channel === "whatsapp" ? 0 : 4);
    await person.say("/answer 2", OWNERS.asked);
    await waitForText(many, "the answer was: a very long option, the second");

    const alike = await person.say(asks("Which of two?", options.slice(0, 2)), OWNERS.asked);
    const two = await waitForText(alike, "Which of two?");
    expect(new Set(two.buttons.map(({ label }) => label)).size).toBe(2);
    await person.press(two.buttons[1]?.data ?? "", OWNERS.asked, OWNERS.asked);
    await until(() => alike.messages().filter(({ text }) => text.includes("option, the second")).length > 1);
  });

  test("a long approval is shown completely and then its buttons, which disappear with the decision", async () => {
    // Escapes make it longer: about 13,000 characters, more than any platform accepts at once.
    const lines = Array.from({ length: 400 }, (_, at) => `<${at}> && rm '${at}'; # \`x\` line`);
    const write = call("write", { path: `long-${channel}.txt`, content: lines.join("\n") });
    const sent = await person.say(script(write, { text: `long ${channel}: $results` }), OWNERS.long);
    const before = sent.messages().length;
    const asked = await waitForMessage(sent, isOwn, "the buttons");
    expect(asked.text).toContain("eye");
    const whole = sent
      .messages()
      .map(({ text }) => text)
      .join("\n")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    expect(lines.filter((_, at) => !whole.includes(`<${at}>`))).toEqual([]);
    expect(sent.messages().length).toBeGreaterThan(before);
    await person.press(asked.buttons[1]?.data ?? "", OWNERS.long, OWNERS.long);
    await waitForText(sent, "✖ Denied");
    await waitForText(sent, `long ${channel}: `);
    if (channel !== "whatsapp" && channel !== "generic")
      expect(sent.messages().find(({ id }) => id === asked.id)?.buttons).toEqual([]);
  });

  test("an approval of any length loses its buttons with the decision", async () => {
    const pressed = new Set<string>();
    // The longest escapes; and Discord's limit of 2,000 without what the decision adds.
    const contents = ["&".repeat(1_500), ...[1_810, 1_830, 1_850].map((length) => "x".repeat(length))];
    for (const [at, content] of contents.entries()) {
      const write = call("write", { path: `${at}-${channel}.txt`, content });
      const sent = await person.say(script(write, { text: `near ${at} ${channel}` }), OWNERS.any);
      // Some platforms do not remove the buttons of earlier messages.
      const isNew = (one: ChatMessage) => isOwn(one) && !pressed.has(one.id);
      const asked = await waitForMessage(sent, isNew, `the buttons of ${at}`);
      pressed.add(asked.id);
      await person.press(asked.buttons[0]?.data ?? "", OWNERS.any, OWNERS.any);
      await waitForText(sent, `near ${at} ${channel}`);
      if (channel === "whatsapp" || channel === "generic") continue;
      await until(() => sent.messages().find(({ id }) => id === asked.id)?.buttons.length === 0, {
        what: `the buttons of ${at} are gone`,
      });
      expect(sent.messages().find(({ id }) => id === asked.id)?.text).toContain("✔ Approved");
    }
  });

  test("several messages in quick succession are one turn, on platforms where people write so", async () => {
    const hold = `burst-${channel}`;
    const first = await person.say(`[hold ${hold}] The first of two.`, OWNERS.burst);
    const second = await person.say(script({ text: `both ${channel}` }), OWNERS.burst);
    if (channel === "discord" || channel === "generic") {
      // Each of these waits for its own answer.
      stack.model.release(hold);
      await waitForText(first, "(no script)");
      await waitForText(second, `both ${channel}`);
      return;
    }
    await waitForText(second, `both ${channel}`);
    stack.model.release(hold);
    const asked = askedWith(`both ${channel}`).at(-1);
    const question = asked?.messages.findLast(({ role }) => role === "user")?.content;
    expect(JSON.stringify(question)).toMatch(new RegExp(`The first of two\\..*both ${channel}`));
    const after = await person.say("/status", OWNERS.burst);
    await waitForText(after, "Nothing is running.");
  });

  test("the model sees a picture that a person sends", async () => {
    const sent = await person.say(script({ text: `${channel} sees $pictures` }), OWNERS.sees, {
      picture: true,
    });
    await waitForText(sent, new RegExp(`${channel} sees .*data:image/png \\d+`, "s"));
  });
});

describe.each([PEOPLE.telegram, PEOPLE.slack, PEOPLE.discord, PEOPLE.generic] as Person[])(
  "$channel: threads",
  (person) => {
    test("each thread is a separate conversation, and is answered in its place", async () => {
      const { channel } = person;
      const secret = `secret of ${channel}`;
      const how = (thread: string) => ({ thread, group: channel === "telegram" });
      const one = await person.say(script({ text: `in one: ${secret}` }), OWNER, how("71"));
      const { thread } = await waitForText(one, `in one: ${secret}`);
      const two = await person.say(script({ text: `in two ${channel}` }), OWNER, how("72"));
      const other = await waitForText(two, `in two ${channel}`);
      if (channel === "telegram") expect([thread, other.thread]).toEqual(["71", "72"]);
      if (channel === "slack") expect([thread, other.thread]).toEqual(["1771.0001", "1772.0001"]);
      expect(JSON.stringify(askedWith(`in two ${channel}`)[0]?.messages)).not.toContain(secret);
      const again = await person.say(script({ text: `again ${channel}` }), OWNER, how("71"));
      await waitForText(again, `again ${channel}`);
      expect(JSON.stringify(askedWith(`again ${channel}`)[0]?.messages)).toContain(secret);
    });
  },
);

describe.each([PEOPLE.telegram, PEOPLE.slack] as Person[])("$channel: edits", (person) => {
  test("an edited message is acknowledged and starts nothing", async () => {
    const edited = await person.edit?.(script({ text: `edited ${person.channel}` }), OWNERS.edits);
    expect(edited?.status).toBe(200);
    const next = await person.say(script({ text: `unedited ${person.channel}` }), OWNERS.edits);
    await waitForText(next, `unedited ${person.channel}`);
    expect(
      askedWith(`edited ${person.channel}`).some((one) => !JSON.stringify(one).includes("unedited")),
    ).toBe(false);
  });
});

test("a webhook without a callback: the response contains a working address of the picture", async () => {
  const text = script(call("picture", { bytes: 4_000 }), { text: "$pictures and what was seen" });
  const response = await fetch(`${stack.gateway.url}/webhooks/generic/door`, {
    method: "POST",
    headers: { authorization: `Bearer ${DOOR.secret}` },
    body: JSON.stringify({ text }),
  });
  const { files } = (await response.json()) as { files: Array<{ url: string; bytes: number }> };
  expect(files).toMatchObject([{ bytes: 4_000, media_type: "image/jpeg" }]);
  const opened = await fetch(files[0]?.url ?? "");
  expect([opened.status, (await opened.arrayBuffer()).byteLength]).toEqual([200, 4_000]);
});

describe("requests of strangers", () => {
  const NOTICE = "wants to speak with me";
  const chats = () => [
    ...PEOPLE.telegram.fake.chat(Number(OWNERS.edits)),
    ...PEOPLE.slack.fake.channel(`D${OWNERS.edits}`),
    ...PEOPLE.whatsapp.fake.chat(OWNERS.edits),
  ];
  const notices = () => chats().filter(({ text }) => text.includes(NOTICE));

  const first = {
    discord: () => PEOPLE.discord.fake.channels.get(privateChannel(OWNER)) ?? [],
    telegram: () => PEOPLE.telegram.fake.chat(Number(OWNER)),
    generic: () =>
      PEOPLE.generic.fake.answers
        .filter(({ conversation }) => conversation === OWNER)
        .map(({ text }) => ({ text: String(text) })),
  };
  const messagesAbout = (channel: keyof typeof first) =>
    first[channel]().flatMap(({ text }) => (text.includes(NOTICE) ? [text] : []));

  test("owners are told of the first five in an hour, each on the stranger's platform, and nothing else reports them", async () => {
    const knocks: string[] = [];
    for (const person of [PEOPLE.discord, PEOPLE.telegram, PEOPLE.generic])
      for (const from of ["9001", "9002"]) {
        const sent = await person.say("[x](https://evil.example) let me in", from);
        await until(() => sent.words?.includes("Your code is"), { what: `a code on ${person.channel}` });
        knocks.push(/code is ([A-Z2-9]{6})/.exec(sent.words ?? "")?.[1] ?? "");
        await person.say("let me in!", from);
      }
    expect(new Set(knocks).size).toBe(6);
    // At most five owners are told, each in a private chat.
    const all = () => (["discord", "telegram", "generic"] as const).flatMap(messagesAbout);
    await until(() => all().length >= 5, { what: "five notices" });
    const sent = await PEOPLE.telegram.say("/help", OWNER);
    await waitForText(sent, "in your own words");
    expect(
      [messagesAbout("discord"), messagesAbout("telegram"), messagesAbout("generic")].map(
        ({ length }) => length,
      ),
    ).toEqual([2, 2, 1]);
    expect(all().filter((text) => text.includes("in the console alone"))).toEqual(messagesAbout("generic"));
    for (const code of knocks) expect(all().join()).not.toContain(code);
    expect(all().join()).not.toContain("evil");
    expect(notices()).toEqual([]);
  });
});
