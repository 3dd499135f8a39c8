/**
 * Any program: it posts JSON and gets its answer in the response, or at the callback address of the settings. It authenticates
 * with a bearer token or with Standard Webhooks (https://www.standardwebhooks.com), a signature over id, time and body. Requests to
 * the callback are always signed in the second way.
 */
import { toBase64, tryFromBase64 } from "@edgecall/core/encoding.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { pictureOfUrl } from "../../../kernel/api/media.ts";
import type { GenericConnection } from "../../../kernel/settings/chat.ts";
import {
  type Act,
  type Button,
  type ChatPlatform,
  type Incoming,
  idPart,
  type Line,
  type RawRequest,
  type Received,
  readRuleButton,
} from "./chat-platform.ts";
import { type Content, isPlain } from "./format/blocks.ts";
import { commonMarkdown, markdownFormat } from "./format/discord-markdown.ts";
import { PlatformError, send } from "./platform-request.ts";
import { hmac, isHmac, isRecent, isSame } from "./signature.ts";

const STANDARD = "whsec_";
/** The picture is stored in a row until the turn begins, and a row has 1.9 MB at most. */
const IMAGE_MAX_CHARS = 1_400_000;

const id = z.string().check(z.regex(/^[A-Za-z0-9._@-]{1,64}$/, "expected 1 to 64 of A-Z a-z 0-9 . _ @ -"));
const Body = z.strictObject({
  /** Identifies the message; a repeat has the same id. */
  id: z.optional(id),
  conversation: z._default(id, "default"),
  sender: z.optional(id),
  text: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(32_000))),
  images: z.optional(
    z
      .array(
        z.string().check(
          z.maxLength(IMAGE_MAX_CHARS),
          z.refine((url) => pictureOfUrl(url) !== undefined, "expected data:image/png;base64,…"),
        ),
      )
      .check(z.maxLength(8)),
  ),
  /** A button below what a rule said, as it was sent to the callback. */
  press: z.optional(z.string().check(z.maxLength(64))),
  /** The answer to a question that was sent to the callback. */
  answer: z.optional(
    z.strictObject({
      question: z
        .string()
        .check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "expected a question's id")),
      /** One of `choices`, or its index in them, from 0. */
      choice: z.union([
        z.int().check(z.minimum(0), z.maximum(99)),
        z.string().check(z.trim(), z.minLength(1), z.maxLength(4_000)),
      ]),
    }),
  ),
});

async function read(request: RawRequest, connection: GenericConnection, now: number): Promise<Received> {
  const checked = connection.secret.startsWith(STANDARD)
    ? await isStandard(request, connection, now)
    : await isBearer(request, connection);
  if (!checked.ok) return { as: "refused", status: 401, message: checked.message };
  const read = checkJson(Body, new TextDecoder().decode(request.body));
  if (!read.ok) return { as: "refused", status: 400, message: read.error };
  const { text = "", images = [], answer, press, conversation, sender } = read.value;
  const rule = readRuleButton(press ?? "");
  if (press !== undefined && !rule)
    return { as: "refused", status: 400, message: "press: expected the data of a button" };
  const act: Act | undefined =
    text !== "" || images.length > 0
      ? { do: "say", text, pictures: images.map((ref) => ({ ref })) }
      : rule
        ? { do: "press", rule }
        : answer && { do: "press", question: answer.question, choice: answer.choice };
  if (!act) return { as: "refused", status: 400, message: "text: expected what the person says" };
  const delivery = checked.delivery ?? read.value.id ?? crypto.randomUUID();
  const from = sender ?? connection.connection;
  const event: Incoming = {
    delivery: `g${delivery}`,
    sender: { id: from, name: from },
    conversation: `${connection.connection}:${conversation}`,
    group: false,
    address: { connection: connection.connection, conversation },
    act,
  };
  return {
    as: "events",
    events: [event],
    ack: (words) => ({
      response:
        words === undefined
          ? Response.json({ conversation, accepted: true }, { status: 202 })
          : Response.json({ error: { code: "refused", message: words } }, { status: 403 }),
    }),
  };
}

type Checked = { ok: true; delivery?: string } | { ok: false; message: string };

async function isBearer({ headers }: RawRequest, { secret }: GenericConnection): Promise<Checked> {
  const token = /^Bearer (\S{1,1000})$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  if (!(await isSame(token, secret)))
    return { ok: false, message: "Authorization: the bearer token is wrong" };
  const delivery = headers.get("idempotency-key") ?? undefined;
  if (delivery !== undefined && !/^[\x21-\x7e]{1,100}$/.test(delivery))
    return { ok: false, message: "Idempotency-Key: expected 1 to 100 characters without spaces" };
  return { ok: true, ...(delivery !== undefined && { delivery }) };
}

async function isStandard(
  { headers, body }: RawRequest,
  connection: GenericConnection,
  now: number,
): Promise<Checked> {
  const delivery = headers.get("webhook-id") ?? "";
  const at = headers.get("webhook-timestamp");
  if (!/^[\x21-\x2d\x2f-\x7e]{1,100}$/.test(delivery))
    return { ok: false, message: "webhook-id: expected 1 to 100 characters" };
  if (!isRecent(at, now)) return { ok: false, message: "webhook-timestamp: more than 5 minutes off" };
  // There are several signatures while a secret is being changed.
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").slice(0, 5);
  for (const signature of signatures) {
    const mac = signature.startsWith("v1,") ? tryFromBase64(signature.slice(3)) : undefined;
    if (await isHmac(signingKey(connection), `${delivery}.${at}.`, body, mac)) return { ok: true, delivery };
  }
  return { ok: false, message: "webhook-signature is wrong" };
}

function signingKey({ secret }: GenericConnection): Uint8Array | string {
  if (!secret.startsWith(STANDARD)) return secret;
  return tryFromBase64(secret.slice(STANDARD.length)) ?? secret;
}

/** @param nonce lets the receiver drop a repeat */
async function callBack(
  { connection, address }: Line<GenericConnection>,
  nonce: string,
  message: Record<string, unknown>,
): Promise<undefined> {
  if (connection.callback_url === undefined)
    throw new PlatformError({ kind: "never" }, "callback_url: not set any more");
  const body = JSON.stringify({ conversation: address.conversation, ...message });
  const at = Math.floor(Date.now() / 1_000);
  const mac = await hmac(signingKey(connection), `${nonce}.${at}.${body}`);
  const { status } = await send("callback", connection.callback_url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": nonce,
      "webhook-timestamp": String(at),
      "webhook-signature": `v1,${toBase64(mac)}`,
    },
    body,
  });
  if (status < 200 || status > 299) throw new PlatformError({ kind: "never" }, `callback: ${status}`);
  return undefined;
}

function noticeOf(text: string, buttons: readonly Button[]): Record<string, unknown> {
  return { type: "notice", text, buttons: buttons.map(({ label, data }) => ({ label, press: data })) };
}

const TEXT_MAX = 32_000;

/** A program gets the Markdown as it was written, or a part of it. */
function sourceOf({ blocks, markdown }: Content): string {
  return markdown !== undefined && markdown.length <= TEXT_MAX ? markdown : commonMarkdown(blocks);
}

export const generic: ChatPlatform<GenericConnection> = {
  textMax: TEXT_MAX,
  questionMax: 8_000,
  format: markdownFormat,
  merges: false,
  // The conversation is named by the person's id, which the program behind the callback knows.
  privateChat: ({ connection, callback_url }, id) =>
    callback_url === undefined || idPart(id) === undefined
      ? undefined
      : { conversation: `${connection}:${id}`, address: { connection, conversation: id } },
  read,
  text: (line, content, { nonce }) =>
    callBack(line, nonce, {
      type: "message",
      text: sourceOf(content),
      ...(isPlain(content) && { plain: true }),
    }),
  question: (line, content, buttons, { nonce }) =>
    callBack(
      line,
      nonce,
      isPlain(content)
        ? noticeOf(sourceOf(content), buttons)
        : {
            type: "question",
            text: sourceOf(content),
            question: buttons[0]?.data.split(":")[1],
            choices: buttons.map(({ answer }) => answer),
          },
    ),
  async attachment(line, { name, mediaType, data }, { nonce }) {
    await callBack(line, nonce, { type: "file", name, media_type: mediaType, data: toBase64(data) });
  },
  async picture(_, { ref }) {
    const found = pictureOfUrl(ref);
    const data = found && tryFromBase64(found.base64);
    if (!data) throw new PlatformError({ kind: "never" }, "images: a data: URL holds no base64");
    return { mediaType: found.mediaType, data };
  },
};
