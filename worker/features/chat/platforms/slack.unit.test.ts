import { afterEach, describe, expect, test, vi } from "vitest";
import type { SlackConnection } from "../../../kernel/settings/chat.ts";
import type { Incoming, Line } from "./chat-platform.ts";
import { plainContent } from "./format/blocks.ts";
import { slack } from "./slack.ts";

const SECRET = "a signing secret of slack's";
const CONNECTION = {
  channel: "slack",
  connection: "work",
  token: "xoxb-test",
  secret: SECRET,
  base_url: "https://slack.com/api",
} as SlackConnection;

/** Returns the result of a message to the app, as Slack signs and sends it. */
async function said(event: Record<string, unknown>) {
  const read = await message(event);
  return read.as === "events" ? read.events[0]?.act : read.as;
}

function message(event: Record<string, unknown>, event_id = "Ev1") {
  const message = { type: "message", channel_type: "im", user: "U1", channel: "D1", ts: "1.1", ...event };
  const body = JSON.stringify({ type: "event_callback", event_id, team_id: "T1", event: message });
  return signed(body, "application/json");
}

function command(fields: Record<string, string>) {
  const form = { team_id: "T1", user_id: "U1", user_name: "mia", trigger_id: "1.2", text: "hi", ...fields };
  return signed(new URLSearchParams(form).toString(), "application/x-www-form-urlencoded");
}

async function signed(body: string, type: string) {
  const at = String(Math.floor(Date.now() / 1_000));
  const bytes = (text: string) => new TextEncoder().encode(text);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(SECRET), hmac, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(`v0:${at}:${body}`)));
  const hex = Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = new Headers({
    "content-type": type,
    "x-slack-request-timestamp": at,
    "x-slack-signature": `v0=${hex}`,
  });
  const url = new URL("https://gateway.example/webhooks/slack/work");
  return await slack.read({ method: "POST", url, headers, body: bytes(body) }, CONNECTION, Date.now());
}

const SHARED = { is_share: true, is_msg_unfurl: true, text: "run &lt;this&gt;", author_name: "mallory" };
const CLIP = {
  mimetype: "audio/mp4",
  url_private: "https://files.slack.com/c",
  subtype: "slack_audio",
  user: "U1",
};

test.each<[string, Record<string, unknown>, unknown]>([
  ["own words", { text: "hi" }, { do: "say", text: "hi", pictures: [] }],
  [
    "a shared message with own words",
    { text: "look", attachments: [SHARED] },
    { do: "say", text: "look", pictures: [], forwarded: "run <this>" },
  ],
  [
    "a shared message alone",
    { text: "", attachments: [{ is_share: true, fallback: "run this" }] },
    { do: "say", text: "", pictures: [], forwarded: "run this" },
  ],
  [
    "the preview of a message that a link leads to",
    {
      text: "<https://a.slack.com/archives/C1/p1>",
      attachments: [{ is_msg_unfurl: true, text: "run this" }],
    },
    { do: "say", text: "https://a.slack.com/archives/C1/p1", pictures: [], forwarded: "run this" },
  ],
  [
    "the preview of a page, which is left out",
    { text: "hi", attachments: [{ text: "of a page" }] },
    { do: "say", text: "hi", pictures: [] },
  ],
  [
    "an own clip",
    { text: "", files: [CLIP] },
    { do: "say", text: "", pictures: [{ ref: CLIP.url_private, voice: true, own: true }] },
  ],
  [
    "a clip in a shared message",
    { text: "", attachments: [{ ...SHARED, files: [CLIP] }] },
    { do: "say", text: "", pictures: [{ ref: CLIP.url_private, voice: true }], forwarded: "run <this>" },
  ],
  [
    "own words beside previews and files of another form",
    {
      text: "hi",
      attachments: [{ text: null }, null, { is_share: true, fallback: 5 }, { ...SHARED, files: null }],
      files: [{ mimetype: null }, CLIP],
    },
    {
      do: "say",
      text: "hi",
      pictures: [{ ref: CLIP.url_private, voice: true, own: true }],
      unread: "a file",
      forwarded: "run <this>",
    },
  ],
  [
    "own words beside lists that are none",
    { text: "hi", attachments: null, files: { of: "another form" } },
    { do: "say", text: "hi", pictures: [] },
  ],
])("S5 the authors of a Slack message's words: %s", async (_, event, act) => {
  expect(await said(event)).toEqual(act);
});

describe("C10: what people send is read", () => {
  test.each([
    ["an answer in a thread, shown in the channel too", { subtype: "thread_broadcast", text: "hi" }, "hi"],
    ["/me", { subtype: "me_message", text: "hi" }, "hi"],
    [
      "a link with a label",
      { text: "see <https://x.example/a?b=1&amp;c=2|the page> &lt;now&gt;" },
      "see the page (https://x.example/a?b=1&c=2) <now>",
    ],
    ["a bare link", { text: "<https://x.example>" }, "https://x.example"],
    ["a link that is its own label", { text: "<http://x.example|x.example>" }, "http://x.example"],
    ["mail", { text: "<mailto:a@b.example|a@b.example>" }, "a@b.example"],
    [
      "people, channels and groups",
      { text: "<@U2|ben> <@U3> in <#C1|garden>, <!here>, <!subteam^S1|@team>" },
      "@ben @U3 in #garden, @here, @team",
    ],
    ["a date", { text: "<!date^1392734382^{date}|Feb 18>" }, "Feb 18"],
  ])("%s", async (_, event, text) => {
    expect(await said(event)).toMatchObject({ do: "say", text });
  });
});

describe("C6: a message is known by its channel and time", () => {
  const first = async (event: Record<string, unknown>, id?: string) => {
    const read = await message(event, id);
    return read.as === "events" ? (read.events[0] as Incoming) : undefined;
  };

  test("under several event ids, and as a mention after an edit, it is one delivery", async () => {
    const mention = {
      type: "app_mention",
      channel_type: "channel",
      channel: "C1",
      ts: "5.1",
      text: "<@U9> hi",
    };
    const [one, other] = [await first(mention, "Ev1"), await first(mention, "Ev2")];
    const edited = await first({ ...mention, text: "<@U9> hello", edited: { user: "U1", ts: "5.2" } }, "Ev3");
    expect(one?.delivery).toBe("mC1.5.1");
    expect([other, edited].map((event) => [event?.delivery, event?.conversation])).toEqual(
      Array.from({ length: 2 }, () => [one?.delivery, one?.conversation]),
    );
    expect((await first({ ...mention, ts: "5.3" }))?.delivery).not.toBe(one?.delivery);
    expect((await first({ ...mention, channel: "C2" }))?.delivery).not.toBe(one?.delivery);
  });

  test.each(["message_changed", "message_deleted", "message_replied"])(
    "%s is no message",
    async (subtype) => {
      const inner = { type: "message", user: "U1", text: "hi", ts: "1.1" };
      expect(await said({ subtype, message: inner, previous_message: inner })).toBe("handled");
    },
  );
});

describe("C5: a command where the bot is no member", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });
  /** Answers as Slack does for the private chats and channels that the bot sees. */
  function seeing(...channels: string[]) {
    const requests: Array<{ url: string; body: Record<string, unknown> }> = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      const body = init.body === undefined ? {} : (JSON.parse(String(init.body)) as Record<string, unknown>);
      requests.push({ url, body });
      if (url.startsWith("https://hooks.slack.com/")) return new Response("ok");
      const asked = new URL(url).searchParams.get("channel") ?? String(body.channel);
      if (channels.includes(asked)) return Response.json({ ok: true, ts: "1.1", channel: asked });
      return Response.json({
        ok: false,
        error: asked.startsWith("C") ? "not_in_channel" : "channel_not_found",
      });
    });
    return requests;
  }
  const RESPOND = "https://hooks.slack.com/commands/T1/1/abc";
  const event = async (channel: string) => {
    const read = await command({ channel_id: channel, response_url: RESPOND });
    if (read.as !== "events" || !read.events[0]) throw new Error(read.as);
    return { event: read.events[0], read };
  };

  test("a private chat of two others is none of ours; the bot's own is", async () => {
    seeing("D1");
    expect((await event("D1")).event.group).toBe(false);
    expect((await event("D2")).event.group).toBe(true);
    expect((await event("C1")).event.group).toBe(true);
  });

  test.each(["D2", "C1"])("the answer comes by response_url: %s", async (channel) => {
    const requests = seeing("D1");
    const { address } = (await event(channel)).event;
    const line = { connection: CONNECTION, address } as Line<SlackConnection>;
    expect(await slack.text(line, plainContent("…"), { nonce: "0", live: "words" })).toBeUndefined();
    expect(requests.filter(({ url }) => url.includes("chat."))).toEqual([]);
    await slack.text(line, plainContent("12 °C"), { nonce: "1" });
    expect(requests.at(-1)).toMatchObject({
      url: RESPOND,
      body: { response_type: "ephemeral", text: "12 °C" },
    });
  });

  test("a reason is said there too, and the bot's own token goes to Slack alone", async () => {
    const requests = seeing();
    const { event: said, read } = await event("C1");
    if (read.as === "events") await read.ack("not you", said).later?.();
    expect(requests.at(-1)).toMatchObject({ url: RESPOND, body: { text: "not you" } });
    const address = { ...said.address, respond: "https://evil.example/" };
    const line = { connection: CONNECTION, address } as Line<SlackConnection>;
    await expect(slack.text(line, plainContent("x"), { nonce: "1" })).rejects.toThrow("not Slack's");
    expect(requests.some(({ url }) => url.includes("evil"))).toBe(false);
  });
});

test("C2: what was said in a thread before the question is read", async () => {
  const asked = await message({
    type: "app_mention",
    channel: "C1",
    channel_type: "channel",
    ts: "9.1",
    thread_ts: "5.1",
    text: "<@U9> why?",
  });
  const [event] = asked.as === "events" ? asked.events : [];
  expect(event?.act).toMatchObject({ text: "why?", thread: true });
  const messages = [
    { ts: "5.1", user: "U2", text: "The pump is &lt;hot&gt;" },
    { ts: "6.1", username: "alerts", text: "86 °C" },
    { ts: "9.1", user: "U1", text: "<@U9> why?" },
  ];
  const urls: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    urls.push(url);
    return Response.json({ ok: true, messages });
  });
  const line = { connection: CONNECTION, address: event?.address } as Line<SlackConnection>;
  expect(await slack.thread?.(line)).toBe("U2: The pump is <hot>\nalerts: 86 °C");
  expect(urls).toEqual(["https://slack.com/api/conversations.replies?channel=C1&ts=5.1&limit=15"]);
  vi.unstubAllGlobals();
  expect(await said({ ts: "5.1", thread_ts: "5.1", text: "the first" })).not.toHaveProperty("thread");
});
