/** Telegram's Bot API. A webhook is authenticated by a secret in a header; Telegram has neither signatures nor times. */

import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { TelegramConnection } from "../../../kernel/settings/chat.ts";
import type { PictureRef, Quoted } from "../contract.ts";
import {
  type Act,
  type ChatPlatform,
  type Incoming,
  idPart,
  type Line,
  type Received,
  readButton,
} from "./chat-platform.ts";
import { type Content, isPlain } from "./format/blocks.ts";
import { telegramFormat, telegramHtml } from "./format/telegram-html.ts";
import { download, PlatformError, postJson, type Reply, send } from "./platform-request.ts";
import { readCommand } from "./read-command.ts";
import { isSame } from "./signature.ts";

const User = z.looseObject({
  id: z.int(),
  is_bot: z.optional(z.boolean()),
  first_name: z.optional(z.string()),
  username: z.optional(z.string()),
});
const File = z.looseObject({
  file_id: z.string().check(z.maxLength(300)),
  file_size: z.optional(z.number()),
  mime_type: z.optional(z.string()),
});
/** Part of a text, in UTF-16 units. */
const Entity = z.looseObject({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  user: z.optional(User),
});
const content = {
  text: z.optional(z.string()),
  caption: z.optional(z.string()),
  photo: z.optional(z.array(File)),
  document: z.optional(File),
  voice: z.optional(File),
  audio: z.optional(File),
};
/** A message that is replied to has none above it. */
const Replied = z.looseObject({ message_id: z.int(), from: z.optional(User), ...content });
const Message = z.looseObject({
  message_id: z.int(),
  message_thread_id: z.optional(z.int()),
  is_topic_message: z.optional(z.boolean()),
  from: z.optional(User),
  /** Somebody writes as a chat: an anonymous administrator as the group itself, others as a channel. */
  sender_chat: z.optional(z.looseObject({ id: z.int() })),
  is_automatic_forward: z.optional(z.boolean()),
  chat: z.looseObject({ id: z.int(), type: z.string() }),
  ...content,
  // What is odd beside a message must not lose the message.
  entities: z.catch(z.optional(z.array(Entity)), undefined),
  caption_entities: z.catch(z.optional(z.array(Entity)), undefined),
  reply_to_message: z.catch(z.optional(Replied), undefined),
  /** The part of it that the person chose. */
  quote: z.catch(z.optional(z.looseObject({ text: z.string() })), undefined),
  /** It is a message of another chat. */
  external_reply: z.catch(z.optional(z.looseObject({ photo: z.optional(z.array(File)) })), undefined),
});
type Message = z.infer<typeof Message>;
type Contents = Pick<Message, keyof typeof content> & Record<string, unknown>;
const Update = z.looseObject({
  update_id: z.int(),
  message: z.optional(Message),
  callback_query: z.optional(
    z.looseObject({ id: z.string(), from: User, message: z.optional(Message), data: z.optional(z.string()) }),
  ),
});

type Sender = { id: string; name: string };

async function read(
  { headers, body }: { headers: Headers; body: Uint8Array },
  connection: TelegramConnection,
): Promise<Received> {
  if (!(await isSame(headers.get("x-telegram-bot-api-secret-token") ?? "", connection.secret)))
    return { as: "refused", status: 401, message: "the webhook's secret token is wrong" };
  const read = checkJson(Update, new TextDecoder().decode(body));
  if (!read.ok) return { as: "refused", status: 400, message: read.error };
  const { update_id, message, callback_query: press } = read.value;
  if (press) {
    const act = readButton(press.data);
    const at = press.message;
    if (!act || !at) return { as: "handled", response: Response.json(answerPress(press.id, undefined)) };
    return {
      as: "events",
      events: [incoming(connection, update_id, senderOf(press.from), at, act)],
      ack: (words) => ({ response: Response.json(answerPress(press.id, words)) }),
    };
  }
  const act = message && toSay(message, botId(connection));
  if (!message?.from || !act || !(await isForUs(message, connection)))
    return { as: "handled", response: new Response(null, { status: 200 }) };
  const ack = (words: string | undefined) => ({
    response:
      words === undefined
        ? new Response(null, { status: 200 })
        : // Telegram accepts a call of its API in the webhook's response.
          Response.json({ method: "sendMessage", ...place(addressOf(connection, message)), text: words }),
  });
  if (message.sender_chat) return { as: "handled", response: ack(NO_NAME).response };
  if (message.from.is_bot) return { as: "handled", response: new Response(null, { status: 200 }) };
  const said = { ...act, text: await withoutMention(act.text, message, connection) };
  return {
    as: "events",
    events: [incoming(connection, update_id, senderOf(message.from), message, said)],
    ack,
  };
}

const NO_NAME =
  "You write as a chat, so I cannot tell who you are. Write as yourself (an administrator turns “Remain anonymous” off), or in a private chat.";

function toSay(message: Message, bot: number): (Act & { do: "say" }) | undefined {
  const own = picturesOf(message);
  const text = message.text ?? message.caption ?? "";
  const unread = own.length > 0 ? undefined : unsupportedPart(message);
  if (text.trim() === "" && own.length === 0 && unread === undefined) return undefined;
  const { quoted, pictures } = quotedIn(message, bot);
  return {
    do: "say",
    ...(isForwarded(message) ? { text: "", forwarded: text } : { text }),
    pictures: [...own, ...pictures],
    ...(unread !== undefined && { unread }),
    ...(quoted && { quoted }),
  };
}

/** Reads what a message replies to, with its picture. */
function quotedIn(message: Message, bot: number): { quoted?: Quoted; pictures: PictureRef[] } {
  const { reply_to_message: replied, quote, external_reply } = message;
  // In a topic every message replies to the one that began it.
  const isTopic = replied?.forum_topic_created !== undefined;
  const source: Contents | undefined = isTopic ? undefined : (replied ?? external_reply);
  if (!source) return { pictures: [] };
  const pictures = picturesOf(source).filter(({ voice }) => !voice);
  const text = quote?.text ?? source.text ?? source.caption ?? "";
  const what =
    pictures.length > 0 ? "a picture" : (unsupportedPart(source) ?? "a message that cannot be read here");
  return {
    quoted: { by: authorOf(message, bot), text: text.trim() === "" ? `(${what})` : text },
    pictures,
  };
}

function authorOf({ from, reply_to_message: replied }: Message, bot: number): Quoted["by"] {
  if (!replied?.from || replied.sender_chat !== undefined || isForwarded(replied)) return "others";
  if (replied.from.id === bot) return "us";
  return replied.from.id === from?.id ? "person" : "others";
}

/** Tells whether another wrote it: it was forwarded, or an inline bot wrote it. `forward_date` is the field of Bot API versions before 7.0. */
function isForwarded({ forward_origin, forward_date, via_bot }: Record<string, unknown>): boolean {
  return forward_origin !== undefined || forward_date !== undefined || via_bot !== undefined;
}

/** A bot's token begins with its id. */
function botId({ token }: TelegramConnection): number {
  return Number(token.split(":", 1)[0]);
}

/**
 * In a group a bot may get every message: as an administrator, or without privacy mode. For us are those that mention it, reply to it, or
 * are a command of ours.
 */
async function isForUs(message: Message, connection: TelegramConnection): Promise<boolean> {
  const { chat, reply_to_message: replied, is_automatic_forward } = message;
  if (chat.type === "private") return true;
  if (connection.groups === "off" || is_automatic_forward) return false;
  const text = message.text ?? message.caption ?? "";
  const [, other] = /^\/\w+@(\w+)/.exec(text.trim()) ?? [];
  if (other !== undefined) return await isUs(other, connection);
  if (text.trim().startsWith("/") && readCommand(text)) return true;
  const bot = botId(connection);
  if (replied?.from?.id === bot && replied.forum_topic_created === undefined) return true;
  const entities = message.entities ?? message.caption_entities ?? [];
  for (const { type, offset, length, user } of entities) {
    if (type === "text_mention" && user?.id === bot) return true;
    const name = text.slice(offset + 1, offset + length);
    if (type === "mention" && (await isUs(name, connection))) return true;
  }
  return false;
}

/** `@our_bot what is on?` is the question alone. */
async function withoutMention(
  text: string,
  { chat }: Message,
  connection: TelegramConnection,
): Promise<string> {
  const [mention = "", name = ""] = /^\s*@(\w+)[\s,:]*/.exec(text) ?? [];
  const isOurs = chat.type !== "private" && name !== "" && (await isUs(name, connection));
  return isOurs && text.length > mention.length ? text.slice(mention.length) : text;
}

const UserName = z.looseObject({ username: z.optional(z.string()) });
/** The key is the token. A bot is hardly ever renamed, so an isolate asks once. */
const userNames = new Map<string, Promise<string | undefined>>();

/** @throws PlatformError: Telegram delivers the message again */
async function isUs(name: string, connection: TelegramConnection): Promise<boolean> {
  const { token } = connection;
  let known = userNames.get(token);
  if (!known) {
    known = call({ connection, address: { connection: connection.connection } }, "getMe", {}).then(
      (me) => UserName.safeParse(me).data?.username,
    );
    userNames.set(token, known);
    known.catch(() => userNames.delete(token));
  }
  return (await known)?.toLowerCase() === name.toLowerCase();
}

/** @returns the part of a message that cannot be read here, in the person's words */
function unsupportedPart(message: Contents): string | undefined {
  if (message.animation) return "an animation";
  if (message.document) return "a file";
  if (message.voice ?? message.audio) return "a voice message of this length";
  const found = UNREAD.find(([field]) => message[field] !== undefined)?.[1];
  if (found !== undefined || message.text !== undefined || message.photo) return found;
  // What Telegram adds one day is said too. What it tells of the chat itself is nobody's message.
  return Object.keys(message).some((field) => !IS_FRAME.test(field)) ? "this kind of message" : undefined;
}

/** Fields that every message may have, and those of messages about the chat itself (https://core.telegram.org/bots/api#message). */
const IS_FRAME =
  /^(message_|is_|from$|sender_|chat|date$|edit_|entities$|caption|reply_|quote$|external_reply$|via_bot$|forward_|has_|show_|author_|media_group_id$|business_|effect_id$|link_preview|paid_star_count$|direct_messages_topic$|suggested_post_|ephemeral_|receiver_|guest_|new_|left_|delete_|group_|supergroup_|channel_|migrate_|pinned_|successful_payment$|refunded_|users_shared$|connected_|write_access|passport_|proximity_|boost_|forum_|general_forum_|giveaway_c|direct_message_price|paid_message_price|checklist_tasks_|video_chat_|web_app_data$|gift|unique_gift|poll_option_|managed_)/;

const UNREAD = [
  ["dice", "a dice"],
  ["story", "a story"],
  ["paid_media", "paid media"],
  ["checklist", "a checklist"],
  ["game", "a game"],
  ["invoice", "an invoice"],
  ["sticker", "a sticker"],
  ["venue", "a location"],
  ["location", "a location"],
  ["video", "a video"],
  ["video_note", "a video"],
  ["contact", "a contact"],
  ["poll", "a poll"],
] as const;

/** Takes the largest size of a photo that can be stored, a voice message, or a picture that was sent as a file. */
function picturesOf(message: Contents): PictureRef[] {
  const { photo = [], document, voice, audio } = message;
  const fits = ({ file_size = 0 }: { file_size?: number | undefined }) => file_size <= MEDIA_MAX_BYTES;
  const largest = photo.findLast(fits);
  if (largest) return [{ ref: largest.file_id }];
  const spoken = voice ?? audio;
  const own = voice !== undefined && !isForwarded(message);
  if (spoken && fits(spoken)) return [{ ref: spoken.file_id, voice: true, ...(own && { own }) }];
  return document?.mime_type?.startsWith("image/") && fits(document) ? [{ ref: document.file_id }] : [];
}

function incoming(
  connection: TelegramConnection,
  update: number,
  sender: Sender,
  message: Message,
  act: Act,
): Incoming {
  const address = addressOf(connection, message);
  const { chat, thread } = address;
  return {
    delivery: `u${update}`,
    sender,
    conversation: [connection.connection, chat, thread].filter((part) => part !== undefined).join(":"),
    group: message.chat.type !== "private",
    address,
    act,
  };
}

function addressOf(
  { connection }: TelegramConnection,
  { chat, is_topic_message, message_thread_id, message_id }: Message,
): Address {
  return {
    connection,
    chat: chat.id,
    ...(is_topic_message && message_thread_id !== undefined && { thread: message_thread_id }),
    // In a group the answer is a reply to the question.
    ...(chat.type !== "private" && { reply_to: message_id }),
  };
}

function senderOf({ id, first_name, username }: z.infer<typeof User>): Sender {
  return { id: idPart(id) ?? "", name: username ? `@${username}` : (first_name ?? "") };
}

const ALERT_MAX = 200;

/** A pressed button shows that it waits until this answer. */
function answerPress(id: string, words: string | undefined): Record<string, unknown> {
  const alert = words === undefined ? {} : { text: cutText(words, ALERT_MAX), show_alert: true };
  return { method: "answerCallbackQuery", callback_query_id: id, ...alert };
}

async function call(
  line: Line<TelegramConnection>,
  method: string,
  body: Record<string, unknown> | FormData,
): Promise<Record<string, unknown>> {
  const { connection } = line;
  const url = `${connection.base_url}/bot${connection.token}/${method}`;
  const what = `telegram ${method}`;
  const reply =
    body instanceof FormData
      ? await send(what, url, { method: "POST", body })
      : await postJson(what, url, body);
  if (reply.status === 200 && reply.body.ok === true) {
    const { result } = reply.body;
    return typeof result === "object" && result !== null ? (result as Record<string, unknown>) : {};
  }
  const said = reply.body.description;
  const description = typeof said === "string" ? cutText(said, 200) : "";
  if (/message is not modified/i.test(description)) return {};
  const moved = movedTo(reply, description);
  const again = moved && retargeted(body, moved);
  if (again) return await call(line, method, again);
  const isGone = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(description);
  throw new PlatformError(
    { kind: isGone ? "not_editable" : "never" },
    `${what}: ${reply.status} ${description}`,
  );
}

/** The place has changed: a group became a supergroup, whose id the error has, or the topic is gone or closed, and the general one is there. */
function movedTo(
  { status, body }: Reply,
  description: string,
): Record<string, number | undefined> | undefined {
  if (status !== 400) return undefined;
  const { migrate_to_chat_id: chat } = (body.parameters ?? {}) as { migrate_to_chat_id?: unknown };
  // The messages of a supergroup are counted anew, and a reply takes a message of its own topic.
  if (typeof chat === "number")
    return { chat_id: chat, message_thread_id: undefined, reply_parameters: undefined };
  return /message thread not found|TOPIC_(DELETED|CLOSED|ID_INVALID)/i.test(description)
    ? { message_thread_id: undefined, reply_parameters: undefined }
    : undefined;
}

/** The request as it is sent once more. @returns undefined: it says already what `moved` wants */
function retargeted<T extends Record<string, unknown> | FormData>(
  body: T,
  moved: Record<string, number | undefined>,
): T | undefined {
  if (!(body instanceof FormData)) {
    const isNew = Object.entries(moved).some(([field, value]) => body[field] !== value);
    return isNew ? { ...body, ...moved } : undefined;
  }
  const copy = new FormData();
  let isNew = false;
  for (const [field, value] of body) if (!(field in moved)) copy.append(field, value);
  for (const [field, value] of Object.entries(moved)) {
    if (body.get(field) !== (value === undefined ? null : String(value))) isNew = true;
    if (value !== undefined) copy.set(field, String(value));
  }
  return isNew ? (copy as T) : undefined;
}

function place({ chat, thread, reply_to }: Address): Record<string, unknown> {
  return {
    chat_id: chat,
    ...(thread !== undefined && { message_thread_id: thread }),
    ...(reply_to !== undefined && {
      reply_parameters: { message_id: reply_to, allow_sending_without_reply: true },
    }),
  };
}

async function sayText(
  line: Line<TelegramConnection>,
  content: Content,
  edit: string | undefined,
  more: Record<string, unknown> = {},
): Promise<string | undefined> {
  const method = edit === undefined ? "sendMessage" : "editMessageText";
  const target =
    edit === undefined ? place(line.address) : { chat_id: line.address.chat, message_id: Number(edit) };
  const body = { ...target, link_preview_options: { is_disabled: true }, ...more };
  const text = isPlain(content)
    ? { text: content.blocks.map((block) => (block.kind === "plain" ? block.text : "")).join("\n") }
    : { text: telegramHtml(content.blocks), parse_mode: "HTML" };
  const result = await call(line, method, { ...body, ...text });
  return typeof result.message_id === "number" ? String(result.message_id) : edit;
}

/** The types that sendPhoto accepts. Other files are sent as documents. */
const PHOTO_TYPES = ["image/png", "image/jpeg", "image/webp"];

export const telegram: ChatPlatform<TelegramConnection> = {
  format: telegramFormat,
  // Telegram counts after parsing the markup, so the request may be longer.
  textMax: 4_096,
  questionMax: 4_096,
  merges: true,
  needsWord: true,
  privateChat: ({ connection }, id) =>
    /^\d{1,15}$/.test(id)
      ? { conversation: `${connection}:${id}`, address: { connection, chat: Number(id) } }
      : undefined,
  read,
  text: (line, content, { edit, live }) =>
    sayText(line, content, edit, live === "list" && edit === undefined ? { disable_notification: true } : {}),
  question: (line, content, buttons) =>
    sayText(line, content, undefined, {
      reply_markup: {
        inline_keyboard: buttons.map(({ label, data }) => [{ text: label, callback_data: data }]),
      },
    }),
  async close(line, message, content) {
    await sayText(line, content, message, { reply_markup: { inline_keyboard: [] } });
  },
  async attachment(line, { name, mediaType, data }) {
    const form = (field: string) => {
      const body = new FormData();
      for (const [key, value] of Object.entries(place(line.address)))
        body.set(key, typeof value === "object" ? JSON.stringify(value) : String(value));
      body.set(field, new Blob([data], { type: mediaType }), name);
      return body;
    };
    const asFile = () => call(line, "sendDocument", form("document"));
    if (!PHOTO_TYPES.includes(mediaType)) return void (await asFile());
    await call(line, "sendPhoto", form("photo")).catch((error: unknown) => {
      // sendPhoto refuses large pictures, which a document may contain.
      if (error instanceof PlatformError && error.refusal.kind === "never") return asFile();
      throw error;
    });
  },
  async typing(line) {
    const { chat_id, message_thread_id } = place(line.address);
    await call(line, "sendChatAction", { chat_id, message_thread_id, action: "typing" });
  },
  // Limits: about one a second in a private chat; 20 a minute in a group, whose id is below 0.
  editEveryMs: ({ chat }) => (Number(chat) < 0 ? 4_000 : 1_500),
  async picture(line, { ref }) {
    const { file_path } = await call(line, "getFile", { file_id: ref });
    const { base_url, token } = line.connection;
    if (typeof file_path !== "string" || !/^[\w./-]{1,300}$/.test(file_path) || file_path.includes(".."))
      throw new PlatformError({ kind: "never" }, "telegram getFile: no path");
    return await download("telegram file", `${base_url}/file/bot${token}/${file_path}`, {
      maxBytes: MEDIA_MAX_BYTES,
      allowed: () => true,
    });
  },
};
