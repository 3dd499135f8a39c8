/** WhatsApp's Cloud API, and its signatures. */
import { createHmac } from "node:crypto";
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
  startFake,
} from "./server.ts";

export const WHATSAPP_TOKEN = "test-token-of-whatsapp";
export const WHATSAPP_SECRET = "test-app-secret-of-whatsapp";
export const WHATSAPP_VERIFY = "test-verify-token-of-whatsapp";
export const PHONE = "111222333";
const BODY_MAX = 4_096;
const INTERACTIVE_MAX = 1_024;
const BUTTONS_MAX = 3;
const TITLE_MAX = 20;

type Message = {
  to?: string;
  type?: string;
  text?: { body: string; preview_url?: boolean };
  interactive?: {
    body: { text: string };
    action: { buttons: Array<{ reply: { id: string; title: string } }> };
  };
  template?: {
    name: string;
    language: { code: string };
    components: Array<{ type: string; parameters: Array<{ type: string; text: string }> }>;
  };
  image?: { id: string };
  document?: { id: string };
};

export class FakeWhatsApp {
  readonly server: PlatformServer;
  readonly chats = new Map<string, ChatMessage[]>();
  readonly read: string[] = [];
  /** The number that people write to. */
  readonly number = "49301234";
  /** False: more than 24 hours since the person wrote. */
  isWindowOpen = true;
  readonly #media = new Map<string, File>();
  #next = 500;

  private constructor(server: PlatformServer) {
    this.server = server;
  }

  static start(): Promise<FakeWhatsApp> {
    return startFake((server) => new FakeWhatsApp(server));
  }

  chat(to: string): ChatMessage[] {
    return messagesIn(this.chats, to);
  }

  /** Refuses calls without a time to wait; a caller is expected to wait briefly. */
  limit(): void {
    const body = {
      error: { code: 131_056, message: "(Business Account, Consumer Account) pair rate limit hit" },
    };
    this.server.limit(
      2,
      () => ({ status: 400, body }),
      (path) => path.endsWith("/messages"),
    );
  }

  async answer(call: Omit<Call, "status">): Promise<Answer> {
    if (call.headers.authorization !== `Bearer ${WHATSAPP_TOKEN}`)
      return refuse(401, 190, "Invalid OAuth access token");
    if (call.path === "/777")
      return { status: 200, body: { url: `${this.server.url}/download/777`, mime_type: "image/png" } };
    if (call.path === "/download/777")
      return { status: 200, bytes: PNG, headers: { "content-type": "image/png" } };
    if (call.path === `/${PHONE}/media`) {
      const file = (await formOf(call)).get("file");
      if (!(file instanceof File)) return refuse(400, 100, "file is required");
      const id = this.#id();
      this.#media.set(id, file);
      return { status: 200, body: { id } };
    }
    if (call.path !== `/${PHONE}/messages`) return refuse(404, 100, "Unknown path");
    const body = jsonOf(call.body) as {
      messaging_product?: string;
      status?: string;
      message_id?: string;
    } & Message;
    if (body.messaging_product !== "whatsapp") return refuse(400, 100, "messaging_product is required");
    if (body.status === "read") {
      this.read.push(body.message_id ?? "");
      return { status: 200, body: { success: true } };
    }
    return this.#say(body);
  }

  #say(body: Message): Answer {
    if (body.type === "template") return this.#sayTemplate(body);
    if (!this.isWindowOpen) return refuse(400, 131_047, "Re-engagement message");
    const { to, type, text, interactive, image, document } = body;
    if (!to) return refuse(400, 100, "to is required");
    const message: ChatMessage = { id: `wamid.${this.#id()}`, text: "", buttons: [] };
    if (type === "text") {
      if (!text?.body || text.body.length > BODY_MAX) return refuse(400, 100, "text.body: length 1 to 4096");
      message.text = text.body;
      message.previewed = fetchesLinks(text.body, text.preview_url !== true);
    } else if (type === "interactive") {
      const buttons = interactive?.action.buttons ?? [];
      const content = interactive?.body.text ?? "";
      if (content.length > INTERACTIVE_MAX || buttons.length === 0 || buttons.length > BUTTONS_MAX)
        return refuse(400, 131_009, "Parameter value is not valid");
      if (new Set(buttons.map(({ reply }) => reply.title)).size < buttons.length)
        return refuse(400, 131_009, "Duplicate button titles");
      if (buttons.some(({ reply }) => reply.title.length > TITLE_MAX))
        return refuse(400, 131_009, "title: max 20");
      message.text = content;
      message.buttons = buttons.map(({ reply }) => ({ label: reply.title, data: reply.id }));
    } else {
      const file = this.#media.get((image ?? document)?.id ?? "");
      if (!file) return refuse(400, 131_053, "Media upload error");
      message.file = { name: file.name, bytes: file.size, type: file.type };
    }
    this.chat(to).push(message);
    return { status: 200, body: { messages: [{ id: message.id }] } };
  }

  /** `edgecall_alert`: "Home {{1}}: {{2}}". Meta takes it at any time. */
  #sayTemplate({ to, template }: Message): Answer {
    const values = template?.components.flatMap(({ parameters }) => parameters.map(({ text }) => text)) ?? [];
    if (template?.name !== "edgecall_alert" || template.language.code !== "en")
      return refuse(404, 132_001, "Template name does not exist in the translation");
    if (!to || values.length !== 2) return refuse(400, 132_000, "Number of parameters does not match");
    if (values.some((value) => value === "" || /[\n\t]| {5}/.test(value) || value.length > 1_024))
      return refuse(400, 132_012, "Parameter format does not match");
    const message = { id: `wamid.${this.#id()}`, text: `Home ${values[0]}: ${values[1]}`, buttons: [] };
    this.chat(to).push(message);
    return { status: 200, body: { messages: [{ id: message.id }] } };
  }

  #id(): string {
    this.#next += 1;
    return String(this.#next);
  }
}

export function whatsappHeaders(body: string, secret = WHATSAPP_SECRET) {
  return { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
}

function refuse(status: number, code: number, message: string): Answer {
  return { status, body: { error: { code, message, type: "OAuthException" } } };
}
