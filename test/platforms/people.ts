/** A person on each platform: speaks and presses buttons as the platform passes it on, and sees what it shows. */
import { FakeCallback, standardHeaders, WEBHOOK_SECRET } from "./callback.ts";
import { DISCORD_PUBLIC_KEY, DISCORD_TOKEN, discordHeaders, FakeDiscord } from "./discord.ts";
import type { PlatformServer, Shown } from "./server.ts";
import { FakeSlack, SLACK_SECRET, SLACK_TOKEN, slackHeaders } from "./slack.ts";
import { BOT_TOKEN, FakeTelegram } from "./telegram.ts";
import {
  FakeWhatsApp,
  PHONE,
  WHATSAPP_SECRET,
  WHATSAPP_TOKEN,
  WHATSAPP_VERIFY,
  whatsappHeaders,
} from "./whatsapp.ts";

export const TELEGRAM_SECRET = "test-webhook-secret-of-telegram";
/** Ids that every platform takes. */
export const OWNER = "1001";
export const MEMBER = "1002";

export type Said = {
  status: number;
  /** Until it was acknowledged. */
  ms: number;
  /** What the acknowledgement says to the person, if anything. */
  words: string | undefined;
  /** What stands in the chat now. */
  shown(): Shown[];
};

export type Saying = { delivery?: string; picture?: boolean; group?: boolean };

export type Person = {
  channel: string;
  /** Its entry in CHANNELS. */
  settings: Record<string, unknown>;
  server: PlatformServer;
  /** Of one message. */
  textMax: number;
  buttons: boolean;
  say(text: string, from: string, how?: Saying): Promise<Said>;
  press(data: string, from: string): Promise<Said>;
  /** The platform's request with a signature that is wrong, or one that is old. */
  forged(): Promise<number>;
  old?(): Promise<number>;
  limit(seconds: number): void;
};

type Post = (path: string, init: RequestInit) => Promise<Response>;
let counter = 0;
const next = () => (counter += 1);

const common = (channel: string) => ({
  connection: "family",
  channel,
  home: "a",
  role_of: { [OWNER]: "owner", [MEMBER]: "member" },
});

async function timed(
  post: Post,
  path: string,
  body: string,
  headers: Record<string, string>,
  read: (body: Record<string, unknown>) => unknown,
  shown: () => Shown[],
): Promise<Said> {
  const began = performance.now();
  const response = await post(`/webhooks/${path}/family`, { method: "POST", headers, body });
  const text = await response.text();
  const ms = performance.now() - began;
  const words = text.startsWith("{") ? read(JSON.parse(text) as Record<string, unknown>) : undefined;
  return { status: response.status, ms, words: typeof words === "string" ? words : undefined, shown };
}

export async function onTelegram(post: Post): Promise<Person & { fake: FakeTelegram }> {
  const fake = await FakeTelegram.start();
  const headers = { "x-telegram-bot-api-secret-token": TELEGRAM_SECRET, "content-type": "application/json" };
  const send = (update: Record<string, unknown>, chat: number) =>
    timed(
      post,
      "telegram",
      JSON.stringify(update),
      headers,
      ({ text }) => text,
      () => fake.chat(chat),
    );
  return {
    fake,
    channel: "telegram",
    server: fake.server,
    settings: {
      ...common("telegram"),
      token: BOT_TOKEN,
      secret: TELEGRAM_SECRET,
      base_url: fake.server.url,
      groups: "reads",
    },
    textMax: 4_096,
    buttons: true,
    say(text, from, { delivery, picture, group } = {}) {
      const chat = group ? -Number(from) : Number(from);
      const said = picture
        ? {
            caption: text,
            photo: [
              { file_id: "photo-0", file_size: 90e6 },
              { file_id: "photo-1", file_size: 70 },
            ].reverse(),
          }
        : { text };
      const message = {
        message_id: next(),
        from: { id: Number(from), is_bot: false, first_name: "P", username: `p${from}` },
        chat: { id: chat, type: group ? "supergroup" : "private" },
        ...said,
      };
      return send({ update_id: Number(delivery ?? 10_000 + next()), message }, chat);
    },
    press(data, from) {
      const message = { message_id: 1, chat: { id: Number(OWNER), type: "private" } };
      const callback_query = { id: `q${next()}`, from: { id: Number(from), is_bot: false }, message, data };
      return send({ update_id: 10_000 + next(), callback_query }, Number(OWNER));
    },
    async forged() {
      const wrong = { ...headers, "x-telegram-bot-api-secret-token": `${TELEGRAM_SECRET}x` };
      return (await post("/webhooks/telegram/family", { method: "POST", headers: wrong, body: "{}" })).status;
    },
    limit: (seconds) => fake.limit(seconds),
  };
}

export async function onSlack(post: Post): Promise<Person & { fake: FakeSlack }> {
  const fake = await FakeSlack.start();
  const send = async (
    body: string,
    type: string,
    from: string,
    channel: string,
    at?: number,
    secret?: string,
  ) => {
    const headers = { "content-type": type, ...slackHeaders(body, at, secret) };
    const before = fake.whispers.length;
    const said = await timed(
      post,
      "slack",
      body,
      headers,
      () => undefined,
      () => fake.channel(channel),
    );
    // Slack's own way to say something to one person is a call of the API, a moment later.
    return Object.defineProperty(said, "words", {
      get: () => fake.whispers.slice(before).find(({ user }) => user === from)?.text,
    });
  };
  const event = (text: string, from: string, { delivery, picture, group }: Saying) => ({
    type: "event_callback",
    team_id: "T1",
    event_id: `Ev${delivery ?? next()}`,
    event: {
      type: group ? "app_mention" : "message",
      channel_type: group ? "channel" : "im",
      channel: `${group ? "C" : "D"}${from}`,
      user: from,
      text: group ? `<@U0BOT> ${text}` : text,
      ts: `16${next()}.0001`,
      ...(picture && {
        subtype: "file_share",
        files: [{ mimetype: "image/png", url_private: `${fake.server.url}/files/one.png` }],
      }),
    },
  });
  return {
    fake,
    channel: "slack",
    server: fake.server,
    settings: {
      ...common("slack"),
      token: SLACK_TOKEN,
      secret: SLACK_SECRET,
      base_url: `${fake.server.url}/api`,
      groups: "reads",
    },
    textMax: 12_000,
    buttons: true,
    say: (text, from, how = {}) =>
      send(
        JSON.stringify(event(text, from, how)),
        "application/json",
        from,
        `${how.group ? "C" : "D"}${from}`,
      ),
    press(data, from) {
      const payload = JSON.stringify({
        type: "block_actions",
        user: { id: from, username: `p${from}` },
        team: { id: "T1" },
        channel: { id: `D${OWNER}` },
        container: { message_ts: "1" },
        actions: [{ value: data, action_ts: `17${next()}.1` }],
      });
      const body = new URLSearchParams({ payload }).toString();
      return send(body, "application/x-www-form-urlencoded", from, `D${OWNER}`);
    },
    forged: async () =>
      (await send("{}", "application/json", OWNER, "D1", undefined, "another secret")).status,
    old: async () =>
      (await send("{}", "application/json", OWNER, "D1", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}

export async function onDiscord(post: Post): Promise<Person & { fake: FakeDiscord }> {
  const fake = await FakeDiscord.start();
  const tokens = new Map<string, string>();
  const send = (interaction: Record<string, unknown>, token: string, at?: number) => {
    const body = JSON.stringify(interaction);
    const headers = { "content-type": "application/json", ...discordHeaders(body, at) };
    const words = ({ data }: Record<string, unknown>) => (data as { content?: string } | undefined)?.content;
    return timed(post, "discord", body, headers, words, () => fake.deferred(token));
  };
  const ping = { type: 1, id: "1", application_id: "42", token: "ping" };
  return {
    fake,
    channel: "discord",
    server: fake.server,
    settings: {
      ...common("discord"),
      token: DISCORD_TOKEN,
      public_key: DISCORD_PUBLIC_KEY,
      base_url: fake.server.url,
      groups: "reads",
    },
    textMax: 2_000,
    buttons: true,
    say(text, from, { delivery, picture, group } = {}) {
      const id = delivery ?? String(1_000 + next());
      const token = `tok-${id}`;
      tokens.set(from, token);
      fake.deferred(token);
      const [command, ...rest] = text.startsWith("/") ? text.slice(1).split(" ") : ["ask", text];
      const words = rest.join(" ");
      const user = { id: from, username: `p${from}` };
      const attachments = { "77": { url: `${fake.server.url}/one.png`, content_type: "image/png" } };
      return send(
        {
          type: 2,
          id,
          application_id: "42",
          token,
          channel_id: `5${from}`,
          ...(group ? { guild_id: "9", member: { user } } : { context: 1, user }),
          data: {
            name: command,
            options: words === "" ? [] : [{ name: "text", value: words }],
            ...(picture && { resolved: { attachments } }),
          },
        },
        token,
      );
    },
    press(data, from) {
      const token = tokens.get(OWNER) ?? "";
      const user = { id: from, username: `p${from}` };
      return send(
        {
          type: 3,
          id: String(1_000 + next()),
          application_id: "42",
          token: `press-${next()}`,
          channel_id: `5${OWNER}`,
          context: 1,
          user,
          data: { custom_id: data },
        },
        token,
      );
    },
    async forged() {
      const body = JSON.stringify(ping);
      const headers = discordHeaders(`${body} `);
      return (await post("/webhooks/discord/family", { method: "POST", headers, body })).status;
    },
    old: async () => (await send(ping, "ping", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}

export async function onWhatsApp(post: Post): Promise<Person & { fake: FakeWhatsApp }> {
  const fake = await FakeWhatsApp.start();
  const send = async (message: Record<string, unknown>, from: string, chat = from) => {
    const value = {
      metadata: { phone_number_id: PHONE },
      contacts: [{ wa_id: from, profile: { name: `P ${from}` } }],
      messages: [{ from, timestamp: "1", ...message }],
    };
    const body = JSON.stringify({ entry: [{ changes: [{ value }] }] });
    const before = fake.chat(from).length;
    const said = await timed(
      post,
      "whatsapp",
      body,
      whatsappHeaders(body),
      () => undefined,
      () => fake.chat(chat),
    );
    return Object.defineProperty(said, "words", { get: () => fake.chat(from)[before]?.text });
  };
  return {
    fake,
    channel: "whatsapp",
    server: fake.server,
    settings: {
      ...common("whatsapp"),
      token: WHATSAPP_TOKEN,
      secret: WHATSAPP_SECRET,
      verify_token: WHATSAPP_VERIFY,
      phone_number_id: PHONE,
      base_url: fake.server.url,
    },
    textMax: 4_096,
    buttons: true,
    say(text, from, { delivery, picture } = {}) {
      const said = picture
        ? { type: "image", image: { id: "777", caption: text } }
        : { type: "text", text: { body: text } };
      return send({ id: `wamid.${delivery ?? next()}`, ...said }, from);
    },
    press: (data, from) =>
      send(
        { id: `wamid.p${next()}`, type: "interactive", interactive: { button_reply: { id: data } } },
        from,
        OWNER,
      ),
    async forged() {
      const headers = whatsappHeaders("{}", "another secret");
      return (await post("/webhooks/whatsapp/family", { method: "POST", headers, body: "{}" })).status;
    },
    limit: () => fake.limit(),
  };
}

/** A program that is answered at a callback. */
export async function onGeneric(post: Post): Promise<Person & { fake: FakeCallback }> {
  const fake = await FakeCallback.start();
  const shown = (conversation: string): Shown[] =>
    fake.told
      .filter((one) => one.conversation === conversation)
      .map(({ id, text, choices, question, type, name, data, media_type }) => ({
        id,
        text: String(text ?? ""),
        buttons: ((choices ?? []) as string[]).map((label, at) => ({ label, data: `q:${question}:${at}` })),
        ...(type === "file" && {
          file: {
            name: String(name),
            bytes: Buffer.from(String(data), "base64").length,
            type: String(media_type),
          },
        }),
      }));
  const send = (body: string, chat: string, id = `m${next()}`, at?: number, key?: Buffer<ArrayBuffer>) => {
    const words = ({ error }: Record<string, unknown>) =>
      (error as { message?: string } | undefined)?.message;
    return timed(post, "generic", body, standardHeaders(body, id, at, key), words, () => shown(chat));
  };
  return {
    fake,
    channel: "generic",
    server: fake.server,
    settings: { ...common("generic"), secret: WEBHOOK_SECRET, callback_url: `${fake.server.url}/told` },
    textMax: 32_000,
    buttons: true,
    say: (text, from, { delivery } = {}) =>
      send(JSON.stringify({ text, sender: from, conversation: from }), from, delivery),
    press(data, from) {
      const [, question, choice] = data.split(":");
      const answer = { question, choice: Number(choice) };
      return send(JSON.stringify({ answer, sender: from, conversation: OWNER }), OWNER);
    },
    forged: async () => (await send("{}", OWNER, "m", undefined, Buffer.from("another key"))).status,
    old: async () => (await send("{}", OWNER, "m", Math.floor(Date.now() / 1_000) - 301)).status,
    limit: (seconds) => fake.limit(seconds),
  };
}
