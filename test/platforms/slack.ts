/** Slack's Web API, and its signatures. */
import { createHmac } from "node:crypto";
import {
  type Answer,
  type Call,
  type ChatMessage,
  fetchesLinks,
  jsonOf,
  messagesIn,
  type PlatformServer,
  PNG,
  pace,
  startFake,
} from "./server.ts";

export const SLACK_TOKEN = "xoxb-test-token-of-slack";
export const SLACK_SECRET = "test-signing-secret-of-slack";
/** Slack refuses longer blocks with `msg_blocks_too_long`. */
const BLOCKS_MAX = 13_000;

type Button = { text: { text: string }; value: string; action_id: string };
/** Of rich text, in which nothing is markup. */
type Element = {
  type: string;
  text?: string;
  url?: string;
  user_id?: string;
  style?: { bold?: true; italic?: true; strike?: true; code?: true };
};
export type Part = {
  type: string;
  elements: Part[] | Element[];
  style?: string;
  indent?: number;
  offset?: number;
  border?: number;
};

export class FakeSlack {
  readonly server: PlatformServer;
  readonly channels = new Map<string, ChatMessage[]>();
  readonly whispers: Array<{ user: string; text: string }> = [];
  readonly statuses: string[] = [];
  /** What people said in threads, by their `thread_ts`. */
  readonly threads = new Map<string, Array<{ ts: string; user: string; text: string }>>();
  /** By the path of a `response_url`. Each takes five messages. */
  readonly responses = new Map<string, Array<Record<string, unknown>>>();
  readonly #uploads = new Map<string, { name: string; length: number; bytes?: Buffer; type?: string }>();
  /** Tier 3, per method and workspace. Slack does not promise the burst that it allows. */
  readonly #updates = pace(50, 60_000);
  #next = 0;

  private constructor(server: PlatformServer) {
    this.server = server;
  }

  static start(): Promise<FakeSlack> {
    return startFake((server) => new FakeSlack(server));
  }

  channel(id: string): ChatMessage[] {
    return messagesIn(this.channels, id);
  }

  limit(seconds: number): void {
    this.server.limit(
      seconds,
      () => tooMany(seconds),
      (path) => /\/chat\.(postMessage|update)$/.test(path),
    );
  }

  answer(call: Omit<Call, "status">): Answer {
    const url = new URL(call.path, "http://slack");
    if (url.pathname.startsWith("/upload/")) {
      const upload = this.#uploads.get(url.pathname.slice("/upload/".length));
      if (!upload || call.body.length !== upload.length) return { status: 400 };
      upload.bytes = call.body;
      upload.type = String(call.headers["content-type"]);
      return { status: 200 };
    }
    if (url.pathname === "/files/one.png")
      return call.headers.authorization === `Bearer ${SLACK_TOKEN}`
        ? { status: 200, bytes: PNG, headers: { "content-type": "image/png" } }
        : { status: 302, headers: { location: "/login" } };
    if (url.pathname.startsWith("/respond/")) return this.#respond(url.pathname, call.body);
    const method = url.pathname.replace("/api/", "");
    if (call.headers.authorization !== `Bearer ${SLACK_TOKEN}`) return error("invalid_auth");
    if (method === "auth.test")
      return ok({ url: "https://home-test.slack.com/", team: "Home", user: "edgecall", bot_id: "B1" });
    if (method === "files.getUploadURLExternal") {
      const [name, length] = [url.searchParams.get("filename"), Number(url.searchParams.get("length"))];
      if (!name || !(length > 0)) return error("invalid_arguments");
      const id = `F${this.#id()}`;
      this.#uploads.set(id, { name, length });
      return ok({ upload_url: `${this.server.url}/upload/${id}`, file_id: id });
    }
    const asked = url.searchParams.get("channel") ?? "";
    if (method === "conversations.history" || method === "conversations.replies") {
      if (this.isUnseen(asked)) return error("channel_not_found");
      const thread = url.searchParams.get("ts") ?? "";
      return ok({ messages: method === "conversations.replies" ? (this.threads.get(thread) ?? []) : [] });
    }
    const body = jsonOf(call.body);
    if (this.isUnseen(String(body.channel ?? body.channel_id ?? "")))
      return error(String(body.channel).startsWith("C") ? "not_in_channel" : "channel_not_found");
    switch (method) {
      case "chat.postMessage":
      case "chat.update":
        return this.#say(method, body);
      case "chat.postEphemeral":
        if (!body.user || !body.channel || !body.text) return error("no_text");
        this.whispers.push({
          user: String(body.user),
          text: richText(body.blocks)?.text ?? String(body.text),
        });
        return ok({});
      case "assistant.threads.setStatus":
        if (!body.thread_ts) return error("invalid_arguments");
        this.statuses.push(String(body.status));
        return ok({});
      case "files.completeUploadExternal": {
        const [file] = body.files as Array<{ id: string; title: string }>;
        const upload = this.#uploads.get(file?.id ?? "");
        if (!upload?.bytes) return error("file_not_found");
        const { name, bytes, type = "" } = upload;
        this.channel(String(body.channel_id)).push({
          id: this.#id(),
          text: "",
          buttons: [],
          file: { name, bytes: bytes.length, type },
          ...(body.thread_ts !== undefined && { thread: String(body.thread_ts) }),
        });
        return ok({});
      }
      default:
        return error("unknown_method");
    }
  }

  /** The bot is no member there: a channel, or the private chat of two other people. */
  isUnseen(id: string): boolean {
    return /^[CD]X/.test(id);
  }

  /** https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
  #respond(path: string, bytes: Buffer): Answer {
    const sent = this.responses.get(path) ?? [];
    this.responses.set(path, sent);
    const body = jsonOf(bytes);
    if (sent.length >= 5) return { status: 404, body: { ok: false, error: "used_url" } };
    if (body.markdown_text !== undefined || !body.text)
      return { status: 400, body: { ok: false, error: "no_text" } };
    sent.push({ ...body, shown: richText(body.blocks)?.text ?? body.text });
    return { status: 200, body: { ok: true } };
  }

  #say(method: string, body: Record<string, unknown>): Answer {
    const { text, blocks } = body;
    if (String(text ?? "") === "") return error("no_text");
    const all = (blocks ?? []) as Array<{ type: string; elements?: unknown[] }>;
    if (JSON.stringify(all).length > BLOCKS_MAX) return error("msg_blocks_too_long");
    const texts = all.filter(({ type }) => type === "rich_text");
    if (texts.some(({ elements = [] }) => richTextProblem(elements as Part[]) !== undefined))
      return error("invalid_blocks");
    const rich = richText(all);
    const content = rich?.text ?? String(text);
    const literal = rich?.literal === true;
    const elements = all
      .filter(({ type }) => type === "actions")
      .flatMap((block) => (block.elements ?? []) as Button[]);
    if (elements.some((one) => one.text.text.length > 75 || one.action_id.length > 255))
      return error("invalid_blocks");
    const buttons = elements.map((one) => ({ label: one.text.text, data: one.value }));
    const id = String(body.channel);
    const isPerson = isPersonsId(id);
    // "For direct messages, ensure that this value is a DM ID (starts with D) instead of a User ID."
    if (isPerson && method === "chat.update") return error("channel_not_found");
    const place = isPerson ? directMessages(id) : id;
    const channel = this.channel(place);
    const previewed = fetchesLinks(content, body.unfurl_links === false && body.unfurl_media === false);
    if (method === "chat.postMessage") {
      const message: ChatMessage = { id: this.#id(), text: content, buttons, literal, previewed };
      if (body.thread_ts !== undefined) message.thread = String(body.thread_ts);
      channel.push(message);
      return ok({ ts: message.id, channel: place });
    }
    const wait = this.#updates(place);
    if (wait > 0) return tooMany(wait);
    const before = channel.find(({ id }) => id === body.ts);
    if (!before) return error("message_not_found");
    Object.assign(before, { text: content, buttons, literal });
    return ok({ ts: before.id, channel: place });
  }

  #id(): string {
    this.#next += 1;
    return `1700000000.${String(this.#next).padStart(6, "0")}`;
  }
}

/** Ids of channels begin with a letter, and those of the tests' people are digits, as on the other platforms. */
function isPersonsId(id: string): boolean {
  return /^(U|\d)/.test(id);
}

/** Returns the id of the app's private chat with a person, which is always the same. */
function directMessages(person: string): string {
  return `D${person}`;
}

/** What a person sees of rich text, styles as Slack copies them; `literal`: no character has a form. Undefined: there is none. */
function richText(blocks: unknown): { text: string; literal: boolean } | undefined {
  const rich = ((blocks ?? []) as Array<{ type: string; elements: Part[] }>).filter(
    ({ type }) => type === "rich_text",
  );
  if (rich.length === 0) return undefined;
  const parts = rich.flatMap(({ elements }) => elements);
  const literal = parts.every(
    (part) =>
      part.type === "rich_text_section" &&
      (part.elements as Element[]).every(({ type, style }) => type !== "link" && style === undefined),
  );
  return { text: parts.map(partText).join("\n"), literal };
}

function partText(part: Part): string {
  if (part.type === "rich_text_list")
    return (part.elements as Part[])
      .map(({ elements }, at) => {
        const mark = part.style === "ordered" ? `${(part.offset ?? 0) + at + 1}.` : "•";
        return `${"  ".repeat(part.indent ?? 0)}${mark} ${(elements as Element[]).map(elementText).join("")}`;
      })
      .join("\n");
  const text = (part.elements as Element[]).map(elementText).join("");
  if (part.type === "rich_text_preformatted") return `\`\`\`\n${text}\n\`\`\``;
  return part.type === "rich_text_quote" ? text.replace(/^/gm, "> ") : text;
}

function elementText({ type, text, url, user_id, style = {} }: Element): string {
  if (type === "user") return `<@${user_id}>`;
  const inner = type === "link" ? (text === undefined ? url : `<${url}|${text}>`) : text;
  const marks = [style.code && "`", style.bold && "*", style.italic && "_", style.strike && "~"];
  const mark = marks.filter(Boolean).join("");
  return `${mark}${inner}${[...mark].reverse().join("")}`;
}

/** What Slack refuses in rich text (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block); undefined: nothing. */
export function richTextProblem(parts: readonly Part[]): string | undefined {
  if (parts.length === 0) return "elements: empty";
  for (const { type, elements, border = 0, indent = 0, offset = 0, style, ...other } of parts) {
    if (Object.keys(other).length > 0) return `unknown field ${Object.keys(other)}`;
    if (elements.length === 0) return `${type}: no elements`;
    if (![0, 1].includes(border) || indent > 8 || offset < 0) return `${type}: border, indent or offset`;
    if (type === "rich_text_list") {
      if (style !== "bullet" && style !== "ordered") return `style: ${style}`;
      if ((elements as Part[]).some((item) => item.type !== "rich_text_section"))
        return "list: sections only";
      const inner = richTextProblem(elements as Part[]);
      if (inner) return inner;
    } else if (["rich_text_section", "rich_text_quote", "rich_text_preformatted"].includes(type)) {
      const problem = (elements as Element[]).map(elementProblem).find((one) => one !== undefined);
      if (problem) return problem;
      if (type === "rich_text_preformatted" && (elements as Element[]).some((one) => one.style))
        return "preformatted: no styles";
    } else return `unknown element ${type}`;
  }
  return undefined;
}

function elementProblem({ type, text, url, user_id, style = {}, ...other }: Element): string | undefined {
  if (Object.keys(other).length > 0) return `unknown field ${Object.keys(other)}`;
  if (Object.keys(style).some((one) => !["bold", "italic", "strike", "code"].includes(one))) return "style";
  if (type === "user") return /^[A-Z0-9]+$/.test(user_id ?? "") ? undefined : "user_id";
  if (type === "link")
    return /^https?:\/\//i.test(url ?? "") && URL.canParse(url ?? "") ? undefined : `url: ${url}`;
  return type === "text" && text !== undefined && text !== "" ? undefined : `text of ${type}: empty`;
}

export function slackHeaders(body: string, at = Math.floor(Date.now() / 1_000), secret = SLACK_SECRET) {
  const mac = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": String(at), "x-slack-signature": `v0=${mac}` };
}

function ok(more: Record<string, unknown>): Answer {
  return { status: 200, body: { ok: true, ...more } };
}

function tooMany(seconds: number): Answer {
  const headers = { "retry-after": String(seconds) };
  return { status: 429, headers, body: { ok: false, error: "ratelimited" } };
}

function error(name: string): Answer {
  return { status: 200, body: { ok: false, error: name } };
}
