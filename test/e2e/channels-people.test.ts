/** The rights of people in a chat, the questions of devices there, and which message belongs to which conversation. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { privateChannel } from "../platforms/discord.ts";
import { everybody, GUEST, MEMBER, OWNER, type Person } from "../platforms/people.ts";
import { saying, shows } from "../platforms/seeing.ts";
import type { Shown } from "../platforms/server.ts";
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
const askedWith = (text: string) =>
  stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(text));

describe.each(ALL)("$channel", (person) => {
  const { channel } = person;

  test("roles: a guest sees and reaches only the guests' agents, and only reads; a member reaches all agents and cannot approve", async () => {
    const seen = await saying(await person.say("/agents", GUEST), /eye \(online\)/);
    expect(seen.text).not.toContain("shed");
    const reached = await person.say(script(call("cpu", {}, "shed"), { text: "guest: $results" }), GUEST);
    await saying(reached, /guest: .*shed/s);
    const read = await person.say(script(call("cpu", {}), { text: "guest read: $results" }), GUEST);
    expect((await saying(read, "guest read: ")).text).not.toContain("Error");
    expect(
      askedWith("guest read: ")[0]
        ?.tools.map((tool) => tool.function.description)
        .join(),
    ).not.toContain("shed");

    await saying(await person.say("/agents", MEMBER), /shed \(online\)/);
    const file = `member-${channel}.txt`;
    const write = call("write", { path: file, content: "x" }, "shed");
    const said = await person.say(script(write, RESULTS), MEMBER);
    const { buttons } = await shows(said, (one) => one.buttons.length === 2, "the buttons");
    const refused = await person.press(buttons[0]?.data ?? "", MEMBER, MEMBER);
    await until(() => refused.words !== undefined, { what: "words for the member" });
    expect(refused.words).toMatch(/Only somebody who is allowed/);
    expect(existsSync(join(stack.workspaceOf("shed"), file))).toBe(false);
    const stopped = await person.say("/stop", MEMBER);
    await saying(said, "No longer needed");
    await saying(said, "Cancelled.");
    if (channel === "discord") await saying(stopped, "Done.");
  });

  test("a device's question is answered by its button, only by the asked person; or by /answer with words or a number", async () => {
    const asks = (text: string, options?: string[]) =>
      script(call("ask_me", { text, ...(options && { options }) }), RESULTS);
    const chosen = await person.say(asks("Which bed?", ["roses & co", "tulips"]), OWNERS.asked);
    const { buttons } = await shows(chosen, (one) => one.buttons.length === 2, "two options");
    const other = await person.press(buttons[1]?.data ?? "", MEMBER, OWNERS.asked);
    await until(() => other.words !== undefined, { what: "words for who was not asked" });
    expect(other.words).toMatch(/not yours|not open/);
    await person.press(buttons[0]?.data ?? "", OWNERS.asked, OWNERS.asked);
    await saying(chosen, /the answer was: roses (&|&amp;) co/);
    await saying(chosen, /✔ Answered by .*: roses/);

    const free = await person.say(asks("How long?"), OWNERS.asked);
    await saying(free, "How long?");
    const answered = await person.say("/answer ten minutes", OWNERS.asked);
    await saying(free, "the answer was: ten minutes");
    // On Discord an interaction waits for its own answer; elsewhere the next message is the answer.
    if (channel === "discord") await saying(answered, "Done.");

    const options = ["a very long option, the first", "a very long option, the second", "c", "d"];
    const many = await person.say(asks("Which of four?", options), OWNERS.asked);
    const four = await saying(many, "Which of four?");
    expect(four.buttons.length).toBe(channel === "whatsapp" ? 0 : 4);
    await person.say("/answer 2", OWNERS.asked);
    await saying(many, "the answer was: a very long option, the second");

    const alike = await person.say(asks("Which of two?", options.slice(0, 2)), OWNERS.asked);
    const two = await saying(alike, "Which of two?");
    expect(new Set(two.buttons.map(({ label }) => label)).size).toBe(2);
    await person.press(two.buttons[1]?.data ?? "", OWNERS.asked, OWNERS.asked);
    await until(() => alike.shown().filter(({ text }) => text.includes("option, the second")).length > 1);
  });

  test("a long approval is shown completely and then its buttons, which disappear with the decision", async () => {
    // Escapes make it longer: about 13,000 characters, more than any platform accepts at once.
    const lines = Array.from({ length: 400 }, (_, at) => `<${at}> && rm '${at}'; # \`x\` line`);
    const write = call("write", { path: `long-${channel}.txt`, content: lines.join("\n") });
    const said = await person.say(script(write, { text: `long ${channel}: $results` }), OWNERS.long);
    const before = said.shown().length;
    const asked = await shows(said, (one) => one.buttons.length === 2, "the buttons");
    expect(asked.text).toContain("eye");
    const whole = said
      .shown()
      .map(({ text }) => text)
      .join("\n")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    expect(lines.filter((_, at) => !whole.includes(`<${at}>`))).toEqual([]);
    expect(said.shown().length).toBeGreaterThan(before);
    await person.press(asked.buttons[1]?.data ?? "", OWNERS.long, OWNERS.long);
    await saying(said, "✖ Denied");
    await saying(said, `long ${channel}: `);
    if (channel !== "whatsapp" && channel !== "generic")
      expect(said.shown().find(({ id }) => id === asked.id)?.buttons).toEqual([]);
  });

  test("an approval of any length loses its buttons with the decision", async () => {
    const pressed = new Set<string>();
    // The longest escapes; and Discord's limit of 2,000 without what the decision adds.
    const contents = ["&".repeat(1_500), ...[1_810, 1_830, 1_850].map((length) => "x".repeat(length))];
    for (const [at, content] of contents.entries()) {
      const write = call("write", { path: `${at}-${channel}.txt`, content });
      const said = await person.say(script(write, { text: `near ${at} ${channel}` }), OWNERS.any);
      // Some platforms do not remove the buttons of earlier messages.
      const isNew = ({ id, buttons }: Shown) => buttons.length === 2 && !pressed.has(id);
      const asked = await shows(said, isNew, `the buttons of ${at}`);
      pressed.add(asked.id);
      await person.press(asked.buttons[0]?.data ?? "", OWNERS.any, OWNERS.any);
      await saying(said, `near ${at} ${channel}`);
      if (channel === "whatsapp" || channel === "generic") continue;
      await until(() => said.shown().find(({ id }) => id === asked.id)?.buttons.length === 0, {
        what: `the buttons of ${at} are gone`,
      });
      expect(said.shown().find(({ id }) => id === asked.id)?.text).toContain("✔ Approved");
    }
  });

  test("several messages in quick succession are one turn, on platforms where people write so", async () => {
    const hold = `burst-${channel}`;
    const first = await person.say(`[hold ${hold}] The first of two.`, OWNERS.burst);
    const second = await person.say(script({ text: `both ${channel}` }), OWNERS.burst);
    if (channel === "discord" || channel === "generic") {
      // Each of these waits for its own answer.
      stack.model.release(hold);
      await saying(first, "(no script)");
      await saying(second, `both ${channel}`);
      return;
    }
    await saying(second, `both ${channel}`);
    stack.model.release(hold);
    const asked = askedWith(`both ${channel}`).at(-1);
    const said = asked?.messages.findLast(({ role }) => role === "user")?.content;
    expect(JSON.stringify(said)).toMatch(new RegExp(`The first of two\\..*both ${channel}`));
    const after = await person.say("/status", OWNERS.burst);
    await saying(after, "Nothing is running in this conversation");
  });

  test("the model sees a picture that a person sends", async () => {
    const said = await person.say(script({ text: `${channel} sees $pictures` }), OWNERS.sees, {
      picture: true,
    });
    await saying(said, new RegExp(`${channel} sees .*data:image/png \\d+`, "s"));
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
      const { thread } = await saying(one, `in one: ${secret}`);
      const two = await person.say(script({ text: `in two ${channel}` }), OWNER, how("72"));
      const other = await saying(two, `in two ${channel}`);
      if (channel === "telegram") expect([thread, other.thread]).toEqual(["71", "72"]);
      if (channel === "slack") expect([thread, other.thread]).toEqual(["1771.0001", "1772.0001"]);
      expect(JSON.stringify(askedWith(`in two ${channel}`)[0]?.messages)).not.toContain(secret);
      const again = await person.say(script({ text: `again ${channel}` }), OWNER, how("71"));
      await saying(again, `again ${channel}`);
      expect(JSON.stringify(askedWith(`again ${channel}`)[0]?.messages)).toContain(secret);
    });
  },
);

describe.each([PEOPLE.telegram, PEOPLE.slack] as Person[])("$channel: edits", (person) => {
  test("an edited message is acknowledged and starts nothing", async () => {
    const edited = await person.edit?.(script({ text: `edited ${person.channel}` }), OWNERS.edits);
    expect(edited?.status).toBe(200);
    const next = await person.say(script({ text: `unedited ${person.channel}` }), OWNERS.edits);
    await saying(next, `unedited ${person.channel}`);
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
    ...PEOPLE.slack.fake.channel(OWNERS.edits),
    ...PEOPLE.whatsapp.fake.chat(OWNERS.edits),
  ];
  const notices = () => chats().filter(({ text }) => text.includes(NOTICE));

  const first = {
    discord: () => PEOPLE.discord.fake.channels.get(privateChannel(OWNER)) ?? [],
    telegram: () => PEOPLE.telegram.fake.chat(Number(OWNER)),
    generic: () =>
      PEOPLE.generic.fake.told
        .filter(({ conversation }) => conversation === OWNER)
        .map(({ text }) => ({ text: String(text) })),
  };
  const told = (channel: keyof typeof first) =>
    first[channel]().flatMap(({ text }) => (text.includes(NOTICE) ? [text] : []));

  test("owners are told of the first five in an hour, each on the stranger's platform, and nothing else reports them", async () => {
    const knocks: string[] = [];
    for (const person of [PEOPLE.discord, PEOPLE.telegram, PEOPLE.generic])
      for (const from of ["9001", "9002"]) {
        const said = await person.say("[x](https://evil.example) let me in", from);
        await until(() => said.words?.includes("Your code is"), { what: `a code on ${person.channel}` });
        knocks.push(/code is ([A-Z2-9]{6})/.exec(said.words ?? "")?.[1] ?? "");
        await person.say("let me in!", from);
      }
    expect(new Set(knocks).size).toBe(6);
    // At most five owners are told, each in a private chat.
    const all = () => (["discord", "telegram", "generic"] as const).flatMap(told);
    await until(() => all().length >= 5, { what: "five notices" });
    const said = await PEOPLE.telegram.say("/help", OWNER);
    await saying(said, "in your own words");
    expect([told("discord"), told("telegram"), told("generic")].map(({ length }) => length)).toEqual([
      2, 2, 1,
    ]);
    expect(all().filter((text) => text.includes("in the console alone"))).toEqual(told("generic"));
    for (const code of knocks) expect(all().join()).not.toContain(code);
    expect(all().join()).not.toContain("evil");
    expect(notices()).toEqual([]);
  });
});
