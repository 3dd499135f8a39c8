/** Late messages: a job's result, an answer after the platform's time limit, several messages at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everybody, MEMBER, OWNER, type Person, type SentMessage } from "../platforms/people.ts";
import type { ChatMessage } from "../platforms/server.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";
import { changeRows, writtenBefore } from "./stored-rows.ts";

const HOUR_MS = 3_600_000;

const vars: Record<string, string> = {};
const stack = useStack({ vars }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env, top: { policy: { device: "allow" } } });
  await stack.gateway.online("eye");
});
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
const OTHERS = ["1201", "1202", "1203", "1204"];
const role_of = Object.fromEntries([OWNER, MEMBER, ...OTHERS].map((id) => [id, "owner"]));
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => ({ ...settings, role_of })));
afterAll(() => Promise.all(Object.values(PEOPLE).map(({ server }) => server.close())));
const { discord, whatsapp } = PEOPLE;

/** The messages of a chat, by any sender. */
const chat = (messages: () => ChatMessage[]): SentMessage => ({
  status: 200,
  ms: 0,
  words: undefined,
  messages: messages,
});
/** The messages that the bot itself wrote in the chat of this person's command. */
const byBot = (from: string) => chat(() => discord.fake.channels.get(`5${from}`) ?? []);

const call = (action: string, params: object): Step => ({
  calls: [{ arguments: { agent_id: "eye", action, params } }],
});

describe.each(Object.values(PEOPLE) as Person[])("$channel", (person) => {
  test("a job's result and its picture arrive later, as a separate message below the first answer", async () => {
    const { channel } = person;
    const steps = [
      call("job", { ms: 300, bytes: 5_000 }),
      { text: `begun for ${channel}` },
      { text: `later for ${channel}: $notes` },
    ];
    const sent = await person.say(script(...steps), OWNER);
    await waitForText(sent, `begun for ${channel}`);
    await waitForText(sent, new RegExp(`later for ${channel}: .*done after 300 ms`, "s"));
    const { id } = await waitForMessage(sent, ({ file }) => file?.bytes === 5_000, "the job's picture");
    const at = (text: string) => sent.messages().findIndex((one) => one.text.includes(text));
    expect(at(`begun for ${channel}`)).toBeGreaterThanOrEqual(0);
    expect(at(`later for ${channel}`)).toBeGreaterThan(at(`begun for ${channel}`));
    expect(sent.messages().findIndex((one) => one.id === id)).toBeGreaterThan(at(`later for ${channel}`));
  });
});

describe("discord", () => {
  test("when its token is refused too early, the bot sends the answer", async () => {
    const [from = ""] = OTHERS;
    const sent = await discord.say(
      script({ hold: "refused", step: { text: "by the bot, since the token is refused" } }),
      from,
      { delivery: "8801" },
    );
    expect(sent.status).toBe(200);
    discord.fake.interactions.delete("tok-8801");
    stack.model.release("refused");
    await waitForText(byBot(from), "by the bot, since the token is refused");
  });
});

describe("whatsapp", () => {
  test("messages of several people and status news in one request: each is handled once, and one person's messages are one turn", async () => {
    const [one = "", two = ""] = OTHERS;
    const value = (messages: unknown[], more = {}) => ({
      metadata: { phone_number_id: whatsapp.settings.phone_number_id },
      contacts: [one, two].map((wa_id) => ({ wa_id, profile: { name: wa_id } })),
      messages,
      ...more,
    });
    const of = (id: string) => chat(() => whatsapp.fake.chat(id));
    const text = (id: string, from: string, body: string) => ({ id, from, type: "text", text: { body } });
    const batch = [
      value([
        text("wamid.b1", one, "First, "),
        text("wamid.b2", two, script({ text: "two is answered" })),
        text("wamid.b3", one, script({ text: "one is answered" })),
        { id: "wamid.b4", from: one, type: "reaction", reaction: { emoji: "👍" } },
      ]),
      {
        metadata: { phone_number_id: "999" },
        messages: [text("wamid.b5", one, script({ text: "not ours" }))],
      },
      value([], { statuses: [{ id: "wamid.x", status: "failed", errors: [{ code: 131_026 }] }] }),
    ];
    expect((await whatsapp.deliver(batch)).status).toBe(200);
    await Promise.all([waitForText(of(one), "one is answered"), waitForText(of(two), "two is answered")]);
    expect((await whatsapp.deliver(batch)).status).toBe(200);
    await waitForText(await whatsapp.say(script({ text: "and then" }), one), "and then");
    expect(
      of(one)
        .messages()
        .filter(({ text }) => text === "one is answered"),
    ).toHaveLength(1);
    // An owner, who is told about undelivered messages.
    const messages = of(two).messages();
    expect(messages.filter(({ text }) => !text.includes("did not deliver a message of mine"))).toHaveLength(
      1,
    );
    expect(JSON.stringify(stack.model.requests)).not.toContain("not ours");
  });

  test("the gateway waits as long as Retry-After says", async () => {
    whatsapp.server.limit(
      1,
      () => ({ status: 429, headers: { "retry-after": "1" } }),
      (path) => path.endsWith("/messages"),
    );
    const step = { hold: "limited", step: { text: "after a second" } };
    const sent = await whatsapp.say(script(step), OTHERS[2] ?? "");
    // The typing indicator meets the limit, and the messages after it respect it.
    await until(() => whatsapp.server.calls.some(({ status }) => status === 429), { what: "a refusal" });
    stack.model.release("limited");
    await waitForText(sent, "after a second");
    expect(whatsapp.server.tooEarly).toEqual([]);
  });
});

describe("time passes while a turn runs", () => {
  const [, dan = "", , wanda = ""] = OTHERS;
  let fromWanda: SentMessage;

  // The times in the rows are changed while the gateway is down.
  beforeAll(async () => {
    const long = Array.from({ length: 120 }, (_, at) => `line ${at} of the long answer`).join("\n");
    const lost: Step = { hang: "before" };
    const steps: Step[] = [
      lost,
      call("picture", { bytes: 3_000 }),
      call("ask_me", { text: "Go on?", options: ["yes", "no"] }),
      { text: `${long}\nThe end: $results` },
    ];
    await discord.say(script(...steps), dan, { delivery: "8802" });
    fromWanda = await whatsapp.say(script(lost, { text: "an answer a day later" }), wanda);
    const isAsked = (text: string) =>
      stack.model.requests.some(({ messages }) => JSON.stringify(messages).includes(text));
    await until(() => isAsked("Go on?") && isAsked("a day later"), { what: "the model is asked" });
    await stack.worker.kill();
    writtenBefore(stack.gatewayDir, 25 * HOUR_MS);
    changeRows(stack.gatewayDir, "entry", (rows) =>
      rows.exec(
        `UPDATE entry SET body = json_set(body, '$.origin.reply.at', (body ->> '$.origin.reply.at') - 901000) WHERE kind = 'begin'`,
      ),
    );
    discord.fake.interactions.delete("tok-8802");
    await stack.startWorker();
    await stack.gateway.online("eye");
  });

  test("discord, after 15 minutes: the bot sends parts, picture, question and the end of the answer", async () => {
    const fromBot = byBot(dan);
    const asked = await waitForMessage(fromBot, ({ buttons }) => buttons.length === 2, "the question");
    await discord.press(asked.buttons[0]?.data ?? "", dan, dan);
    await waitForText(fromBot, /The end: .*the answer was: yes/s);
    await waitForMessage(fromBot, ({ file }) => file?.bytes === 3_000, "the picture");
    const messages = fromBot.messages();
    expect(messages.filter(({ text }) => text.includes("of the long answer")).length).toBeGreaterThan(1);
    expect(messages.find(({ id }) => id === asked.id)?.buttons).toEqual([]);
    expect(discord.server.calls.filter(({ path }) => path.includes("tok-8802"))).toEqual([]);
    const posted = discord.server.calls
      .filter(({ path, method }) => path === `/channels/5${dan}/messages` && method === "POST")
      .map(({ body }) => /"nonce":"([^"]+)"/.exec(body.toString("utf8"))?.[1]);
    // Each part has its own name, so a repetition is dropped.
    expect(new Set(posted).size).toBe(posted.length);
    expect(posted).not.toContain(undefined);
  });

  test("whatsapp, after 24 hours: nothing is sent until the person writes, and then the held answer comes first", async () => {
    const messages = () =>
      whatsapp.server.calls.filter(
        ({ path, body }) => path.endsWith("/messages") && body.includes(`"to":"${wanda}"`),
      );
    await until(() => stack.worker.lines.some((line) => line.includes("reply.postponed")), {
      within: 20_000,
      what: "the answer is held",
    });
    expect(messages()).toEqual([]);
    await whatsapp.say("/help", wanda);
    await waitForText(fromWanda, "in your own words");
    expect(fromWanda.messages()[0]?.text).toBe("an answer a day later");

    // Also by the platform's own clock.
    whatsapp.fake.isWindowOpen = false;
    await whatsapp.say(script({ text: "what the platform refused" }), wanda);
    await until(() => messages().some(({ status }) => status === 400), { what: "a refusal" });
    const refused = messages().length;
    whatsapp.fake.isWindowOpen = true;
    const next = await whatsapp.say(script({ text: "what came after it" }), wanda);
    await waitForText(next, "what came after it");
    expect(
      fromWanda
        .messages()
        .map(({ text }) => text)
        .slice(-2),
    ).toEqual(["what the platform refused", "what came after it"]);
    expect(messages()).toHaveLength(refused + 2);
  });
});
