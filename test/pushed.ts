/** For tests inside workerd of what browsers and topics are sent: the servers are played, and a receiver opens the messages. */
import { openPush, TestReceiver } from "./push-receiver.ts";
import { setVariables } from "./variables.ts";
import { ask } from "./workerd.ts";

/** What a browser's service worker gets. */
export type PushMessage = {
  id: string;
  text?: string;
  critical?: boolean;
  over?: true;
  question?: string;
  buttons?: Array<{ label: string; link?: string }>;
};
export type Pushed = { to: string; headers: Record<string, string>; message: PushMessage };
export type Published = {
  topic: string;
  message: string;
  click: string;
  actions: Array<{ action: string; label: string; url: string }>;
};

const HOST = "https://push.example.org/";

/** Push services and an ntfy server, from now on. */
export class PushServers {
  readonly #receiver = new TestReceiver();
  readonly pushed: Pushed[] = [];
  readonly published: Published[] = [];

  constructor(vars: Record<string, string> = {}) {
    const fetch = async (url: string, { headers, body }: RequestInit) => {
      // SAFETY: the gateway sends text to a topic, and bytes to a browser.
      if (typeof body === "string") this.published.push(JSON.parse(body) as Published);
      else {
        const message = JSON.parse(openPush(this.#receiver, body as Uint8Array)) as PushMessage;
        this.pushed.push({
          to: url.replace(HOST, ""),
          headers: headers as Record<string, string>,
          message,
        });
      }
      return new Response(null, { status: 201 });
    };
    setVariables({ ...vars, WEB: { fetch } });
  }

  /** @returns the id of the subscription */
  async browser(name: string, token: string, endpoint = `${HOST}${name}`): Promise<string> {
    const body = JSON.stringify({ endpoint, keys: this.#receiver.keys });
    return await idOf(await ask("/v1/push/browsers", { method: "POST", token, body }));
  }

  /** @returns the id of the subscription */
  async topic(name: string, token: string, access?: string): Promise<string> {
    const body = JSON.stringify({
      url: `https://ntfy.example.org/${name}`,
      ...(access && { token: access }),
    });
    return await idOf(await ask("/v1/push/topics", { method: "POST", token, body }));
  }
}

async function idOf(response: Response): Promise<string> {
  if (response.status !== 201) throw new Error(`not added: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
