/**
 * The gateway's door to the home's network. workerd itself listens on loopback only: Miniflare answers further paths and
 * headers of its own, which would let anybody look into its storage or choose their address.
 */
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, isIP } from "node:net";
import { hostname } from "node:os";
import type { Duplex } from "node:stream";

/** Paths that Miniflare answers itself: its explorer, its triggers. */
const MINIFLARES_OWN = /^\/(cdn-cgi|__cf_local)(\/|$)/i;
/** A path for the program that fetches messages, which asks the Worker itself. */
const POLLING = /^\/v1\/polling\/?$/i;
/** Headers of one connection (RFC 9110 §7.6.1); `expect` is answered here. */
const HOP_BY_HOP =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect)$/;
/** Headers that Miniflare or the Worker believe. Only this file sets them; a token of Cloudflare Access is signed. */
const BELIEVED = /^(mf-.*|cf-(?!access-jwt-assertion$).*|x-forwarded-.*|x-real-ip|forwarded)$/;
const LOOPBACK = /^(127\.|::1$)/;
/** More than a home has devices, pages and programs; each costs some memory. */
const CONNECTIONS_MAX = 1_000;
/** Names below these are given out in the home itself, and no stranger can register one. */
const HOME_DOMAINS = ["", ".local", ".lan", ".home.arpa"];

export type FrontOptions = {
  /** The Worker's own address, on loopback. */
  target: string;
  /** The port that plain HTTP is answered at: by everything on `host`, or with `tls` only on this machine. */
  port: number;
  host: string;
  /** Everything but this machine gets TLS, at a port of its own. */
  tls?: { port: number; cert: string; key: string } | undefined;
  /** The gateway's address as others know it: its host is a name of this machine. */
  publicUrl?: string | undefined;
};

export type Front = {
  ports: { plain: number; tls: number | undefined };
  stop(): Promise<void>;
};

/** Listens for the network and passes everything on to the Worker. @throws when a port or an address cannot be had */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { port, host, tls } = options;
  const servers: Server[] = [];
  const listen = async (make: (handle: RequestListener) => Server, at: number, on: string) => {
    const server = make((incoming, outgoing) => pass(options, incoming, outgoing));
    server.on("upgrade", (incoming, socket, head) => passSocket(options, incoming, socket, head));
    server.maxConnections = CONNECTIONS_MAX;
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port: at, host: on }, resolve);
    });
    return (server.address() as AddressInfo).port;
  };
  const isEverywhere = host === "0.0.0.0" || host === "::";
  try {
    const plain = await listen(createServer, port, tls ? "127.0.0.1" : host);
    // This machine's own programs use loopback, whatever else is listened at.
    if (!tls && !isEverywhere) await listen(createServer, plain, "127.0.0.1");
    const secure =
      tls &&
      (await listen(
        (handle) => createTlsServer({ cert: tls.cert, key: tls.key }, handle) as unknown as Server,
        tls.port,
        host,
      ));
    return { ports: { plain, tls: secure }, stop: () => stopAll(servers) };
  } catch (error) {
    await stopAll(servers);
    throw error;
  }
}

async function stopAll(servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

function pass(options: FrontOptions, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const refusal = refusalOf(options, incoming);
  if (refusal) {
    refuse(outgoing, refusal);
    return;
  }
  const asked = requestTo(options, incoming, headersFor(incoming));
  if (!asked) {
    refuse(outgoing, UNREADABLE);
    return;
  }
  asked.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer));
    // A stream of events begins with its headers.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
    answer.on("aborted", () => outgoing.destroy());
  });
  asked.on("error", () => {
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(outgoing, AWAY);
  });
  // The Worker ends what nobody waits for any more.
  outgoing.on("close", () => asked.destroy());
  incoming.on("error", () => asked.destroy());
  incoming.pipe(asked);
}

function passSocket(options: FrontOptions, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on("error", () => socket.destroy());
  const refusal = refusalOf(options, incoming);
  if (refusal) {
    endSocket(socket, refusal);
    return;
  }
  const headers = { ...headersFor(incoming), connection: "upgrade", upgrade: incoming.headers.upgrade };
  const asked = requestTo(options, incoming, headers);
  if (!asked) {
    endSocket(socket, UNREADABLE);
    return;
  }
  socket.on("close", () => asked.destroy());
  asked.on("error", () => endSocket(socket, AWAY));
  asked.on("response", (answer) => {
    // It is no socket after all: a refusal, with its reason in the body.
    socket.write(
      `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${headerLines(answer)}connection: close\r\n\r\n`,
    );
    answer.pipe(socket);
  });
  asked.on("upgrade", (answer, upstream, first) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(answer, true)}\r\n`);
    socket.write(first);
    upstream.write(head);
    upstream.on("error", () => socket.destroy());
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    upstream.pipe(socket).pipe(upstream);
  });
  asked.end();
}

/** @returns undefined for what Node's parser lets in, and its client does not send on */
function requestTo(
  { target }: FrontOptions,
  { method, url }: IncomingMessage,
  headers: OutgoingHttpHeaders,
): ClientRequest | undefined {
  try {
    return request(target, { method, path: url, headers, agent: false });
  } catch {
    return undefined;
  }
}

type Refusal = { status: number; code: string; message: string };

const AWAY: Refusal = {
  status: 502,
  code: "unavailable",
  message: "the gateway is being started again; try again in a moment",
};

const UNREADABLE: Refusal = { status: 400, code: "invalid_path", message: "not readable as HTTP" };

/** Refuses what is meant for Miniflare, and requests under a name that a stranger's page may have given this machine. */
function refusalOf(
  { publicUrl }: FrontOptions,
  { url = "/", headers }: IncomingMessage,
): Refusal | undefined {
  const path = decoded(url);
  if (path === undefined) return UNREADABLE;
  if (!url.startsWith("/") || MINIFLARES_OWN.test(path) || POLLING.test(path))
    return { status: 404, code: "not_found", message: "no such route" };
  const host = headers.host ?? "";
  if (isOwnName(host, publicUrl)) return undefined;
  return {
    status: 421,
    code: "misdirected",
    message: `Host: this gateway is not known as '${host.slice(0, 100)}'; use its address, or set PUBLIC_URL`,
  };
}

/** The path as Miniflare would compare it; undefined: nobody can say how that would read it. */
function decoded(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(`http://x${url}`).pathname);
  } catch {
    return undefined;
  }
}

/**
 * True if a Host header names this machine. A page that is read at home could otherwise point its own name here, and ask as
 * the gateway's own page (DNS rebinding).
 */
export function isOwnName(host: string, publicUrl: string | undefined, machine = hostname()): boolean {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (!url || url.username || url.pathname !== "/" || url.search) return false;
  const name = url.hostname.toLowerCase().replace(/\.$/, "");
  if (isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0 || name === "localhost") return true;
  if (publicUrl && URL.canParse(publicUrl) && new URL(publicUrl).hostname === name) return true;
  const [own = ""] = machine.toLowerCase().split(".");
  return name === machine.toLowerCase() || HOME_DOMAINS.some((domain) => name === own + domain);
}

/** The request's headers for the Worker, with the client's address and the way it came. */
function headersFor(incoming: IncomingMessage): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  const dropped = new Set((incoming.headers.connection ?? "").toLowerCase().split(/[\s,]+/));
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    const name = (incoming.rawHeaders[at] ?? "").toLowerCase();
    if (HOP_BY_HOP.test(name) || BELIEVED.test(name) || dropped.has(name)) continue;
    const value = incoming.rawHeaders[at + 1] ?? "";
    headers[name] = headers[name] === undefined ? value : [headers[name], value].flat();
  }
  const { address, isSecure } = clientOf(incoming);
  return {
    ...headers,
    ...(incoming.headers["transfer-encoding"] !== undefined && { "transfer-encoding": "chunked" }),
    "cf-connecting-ip": address,
    ...(isSecure && { "x-forwarded-proto": "https" }),
  };
}

/** A proxy on this machine (Caddy, Tailscale, cloudflared) tells of its client, and whether that came by TLS. */
function clientOf({ socket, headers }: IncomingMessage): { address: string; isSecure: boolean } {
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const isTls = "encrypted" in socket;
  if (!LOOPBACK.test(address) || isTls) return { address, isSecure: isTls };
  // Every proxy adds its client to the end of the one; most of them pass the other on as their client sent it.
  const told = one(headers["x-forwarded-for"])?.split(",").at(-1)?.trim() ?? one(headers["cf-connecting-ip"]);
  return {
    address: told !== undefined && isIP(told) !== 0 ? told : address,
    isSecure: one(headers["x-forwarded-proto"]) === "https",
  };
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.at(-1) : value;
}

function answerHeaders({ rawHeaders }: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!HOP_BY_HOP.test((rawHeaders[at] ?? "").toLowerCase()))
      headers.push(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

function headerLines(answer: IncomingMessage, withUpgrade = false): string {
  const headers = withUpgrade ? answer.rawHeaders : answerHeaders(answer);
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}

function refuse(outgoing: ServerResponse, refusal: Refusal): void {
  const headers = { "content-type": "application/json", connection: "close" };
  outgoing.writeHead(refusal.status, { ...headers, ...(refusal === AWAY && { "retry-after": "1" }) });
  outgoing.end(errorBody(refusal));
}

function endSocket(socket: Duplex, refusal: Refusal): void {
  if (!socket.writable) return void socket.destroy();
  const body = errorBody(refusal);
  socket.end(
    `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function errorBody({ code, message }: Refusal): string {
  return JSON.stringify({ error: { code, message } });
}
