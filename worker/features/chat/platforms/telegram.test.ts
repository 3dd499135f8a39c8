/** Which updates of Telegram are for us, whose words are in them, and where an answer goes when its place has moved. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TelegramConnection } from "../../../kernel/settings/chat.ts";
import { plainContent } from "./format/blocks.ts";
import { telegram } from "./telegram.ts";

const BOT = 123456;
const SECRET = "a-secret-of-the-webhook";
const connection = {
  channel: "telegram",
  connection: "family",
  token: `${BOT}:a-token-of-a-test-bot`,
  secret: SECRET,
  base_url: "https://api.telegram.example",
  groups: "reads",
} as TelegramConnection;

type Request = { method: string; body: Record<string, unknown> };
let requests: Request[] = [];
let refuse: (request: Request) => Record<string, unknown> | undefined = () => undefined;

beforeEach(() => {
  requests = [];
  refuse = () => undefined;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const method = url.split("/").at(-1) ?? "";
    const { body } = init;
    const fields = body instanceof FormData ? Object.fromEntries(body) : JSON.parse(String(body));
    const request = { method, body: fields as Record<string, unknown> };
    requests.push(request);
    const refused = refuse(request);
    if (refused) return Response.json({ ok: false, error_code: 400, ...refused }, { status: 400 });
    const result = method === "getMe" ? { id: BOT, username: "Home_Bot" } : { message_id: 9 };
    return Response.json({ ok: true, result });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const PERSON = { id: 7, is_bot: false, first_name: "Mia" };
const OTHER = { id: 8, is_bot: false, first_name: "Ben" };
const US = { id: BOT, is_bot: true, first_name: "Home" };
const GROUP = { id: -5, type: "supergroup" };

async function read(message: Record<string, unknown>) {
  const chat = { id: 7, type: "private" };
  const whole = { message_id: 1, date: 1, from: PERSON, chat, ...message };
  const received = await telegram.read(
    {
      method: "POST",
      url: new URL("https://gateway.example/webhooks/telegram/family"),
      headers: new Headers({ "x-telegram-bot-api-secret-token": SECRET }),
      body: new TextEncoder().encode(JSON.stringify({ update_id: 1, message: whole })),
    },
    connection,
    Date.now(),
  );
  if (received.as === "events") return received.events[0]?.act;
  return received.as === "handled" ? await received.response.text() : received.as;
}

const mention = (text: string) => ({
  text,
  entities: [{ type: "mention", offset: text.indexOf("@"), length: /@\w+/.exec(text)?.[0].length ?? 0 }],
});

describe("C7: in a group where the bot gets every message", () => {
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ["a sentence", { text: "it is cold today" }, undefined],
    ["a mention", mention("@home_bot is it cold?"), "is it cold?"],
    ["a mention at the end", mention("is it cold @Home_Bot"), "is it cold @Home_Bot"],
    [
      "a mention in a caption",
      {
        caption: "@home_bot what is it?",
        caption_entities: mention("@home_bot what is it?").entities,
        photo: [{ file_id: "p" }],
      },
      "what is it?",
    ],
    [
      "a mention by name",
      { text: "Home, is it cold?", entities: [{ type: "text_mention", offset: 0, length: 4, user: US }] },
      "Home, is it cold?",
    ],
    ["a mention of another bot", mention("@other_bot is it cold?"), undefined],
    [
      "a reply to the bot",
      { text: "and now?", reply_to_message: { message_id: 3, from: US, text: "12 °C" } },
      "and now?",
    ],
    [
      "a reply to another",
      { text: "and now?", reply_to_message: { message_id: 3, from: OTHER, text: "12 °C" } },
      undefined,
    ],
    [
      "a message in a topic that the bot began",
      {
        text: "hi all",
        message_thread_id: 3,
        is_topic_message: true,
        reply_to_message: { message_id: 3, from: US, forum_topic_created: { name: "t" } },
      },
      undefined,
    ],
    ["a command of ours", { text: "/stop" }, "/stop"],
    ["a command for us", { text: "/stop@home_bot" }, "/stop@home_bot"],
    ["a command for another bot", { text: "/stop@other_bot" }, undefined],
    ["a command for another bot that mentions us", { ...mention("/stop@other_bot @home_bot") }, undefined],
    ["another bot's command", { text: "/weather" }, undefined],
    ["a sticker", { sticker: { file_id: "s" } }, undefined],
  ])("%s", async (_, message, text) => {
    const act = await read({ chat: GROUP, ...message });
    if (text === undefined) expect(act).toBe("");
    else expect(act).toMatchObject({ do: "say", text });
  });
});

describe("C2: what a message replies to", () => {
  const replied = (more: Record<string, unknown>) => ({
    message_id: 3,
    from: OTHER,
    text: "the pump is hot",
    ...more,
  });
  test.each<[string, Record<string, unknown>, unknown]>([
    ["another's message", { reply_to_message: replied({}) }, { by: "others", text: "the pump is hot" }],
    ["our message", { reply_to_message: replied({ from: US }) }, { by: "us", text: "the pump is hot" }],
    [
      "the person's own",
      { reply_to_message: replied({ from: PERSON }) },
      { by: "person", text: "the pump is hot" },
    ],
    [
      "what the person forwarded",
      { reply_to_message: replied({ from: PERSON, forward_origin: {} }) },
      { by: "others", text: "the pump is hot" },
    ],
    [
      "what the person sent by another bot",
      { reply_to_message: replied({ from: PERSON, via_bot: {} }) },
      { by: "others", text: "the pump is hot" },
    ],
    [
      "a channel's message",
      { reply_to_message: replied({ from: PERSON, sender_chat: { id: -9 } }) },
      { by: "others", text: "the pump is hot" },
    ],
    [
      "a part of it",
      { reply_to_message: replied({}), quote: { text: "is hot", position: 9 } },
      { by: "others", text: "is hot" },
    ],
    [
      "a message of another chat",
      { external_reply: { origin: {} }, quote: { text: "is hot" } },
      { by: "others", text: "is hot" },
    ],
    [
      "a picture of another chat",
      { external_reply: { origin: {}, photo: [{ file_id: "p" }] } },
      { by: "others", text: "(a picture)" },
    ],
    [
      "a sticker",
      { reply_to_message: replied({ text: undefined, sticker: {} }) },
      { by: "others", text: "(a sticker)" },
    ],
    [
      "the beginning of its topic",
      { is_topic_message: true, reply_to_message: replied({ forum_topic_created: {} }) },
      undefined,
    ],
  ])("%s", async (_, message, quoted) => {
    const act = (await read({ text: "why?", ...message })) as { text: string; quoted?: unknown };
    expect([act.text, act.quoted]).toEqual(["why?", quoted]);
  });

  test("an odd form beside it does not lose the message", async () => {
    const odd = { reply_to_message: { message_id: "x" }, quote: 5, entities: [{}], external_reply: null };
    expect(await read({ text: "why?", ...odd })).toMatchObject({ do: "say", text: "why?" });
  });

  test("the picture in it comes with the question", async () => {
    const reply_to_message = replied({ text: undefined, caption: "look", photo: [{ file_id: "p1" }] });
    expect(await read({ text: "what is that?", reply_to_message })).toMatchObject({
      pictures: [{ ref: "p1" }],
      quoted: { by: "others", text: "look" },
    });
  });
});

describe("C10: what cannot be read is said", () => {
  test.each([
    ["dice", { dice: { emoji: "🎲", value: 3 } }, "a dice"],
    ["a story", { story: { id: 1 } }, "a story"],
    ["paid media", { paid_media: { star_count: 1 } }, "paid media"],
    ["a checklist", { checklist: { title: "buy" } }, "a checklist"],
    ["a GIF", { animation: { file_id: "g" }, document: { file_id: "g" } }, "an animation"],
    ["what Telegram adds one day", { hologram: {} }, "this kind of message"],
  ])("%s", async (_, message, unread) => {
    expect(await read(message)).toMatchObject({ do: "say", text: "", unread });
  });

  test.each(["new_chat_title", "pinned_message", "video_chat_started", "boost_added", "migrate_to_chat_id"])(
    "what Telegram tells of the chat itself is no message: %s",
    async (field) => {
      expect(await read({ [field]: {} })).toBe("");
    },
  );

  const GROUP_ITSELF = { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
  test("an anonymous administrator who asks us is told why there is no answer", async () => {
    const answer = await read({
      chat: GROUP,
      from: GROUP_ITSELF,
      sender_chat: GROUP,
      ...mention("@home_bot hi"),
    });
    expect(JSON.parse(String(answer))).toMatchObject({
      method: "sendMessage",
      chat_id: -5,
      text: expect.stringContaining("Remain anonymous"),
      reply_parameters: { message_id: 1 },
    });
    expect(await read({ chat: GROUP, from: GROUP_ITSELF, sender_chat: GROUP, text: "hi all" })).toBe("");
  });
});

describe("C8: the place of an answer has moved", () => {
  const line = (address: object) => ({ connection, address: { connection: "family", chat: -5, ...address } });
  const say = (address: object) => telegram.text(line(address), plainContent("12 °C"), { nonce: "1" });

  test("a group became a supergroup: the answer goes to its new id, a file too", async () => {
    refuse = ({ body }) =>
      Number(body.chat_id) === -5
        ? {
            description: "Bad Request: group chat was upgraded to a supergroup chat",
            parameters: { migrate_to_chat_id: -1001 },
          }
        : undefined;
    expect(await say({ reply_to: 3 })).toBe("9");
    expect(requests.at(-1)?.body).toMatchObject({ chat_id: -1001, text: "12 °C" });
    // Messages there are counted anew: this number is another message's.
    expect(requests.at(-1)?.body).not.toHaveProperty("reply_parameters");
    const data = new Uint8Array([1]);
    await telegram.attachment(
      line({}),
      { name: "a.txt", mediaType: "text/plain", data, sha256: "" },
      { nonce: "2" },
    );
    expect(requests.at(-1)?.body).toMatchObject({ chat_id: "-1001" });
    expect(requests).toHaveLength(4);
  });

  test.each(["message thread not found", "TOPIC_DELETED", "TOPIC_CLOSED"])(
    "the topic is gone (%s): the answer goes to the general one",
    async (error) => {
      refuse = ({ body }) =>
        body.message_thread_id === undefined ? undefined : { description: `Bad Request: ${error}` };
      expect(await say({ thread: 71, reply_to: 3 })).toBe("9");
      expect(requests.at(-1)?.body).toMatchObject({ chat_id: -5, text: "12 °C" });
      expect(requests.at(-1)?.body).not.toHaveProperty("reply_parameters");
    },
  );

  test("the general topic is closed too: it is refused for good, and asked once", async () => {
    refuse = () => ({ description: "Bad Request: TOPIC_CLOSED" });
    await expect(say({})).rejects.toMatchObject({ refusal: { kind: "never" } });
    expect(requests).toHaveLength(1);
  });
});
