/** Nobody who writes in a chat app meets silence: each gets an answer, or a reason. */
import { afterAll, expect, test } from "vitest";
import { everybody, GUEST, MEMBER, OWNER } from "../platforms/people.ts";
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
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
const { telegram, slack, discord, whatsapp } = PEOPLE;
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));

const write = (path: string): Step => ({
  calls: [{ arguments: { agent_id: "eye", action: "write", params: { path, content: "x" } } }],
});
const askedWith = (text: string) =>
  stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes(text));

test("C4: a member's approval on Telegram is given by an owner on Slack, and the member has the answer", async () => {
  const sent = await telegram.say(script(write("c4.txt"), { text: "c4: $results" }), MEMBER);
  const asked = await waitForMessage(sent, (one) => one.buttons.length === 2, "the member's question");
  expect(asked.text).toContain(`slack:${OWNER}`);
  const owners = () => slack.fake.channel(`D${OWNER}`);
  const shown = await until(() => owners().find(({ buttons }) => buttons.length === 2), {
    what: "the owner's question on Slack",
  });
  expect(shown.text).toContain(`${MEMBER} asked, by Telegram`);
  expect(shown.text).toContain("c4.txt");
  await slack.press(shown.buttons[0]?.data ?? "", OWNER);
  await waitForText(sent, /^c4: (?!Error)/);
  await waitForText(sent, new RegExp(`✔ Approved by p${OWNER}`));
  await until(() => owners().find(({ id }) => id === shown.id)?.buttons.length === 0, {
    what: "the owner's buttons are gone",
  });
});

test("C3: on Discord a stranger in a server reads why at once, and nothing thinks", async () => {
  const sent = await discord.say("hello", "7777", { group: true });
  expect(sent.words).toContain("I do not know you");
});

test("C5: a slash command where the app is no member is answered by response_url, and only reads", async () => {
  for (const channel of ["CX1", "DX1"]) {
    const asked = await slack.command(
      script(write("c5.txt"), { text: `${channel}: $results` }),
      OWNER,
      channel,
    );
    await until(() => asked.responses().some((text) => text.startsWith(`${channel}: `)), { what: channel });
    expect(asked.responses().join()).toContain("only actions that read are allowed");
  }
  const own = await slack.command(script({ text: "in our chat" }), OWNER, `D${OWNER}`);
  await waitForText(own, "in our chat");
  const stranger = await slack.command("hello", "7778", "CX1");
  await until(() => stranger.responses().join().includes("I do not know you"), { what: "a reason" });
});

test("C6: one message of Slack under several event ids is one turn", async () => {
  const text = script({ text: "once c6" });
  const fields = { text, ts: "1999.0006" };
  const sent = await slack.say("", OWNER, { delivery: "c6-1", fields });
  await slack.say("", OWNER, { delivery: "c6-2", fields });
  await waitForText(sent, "once c6");
  await waitForText(await slack.say(script({ text: "after c6" }), OWNER), "after c6");
  expect(sent.messages().filter(({ text }) => text.includes("once c6"))).toHaveLength(1);
});

test("C7: in a Telegram group a sentence is left alone, and a mention is answered", async () => {
  const group = { group: true };
  await telegram.say("", OWNER, { ...group, fields: { text: script({ text: "unasked c7" }) } });
  await telegram.say("", OWNER, { ...group, fields: { text: "/stop@other_bot" } });
  const sent = await telegram.say(script({ text: "asked c7" }), OWNER, group);
  await waitForText(sent, "asked c7");
  expect(askedWith("unasked c7")).toEqual([]);
  expect(sent.messages().some(({ text }) => text.includes("Nothing is running"))).toBe(false);
});

test("C2: the model reads the thread on Slack in which it is asked", async () => {
  slack.fake.threads.set("1755.0001", [{ ts: "1755.0001", user: "U2", text: "The pump c2 is hot" }]);
  const sent = await slack.say(script({ text: "read it" }), OWNER, { group: true, thread: "55" });
  await waitForText(sent, "read it");
  const words = "Not the person's own words, in this thread";
  expect(askedWith("The pump c2 is hot").length).toBeGreaterThan(0);
  expect(JSON.stringify(askedWith("The pump c2 is hot")[0]?.messages)).toContain(words);
});

test("C2: what a message on Telegram and WhatsApp replies to is read", async () => {
  const reply_to_message = { message_id: 5, from: { id: 99 }, text: "c2 of another" };
  const fields = { text: script({ text: "telegram c2" }), reply_to_message };
  await waitForText(await telegram.say("", OWNER, { fields }), "telegram c2");
  expect(askedWith("Not the person's own words, quoted").length).toBeGreaterThan(0);
  const first = await whatsapp.say(script({ text: "12 °C c2" }), OWNER);
  const { id } = await waitForText(first, "12 °C c2");
  const context = { from: whatsapp.fake.number, id };
  const text = { body: script({ text: "whatsapp c2" }) };
  await waitForText(
    await whatsapp.say("", OWNER, { fields: { type: "text", text, context } }),
    "whatsapp c2",
  );
  expect(askedWith("It replies to your own message").length).toBeGreaterThan(0);
});

test("C8: an answer follows a group that became a supergroup, and leaves a topic that was deleted", async () => {
  const { fake } = telegram;
  const hold = "[hold c8]";
  await telegram.say(`${hold} ${script({ text: "moved c8" })}`, MEMBER, { group: true });
  fake.migrated.set(-Number(MEMBER), -100_000 - Number(MEMBER));
  stack.model.release("c8");
  await until(
    () =>
      fake
        .chat(-100_000 - Number(MEMBER))
        .some(({ text }) => text.includes("c8") || text.includes("no script")),
    {
      what: "the answer in the supergroup",
    },
  );
  fake.deletedTopics.add(88);
  const sent = await telegram.say(script({ text: "topic c8" }), GUEST, { group: true, thread: "88" });
  const answer = await waitForText(sent, "topic c8");
  expect(answer.thread).toBeUndefined();
});
