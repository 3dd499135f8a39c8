/**
 * Discord over HTTP interactions: slash commands and buttons. Ordinary messages do not come this way.
 *
 * The immediate answer to an interaction is "thinking …". The interaction's token can edit that answer and add messages for 15
 * minutes. Later, and for a job's result, the bot writes to the channel if it has the right to.
 */

import { fromHex } from "@edgecall/core/encoding.ts";
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DiscordConnection } from "../../../kernel/settings/chat.ts";
import type { PictureRef } from "../contract.ts";
import {
  type Ack,
  type Act,
  type Button,
  type ChatPlatform,
  type Incoming,
  idPart,
  type Line,
  type RawRequest,
  type Received,
  readButton,
  type TextSending,
} from "./chat-platform.ts";
import { isPlain } from "./format/blocks.ts";
import { discordFormat, discordMarkdown, escapeMarkdown } from "./format/discord-markdown.ts";
import { download, isOn, PlatformError, postJson, type Reply, send } from "./platform-request.ts";
import { isEd25519, isRecent } from "./signature.ts";

/** An interaction's token is valid for 15 minutes. A request has to arrive before its end. */
const TOKEN_LIFE_MS = 14 * 60_000;
/** A message flag: only the person sees the answer. */
const EPHEMERAL = 64;

const PING = 1;
const COMMAND = 2;
const COMPONENT = 3;
const PONG = 1;
const MESSAGE = 4;
const THINKING = 5;
const DEFERRED_UPDATE = 6;

const snowflake = z.string().check(z.regex(/^\d{1,20}$/));
const User = z.looseObject({ id: snowflake, username: z.optional(z.string()) });
const Attachment = z.looseObject({ url: z.string(), content_type: z.optional(z.string()) });
/** `referenced_message`: the one that it replies to. `message_snapshots`: those that it forwards. */
const Said = {
  content: z.optional(z.string()),
  author: z.optional(User),
  attachments: z.optional(z.array(Attachment)),
};
const Message = z.looseObject({
  ...Said,
  referenced_message: z.optional(z.nullable(z.looseObject(Said))),
  message_snapshots: z.optional(z.array(z.looseObject({ message: z.looseObject(Said) }))),
});
const Interaction = z.looseObject({
  type: z.int(),
  id: z.optional(snowflake),
  application_id: z.optional(snowflake),
  token: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._-]{1,400}$/))),
  guild_id: z.optional(snowflake),
  channel_id: z.optional(snowflake),
  /** 0: a server; 1: the bot's own private channel; 2: a private channel of others. */
  context: z.optional(z.int()),
  member: z.optional(z.looseObject({ user: User })),
  user: z.optional(User),
  data: z.optional(
    z.looseObject({
      name: z.optional(z.string()),
      custom_id: z.optional(z.string()),
      options: z.optional(z.array(z.looseObject({ name: z.string(), value: z.optional(z.unknown()) }))),
      resolved: z.optional(
        z.looseObject({
          attachments: z.optional(z.record(z.string(), Attachment)),
          // One of an unknown form is none that can be asked about.
          messages: z.catch(z.optional(z.record(z.string(), Message)), undefined),
        }),
      ),
      target_id: z.optional(snowflake),
    }),
  ),
});
type Interaction = z.infer<typeof Interaction>;

async function read(request: RawRequest, connection: DiscordConnection, now: number): Promise<Received> {
  const { headers, body } = request;
  const at = headers.get("x-signature-timestamp");
  const signature = fromHex(headers.get("x-signature-ed25519") ?? "");
  if (!isRecent(at, now) || !(await isEd25519(connection.public_key, at ?? "", body, signature)))
    return { as: "refused", status: 401, message: "invalid request signature" };
  const read = checkJson(Interaction, new TextDecoder().decode(body));
  if (!read.ok) return { as: "refused", status: 400, message: read.error };
  const interaction = read.value;
  if (interaction.type === PING) return { as: "handled", response: Response.json({ type: PONG }) };
  const act = actOf(interaction);
  const event = act && incoming(connection, interaction, act, now);
  if (!event) return { as: "handled", response: say("I do not know this.") };
  return { as: "events", events: [event], ack: (words) => acked(event.act, words) };
}

function acked(act: Act, words: string | undefined): Ack {
  if (words !== undefined) return { response: say(words) };
  return { response: Response.json({ type: act.do === "press" ? DEFERRED_UPDATE : THINKING }) };
}

/** Escapes make them twice as long at most. */
const WORDS_MAX = 1_000;

function say(words: string): Response {
  return Response.json({
    type: MESSAGE,
    data: {
      content: escapeMarkdown(cutText(words, WORDS_MAX)),
      flags: EPHEMERAL,
      allowed_mentions: { parse: [] },
    },
  });
}

/** Reads `/ask text:…`, a command of ours with at most one option, or a message for which "Ask about this" was chosen. */
function actOf(interaction: Interaction): Act | undefined {
  const { type, data } = interaction;
  if (type === COMPONENT) return readButton(data?.custom_id);
  if (type !== COMMAND || !data?.name) return undefined;
  const target = data.resolved?.messages?.[data.target_id ?? ""];
  if (target) return aboutMessage(interaction, target);
  const words = (data.options ?? []).find(
    ({ value }) => typeof value === "string" && !isAttachment(data, value),
  );
  const text = typeof words?.value === "string" ? words.value : "";
  const attachments = Object.values(data.resolved?.attachments ?? {});
  const pictures = attachments.flatMap(({ url, content_type = "" }): PictureRef[] => {
    if (!/^(image|audio)\//.test(content_type)) return [];
    return [{ ref: url, ...(content_type.startsWith("audio/") && { voice: true }) }];
  });
  return {
    do: "say",
    text: data.name === "ask" ? text : `/${data.name} ${text}`.trim(),
    pictures,
    ...(attachments.length > pictures.length && { unread: "a file" }),
  };
}

/** Interactions bring no other message. The words are those of its author, and of the one whom it answers. */
function aboutMessage(
  { application_id, member, user }: Interaction,
  {
    content = "",
    author,
    attachments = [],
    referenced_message: replied,
    message_snapshots = [],
  }: z.infer<typeof Message>,
): Act {
  const isForwarded = message_snapshots.length > 0;
  const parts = [
    replied?.content ?? "",
    content,
    ...message_snapshots.map(({ message }) => message.content ?? ""),
  ];
  const text = parts.filter((part) => part.trim() !== "").join("\n\n");
  const asker = (member?.user ?? user)?.id;
  const isOwn = author?.id === asker && !isForwarded && (!replied || replied.author?.id === asker);
  const isOurs = author?.id === application_id && !replied;
  const files = [attachments, ...message_snapshots.map(({ message }) => message.attachments ?? [])].flat();
  const pictures = files.filter(({ content_type = "" }) => content_type.startsWith("image/"));
  return {
    do: "say",
    text: "",
    pictures: pictures.map(({ url }) => ({ ref: url })),
    quoted: { by: isOwn ? "person" : isOurs ? "us" : "others", text: text || "(a message without words)" },
    ...(text === "" && pictures.length === 0 && { unread: "this kind of message" }),
  };
}

function isAttachment(data: NonNullable<Interaction["data"]>, value: string): boolean {
  return Object.hasOwn(data.resolved?.attachments ?? {}, value);
}

function incoming(
  { connection }: DiscordConnection,
  interaction: Interaction,
  act: Act,
  now: number,
): Incoming | undefined {
  const { id, application_id: application, token, guild_id, channel_id: channel, context } = interaction;
  const user = interaction.member?.user ?? interaction.user;
  if (!id || !application || !token || !channel || !user) return undefined;
  return {
    delivery: `i${id}`,
    sender: { id: user.id, name: user.username ?? "" },
    conversation: `${connection}:${guild_id ?? "dm"}:${channel}`,
    group: guild_id !== undefined || context === 2,
    whispers: true,
    address: { connection, application, token, channel, at: now },
    act,
  };
}

type DiscordLine = Line<DiscordConnection>;

function mayReply({ address }: DiscordLine): boolean {
  return Number(address.at) + TOKEN_LIFE_MS > Date.now();
}

/** The first answer replaces "thinking …". A job's result is a later message of its own. */
function isOpen(line: DiscordLine): boolean {
  return mayReply(line) && line.address.late !== true;
}

/** Uses the interaction's webhook while it is valid. Afterwards, or when Discord says that it has ended, the bot sends the message. */
async function call(
  line: DiscordLine,
  method: "POST" | "PATCH",
  message: string | undefined,
  body: Body,
  isLive = false,
): Promise<Record<string, unknown>> {
  const { connection, address } = line;
  const what = `discord ${method}`;
  if (mayReply(line)) {
    const base = `${connection.base_url}/webhooks/${address.application}/${address.token}`;
    const path = message === undefined ? "?wait=true" : `/messages/${message}`;
    const reply = await request(what, base + path, method, body);
    if (isLive || !TOKEN_OVER.includes(Number(reply.body.code))) return resultOf(what, reply);
  }
  const bot = { authorization: `Bot ${connection.token}` };
  const open = async () => {
    const url = `${connection.base_url}/users/@me/channels`;
    return resultOf(what, await request(what, url, "POST", { recipient_id: address.user }, bot)).id;
  };
  const base = `${connection.base_url}/channels/${address.channel ?? (await open())}/messages`;
  // This name of the answer is valid only below the interaction's token.
  if (message === undefined || message === ORIGINAL)
    return resultOf(what, await request(what, base, "POST", body, bot));
  return resultOf(what, await request(what, `${base}/${message}`, method, body, bot));
}

type Body = Record<string, unknown> | FormData;

function request(
  what: string,
  url: string,
  method: string,
  body: Body,
  headers: Record<string, string> = {},
) {
  return body instanceof FormData
    ? send(what, url, { method, headers, body })
    : postJson(what, url, body, headers, method);
}

/** `Unknown Webhook`, `Invalid Webhook Token`. */
const TOKEN_OVER = [10_015, 50_027];
/** `Unknown Message`: it was deleted, or belongs to another token. */
const UNKNOWN_MESSAGE = 10_008;

function resultOf(what: string, { status, body }: Reply): Record<string, unknown> {
  if (status >= 200 && status < 300) return body;
  const message = `${what}: ${status} ${String(body.code ?? "")} ${cutText(String(body.message ?? ""), 200)}`;
  throw new PlatformError({ kind: body.code === UNKNOWN_MESSAGE ? "not_editable" : "never" }, message);
}

/**
 * A message flag: no previews of links. For a preview Discord requests the address as soon as the answer is posted, and a device's text
 * may have put the address there. https://discord.com/developers/docs/resources/message#message-object-message-flags
 */
const SUPPRESS_EMBEDS = 1 << 2;

async function sayText(
  line: DiscordLine,
  content: string,
  { edit, nonce, buttons, live }: Partial<TextSending> & { buttons?: readonly Button[] },
): Promise<string | undefined> {
  const isNew = edit === undefined || (edit === ORIGINAL && !mayReply(line));
  const message = {
    content,
    flags: SUPPRESS_EMBEDS,
    allowed_mentions: { parse: [] },
    ...(buttons && { components: rows(buttons) }),
    // Discord returns the first message when the nonce repeats. Webhooks have no nonce.
    ...(isNew && !mayReply(line) && nonce !== undefined && { nonce, enforce_nonce: true }),
  };
  const place = isNew ? undefined : edit;
  const { id } = await call(line, isNew ? "POST" : "PATCH", place, message, live !== undefined);
  return typeof id === "string" ? id : edit;
}

/** Discord allows five rows of five buttons. */
function rows(buttons: readonly Button[]): unknown[] {
  const all = buttons.slice(0, 25).map(({ label, data }) => ({
    type: 2,
    style: 2,
    label: cutText(label, 80),
    custom_id: data,
  }));
  return Array.from({ length: Math.ceil(all.length / 5) }, (_, row) => ({
    type: 1,
    components: all.slice(row * 5, row * 5 + 5),
  }));
}

/** The name of the answer that shows "thinking …" until it is edited. */
const ORIGINAL = "@original";

export const discord: ChatPlatform<DiscordConnection> = {
  format: discordFormat,
  textMax: 2_000,
  questionMax: 2_000,
  // Each interaction needs its own answer.
  merges: false,
  showsIdsAsNames: true,
  // The private channel is opened by the person's id when there is a message for it.
  privateChat: ({ connection }, id) =>
    idPart(id) === undefined
      ? undefined
      : { conversation: `${connection}:to:${id}`, address: { connection, user: id } },
  opening: (line) => (isOpen(line) ? ORIGINAL : undefined),
  read,
  text: (line, { blocks }, sending) => sayText(line, discordMarkdown(blocks), sending),
  question: (line, { blocks }, buttons, { nonce }) =>
    sayText(line, discordMarkdown(blocks), { nonce, buttons }),
  async close(line, message, content) {
    // Discord shows a mention as the person's name. `allowed_mentions` prevents a notification. In a plain text only our own words name one.
    const text = discordMarkdown(content.blocks);
    const named = isPlain(content)
      ? text.replace(/(\n\n✔ \w+ by )discord\\:(\d{1,25})\b/, "$1<@$2>")
      : text.replace(/ by discord:(\d{1,25})\b/g, " by <@$1>");
    await sayText(line, named, { edit: message, buttons: [] });
  },
  async attachment(line, { name, mediaType, data }, { nonce }) {
    const form = new FormData();
    const more = mayReply(line) ? {} : { nonce, enforce_nonce: true };
    form.set("payload_json", JSON.stringify({ attachments: [{ id: 0, filename: name }], ...more }));
    form.set("files[0]", new Blob([data], { type: mediaType }), name);
    await call(line, "POST", undefined, form);
  },
  // An interaction's token allows 5 requests in 5 s, the answer included.
  editEveryMs: () => 1_500,
  picture: ({ connection }, { ref }) =>
    download("discord attachment", ref, {
      maxBytes: MEDIA_MAX_BYTES,
      allowed: (url) => isOn(url, connection.base_url, ["cdn.discordapp.com", "media.discordapp.net"]),
    }),
};
