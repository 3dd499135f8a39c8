/**
 * Home Assistant on a real socket, with lights that obey, and a page that signs a browser in at once: for tests of the whole bridge that
 * need no real one.
 */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Message = { id: number; type: string } & Record<string, unknown>;
export type ServiceCalled = { domain: string; service: string; target: { entity_id: string } };

const PATH = "/api/websocket";
/** The access token of a sign-in as a user without administrator rights. */
const ACCESS = "a-user's";
/** A context's id: its first ten characters are the time of the call, here the year 1970. */
const CONTEXT = "0".repeat(26);

export class PlayedAssistant {
  /** The address of its WebSocket. */
  readonly url: string;
  /** An administrator's. A sign-in gives another one. */
  readonly token = "an-administrator's";
  /** All that was called, in this order. */
  readonly calls: ServiceCalled[] = [];
  /** Lights that take back after this time what they said (ms). */
  readonly reverts = new Map<string, number>();
  /** By entity id. All are exposed lights. Those whose name begins with `cloud` are polled. */
  readonly #states = new Map<string, "on" | "off">();
  readonly #server: WebSocketServer;
  readonly #http: Server;
  /** Refresh tokens of sign-ins, while they count. */
  readonly grants = new Set<string>();
  /** Of the sign-in that is under way. */
  #challenge = "";
  readonly #administrators = new WeakSet<WebSocket>();
  /** The sockets that are told of states, with the id of the subscription. */
  readonly #subscribed = new Map<WebSocket, number>();
  /** The same for changes of the entity registry. */
  readonly #registryHeard = new Map<WebSocket, number>();
  /** By the command whose next answer waits. */
  readonly #held = new Map<string, { asked: () => void; released: Promise<void> }>();

  private constructor(http: Server, lights: readonly string[]) {
    this.#http = http;
    this.#server = new WebSocketServer({ server: http, path: PATH });
    this.url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}${PATH}`;
    http.on("request", (request, response) => void this.#serve(request, response));
    for (const light of lights) this.#states.set(`light.${light}`, "off");
    this.#server.on("connection", (socket) => this.#accept(socket));
  }

  /** @param port where it was before; any, if it is left out */
  static async start(lights: readonly string[], port = 0): Promise<PlayedAssistant> {
    const http = createServer().listen(port, "127.0.0.1");
    await once(http, "listening");
    return new PlayedAssistant(http, lights);
  }

  /** Its address for a browser. */
  get page(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** A light says this of itself. */
  say(light: string, state: "on" | "off"): void {
    const entity = `light.${light}`;
    this.#states.set(entity, state);
    const event = { c: { [entity]: { "+": { s: state, lc: Date.now() / 1_000 } } } };
    for (const [socket, id] of this.#subscribed) send(socket, { id, type: "event", event });
  }

  /** The entity is gone, and its registry says so. */
  remove(light: string): void {
    this.#states.delete(`light.${light}`);
    this.registered(light, "remove");
  }

  /** The registry says that something of an entity changed. */
  registered(light: string, action: "update" | "remove"): void {
    const event = { data: { action, entity_id: `light.${light}` } };
    for (const [socket, id] of this.#registryHeard) send(socket, { id, type: "event", event });
  }

  /** The next answer to this command is made as it is asked for, and waits. */
  hold(command: string): { asked: Promise<void>; release: () => void } {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#held.set(command, { asked: asked.resolve, released: released.promise });
    return { asked: asked.promise, release: released.resolve };
  }

  /** Ends all connections. */
  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  async stop(): Promise<void> {
    this.drop();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", this.page);
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    if (pathname === "/auth/authorize") {
      this.#challenge = query.get("code_challenge") ?? "";
      const back = `${query.get("redirect_uri")}?code=the-code&state=${query.get("state")}`;
      response.writeHead(302, { location: back }).end();
      return;
    }
    const verifier = createHash("sha256").update(form.get("code_verifier") ?? "");
    const isRefresh = form.get("grant_type") === "refresh_token";
    const isRight = isRefresh
      ? this.grants.has(form.get("refresh_token") ?? "")
      : verifier.digest("base64url") === this.#challenge;
    if (pathname === "/auth/revoke") this.grants.delete(form.get("token") ?? "");
    if (pathname !== "/auth/token") response.writeHead(200).end("{}");
    else if (!isRight) response.writeHead(400).end('{"error":"invalid_grant"}');
    else if (isRefresh) response.writeHead(200).end(JSON.stringify({ access_token: ACCESS }));
    else {
      const refresh_token = randomUUID();
      this.grants.add(refresh_token);
      response.writeHead(200).end(JSON.stringify({ access_token: ACCESS, refresh_token }));
    }
  }

  #accept(socket: WebSocket): void {
    send(socket, { type: "auth_required", ha_version: "2026.11.0" });
    socket.on("close", () => {
      this.#subscribed.delete(socket);
      this.#registryHeard.delete(socket);
    });
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.type === "auth") {
        const isRight = message.access_token === this.token || message.access_token === ACCESS;
        if (message.access_token === this.token) this.#administrators.add(socket);
        send(socket, { type: isRight ? "auth_ok" : "auth_invalid", ha_version: "2026.11.0" });
        if (!isRight) socket.close(1000);
      } else if (message.type === "ping") send(socket, { id: message.id, type: "pong" });
      else void this.#answer(socket, message);
    });
  }

  async #answer(socket: WebSocket, message: Message): Promise<void> {
    const { id, type } = message;
    const result = this.#resultOf(socket, type);
    const held = this.#held.get(type);
    if (held) {
      this.#held.delete(type);
      held.asked();
      await held.released;
    }
    send(socket, { id, type: "result", success: true, result });
    if (message.event_type === "entity_registry_updated") this.#registryHeard.set(socket, id);
    if (type === "subscribe_entities") {
      this.#subscribed.set(socket, id);
      const all = [...this.#states].map(([entity, s]) => [entity, { s, a: {}, c: CONTEXT, lc: 1 }]);
      send(socket, { id, type: "event", event: { a: Object.fromEntries(all) } });
    }
    if (type !== "call_service") return;
    const call = message as unknown as ServiceCalled;
    this.calls.push({ domain: call.domain, service: call.service, target: call.target });
    const [, light = ""] = call.target.entity_id.split(".");
    if (!/^turn_o(?:n|ff)$/.test(call.service)) return;
    const [asked, other] = call.service === "turn_on" ? (["on", "off"] as const) : (["off", "on"] as const);
    this.say(light, asked);
    const reverts = this.reverts.get(light);
    if (reverts !== undefined) setTimeout(() => this.say(light, other), reverts);
  }

  #resultOf(socket: WebSocket, type: string): unknown {
    const lights = [...this.#states.keys()];
    switch (type) {
      case "get_config":
        return { state: "RUNNING", unit_system: { temperature: "°C" } };
      case "config/entity_registry/list":
        return lights.map((entity_id) => ({
          id: `r-${entity_id}`,
          entity_id,
          platform: entity_id.startsWith("light.cloud") ? "cloud" : "lab",
          unique_id: entity_id,
          device_id: `d-${entity_id}`,
          options: { conversation: { should_expose: true } },
        }));
      case "config/device_registry/list":
        return lights.map((entity_id) => ({
          id: `d-${entity_id}`,
          name: entity_id.replace("light.", ""),
          identifiers: [["lab", entity_id]],
        }));
      case "manifest/list":
        return [
          { domain: "lab", iot_class: "local_push" },
          { domain: "cloud", iot_class: "cloud_polling" },
        ];
      case "auth/current_user":
        return { name: "bridge", is_admin: this.#administrators.has(socket) };
      case "call_service":
        return { context: { id: CONTEXT } };
      default:
        return type.endsWith("/list") ? [] : null;
    }
  }
}

function send(socket: WebSocket, message: object): void {
  socket.send(JSON.stringify(message));
}
