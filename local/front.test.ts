import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { ownAddress } from "../node/own-address.ts";
import { newAuthority, signedBy } from "../test/certificates.ts";
import { until } from "../test/wait.ts";
import { type FrontOptions, isOwnName, startFront } from "./front.ts";
import { readNetwork } from "./network.ts";

const ends: Array<() => unknown> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A Worker that shows what it was asked, and as `/events` sends one line and waits. */
async function playedWorker() {
  const seen: IncomingMessage[] = [];
  let endedStreams = 0;
  const server: Server = createServer(async (incoming, outgoing) => {
    seen.push(incoming);
    if (incoming.url === "/events") {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write("data: one\n\n");
      outgoing.on("close", () => (endedStreams += 1));
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    outgoing.writeHead(201, [
      ...["set-cookie", "a=1", "set-cookie", "b=2", "content-type", "application/json"],
    ]);
    const { method, url, headers } = incoming;
    outgoing.end(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString() }));
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (incoming, socket, head) => {
    seen.push(incoming);
    if (incoming.url === "/refused") {
      socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno");
      return;
    }
    sockets.handleUpgrade(incoming, socket, head, (own) => {
      own.send("hello");
      own.on("message", (data) => own.send(`you said ${data}`));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    target: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    endedStreams: () => endedStreams,
    close: () => server.closeAllConnections() ?? server.close(),
  };
}

async function fronted(options: Partial<FrontOptions> = {}) {
  const worker = await playedWorker();
  const front = await startFront({ target: worker.target, port: 0, host: "0.0.0.0", ...options });
  ends.push(() => front.stop());
  return { ...worker, front, port: front.ports.plain };
}

type Answer = { status: number; headers: IncomingMessage["headers"]; body: string };

/** `fetch` would not send a Host of ours. */
async function ask(
  port: number,
  path: string,
  options: { host?: string; method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { host = "127.0.0.1", method = "GET", headers = {}, body } = options;
  const asked = request({ host, port, path, method, headers, agent: false });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of answer.setEncoding("utf8")) text += part;
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text };
}

const errorOf = ({ body }: Answer) =>
  (JSON.parse(body) as { error: { code: string; message: string } }).error;

test("a request and its answer pass whole, with each of two headers of a name", async () => {
  const { port } = await fronted();
  const answer = await ask(port, "/v1/x?y=%20z", {
    method: "POST",
    headers: { authorization: "Bearer abc", "transfer-encoding": "chunked" },
    body: "ü".repeat(100_000),
  });
  expect(answer).toMatchObject({ status: 201, headers: { "set-cookie": ["a=1", "b=2"] } });
  const seen = JSON.parse(answer.body);
  expect(seen).toMatchObject({ method: "POST", url: "/v1/x?y=%20z" });
  expect(seen.body === "ü".repeat(100_000)).toBe(true);
  expect(seen.headers).toMatchObject({ authorization: "Bearer abc", host: `127.0.0.1:${port}` });
});

test("the client's address is the socket's, whatever a client in the network says; nothing is said for Miniflare", async () => {
  const { port } = await fronted();
  const own = ownAddress();
  const forged = {
    "CF-Connecting-IP": "203.0.113.9",
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "MF-Original-URL": "https://elsewhere/",
    "MF-Route-Override": "other",
    "cf-access-jwt-assertion": "signed",
  };
  // A machine without a network has no other machines either.
  if (own !== undefined) {
    const { headers } = JSON.parse((await ask(port, "/", { host: own, headers: forged })).body);
    expect(headers).toMatchObject({ "cf-connecting-ip": own, "cf-access-jwt-assertion": "signed" });
    for (const name of ["x-forwarded-for", "x-forwarded-proto", "mf-original-url", "mf-route-override"])
      expect(headers).not.toHaveProperty(name);
  }
  // A proxy on this machine says who asked it, and that it was by TLS.
  const { headers } = JSON.parse((await ask(port, "/", { headers: forged })).body);
  expect(headers).toMatchObject({ "cf-connecting-ip": "203.0.113.9", "x-forwarded-proto": "https" });
  expect(headers).not.toHaveProperty("mf-original-url");
  // Only the last address of the list is the proxy's own word.
  const sent = { "CF-Connecting-IP": "198.51.100.1", "X-Forwarded-For": "198.51.100.2, 203.0.113.9" };
  expect(JSON.parse((await ask(port, "/", { headers: sent })).body).headers).toMatchObject({
    "cf-connecting-ip": "203.0.113.9",
  });
});

test.each([
  ["/cdn-cgi/local/explorer", 404],
  ["/CDN-CGI/x", 404],
  ["/%63dn-cgi/x", 404],
  ["/./cdn-cgi/x", 404],
  ["/a/../cdn-cgi/x", 404],
  ["/__cf_local/stream/x", 404],
  ["http://127.0.0.1/cdn-cgi/x", 404],
  ["/./cdn-cgi/x/%ff", 400],
  ["/a/%2e%2e/cdn-cgi/x%ff", 400],
  ["/v1/polling", 404],
  ["/v1/%70olling", 404],
  ["/cdn-cgix", 201],
])("%s is answered with %i", async (path, status) => {
  const { port, seen } = await fronted();
  expect((await ask(port, path)).status).toBe(status);
  expect(seen).toHaveLength(status === 201 ? 1 : 0);
});

test("a name that only a stranger's page uses for this machine is refused, for requests and sockets", async () => {
  const { port, seen } = await fronted({ publicUrl: "https://home.example.org" });
  const refused = await ask(port, "/", { headers: { host: `rebound.example:${port}` } });
  expect(refused.status).toBe(421);
  expect(errorOf(refused).message).toBe(
    `Host: this gateway is not known as 'rebound.example:${port}'; use its address, or set PUBLIC_URL`,
  );
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: "rebound.example" } });
  const [, answer] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  expect(answer.statusCode).toBe(421);
  answer.resume();
  expect(seen).toHaveLength(0);
  expect((await ask(port, "/", { headers: { host: "home.example.org" } })).status).toBe(201);
});

test.each([
  ["192.168.1.5:8787", true],
  ["[fe80::1]:8787", true],
  ["localhost", true],
  ["attic", true],
  ["Attic.local:8787", true],
  ["attic.lan.", true],
  ["attic.evil.example", false],
  ["local", false],
  ["", false],
  ["a@attic", false],
  ["attic/x", false],
  ["1.2.3.4.evil.example", false],
])("Host %j of the machine attic: %s", (host, isOwn) => {
  expect(isOwnName(host, undefined, "attic")).toBe(isOwn);
});

test("a stream comes as it is written, and ends at the Worker when its reader goes", async () => {
  const { port, endedStreams } = await fronted();
  const asked = request({ host: "127.0.0.1", port, path: "/events", agent: false });
  asked.on("error", () => {});
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.on("error", () => {});
  expect(String((await once(answer, "data"))[0])).toBe("data: one\n\n");
  asked.destroy();
  await until(() => endedStreams() === 1, { what: "the Worker sees that nobody reads" });
});

test("a socket passes both ways; what the Worker refuses comes with its status", async () => {
  const { port, seen } = await fronted();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/bridge`, {
    headers: { authorization: "Bearer b" },
  });
  expect(String((await once(socket, "message"))[0])).toBe("hello");
  socket.send("x".repeat(200_000));
  expect(String((await once(socket, "message"))[0])).toHaveLength("you said ".length + 200_000);
  expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer b", "cf-connecting-ip": "127.0.0.1" });
  socket.close();
  await once(socket, "close");
  const refused = new WebSocket(`ws://127.0.0.1:${port}/refused`);
  const [, answer] = (await once(refused, "unexpected-response")) as [unknown, IncomingMessage];
  expect(answer.statusCode).toBe(401);
  answer.resume();
});

test("while the Worker is away it says so, also to sockets, and goes on afterwards", async () => {
  const { port, front } = await fronted({ target: "http://127.0.0.1:9" });
  const answer = await ask(port, "/v1/status", { method: "POST", body: "{}" });
  expect([answer.status, answer.headers["retry-after"], errorOf(answer).code]).toEqual([
    502,
    "1",
    "unavailable",
  ]);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const [, refused] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  expect(refused.statusCode).toBe(502);
  refused.resume();
  await front.stop();
  ends.pop();
});

test("with a certificate the network gets TLS alone, and this machine plain HTTP", {
  tags: ["needs/openssl"],
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-front-"));
  ends.push(() => rmSync(dir, { recursive: true }));
  const authority = newAuthority(dir, "authority");
  const { cert: TLS_CERT, key: TLS_KEY } = signedBy(authority, dir, "IP:127.0.0.1");
  const read = readNetwork({ HOST: "0.0.0.0", TLS_CERT, TLS_KEY, TLS_PORT: "0" });
  const { front, port } = await fronted(read.ok ? read.value : {});
  const ca = readFileSync(authority.cert);
  const own = ownAddress();
  if (own !== undefined) {
    const socket = connect(port, own);
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
  }
  const { request: secure } = await import("node:https");
  const asked = secure({ host: "127.0.0.1", port: front.ports.tls, path: "/", ca, agent: false });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  let body = "";
  for await (const part of answer) body += part;
  expect(JSON.parse(body).headers).toMatchObject({ "x-forwarded-proto": "https" });
  expect((await ask(port, "/")).status).toBe(201);
});
