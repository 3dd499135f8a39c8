/** Discord's REST API as far as interactions need it, and its signatures. */
import { generateKeyPairSync, sign } from "node:crypto";
import {
  type Answer,
  type Call,
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

export const DISCORD_TOKEN = "test-bot-token-of-discord";
const CONTENT_MAX = 2_000;
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
/** In the form that the application's page shows. */
export const DISCORD_PUBLIC_KEY = publicKey
  .export({ type: "spki", format: "der" })
  .subarray(-32)
  .toString("hex");

export type DiscordCommand = {
  type?: number;
  name: string;
  description?: string;
  options: Array<{ name: string }>;
};

export class FakeDiscord {
  readonly server: PlatformServer;
  /** Messages by the interaction's token; the answer to the interaction is `@original`. */
  readonly interactions = new Map<string, ChatMessage[]>();
  readonly channels = new Map<string, ChatMessage[]>();
  /** The address that receives interactions, and the commands that can be typed. */
  endpoint: string | undefined;
  commands: DiscordCommand[] = [];
  /** Limits requests per interaction token. */
  readonly #requests = pace(5, 5_000);
  #next = 9_000;

  private constructor(server: PlatformServer) {
    this.server = server;
  }

  static start(): Promise<FakeDiscord> {
    return startFake((server) => new FakeDiscord(server));
  }

  /** Starts an interaction that was answered with "thinking …". */
  deferred(token: string): ChatMessage[] {
    const messages = this.interactions.get(token) ?? [{ id: "@original", text: "", buttons: [] }];
    this.interactions.set(token, messages);
    return messages;
  }

  limit(seconds: number): void {
    this.server.limit(
      seconds,
      () => tooMany(seconds),
      (path) => path.startsWith("/webhooks/"),
    );
  }

  async answer(call: Omit<Call, "status">): Promise<Answer> {
    const url = new URL(call.path, "http://discord");
    if (url.pathname === "/one.png")
      return { status: 200, bytes: PNG, headers: { "content-type": "image/png" } };
    if (url.pathname === "/users/@me/channels") {
      if (call.headers.authorization !== `Bot ${DISCORD_TOKEN}`)
        return { status: 401, body: { code: 0, message: "401: Unauthorized" } };
      const { recipient_id } = jsonOf(call.body);
      if (!/^\d+$/.test(String(recipient_id)))
        return { status: 400, body: { code: 50_035, message: "Invalid Form Body: recipient_id" } };
      return { status: 200, body: { id: privateChannel(String(recipient_id)) } };
    }
    if (url.pathname.startsWith("/applications/")) return await this.#application(call, url.pathname);
    const isForm = String(call.headers["content-type"]).startsWith("multipart/");
    const form = isForm ? await formOf(call) : undefined;
    const body = form ? JSON.parse(String(form.get("payload_json"))) : jsonOf(call.body);
    const file = form?.get("files[0]");
    const [, token, message] =
      /^\/webhooks\/\d+\/([\w.-]+)(?:\/messages\/([@\w]+))?$/.exec(url.pathname) ?? [];
    if (token !== undefined) {
      const messages = this.interactions.get(token);
      if (!messages) return { status: 401, body: { code: 50_027, message: "Invalid Webhook Token" } };
      const wait = this.#requests(token);
      if (wait > 0) return tooMany(wait);
      return this.#say(call.method, messages, message, body, file);
    }
    const [, channel, id] = /^\/channels\/(\d+)\/messages(?:\/(\d+))?$/.exec(url.pathname) ?? [];
    if (channel === undefined) return { status: 404, body: { code: 0, message: "404: Not Found" } };
    if (call.headers.authorization !== `Bot ${DISCORD_TOKEN}`)
      return { status: 401, body: { code: 0, message: "401" } };
    return this.#say(call.method, messagesIn(this.channels, channel), id, body, file);
  }

  /**
   * The bot's own application. It can be read, and its commands and address can be set; the address must answer a ping
   * first.
   */
  async #application(call: Omit<Call, "status">, path: string): Promise<Answer> {
    if (call.headers.authorization !== `Bot ${DISCORD_TOKEN}`)
      return { status: 401, body: { code: 0, message: "401: Unauthorized" } };
    const application = () => ({
      id: "4242",
      name: "Home",
      verify_key: DISCORD_PUBLIC_KEY,
      interactions_endpoint_url: this.endpoint ?? null,
    });
    if (path === "/applications/4242/commands" && call.method === "PUT") {
      this.commands = JSON.parse(call.body.toString()) as DiscordCommand[];
      const isOdd = ({ name, description = "", type = 1 }: DiscordCommand) =>
        type === 3
          ? name.length < 1 || name.length > 32 || description !== ""
          : !/^[-_\p{Ll}\p{N}]{1,32}$/u.test(name) || description.length < 1 || description.length > 100;
      if (this.commands.some(isOdd))
        return { status: 400, body: { code: 50_035, message: "Invalid Form Body" } };
      return { status: 200, body: this.commands };
    }
    if (path !== "/applications/@me") return { status: 404, body: { code: 0, message: "404: Not Found" } };
    if (call.method === "PATCH") {
      const { interactions_endpoint_url: address } = jsonOf(call.body);
      if (address !== "" && !(await answersPing(String(address))))
        return {
          status: 400,
          body: {
            code: 50_035,
            message: "interactions_endpoint_url: The specified URL could not be verified",
          },
        };
      this.endpoint = address === "" ? undefined : String(address);
    }
    return { status: 200, body: application() };
  }

  #say(
    method: string,
    messages: ChatMessage[],
    message: string | undefined,
    body: {
      content?: string;
      flags?: number;
      components?: Array<{ components: Array<{ label: string; custom_id: string }> }>;
    },
    file: File | string | null | undefined,
  ): Answer {
    const { content, components } = body;
    const previewed = fetchesLinks(content ?? "", ((body.flags ?? 0) & 4) !== 0);
    if ((content?.length ?? 0) > CONTENT_MAX)
      return {
        status: 400,
        body: { code: 50_035, message: "Invalid Form Body: content: Must be 2000 or fewer in length." },
      };
    if (!content && !(file instanceof File))
      return { status: 400, body: { code: 50_006, message: "Cannot send an empty message" } };
    const buttons = (components ?? [])
      .flatMap((row) => row.components)
      .map((one) => ({ label: one.label, data: one.custom_id }));
    if (buttons.some(({ label }) => label.length < 1 || label.length > 80))
      return { status: 400, body: { code: 50_035, message: "Invalid Form Body: label" } };
    if (components?.some((row) => row.components.length > 5) || buttons.some(({ data }) => data.length > 100))
      return { status: 400, body: { code: 50_035, message: "Invalid Form Body: components" } };
    const shown = content === undefined ? undefined : shownOf(content);
    if (method === "PATCH") {
      const before = messages.find(({ id }) => id === message);
      if (!before) return { status: 404, body: { code: 10_008, message: "Unknown Message" } };
      Object.assign(before, { ...shown, previewed, ...(components && { buttons }) });
      return { status: 200, body: { id: before.id } };
    }
    this.#next += 1;
    const added: ChatMessage = { id: String(this.#next), text: "", ...shown, buttons, previewed };
    if (file instanceof File) added.file = { name: file.name, bytes: file.size, type: file.type };
    messages.push(added);
    return { status: 200, body: { id: added.id } };
  }
}

/** Outside code, a backslash before a sign makes it a sign like others. */
export function shownOf(content: string): { text: string; literal: boolean } {
  let literal = true;
  const text = content.replace(
    /\\([^0-9A-Za-z\s])|```[\s\S]*?```|`[^`\n]*`|<@\d+>|[*_~`|<>[\]@#:]|^\s*(?:[-+]|\d+\.)\s/gm,
    (found, escaped?: string) => {
      if (escaped === undefined && !found.startsWith("<@")) literal = false;
      return escaped ?? found;
    },
  );
  return { text, literal };
}

function tooMany(seconds: number): Answer {
  const body = { message: "You are being rate limited.", retry_after: seconds, global: false };
  return { status: 429, headers: { "retry-after": String(seconds) }, body };
}

/** Returns the id of the bot's private channel with a person, which is always the same. */
export function privateChannel(person: string): string {
  return `88${person}`;
}

/** Tries an address as Discord does: a valid signature must get a pong, and an invalid one a refusal. */
async function answersPing(address: string): Promise<boolean> {
  const body = JSON.stringify({ type: 1 });
  const post = (headers: Record<string, string>) => fetch(address, { method: "POST", body, headers });
  const good = await post(discordHeaders(body));
  const bad = await post({ ...discordHeaders(body), "x-signature-ed25519": "0".repeat(128) });
  return good.status === 200 && (await good.text()).includes('"type":1') && bad.status === 401;
}

export function discordHeaders(body: string, at = Math.floor(Date.now() / 1_000)) {
  const signature = sign(null, Buffer.from(`${at}${body}`), privateKey).toString("hex");
  return { "x-signature-timestamp": String(at), "x-signature-ed25519": signature };
}
