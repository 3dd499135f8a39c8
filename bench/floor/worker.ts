/**
 * The shortest way from HTTP to a device and back with the same hops as ours: HTTP → Durable Object → Durable Object →
 * WebSocket, and back. It checks nothing and waits in memory. A plain call stores nothing. A turn, the platform's floor, also asks
 * a model over HTTP, and has a row for its question, each reply and each outcome: what no gateway on this platform can leave out.
 */
import { DurableObject } from "cloudflare:workers";

interface Env {
  FRONT: DurableObjectNamespace<Front>;
  HUB: DurableObjectNamespace<Hub>;
  /** Of an OpenAI-compatible endpoint. */
  MODEL_URL?: string;
}

type Delta = { choices: Array<{ delta: { content?: string; tool_calls?: unknown[] } }> };

/** As many bytes as a real command. */
const PAYLOAD = JSON.stringify({ filling: "x".repeat(240) });

export class Front extends DurableObject<Env> {
  call(id: string, payload: string): Promise<string> {
    return this.env.HUB.getByName("hub").call(id, payload);
  }

  async turn(text: string): Promise<string> {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS entry (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
    const messages: object[] = [];
    const add = (message: object) => {
      messages.push(message);
      sql.exec("INSERT INTO entry (body) VALUES (?)", JSON.stringify(message));
    };
    const calls: object[] = [];
    add({ role: "user", content: text });
    for (;;) {
      const tool_calls = await this.#ask(messages);
      add({ role: "assistant", tool_calls });
      if (tool_calls.length === 0) return JSON.stringify({ status: "done", calls });
      for (const _ of tool_calls) {
        add({ role: "tool", content: await this.call(crypto.randomUUID(), PAYLOAD) });
        calls.push({ status: "success" });
      }
    }
  }

  /** @returns the calls of its reply */
  async #ask(messages: object[]): Promise<unknown[]> {
    const response = await fetch(`${this.env.MODEL_URL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "bench", stream: true, messages }),
    });
    const lines = (await response.text()).split("\n\n");
    const data = lines.flatMap((line) => (line.startsWith("data: {") ? [line.slice("data: ".length)] : []));
    return data.flatMap((chunk) => (JSON.parse(chunk) as Delta).choices[0]?.delta.tool_calls ?? []);
  }
}

export class Hub extends DurableObject<Env> {
  readonly #waiting = new Map<string, (report: string) => void>();

  call(id: string, payload: string): Promise<string> {
    const [bridge] = this.ctx.getWebSockets();
    if (!bridge) throw new Error("the floor's bridge is not connected");
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      bridge.send(JSON.stringify({ id, payload }));
    });
  }

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(_socket: WebSocket, message: string): void {
    const { id, payload } = JSON.parse(message) as { id: string; payload: string };
    this.#waiting.get(id)?.(payload);
    this.#waiting.delete(id);
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.headers.get("upgrade") === "websocket") return env.HUB.getByName("hub").fetch(request);
    const { pathname } = new URL(request.url);
    const front = env.FRONT.getByName(pathname);
    if (pathname.startsWith("/v1/")) {
      const { text } = await request.json<{ text: string }>();
      return new Response(await front.turn(text));
    }
    return new Response(await front.call(crypto.randomUUID(), await request.text()));
  },
} satisfies ExportedHandler<Env>;
