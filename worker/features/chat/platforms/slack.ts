/** Slack: the Events API, block actions and slash commands arrive at one address; answers go out over the Web API. */

import { fromHex } from "@edgecall/core/encoding.ts";
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { SlackConnection } from "../../../kernel/settings/chat.ts";
import type { PictureRef } from "../contract.ts";
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
import { type Content, isPlain, plainContent } from "./format/blocks.ts";
import { type Element, slackFallback, slackFormat, slackRichText } from "./format/slack-rich-text.ts";
import { download, isOn, PlatformError, postJson, type Reply, send } from "./platform-request.ts";
import { isHmac, isRecent } from "./signature.ts";

const id = z.string().check(z.regex(/^[A-Za-z0-9._-]{1,64}$/));
const File = z.looseObject({
  mimetype: z.optional(z.string()),
  url_private: z.optional(z.string()),
  subtype: z.optional(z.string()),
  user: z.optional(z.string()),
});
/** A message that the person shared, or the preview of one that a link leads to. */
const Attachment = z.looseObject({
  is_share: z.optional(z.boolean()),
  is_msg_unfurl: z.optional(z.boolean()),
  text: z.optional(z.string()),
  fallback: z.optional(z.string()),
});
const Event = z.looseObject({
  type: z.string(),
  subtype: z.optional(z.string()),
  bot_id: z.optional(z.string()),
  user: z.optional(id),
  text: z.optional(z.string()),
  channel: z.optional(id),
  channel_type: z.optional(z.string()),
  ts: z.optional(id),
  thread_ts: z.optional(id),
  // `files` and `attachments` are checked separately: one of an unknown form must not lose the person's text.
});
const Envelope = z.looseObject({
  type: z.string(),
  challenge: z.optional(z.string().check(z.maxLength(300))),
  team_id: z.optional(id),
  event: z.optional(Event),
  /** The first one is the app's own user. */
  authorizations: z.catch(
    z.optional(z.array(z.looseObject({ user_id: z.optional(z.nullable(z.string())) }))),
    undefined,
  ),
});
const Actions = z.looseObject({
  type: z.string(),
  user: z.looseObject({ id, username: z.optional(z.string()) }),
  team: z.looseObject({ id }),
  channel: z.looseObject({ id }),
  container: z.looseObject({ thread_ts: z.optional(id), is_ephemeral: z.optional(z.boolean()) }),
  response_url: z.optional(z.string()),
  actions: z.array(z.looseObject({ value: z.optional(z.string()), action_ts: id })),
});

async function read(request: RawRequest, connection: SlackConnection, now: number): Promise<Received> {
  const { headers, body } = request;
  const at = headers.get("x-slack-request-timestamp");
  if (!isRecent(at, now))
    return { as: "refused", status: 401, message: "x-slack-request-timestamp: more than 5 minutes off" };
  const signature = /^v0=([0-9a-f]{64})$/.exec(headers.get("x-slack-signature") ?? "")?.[1] ?? "";
  if (!(await isHmac(connection.secret, `v0:${at}:`, body, fromHex(signature))))
    return { as: "refused", status: 401, message: "x-slack-signature is wrong" };
  const text = new TextDecoder().decode(body);
  const isForm = (headers.get("content-type") ?? "").startsWith("application/x-www-form-urlencoded");
  return isForm ? readForm(new URLSearchParams(text), connection) : readEnvelope(text, connection);
}

/** Subtypes of what a person says; `thread_broadcast`: an answer in a thread that is shown in the channel too. Edits have others. */
const SAID = ["file_share", "thread_broadcast", "me_message"];

function readEnvelope(text: string, connection: SlackConnection): Received {
  const read = checkJson(Envelope, text);
  if (!read.ok) return { as: "refused", status: 400, message: read.error };
  const { type, challenge, team_id = "", event, authorizations } = read.value;
  if (type === "url_verification") return { as: "handled", response: Response.json({ challenge }) };
  const private_ = event?.channel_type === "im";
  const isSaid =
    event &&
    (event.type === "app_mention" ? !private_ : event.type === "message" && private_) &&
    (event.subtype === undefined || SAID.includes(event.subtype)) &&
    event.bot_id === undefined;
  if (!isSaid || !event.user || !event.channel || !event.ts) return handled();
  const shared = listed(Attachment, event.attachments).filter((one) => one?.is_share || one?.is_msg_unfurl);
  const sharedFiles = shared.flatMap((one) => listed(File, one?.files));
  const files = [...listed(File, event.files), ...sharedFiles];
  const pictures = files.flatMap((file): PictureRef[] => {
    const { mimetype = "", url_private: ref, subtype, user } = file ?? {};
    if (ref === undefined || !/^(image|audio)\//.test(mimetype)) return [];
    if (!mimetype.startsWith("audio/")) return [{ ref }];
    // The subtype shows that Slack itself recorded the clip.
    const own = subtype === "slack_audio" && user === event.user && !sharedFiles.includes(file);
    return [{ ref, voice: true, ...(own && { own }) }];
  });
  const forwarded = shared
    .map((one) => unescaped(one?.text ?? one?.fallback ?? ""))
    .join("\n\n")
    .trim();
  const unread = files.length > pictures.length ? "a file" : undefined;
  const words = unmentioned(event.text ?? "", authorizations?.[0]?.user_id ?? (private_ ? "" : undefined));
  if (words === "" && forwarded === "" && pictures.length === 0 && unread === undefined) return handled();
  // In a channel the answer opens a thread, and each thread is a conversation.
  const thread = event.thread_ts ?? (private_ ? undefined : event.ts);
  const act: Act = {
    do: "say",
    text: words,
    pictures,
    ...(unread !== undefined && { unread }),
    ...(forwarded !== "" && { forwarded }),
    ...(event.thread_ts !== undefined && event.thread_ts !== event.ts && { thread: true }),
  };
  const sender = { id: event.user, name: `<@${event.user}>` };
  const place = { team: team_id, channel: event.channel, thread };
  // Slack sends one message under several event ids, after an edit too: https://docs.slack.dev/apis/events-api
  const delivery = `m${event.channel}.${event.ts}`;
  const said = incoming(connection, delivery, sender, place, !private_, act);
  return events(connection, { ...said, address: { ...said.address, ts: event.ts } });
}

/** @returns a list's items; undefined for an item of another form */
function listed<T>(schema: z.ZodMiniType<T>, list: unknown): Array<T | undefined> {
  return Array.isArray(list) ? list.map((one: unknown) => schema.safeParse(one).data) : [];
}

async function readForm(form: URLSearchParams, connection: SlackConnection): Promise<Received> {
  const payload = form.get("payload");
  if (payload !== null) return readActions(payload, connection);
  const [team, channel, user, trigger] = ["team_id", "channel_id", "user_id", "trigger_id"].map((name) =>
    idPart(form.get(name) ?? ""),
  );
  if (!team || !channel || !user || !trigger) return handled();
  const text = (form.get("text") ?? "").trim();
  const sender = { id: user, name: form.get("user_name") ?? "" };
  const act: Act = { do: "say", text, pictures: [] };
  const isGroup = !(await isOwnChat(connection, channel));
  const respond = isGroup ? (form.get("response_url") ?? undefined) : undefined;
  const place = { team, channel, thread: undefined, respond };
  return events(connection, incoming(connection, `c${trigger}`, sender, place, isGroup, act));
}

/**
 * The id of a private conversation begins with D. A command can be given in one of two other people too: the bot does not see that, and
 * its answer is for more than the person who asked.
 */
async function isOwnChat(connection: SlackConnection, channel: string): Promise<boolean> {
  if (!channel.startsWith("D")) return false;
  const line = { connection, address: { connection: connection.connection } };
  try {
    await get(line, "conversations.history", { channel, limit: "1" });
    return true;
  } catch {
    // Whatever the reason is: what may be read by others is no private chat.
    return false;
  }
}

function readActions(payload: string, connection: SlackConnection): Received {
  const read = checkJson(Actions, payload);
  const [action] = read.ok ? read.value.actions : [];
  const act = readButton(action?.value);
  if (!read.ok || !action || !act) return handled();
  const { user, team, channel, container, response_url: respond } = read.value;
  const sender = { id: user.id, name: user.username ?? "" };
  const place = { team: team.id, channel: channel.id, thread: container.thread_ts, respond };
  // What was posted for one person's eyes answered a command where the bot is no member.
  const isGroup = !channel.id.startsWith("D") || container.is_ephemeral === true;
  const delivery = `a${action.action_ts}.${user.id}`;
  return events(connection, incoming(connection, delivery, sender, place, isGroup, act));
}

/** @property respond where words can be posted without being a member: five times, within half an hour */
type Place = { team: string; channel: string; thread: string | undefined; respond?: string | undefined };

function incoming(
  { connection }: SlackConnection,
  delivery: string,
  sender: Incoming["sender"],
  { team, channel, thread, respond }: Place,
  group: boolean,
  act: Act,
): Incoming {
  return {
    delivery,
    sender,
    conversation: [connection, team, channel, thread].filter((part) => part !== undefined).join(":"),
    group,
    whispers: true,
    address: {
      connection,
      channel,
      user: sender.id,
      ...(thread !== undefined && { thread }),
      ...(respond !== undefined && { respond }),
    },
    act,
  };
}

function events(connection: SlackConnection, event: Incoming): Received {
  return {
    as: "events",
    events: [event],
    ack: (words) => ({
      response: new Response(null, { status: 200 }),
      ...(words !== undefined && { later: () => whisper({ connection, address: event.address }, words) }),
    }),
  };
}

function handled(): Received {
  return { as: "handled", response: new Response(null, { status: 200 }) };
}

/** @param app its user's id; undefined: whoever is mentioned first @returns the text without the mention of the app, as people read it */
function unmentioned(text: string, app: string | undefined): string {
  const [mention = "", who] = /^\s*<@([A-Z0-9]+)(?:\|[^>]*)?>\s*/.exec(text) ?? [];
  return unescaped(app === undefined || who === app ? text.slice(mention.length) : text);
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping and what stands between `<` and `>` there. */
function unescaped(text: string): string {
  return text
    .replace(/<([^<>|]+)(?:\|([^<>]*))?>/g, (_, target: string, label?: string) => linked(target, label))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim();
}

/** `<https://x.example|here>` → `here (https://x.example)` */
function linked(target: string, label = ""): string {
  const [mark = ""] = target;
  if (mark === "!") return target.startsWith("!date") || label !== "" ? label : `@${target.slice(1)}`;
  if (mark === "@") return `@${label || target.slice(1)}`;
  if (mark === "#") return `#${label || target.slice(1)}`;
  const address = target.replace(/^mailto:/, "");
  const isSame = label === "" || label === address || address.replace(/^https?:\/\//, "") === label;
  return isSame ? address : `${label} (${address})`;
}

/** Sends words that only one person sees. */
async function whisper(line: Line<SlackConnection>, words: string): Promise<void> {
  const content = shown(plainContent(words));
  if (line.address.respond !== undefined) return await respond(line, content);
  await call(line, "chat.postEphemeral", {
    ...place(line.address),
    user: line.address.user,
    ...content,
  });
}

/** Answers a command or a button, for the person alone, also where the bot is no member. */
async function respond(line: Line<SlackConnection>, content: Record<string, unknown>): Promise<void> {
  const url = String(line.address.respond);
  if (!isSlack(url, line)) throw new PlatformError({ kind: "never" }, "slack response_url: not Slack's");
  const { status } = await postJson("slack response_url", url, {
    response_type: "ephemeral",
    replace_original: false,
    ...content,
  });
  if (status !== 200) throw new PlatformError({ kind: "never" }, `slack response_url: ${status}`);
}

async function get(
  { connection }: Line<SlackConnection>,
  method: string,
  query: Record<string, string>,
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${connection.token}` };
  const url = `${connection.base_url}/${method}?${new URLSearchParams(query)}`;
  return resultOf(method, await send(`slack ${method}`, url, { headers }));
}

async function call(
  { connection }: Line<SlackConnection>,
  method: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${connection.token}` };
  return resultOf(
    method,
    await postJson(`slack ${method}`, `${connection.base_url}/${method}`, body, headers),
  );
}

/** Errors that pass by themselves. */
const PASSING = ["ratelimited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"];
/** The bot is no member. */
const UNSEEN = ["not_in_channel", "channel_not_found"];
const NOT_EDITABLE = ["message_not_found", "cant_update_message", "edit_window_closed"];

function resultOf(method: string, { status, body }: Reply): Record<string, unknown> {
  if (status === 200 && body.ok === true) return body;
  const error = typeof body.error === "string" ? cutText(body.error, 100) : String(status);
  const message = `slack ${method}: ${error}`;
  if (PASSING.includes(error)) throw new PlatformError({ kind: "again", afterMs: 0 }, message);
  throw new PlatformError({ kind: NOT_EDITABLE.includes(error) ? "not_editable" : "never" }, message);
}

function place({ channel, thread }: Address): Record<string, unknown> {
  return { channel, ...(thread !== undefined && { thread_ts: thread }) };
}

/** @returns `ts`; of a message to a person's id `ts@channel`, since an edit takes only the private chat's own id */
async function sayText(
  line: Line<SlackConnection>,
  content: Record<string, unknown>,
  edit: string | undefined,
): Promise<string | undefined> {
  const to = line.address.channel;
  if (edit !== undefined) {
    const [ts, channel = to] = edit.split("@");
    await call(line, "chat.update", { channel, ts, ...content });
    return edit;
  }
  const posted = call(line, "chat.postMessage", {
    ...place(line.address),
    unfurl_links: false,
    unfurl_media: false,
    ...content,
  });
  const sent = await posted.catch(async (error: unknown) => {
    if (line.address.respond === undefined || !isUnseen(error)) throw error;
    await respond(line, content);
    return {};
  });
  const { ts, channel = to } = sent as { ts?: unknown; channel?: Address[string] };
  if (typeof ts !== "string") return undefined;
  return channel === to ? ts : `${ts}@${channel}`;
}

function isUnseen(error: unknown): boolean {
  return error instanceof PlatformError && UNSEEN.some((one) => error.message.endsWith(`: ${one}`));
}

/** `text` is for notifications, which show no blocks. */
function shown({ blocks }: Content): { text: string; blocks: unknown[] } {
  return { text: slackFallback(blocks), blocks: [slackRichText(blocks)] };
}

/** Slack shows a person's id as their name, and an edit notifies nobody. In a plain text only our own words at its end name one. */
function named(content: Content): { text: string; blocks: unknown[] } {
  const id = isPlain(content)
    ? /(?<=\n\n✔ \w+ by )slack:([A-Z0-9]{2,20})\b/
    : /(?<= by )slack:([A-Z0-9]{2,20})\b/;
  const rich = slackRichText(content.blocks);
  for (const part of rich.elements)
    if (part.type === "rich_text_section")
      part.elements = part.elements.flatMap((one) => withPeople(one, id));
  return { text: slackFallback(content.blocks), blocks: [rich] };
}

function withPeople(element: Element, id: RegExp): Element[] {
  if (element.type !== "text") return [element];
  return element.text
    .split(id)
    .map((part, at): Element => (at % 2 === 1 ? { type: "user", user_id: part } : { ...element, text: part }))
    .filter((part) => part.type !== "text" || part.text !== "");
}

/** Messages from a thread's beginning: Slack gives apps that it has not approved at most 15. */
const THREAD_MESSAGES = 15;
const THREAD_CHARS = 8_000;
const Said = z.looseObject({
  ts: id,
  user: z.optional(z.string()),
  username: z.optional(z.string()),
  text: z.optional(z.string()),
});

/** Slack's limit of a button's text. */
const LABEL_MAX = 75;

export const slack: ChatPlatform<SlackConnection> = {
  format: slackFormat,
  // Slack refuses a message whose blocks have more than about 13,000 characters. The JSON is counted, to be safe.
  textMax: 11_000,
  // Below it stand the buttons.
  questionMax: 6_000,
  merges: true,
  showsIdsAsNames: true,
  // Posting to a person's id opens the private chat. Its own id is not known here, so the conversation is named by the person's.
  privateChat: ({ connection }, id) =>
    idPart(id) === undefined
      ? undefined
      : { conversation: `${connection}:to:${id}`, address: { connection, channel: id, user: id } },
  read,
  async text(line, content, { edit, live }) {
    // A response can be posted five times, and not be edited.
    if (live !== undefined && line.address.respond !== undefined) return undefined;
    return await sayText(line, shown(content), edit);
  },
  question: (line, asked, buttons) => {
    const elements = buttons.map(({ label, data }) => ({
      type: "button",
      text: { type: "plain_text", text: cutText(label, LABEL_MAX) },
      action_id: data,
      value: data,
    }));
    const { text, blocks } = shown(asked);
    const actions = elements.length > 0 ? [{ type: "actions", elements }] : [];
    return sayText(line, { text, blocks: [...blocks, ...actions] }, undefined);
  },
  async close(line, message, content) {
    await sayText(line, named(content), message);
  },
  async attachment(line, { name, mediaType, data }) {
    const query = new URLSearchParams({ filename: name, length: String(data.length) });
    const headers = { authorization: `Bearer ${line.connection.token}` };
    const method = "files.getUploadURLExternal";
    const url = `${line.connection.base_url}/${method}?${query}`;
    const { upload_url, file_id } = resultOf(method, await send(`slack ${method}`, url, { headers }));
    if (typeof upload_url !== "string" || !isSlack(upload_url, line))
      throw new PlatformError({ kind: "never" }, "slack upload: not an address of Slack's");
    const sent = await send("slack upload", upload_url, {
      method: "POST",
      headers: { "content-type": mediaType },
      body: data,
    });
    if (sent.status !== 200) throw new PlatformError({ kind: "never" }, `slack upload: ${sent.status}`);
    const { channel, thread_ts } = place(line.address);
    await call(line, "files.completeUploadExternal", {
      files: [{ id: file_id, title: name }],
      channel_id: channel,
      thread_ts,
    });
  },
  async typing(line) {
    const { channel, thread } = line.address;
    // Slack shows this only in threads.
    if (thread === undefined) return;
    await call(line, "assistant.threads.setStatus", {
      channel_id: channel,
      thread_ts: thread,
      status: "is looking …",
    });
  },
  async thread(line) {
    const { channel, thread, ts } = line.address;
    const { messages } = await get(line, "conversations.replies", {
      channel: String(channel),
      ts: String(thread),
      limit: String(THREAD_MESSAGES),
    });
    const said = listed(Said, messages)
      .filter((one) => one !== undefined && Number(one.ts) < Number(ts))
      .map((one) => `${one?.user ?? one?.username ?? "an app"}: ${unescaped(one?.text ?? "")}`)
      .join("\n");
    return said === "" ? undefined : cutText(said, THREAD_CHARS);
  },
  // `chat.update` allows 50 a minute for a whole workspace.
  editEveryMs: () => 1_500,
  picture: (line, { ref }) =>
    download("slack file", ref, {
      headers: { authorization: `Bearer ${line.connection.token}` },
      maxBytes: MEDIA_MAX_BYTES,
      allowed: (url) => isSlack(url.href, line),
    }),
};

function isSlack(url: string, { connection }: Line<SlackConnection>): boolean {
  return URL.canParse(url) && isOn(new URL(url), connection.base_url, ["slack.com", ".slack.com"]);
}
