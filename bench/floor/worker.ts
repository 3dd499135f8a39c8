/**
 * The shortest way from HTTP to a device and back with the same hops as ours: HTTP → Durable Object → Durable Object →
 * WebSocket, and back. It stores nothing, checks nothing and waits in memory.
 */
import { DurableObject } from "cloudflare:workers";

interface Env {
  FRONT: DurableObjectNamespace<Front>;
  HUB: DurableObjectNamespace<Hub>;
}

export class Front extends DurableObject<Env> {
  call(id: string, payload: string): Promise<string> {
    return this.env.HUB.getByName("hub").call(id, payload);
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
    const front = env.FRONT.getByName(new URL(request.url).pathname);
    return new Response(await front.call(crypto.randomUUID(), await request.text()));
  },
} satisfies ExportedHandler<Env>;
