/**
 * The browser's only network access: a forward proxy on a Unix socket. It checks every address by the rules of the web tools
 * and connects to exactly the address that it checked. All requests of a page, its redirects, frames and sockets pass here.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type LookupFunction } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { type AllowedRanges, checkUrl } from "@edgecall/core/web/address.ts";
import { RefusedAddress } from "@edgecall/core/web/fetch-page.ts";
import { boundOf, type GuardOptions, judged, resolveAll } from "@edgecall/pi-agent/tools/web/web-guard.ts";

/** More than a page needs, and still few for this machine. */
const MAX_CONNECTIONS = 256;
/** Most refusals that are remembered, since a page may request any number of hosts. */
const MAX_REFUSALS = 200;
/** A connection that is silent for this long is closed. */
const SILENT_MS = 60_000;
/** Headers of a single connection, which are not forwarded (RFC 9110, 7.6.1). */
const HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export class GuardProxy {
  readonly #server: Server;
  readonly #allowed: AllowedRanges;
  readonly #only: GuardOptions["only"];
  readonly #lookup: LookupFunction;
  readonly #refusals = new Map<string, string>();
  readonly #open = new Set<Duplex>();

  /** @param path the socket's; its folder must keep other users out */
  static async start(path: string, options: GuardOptions): Promise<GuardProxy> {
    const proxy = new GuardProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject).listen(path, resolve);
    });
    return proxy;
  }

  private constructor({ allowed = [], only, resolve = resolveAll }: GuardOptions) {
    this.#allowed = allowed;
    this.#only = only;
    this.#lookup = judged(resolve, allowed);
    this.#server = createServer((request, response) => this.#forward(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on("connect", (request, socket, head) => this.#tunnel(request, socket, head));
    this.#server.on("connection", (socket) => this.#keep(socket));
  }

  /** Returns why a host was refused since the last `forget`, as a text that continues "the address". */
  refusal(host: string): string | undefined {
    return this.#refusals.get(host);
  }

  forget(): void {
    this.#refusals.clear();
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Handles plain `http://`. */
  #forward(request: IncomingMessage, response: ServerResponse): void {
    response.on("error", () => {});
    const url = this.#judge(request.url ?? "");
    if (url?.protocol !== "http:") return void response.writeHead(403).end();
    const headers = { ...withoutHops(request.headers), host: url.host };
    const options = { method: request.method, headers, lookup: this.#lookup, agent: false } as const;
    const onward = httpRequest(url, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutHops(answer.headers));
      pipeline(answer, response, () => {});
    });
    onward.setTimeout(SILENT_MS, () => onward.destroy());
    onward.on("error", (error) => {
      this.#note(url.host, error);
      if (response.headersSent) response.destroy();
      else response.writeHead(error instanceof RefusedAddress ? 403 : 502).end();
    });
    pipeline(request, onward, () => {});
  }

  /** Handles `https://` and every WebSocket. */
  #tunnel(request: IncomingMessage, near: Duplex, head: Buffer): void {
    const refuse = (status: string) => near.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
    near.on("error", () => {});
    const url = this.#judge(`https://${request.url ?? ""}`);
    if (!url) return void refuse("403 Forbidden");
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const far = connect({ host, port: Number(url.port || 443), lookup: this.#lookup });
    this.#keep(far);
    far.setNoDelay(true);
    far.setTimeout(SILENT_MS, () => far.destroy());
    let isOpen = false;
    far.once("connect", () => {
      isOpen = true;
      near.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      far.write(head);
      pipeline(near, far, near, () => {});
    });
    far.on("error", (error) => {
      this.#note(url.host, error);
      if (!isOpen) refuse(error instanceof RefusedAddress ? "403 Forbidden" : "502 Bad Gateway");
    });
  }

  /** Checks numeric addresses; the lookup of the connection checks what a name resolves to. */
  #judge(text: string): URL | undefined {
    const checked = checkUrl(text, this.#allowed);
    const outside = checked.ok && this.#only ? boundOf(checked.url, this.#only) : undefined;
    if (checked.ok && outside === undefined) return checked.url;
    const host = URL.canParse(text) ? new URL(text).host : "";
    this.#refuse(host, checked.ok ? `is not allowed here: ${outside}` : checked.problem);
    return undefined;
  }

  #note(host: string, error: Error): void {
    if (error instanceof RefusedAddress) this.#refuse(host, "leads to a private or special address");
  }

  #refuse(host: string, problem: string): void {
    if (this.#refusals.size < MAX_REFUSALS) this.#refusals.set(host, problem);
  }

  #keep(socket: Duplex): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named =
    headers.connection
      ?.toLowerCase()
      .split(",")
      .map((name) => name.trim()) ?? [];
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name) && !named.includes(name)),
  );
}
