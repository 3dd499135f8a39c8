/**
 * WhatsApp's Cloud API. Experimental: since 2026-01-15 Meta's terms forbid services whose main function is an AI assistant, so
 * Meta may close a number at any time. Later than 24 hours after a person's last message WhatsApp delivers only templates: edgecall
 * sends one, for an alert of a rule.
 */

import { fromHex } from "@edgecall/core/encoding.ts";
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { logInfo } from "../../../kernel/log.ts";
import type { WhatsAppConnection } from "../../../kernel/settings/chat.ts";
import type { PictureRef, Quoted } from "../contract.ts";
import {
  type Act,
  type ChatPlatform,
  type Incoming,
  idPart,
  type Line,
  type RawRequest,
  type Received,
  readButton,
} from "./chat-platform.ts";
import { plainContent } from "./format/blocks.ts";
import { whatsappFormat, whatsappText } from "./format/whatsapp-text.ts";
import {
  download,
  isOn,
  PlatformError,
  postJson,
  type Refusal,
  type Reply,
  send,
} from "./platform-request.ts";
import { readCommand } from "./read-command.ts";
import { isHmac, isSame } from "./signature.ts";

const Choice = z.looseObject({ id: z.string(), title: z.optional(z.string()) });
const Named = z.looseObject({
  id: z.string().check(z.regex(/^[A-Za-z0-9._=+/-]{1,200}$/)),
  from: z.optional(z.string()),
  type: z.optional(z.string()),
});
const Contact = z.looseObject({
  wa_id: z.optional(z.string()),
  user_id: z.optional(z.string()),
  profile: z.optional(z.looseObject({ name: z.optional(z.string()) })),
});
const Message = z.looseObject({
  ...Named.shape,
  text: z.optional(z.looseObject({ body: z.string() })),
  image: z.optional(z.looseObject({ id: z.string(), caption: z.optional(z.string()) })),
  audio: z.optional(z.looseObject({ id: z.string(), voice: z.optional(z.boolean()) })),
  /** `from` and `id`: the message that it replies to. */
  context: z.optional(
    z.looseObject({
      forwarded: z.optional(z.boolean()),
      frequently_forwarded: z.optional(z.boolean()),
      from: z.optional(z.string()),
      id: z.optional(z.string()),
    }),
  ),
  /** It was sent in a group. */
  group_id: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._=+@/-]{1,200}$/))),
  document: z.optional(z.looseObject({ caption: z.optional(z.string()) })),
  video: z.optional(z.looseObject({ caption: z.optional(z.string()) })),
  interactive: z.optional(
    z.looseObject({ button_reply: z.optional(Choice), list_reply: z.optional(Choice) }),
  ),
  /** A quick reply below a template. */
  button: z.optional(z.looseObject({ text: z.optional(z.string()), payload: z.optional(z.string()) })),
});
type Message = z.infer<typeof Message>;
/** The state of a message that we sent: sent, delivered, read or failed. */
const Status = z.looseObject({
  status: z.optional(z.string()),
  errors: z.optional(z.array(z.looseObject({ code: z.optional(z.number()) }))),
});
const Body = z.looseObject({
  entry: z
    .array(
      z.looseObject({
        changes: z.array(
          z.looseObject({
            value: z.looseObject({
              metadata: z.optional(
                z.looseObject({
                  phone_number_id: z.string(),
                  display_phone_number: z.optional(z.string()),
                }),
              ),
              // Each is checked by itself: an odd one must not lose the others.
              contacts: z.optional(z.array(z.unknown())),
              messages: z.optional(z.array(z.unknown()).check(z.maxLength(100))),
              statuses: z.optional(z.array(z.unknown()).check(z.maxLength(1_000))),
            }),
          }),
        ),
      }),
    )
    .check(z.maxLength(100)),
});

async function read(request: RawRequest, connection: WhatsAppConnection): Promise<Received> {
  if (request.method === "GET") return await challenge(request.url, connection);
  const mac = /^sha256=([0-9a-f]{64})$/.exec(request.headers.get("x-hub-signature-256") ?? "")?.[1] ?? "";
  if (!(await isHmac(connection.secret, "", request.body, fromHex(mac))))
    return { as: "refused", status: 401, message: "x-hub-signature-256 is wrong" };
  const read = checkJson(Body, new TextDecoder().decode(request.body));
  if (!read.ok) return { as: "refused", status: 400, message: read.error };
  const events = read.value.entry.flatMap(({ changes }) =>
    changes.flatMap(({ value }) =>
      value.metadata?.phone_number_id === connection.phone_number_id
        ? (value.messages ?? []).flatMap(
            (message) =>
              incoming(connection, message, {
                contacts: (value.contacts ?? []).map((one) => Contact.safeParse(one).data ?? {}),
                own: value.metadata?.display_phone_number?.replace(/\D/g, "") ?? "",
              }) ?? [],
          )
        : [],
    ),
  );
  const notice = undelivered(read.value, connection);
  const response = () => new Response(null, { status: 200 });
  if (events.length === 0) return { as: "handled", response: response(), notice };
  return {
    as: "events",
    events,
    notice,
    ack: (words, to) => ({
      response: response(),
      ...(words !== undefined && {
        later: async () => void (await post({ connection, address: to.address }, text(words))),
      }),
    }),
  };
}

/** WhatsApp accepted a message and did not deliver it. The gateway no longer knows which message that was. */
function undelivered(
  { entry }: z.infer<typeof Body>,
  { connection, phone_number_id }: WhatsAppConnection,
): string | undefined {
  let notice: string | undefined;
  for (const { value } of entry.flatMap(({ changes }) => changes))
    for (const one of value.statuses ?? []) {
      const { status, errors = [] } = Status.safeParse(one).data ?? {};
      if (status !== "failed" || value.metadata?.phone_number_id !== phone_number_id) continue;
      const { code } = errors[0] ?? {};
      logInfo("whatsapp.undelivered", { connection, code });
      notice = `WhatsApp (${connection}) did not deliver a message of mine: error ${code}. The log has more of them, this is said once an hour.`;
    }
  return notice;
}

/** Answers Meta's challenge, which verifies that the address is ours. */
async function challenge(url: URL, connection: WhatsAppConnection): Promise<Received> {
  const { searchParams: query } = url;
  const token = query.get("hub.verify_token") ?? "";
  const echo = query.get("hub.challenge") ?? "";
  if (query.get("hub.mode") !== "subscribe" || !(await isSame(token, connection.verify_token)))
    return { as: "refused", status: 403, message: "hub.verify_token is wrong" };
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(echo))
    return { as: "refused", status: 400, message: "hub.challenge: expected letters and digits" };
  return { as: "handled", response: new Response(echo, { headers: { "content-type": "text/plain" } }) };
}

/** @property own the number that people write to, digits alone */
type About = { contacts: ReadonlyArray<z.infer<typeof Contact>>; own: string };

function incoming(
  connection: WhatsAppConnection,
  raw: unknown,
  { contacts, own }: About,
): Incoming | undefined {
  const read = Message.safeParse(raw).data;
  const message = read ?? Named.safeParse(raw).data;
  if (!message) {
    logInfo("whatsapp.odd_message", { connection: connection.connection });
    return undefined;
  }
  const contact = contacts.find(({ wa_id }) => wa_id === message.from) ?? contacts[0];
  // A person with a user name has no number.
  const sender = idPart(message.from ?? contact?.user_id);
  const act = read ? actOf(read, own) : UNKNOWN;
  const group = read?.group_id;
  if (
    !sender ||
    sender.startsWith(GROUP) ||
    !act ||
    (read && group !== undefined && !isForUs(read, act, own))
  )
    return undefined;
  // A group's id may have other signs than a conversation's name.
  const place =
    group === undefined ? sender : `${GROUP}${group.replace(/[^A-Za-z0-9._@-]/g, "-").slice(0, 64)}`;
  return {
    delivery: deliveryOf(message.id),
    sender: { id: sender, name: contact?.profile?.name ?? "" },
    conversation: `${connection.connection}:${place}`,
    group: group !== undefined,
    address: {
      connection: connection.connection,
      to: group ?? sender,
      message: message.id,
      ...(group !== undefined && { group: true }),
    },
    act,
  };
}

/** Begins the place of a group in a conversation's name. No person's id may. */
const GROUP = "group-";

function deliveryOf(id: string): string {
  return `w${id}`;
}

/** Tells whether a group's message is for us: it mentions our number, replies to us, or is a command or button of ours. Every message arrives. */
function isForUs({ text, context }: Message, act: Act, own: string): boolean {
  if (act.do !== "say" || (own !== "" && context?.from === own)) return true;
  return readCommand(act.text) !== undefined || (own !== "" && (text?.body.includes(`@${own}`) ?? false));
}

function actOf(message: Message, own: string): Act | undefined {
  const { type = "", text: typed, image, audio, document, video, interactive, button, context } = message;
  if (IGNORED.includes(type)) return undefined;
  const isForwarded = context?.forwarded === true || context?.frequently_forwarded === true;
  const quoted = quotedIn(message, own);
  const words = (text: string, pictures: PictureRef[] = []) => ({
    do: "say" as const,
    ...(isForwarded ? { text: "", forwarded: text } : { text }),
    pictures,
    ...(quoted && { quoted }),
  });
  if (typed && typed.body.trim() !== "") return words(typed.body);
  if (image) return words(image.caption ?? "", [{ ref: image.id }]);
  const isOwn = audio?.voice === true && !isForwarded;
  if (audio) return words("", [{ ref: audio.id, voice: true, ...(isOwn && { own: true as const }) }]);
  const chosen = interactive?.button_reply ?? interactive?.list_reply;
  const press = readButton(chosen?.id ?? button?.payload);
  if (press) return press;
  const label = chosen?.title ?? button?.text ?? "";
  if (label.trim() !== "") return words(label);
  return { ...words(document?.caption ?? video?.caption ?? ""), unread: UNREAD[type] ?? UNKNOWN.unread };
}

/** WhatsApp names the message alone. Another person's is not known here. */
function quotedIn({ context, from }: Message, own: string): Quoted | undefined {
  if (context?.id === undefined || context.from === undefined) return undefined;
  if (context.from === own) return { by: "us", message: context.id };
  return context.from === from
    ? { by: "person", message: deliveryOf(context.id) }
    : { by: "others", text: "(a message that is not known here)" };
}

/** Nothing that a person says. */
const IGNORED = ["reaction", "system", "request_welcome"];
const UNKNOWN = { do: "say" as const, text: "", pictures: [], unread: "this kind of message" };
/** Names for types of messages that cannot be read. */
const UNREAD: Record<string, string | undefined> = {
  sticker: "a sticker",
  location: "a location",
  document: "a file",
  video: "a video",
  contacts: "a contact",
  order: "an order",
};

type WhatsAppLine = Line<WhatsAppConnection>;

function plainText(words: string): string {
  return whatsappText(plainContent(words).blocks);
}

function text(body: string): Record<string, unknown> {
  return { type: "text", text: { body, preview_url: false } };
}

async function post(line: WhatsAppLine, content: Record<string, unknown>): Promise<string | undefined> {
  const { connection, address } = line;
  const { messages } = resultOf(
    await postJson(
      "whatsapp messages",
      `${connection.base_url}/${connection.phone_number_id}/messages`,
      {
        messaging_product: "whatsapp",
        recipient_type: address.group === true ? "group" : "individual",
        to: address.to,
        ...content,
      },
      authorization(connection),
    ),
  );
  const [first] = Array.isArray(messages) ? (messages as Array<{ id?: unknown }>) : [];
  return typeof first?.id === "string" ? first.id : undefined;
}

function authorization({ token }: WhatsAppConnection): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** More than 24 hours have passed since the person wrote. */
const RE_ENGAGEMENT = 131_047;
/** Rate limits of a minute, an hour, a pair of numbers, and the application. WhatsApp answers them with 400. */
const PASSING = [4, 80_007, 130_429, 131_048, 131_056];
/** WhatsApp does not say when to try again. */
const LIMIT_PAUSE_MS = 4_000;

function resultOf({ status, body }: Reply): Record<string, unknown> {
  if (status >= 200 && status < 300) return body;
  const { code, message = "" } = (body.error ?? {}) as { code?: unknown; message?: unknown };
  const again = typeof code === "number" && PASSING.includes(code);
  const refusal: Refusal = again ? { kind: "again", afterMs: LIMIT_PAUSE_MS } : { kind: "never" };
  throw new PlatformError(
    code === RE_ENGAGEMENT ? { kind: "unheard" } : refusal,
    `whatsapp: ${status} ${String(code)} ${cutText(String(message), 200)}`,
  );
}

const ALERT_MAX = 800;
const BUTTONS_MAX = 3;
const TITLE_MAX = 20;
/** The types of an image message. */
const IMAGE_TYPES = ["image/png", "image/jpeg"];
const IMAGE_MAX_BYTES = 5 * 1024 * 1024;

export const whatsapp: ChatPlatform<WhatsAppConnection> = {
  // Meta's limit for messages that are no templates.
  windowMs: 24 * 3_600_000,
  alert: (line) => {
    const { alert_template: name, alert_language: code, home } = line.connection;
    if (name === undefined) return undefined;
    return async (text) => {
      // A variable has no line breaks, and the message has 1,024 characters at most.
      const values = [home, cutText(text.replace(/\s+/g, " "), ALERT_MAX)];
      const parameters = values.map((value) => ({ type: "text", text: plainText(value) }));
      const components = [{ type: "body", parameters }];
      await post(line, { type: "template", template: { name, language: { code }, components } });
    };
  },
  format: whatsappFormat,
  textMax: 4_096,
  questionMax: 1_024,
  merges: true,
  quotesById: true,
  needsWord: true,
  privateChat: ({ connection }, id) =>
    idPart(id) === undefined || id.startsWith(GROUP)
      ? undefined
      : { conversation: `${connection}:${id}`, address: { connection, to: id } },
  read,
  text: (line, content) => post(line, text(whatsappText(content.blocks))),
  question(line, content, buttons) {
    const body = whatsappText(content.blocks);
    // With more options than WhatsApp can show, people answer with /answer and the number.
    if (buttons.length === 0 || buttons.length > BUTTONS_MAX) return post(line, text(body));
    const replies = buttons.map(({ label, data }, at) => ({
      type: "reply",
      // WhatsApp refuses equal titles, which options with the same beginning would have. The numbered list above has the whole texts.
      reply: {
        id: data,
        title: label.length > TITLE_MAX ? cutText(`${at + 1}. ${label}`, TITLE_MAX) : label,
      },
    }));
    return post(line, {
      type: "interactive",
      interactive: { type: "button", body: { text: body }, action: { buttons: replies } },
    });
  },
  async attachment(line, { name, mediaType, data }) {
    const { connection } = line;
    const form = new FormData();
    form.set("messaging_product", "whatsapp");
    form.set("type", mediaType);
    form.set("file", new Blob([data], { type: mediaType }), name);
    const url = `${connection.base_url}/${connection.phone_number_id}/media`;
    const headers = authorization(connection);
    const { id } = resultOf(await send("whatsapp media", url, { method: "POST", headers, body: form }));
    const isImage = IMAGE_TYPES.includes(mediaType) && data.length <= IMAGE_MAX_BYTES;
    await post(
      line,
      isImage ? { type: "image", image: { id } } : { type: "document", document: { id, filename: name } },
    );
  },
  typing: showTyping,
  async picture({ connection }, { ref }) {
    if (!/^\d{1,40}$/.test(ref)) throw new PlatformError({ kind: "never" }, "whatsapp media: not an id");
    const headers = authorization(connection);
    const { url } = resultOf(await send("whatsapp media", `${connection.base_url}/${ref}`, { headers }));
    return await download("whatsapp media", String(url), {
      headers,
      maxBytes: MEDIA_MAX_BYTES,
      allowed: (at) => isOn(at, connection.base_url, [".fbsbx.com", ".facebook.com", ".whatsapp.net"]),
    });
  },
};

/** Marks the person's message as read, and shows for up to 25 s that an answer is being written. */
async function showTyping({ connection, address }: WhatsAppLine): Promise<void> {
  const body = {
    messaging_product: "whatsapp",
    status: "read",
    message_id: address.message,
    typing_indicator: { type: "text" },
  };
  const url = `${connection.base_url}/${connection.phone_number_id}/messages`;
  resultOf(await postJson("whatsapp typing", url, body, authorization(connection)));
}
