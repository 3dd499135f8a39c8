/**
 * Home Assistant's Supervisor, as an app reaches it: it signs the app in at Home Assistant with an administrator's token of its own, knows
 * no broker, and shows cards. The app shows the Supervisor's token, which counts nowhere else.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type RawData, WebSocket, WebSocketServer } from "ws";

type Behind = {
  /** Home Assistant's WebSocket. */
  url: string;
  /** An administrator's token. */
  token: string;
};

export class PlayedSupervisor {
  readonly token = "the-supervisor's";
  /** The cards that it was told to show. */
  readonly discovered: unknown[] = [];
  readonly #http: Server;
  readonly #sockets: WebSocketServer;

  private constructor(http: Server, behind: Behind) {
    this.#http = http;
    http.on("request", (request, response) => void this.#serve(request, response));
    this.#sockets = new WebSocketServer({ server: http, path: "/core/websocket" });
    this.#sockets.on("connection", (app) => this.#signIn(app, behind));
  }

  static async start(behind: Behind): Promise<PlayedSupervisor> {
    const http = createServer().listen(0, "127.0.0.1");
    await once(http, "listening");
    return new PlayedSupervisor(http, behind);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const app of this.#sockets.clients) app.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    const isKnown = request.headers.authorization === `Bearer ${this.token}`;
    const isDiscovery = request.method === "POST" && request.url === "/discovery";
    if (isKnown && isDiscovery) this.discovered.push(JSON.parse(body));
    // It answers 400 for a service that no app provides.
    const status = !isKnown ? 401 : isDiscovery ? 200 : request.url === "/services/mqtt" ? 400 : 404;
    response.writeHead(status).end("{}");
  }

  #signIn(app: WebSocket, { url, token }: Behind): void {
    app.send(JSON.stringify({ type: "auth_required", ha_version: "2026.11.0" }));
    app.once("message", (data) => {
      if (typeIn(data).access_token !== this.token) {
        app.send(JSON.stringify({ type: "auth_invalid" }));
        app.close();
        return;
      }
      const there = new WebSocket(url);
      let isSignedIn = false;
      there.on("message", (message) => {
        const { type } = isSignedIn ? {} : typeIn(message);
        if (type === "auth_required") there.send(JSON.stringify({ type: "auth", access_token: token }));
        else app.send(String(message));
        isSignedIn ||= type === "auth_ok";
      });
      app.on("message", (message) => there.send(String(message)));
      app.on("close", () => there.terminate());
      there.on("close", () => app.terminate());
      there.on("error", () => app.terminate());
    });
  }
}

function typeIn(data: RawData): { type?: string; access_token?: string } {
  return JSON.parse(String(data)) as { type?: string; access_token?: string };
}
