/** Home Assistant on a real socket, with lights that obey: for tests of the whole bridge that need no real one. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

type Message = { id: number; type: string } & Record<string, unknown>;
export type ServiceCalled = { domain: string; service: string; target: { entity_id: string } };

/** A context's id: its first ten characters are the time of the call, here the year 1970. */
const CONTEXT = "0".repeat(26);

export class PlayedAssistant {
  /** The address of its WebSocket. */
  readonly url: string;
  readonly token: string;
  /** All that was called, in this order. */
  readonly calls: ServiceCalled[] = [];
  /** Lights that take back after this time what they said (ms). */
  readonly reverts = new Map<string, number>();
  /** By entity id. All are exposed lights. Those whose name begins with `cloud` are polled. */
  readonly #states = new Map<string, "on" | "off">();
  readonly #server: WebSocketServer;
  /** The sockets that are told of states, with the id of the subscription. */
  readonly #subscribed = new Map<WebSocket, number>();

  private constructor(server: WebSocketServer, path: string, token: string, lights: readonly string[]) {
    this.#server = server;
    this.token = token;
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    for (const light of lights) this.#states.set(`light.${light}`, "off");
    server.on("connection", (socket) => this.#accept(socket));
  }

  static async start(lights: readonly string[], path = "/api/websocket"): Promise<PlayedAssistant> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1", path });
    await once(server, "listening");
    return new PlayedAssistant(server, path, "an-administrator's", lights);
  }

  /** A light says this of itself. */
  say(light: string, state: "on" | "off"): void {
    const entity = `light.${light}`;
    this.#states.set(entity, state);
    const event = { c: { [entity]: { "+": { s: state, lc: Date.now() / 1_000 } } } };
    for (const [socket, id] of this.#subscribed) send(socket, { id, type: "event", event });
  }

  /** Ends all connections. */
  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: WebSocket): void {
    send(socket, { type: "auth_required", ha_version: "2026.11.0" });
    socket.on("close", () => this.#subscribed.delete(socket));
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.type === "auth") {
        const isRight = message.access_token === this.token;
        send(socket, { type: isRight ? "auth_ok" : "auth_invalid", ha_version: "2026.11.0" });
        if (!isRight) socket.close(1000);
      } else if (message.type === "ping") send(socket, { id: message.id, type: "pong" });
      else this.#answer(socket, message);
    });
  }

  #answer(socket: WebSocket, message: Message): void {
    const { id, type } = message;
    send(socket, { id, type: "result", success: true, result: this.#resultOf(type) });
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

  #resultOf(type: string): unknown {
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
