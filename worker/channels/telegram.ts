/** Telegram's Bot API. A webhook is authenticated by a secret in a header; Telegram has neither signatures nor times. */

import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Address, PictureRef } from "../api/chat.ts";
import type { TelegramConnection } from "../settings/channels.ts";
import {
  type Act,
  type Channel,
  type Incoming,
  idPart,
  type Line,
  type Received,
  readButton,
} from "./channel.ts";
import { type Content, isPlain } from "./format/blocks.ts";
import { telegramFormat, telegramHtml } from "./format/telegram-html.ts";
import { download, PlatformError, postJson, type Reply, send } from "./platform.ts";
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
const Message = z.looseObject({
  message_id: z.int(),
  message_thread_id: z.optional(z.int()),
  is_topic_message: z.optional(z.boolean()),
  from: z.optional(User),
  chat: z.looseObject({ id: z.int(), type: z.string() }),
  text: z.optional(z.string()),
  caption: z.optional(z.string()),
  photo: z.optional(z.array(File)),
  document: z.optional(File),
  voice: z.optional(File),
  audio: z.optional(File),
});
type Message = z.infer<typeof Message>;
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
  const act = message && toSay(message);
  if (!message?.from || message.from.is_bot || !act)
    return { as: "handled", response: new Response(null, { status: 200 }) };
  return {
    as: "events",
    events: [incoming(connection, update_id, senderOf(message.from), message, act)],
    ack: (words) => ({
      response:
        words === undefined
          ? new Response(null, { status: 200 })
          : // Telegram accepts a call of its API in the webhook's response.
            Response.json({ method: "sendMessage", chat_id: message.chat.id, text: words }),
    }),
  };
}

function toSay(message: Message): Act | undefined {
  const pictures = picturesOf(message);
  const text = message.text ?? message.caption ?? "";
  const unread = pictures.length > 0 ? undefined : unreadIn(message);
  if (text.trim() === "" && pictures.length === 0 && unread === undefined) return undefined;
  return {
    do: "say",
    ...(isForwarded(message) ? { text: "", forwarded: text } : { text }),
    pictures,
    ...(unread !== undefined && { unread }),
  };
}

/** `forward_date` is the field of Bot API versions before 7.0. */
function isForwarded({ forward_origin, forward_date }: Message): boolean {
  return forward_origin !== undefined || forward_date !== undefined;
}

/** @returns the part of a message that cannot be read here, in the person's words */
function unreadIn(message: Message): string | undefined {
  if (message.document) return "a file";
  if (message.voice ?? message.audio) return "a voice message of this length";
  return UNREAD.find(([field]) => message[field] !== undefined)?.[1];
}

const UNREAD = [
  ["sticker", "a sticker"],
  ["venue", "a location"],
  ["location", "a location"],
  ["video", "a video"],
  ["video_note", "a video"],
  ["contact", "a contact"],
  ["poll", "a poll"],
] as const;

/** Takes the largest size of a photo that can be stored, a voice message, or a picture that was sent as a file. */
function picturesOf(message: Message): PictureRef[] {
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
  { connection }: TelegramConnection,
  update: number,
  sender: Sender,
  { chat, is_topic_message, message_thread_id, message_id }: Message,
  act: Act,
): Incoming {
  const thread = is_topic_message ? message_thread_id : undefined;
  const group = chat.type !== "private";
  return {
    delivery: `u${update}`,
    sender,
    conversation: [connection, chat.id, thread].filter((part) => part !== undefined).join(":"),
    group,
    address: {
      connection,
      chat: chat.id,
      ...(thread !== undefined && { thread }),
      // In a group the answer is a reply to the question.
      ...(group && { reply_to: message_id }),
    },
    act,
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
  { connection }: Line<TelegramConnection>,
  method: string,
  body: Record<string, unknown> | FormData,
): Promise<Record<string, unknown>> {
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
  const description = descriptionOf(reply);
  if (/message is not modified/i.test(description)) return {};
  const isGone = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(description);
  throw new PlatformError(
    { kind: isGone ? "not_editable" : "never" },
    `${what}: ${reply.status} ${description}`,
  );
}

function descriptionOf({ body }: Reply): string {
  return typeof body.description === "string" ? cutText(body.description, 200) : "";
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

export const telegram: Channel<TelegramConnection> = {
  format: telegramFormat,
  // Telegram counts after parsing the markup, so the request may be longer.
  textMax: 4_096,
  questionMax: 4_096,
  merges: true,
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
