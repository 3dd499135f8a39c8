/** Telegram's Bot API as far as our bot uses it. It refuses what Telegram refuses, with the same texts. */
import {
  type Answer,
  type ChatMessage,
  fetchesLinks,
  formOf,
  jsonOf,
  messagesIn,
  type PlatformServer,
  PNG,
  pace,
  startFake,
} from "./server.ts";

export const BOT_TOKEN = "123456:test-bot-token-of-telegram";
export const BOT_NAME = "home_test_bot";
/** Begins like an OGG file; the rest is not checked. */
export const VOICE = Buffer.from("OggS\0a voice message of a test");
const TEXT_MAX = 4_096;
const CALLBACK_DATA_MAX_BYTES = 64;
const ENTITIES_MAX = 100;

export class FakeTelegram {
  readonly server: PlatformServer;
  /** Messages by chat, in order. */
  readonly chats = new Map<string, ChatMessage[]>();
  typing = 0;
  /** Groups that became supergroups, with their new ids. */
  readonly migrated = new Map<number, number>();
  /** Topics that were deleted. */
  readonly deletedTopics = new Set<number>();
  /** The webhook's address and settings. Plain http is allowed, because tests have no TLS. */
  webhook: { url: string; secret_token: string; allowed_updates: string[] } | undefined;
  /** The error of the newest delivery. */
  lastError: string | undefined;
  /** Updates that no webhook took and no getUpdates confirmed, oldest first. */
  readonly updates: Array<Record<string, unknown> & { update_id: number }> = [];
  /** The getUpdates that waits for updates; there is one at most. */
  #fetching: { end: (answer: Answer | undefined) => void } | undefined;
  /** Edits per chat: about one a second with bursts, and 20 a minute in a group. */
  readonly #edits = { private: pace(5, 5_000), group: pace(20, 60_000) };
  #next = 100;

  private constructor(server: PlatformServer) {
    this.server = server;
  }

  static start(host?: string): Promise<FakeTelegram> {
    return startFake((server) => new FakeTelegram(server), host);
  }

  chat(id: number): ChatMessage[] {
    return messagesIn(this.chats, String(id));
  }

  limit(seconds: number): void {
    this.server.limit(
      seconds,
      () => tooMany(seconds),
      (path) => /\/(sendMessage|editMessageText)$/.test(path),
    );
  }

  async answer(call: {
    path: string;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }): Promise<Answer> {
    if (call.path === `/file/bot${BOT_TOKEN}/photos/one.png`)
      return { status: 200, bytes: PNG, headers: { "content-type": "application/octet-stream" } };
    if (call.path === `/file/bot${BOT_TOKEN}/voice/one.oga`)
      return { status: 200, bytes: VOICE, headers: { "content-type": "audio/ogg" } };
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(call.path) ?? [];
    if (token !== BOT_TOKEN) return refuse(401, "Unauthorized");
    const about = this.#about(method, call.body);
    if (about) return about;
    const isForm = String(call.headers["content-type"]).startsWith("multipart/");
    const gone = this.#gone(isForm ? Object.fromEntries(await formOf(call)) : jsonOf(call.body));
    if (gone) return gone;
    if (method === "sendPhoto" || method === "sendDocument") {
      const form = await formOf(call);
      const file = form.get(method === "sendPhoto" ? "photo" : "document");
      if (!(file instanceof File)) return refuse(400, "Bad Request: there is no photo in the request");
      const message = {
        id: this.#id(),
        text: "",
        buttons: [],
        file: { name: file.name, bytes: file.size, type: file.type },
      };
      this.chat(Number(form.get("chat_id"))).push(message);
      return ok({ message_id: Number(message.id) });
    }
    const body = isForm ? {} : jsonOf(call.body);
    if (method === "getUpdates") return await this.#getUpdates(body);
    if (method === "answerCallbackQuery") return ok(true);
    if (method === "getFile")
      return body.file_id === "photo-1"
        ? ok({ file_path: "photos/one.png" })
        : body.file_id === "voice-1"
          ? ok({ file_path: "voice/one.oga" })
          : refuse(400, "Bad Request: invalid file_id");
    if (typeof body.chat_id !== "number") return refuse(400, "Bad Request: chat_id is empty");
    if (method === "sendChatAction") {
      this.typing += 1;
      return ok(true);
    }
    if (method === "sendMessage" || method === "editMessageText") return this.#say(method, body);
    return refuse(404, "Not Found: method not found");
  }

  /** https://core.telegram.org/bots/api#responseparameters */
  #gone({
    chat_id,
    message_thread_id: topic,
    reply_parameters,
  }: Record<string, unknown>): Answer | undefined {
    const to = this.migrated.get(Number(chat_id));
    if (to !== undefined) {
      const answer = refuse(400, "Bad Request: group chat was upgraded to a supergroup chat");
      return { ...answer, body: { ...(answer.body as object), parameters: { migrate_to_chat_id: to } } };
    }
    if (topic !== undefined && this.deletedTopics.has(Number(topic)))
      return refuse(400, "Bad Request: message thread not found");
    // Messages of a supergroup are counted anew.
    const isMigrated = [...this.migrated.values()].includes(Number(chat_id));
    return isMigrated && reply_parameters !== undefined
      ? refuse(400, "Bad Request: message to be replied not found")
      : undefined;
  }

  /** A person did something: it waits until it is fetched. */
  push(update: Record<string, unknown> & { update_id: number }): void {
    this.updates.push(update);
    this.#fetching?.end(undefined);
  }

  /** As Telegram: an offset confirms all updates below it, and a second call ends the first. */
  async #getUpdates({
    offset,
    timeout = 0,
    limit = 100,
    allowed_updates,
  }: Record<string, unknown>): Promise<Answer> {
    const conflict = "Conflict: ";
    if (this.webhook)
      return refuse(
        409,
        `${conflict}can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first`,
      );
    this.#fetching?.end(
      refuse(
        409,
        `${conflict}terminated by other getUpdates request; make sure that only one bot instance is running`,
      ),
    );
    if (typeof offset === "number")
      while ((this.updates[0]?.update_id ?? offset) < offset) this.updates.shift();
    if (this.updates.length === 0 && Number(timeout) > 0) {
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const fetching = { end: resolve };
      this.#fetching = fetching;
      const timer = setTimeout(() => resolve(undefined), Number(timeout) * 1_000);
      const ended = await promise;
      clearTimeout(timer);
      if (this.#fetching === fetching) this.#fetching = undefined;
      if (ended) return ended;
    }
    const wanted = (update: object) =>
      !Array.isArray(allowed_updates) || allowed_updates.some((kind) => String(kind) in update);
    return ok(this.updates.filter(wanted).slice(0, Number(limit)));
  }

  /** Calls in which a bot reads and sets its own properties. */
  #about(method: string | undefined, bytes: Buffer): Answer | undefined {
    if (method === "getMe") return ok({ id: 123456, is_bot: true, first_name: "Home", username: BOT_NAME });
    if (method === "deleteWebhook") {
      this.webhook = undefined;
      return ok(true);
    }
    if (method === "getWebhookInfo") {
      const { url = "", allowed_updates } = this.webhook ?? {};
      const failed = this.lastError && { last_error_date: 1_795_000_000, last_error_message: this.lastError };
      return ok({ url, pending_update_count: 3, ...(allowed_updates && { allowed_updates }), ...failed });
    }
    if (method !== "setWebhook") return undefined;
    const { url, secret_token, allowed_updates } = jsonOf(bytes);
    if (typeof url !== "string" || !/^https?:/.test(url))
      return refuse(400, "Bad Request: bad webhook: invalid URL");
    if (typeof secret_token !== "string" || !/^[A-Za-z0-9_-]{1,256}$/.test(secret_token))
      return refuse(400, "Bad Request: secret token contains unallowed characters");
    if (!Array.isArray(allowed_updates)) return refuse(400, "Bad Request: can't parse allowed_updates");
    this.webhook = { url, secret_token, allowed_updates: allowed_updates.map(String) };
    return ok(true);
  }

  #say(method: string, body: Record<string, unknown>): Answer {
    const text = body.parse_mode === "HTML" ? parsed(String(body.text)) : { text: String(body.text ?? "") };
    if ("error" in text) return refuse(400, `Bad Request: can't parse entities: ${text.error}`);
    if (text.text.trim() === "") return refuse(400, "Bad Request: message text is empty");
    if (text.text.length > TEXT_MAX) return refuse(400, "Bad Request: message is too long");
    const keyboard = (
      body.reply_markup as
        | { inline_keyboard?: Array<Array<{ text: string; callback_data: string }>> }
        | undefined
    )?.inline_keyboard;
    const buttons = (keyboard ?? [])
      .flat()
      .map((button) => ({ label: button.text, data: button.callback_data }));
    if (buttons.some(({ data }) => Buffer.byteLength(data) > CALLBACK_DATA_MAX_BYTES))
      return refuse(400, "Bad Request: BUTTON_DATA_INVALID");
    const options = body.link_preview_options as { is_disabled?: boolean } | undefined;
    const previewed = fetchesLinks(text.text, options?.is_disabled === true);
    const chat = this.chat(body.chat_id as number);
    if (method === "sendMessage") {
      const literal = body.parse_mode === undefined;
      const message: ChatMessage = { id: this.#id(), text: String(body.text), buttons, literal, previewed };
      if (body.message_thread_id !== undefined) message.thread = String(body.message_thread_id);
      chat.push(message);
      return ok({ message_id: Number(message.id) });
    }
    const wait = this.#edits[Number(body.chat_id) < 0 ? "group" : "private"](String(body.chat_id));
    if (wait > 0) return tooMany(wait);
    const before = chat.find(({ id }) => id === String(body.message_id));
    if (!before) return refuse(400, "Bad Request: message to edit not found");
    if (before.text === body.text && before.buttons.length === buttons.length)
      return refuse(400, "Bad Request: message is not modified");
    before.text = String(body.text);
    before.buttons = buttons;
    before.literal = body.parse_mode === undefined;
    before.previewed = previewed;
    return ok({ message_id: Number(before.id) });
  }

  #id(): string {
    this.#next += 1;
    return String(this.#next);
  }
}

const STYLES = ["b", "i", "s", "u"];

/**
 * Returns the text without its tags, or the error in them. Telegram drops silently what nests wrongly (code in a style, a quote in a
 * quote) and what is beyond a hundred; here it is an error. https://core.telegram.org/bots/api#formatting-options
 */
export function parsed(html: string): { text: string } | { error: string } {
  const open: string[] = [];
  let text = "";
  let entities = 0;
  for (const [part] of html.matchAll(/<\/?[a-z]+(?: [^<>]*)?>|&(?:amp|lt|gt|quot);|[\s\S]/g)) {
    const [, slash, tag] = /^<(\/?)([a-z]+)/.exec(part) ?? [];
    if (tag !== undefined && part.length > 1) {
      if (!["b", "i", "s", "u", "code", "pre", "a", "blockquote"].includes(tag))
        return { error: `Unsupported start tag "${tag}"` };
      if (slash === "") {
        if (!mayNest(tag, part, open)) return { error: `"${tag}" inside "${open.at(-1)}"` };
        open.push(tag);
        // The language of a block is no entity of its own.
        if (tag !== "code" || !open.includes("pre")) entities += 1;
      } else if (open.pop() !== tag) return { error: `Unexpected end tag "${tag}"` };
    } else if (part === "<" || part === "&") return { error: `Unexpected "${part}"` };
    else text += part.length > 1 ? (SIGNS[part] ?? part) : part;
  }
  if (entities > ENTITIES_MAX) return { error: `${entities} entities, and the last ones are left out` };
  return open.length > 0 ? { error: `Can't find end tag corresponding to "${open.at(-1)}"` } : { text };
}

const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

function mayNest(tag: string, whole: string, open: readonly string[]): boolean {
  if (tag === "code" && open.at(-1) === "pre") return /^<code class="language-[\w+#.-]+">$/.test(whole);
  if (tag === "a" && !/^<a href="[^"]+">$/.test(whole)) return false;
  if (open.includes("pre") || open.includes("code")) return false;
  if (tag === "pre") return open.length === 0;
  if (tag === "code") return !open.some((one) => STYLES.includes(one) || one === "a");
  return !open.includes(tag);
}

function ok(result: unknown): Answer {
  return { status: 200, body: { ok: true, result } };
}

function tooMany(seconds: number): Answer {
  const description = `Too Many Requests: retry after ${seconds}`;
  const body = { ok: false, error_code: 429, description, parameters: { retry_after: seconds } };
  return { status: 429, body };
}

function refuse(error_code: number, description: string): Answer {
  return { status: error_code, body: { ok: false, error_code, description } };
}
