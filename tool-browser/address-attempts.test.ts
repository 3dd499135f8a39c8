/**
 * Ways to have a device's web tools and browser connect into its own network. Judged by listeners on this machine, which must accept no
 * connection: a page is served by an allowed one, and everything that it or the resolver leads to is not.
 */
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer, request } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import { webfetch } from "@edgecall/core/web/webfetch.ts";
import { callTool } from "@edgecall/pi-agent/testing/call.ts";
import { guardedFetch, type Resolve } from "@edgecall/pi-agent/tools/web/web-guard.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GuardProxy } from "./guard-proxy.ts";

const traps: Server[] = [];
let connections = 0;
let port = 0;
let pages: HttpServer;
let pagesPort = 0;
let proxy: GuardProxy;
const socket = join(mkdtempSync(join(tmpdir(), "edgecall-proxy-")), "s");

/** The owner allows 127.0.0.9, where the page is. */
const ranges = readAllowedRanges(["127.0.0.9"]);
const allowed = ranges.ok ? ranges.value : [];

/** `turns.example` leads to the page at first, and then elsewhere. */
let looks = 0;
const NAMES: Record<string, () => string[]> = {
  "page.example": () => ["127.0.0.9"],
  "home.example": () => ["127.0.0.1"],
  "six.example": () => ["::1"],
  "mapped.example": () => ["::ffff:127.0.0.1"],
  "both.example": () => ["127.0.0.9", "127.0.0.1"],
  "first.example": () => ["127.0.0.1", "127.0.0.9"],
  "any.example": () => ["0.0.0.0"],
  "any6.example": () => ["::"],
  "zone.example": () => ["fe80::1%lo"],
  "odd.example": () => ["127.1"],
  "none.example": () => [],
  "word.example": () => ["localhost"],
  "turns.example": () => [looks++ === 0 ? "127.0.0.9" : "127.0.0.1"],
  "xn--e1awd7f.example": () => ["127.0.0.1"],
};
const resolve: Resolve = async (host) =>
  (NAMES[host]?.() ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

beforeAll(async () => {
  const trap = async (host: string) => {
    const server = createServer((one) => {
      connections += 1;
      one.destroy();
    });
    server.listen(port, host);
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    traps.push(server);
  };
  await trap("127.0.0.1");
  for (const host of ["::1", "127.0.0.2", "127.255.255.254"]) await trap(host);
  pages = createHttpServer((asked, response) => {
    const to = new URL(asked.url ?? "/", "http://page").searchParams.get("to");
    if (to === null) return void response.end("the page");
    // A header's bytes, as a site would send them.
    const bytes = Buffer.from(to).toString("latin1");
    const more = asked.url?.startsWith("/refresh") ? { refresh: `0; url=${bytes}` } : { location: bytes };
    response.writeHead(asked.url?.startsWith("/refresh") ? 200 : 302, more).end();
  });
  pages.listen(0, "127.0.0.9");
  await once(pages, "listening");
  pagesPort = (pages.address() as AddressInfo).port;
  proxy = await GuardProxy.start(socket, { allowed, resolve });
});
afterAll(async () => {
  await proxy.close();
  pages.closeAllConnections();
  for (const server of [pages, ...traps]) await new Promise((done) => server.close(done));
});
beforeEach(() => {
  connections = 0;
  looks = 0;
});

/** Addresses by numbers and names, with `P` for the port of the listeners. */
const ADDRESSES = [
  ...[
    "http://127.0.0.1:P/",
    "http://127.1:P/",
    "http://127.0.1:P/",
    "http://2130706433:P/",
    "http://0x7f000001:P/",
    "http://0x7f.0.0.1:P/",
  ],
  ...[
    "http://0177.0.0.1:P/",
    "http://017700000001:P/",
    "http://127.0.0.01:P/",
    "http://127.0.0.1.:P/",
    "http://127.0.0.2:P/",
    "http://127.255.255.254:P/",
  ],
  ...[
    "http://0:P/",
    "http://0.0.0.0:P/",
    "http://00000:P/",
    "http://①②⑦.⓪.⓪.①:P/",
    "http://127。0。0。1:P/",
    "http://127%2e0%2e0%2e1:P/",
  ],
  ...[
    "http://[::1]:P/",
    "http://[::]:P/",
    "http://[0:0:0:0:0:0:0:1]:P/",
    "http://[::ffff:127.0.0.1]:P/",
    "http://[::ffff:7f00:1]:P/",
    "http://[::127.0.0.1]:P/",
  ],
  ...[
    "http://[64:ff9b::127.0.0.1]:P/",
    "http://[2002:7f00:1::]:P/",
    "http://[fe80::1%25lo]:P/",
    "http://[::1%25lo]:P/",
  ],
  ...[
    "http://localhost:P/",
    "http://LocalHost:P/",
    "http://localhost.:P/",
    "http://x.localhost:P/",
    "http://ip6-localhost:P/",
    "http://ⓛocalhost:P/",
  ],
  ...[
    "http://home.example:P/",
    "http://HOME.EXAMPLE.:P/",
    "http://six.example:P/",
    "http://mapped.example:P/",
    "http://both.example:P/",
    "http://first.example:P/",
  ],
  ...[
    "http://any.example:P/",
    "http://any6.example:P/",
    "http://zone.example:P/",
    "http://odd.example:P/",
    "http://none.example:P/",
    "http://word.example:P/",
  ],
  ...[
    "http://еще.example:P/",
    "http://page.example@127.0.0.1:P/",
    "http://page.example:x@home.example:P/",
    "http://page.example\\@127.0.0.1:P/",
  ],
  ...[
    "http://127.0.0.1:P#@page.example/",
    "http://page.example#@127.0.0.1:P/",
    "http:127.0.0.1:P/",
    "http:\\\\127.0.0.1:P\\",
    "http://\t127.0.0.1:P/",
    "https://127.0.0.1:P/",
  ],
  ...[
    "ws://127.0.0.1:P/",
    "ftp://127.0.0.1:P/",
    "gopher://127.0.0.1:P/",
    "view-source:http://127.0.0.1:P/",
    "blob:http://127.0.0.1:P/x",
    "//127.0.0.1:P/",
  ],
];
const at = (address: string) => address.replaceAll(":P", `:${port}`);

describe("S27: webfetch", () => {
  const fetched = async (url: string) =>
    await callTool(webfetch({ fetch: guardedFetch({ allowed, resolve }), allowed }), { url });

  test("S27: reaches the page, so that the attempts could", async () => {
    expect((await fetched(`http://page.example:${pagesPort}/`)).text).toContain("the page");
  });

  test.each(ADDRESSES)("S27: %s", async (address) => {
    expect((await fetched(at(address))).code).toBeDefined();
    expect(connections).toBe(0);
  });

  test.each(ADDRESSES)("S27: a page leads to %s", async (address) => {
    for (const way of ["redirect", "refresh"])
      await fetched(`http://page.example:${pagesPort}/${way}?to=${encodeURIComponent(at(address))}`);
    expect(connections).toBe(0);
  });

  test("S27: a name that leads elsewhere at the second look", async () => {
    const to = encodeURIComponent(`http://turns.example:${port}/`);
    await fetched(`http://turns.example:${pagesPort}/redirect?to=${to}`);
    expect([looks, connections]).toEqual([2, 0]);
  });
});

describe("S27: the browser's proxy", () => {
  /** What the proxy answers to these bytes. */
  const raw = async (head: string): Promise<string> => {
    const near = connect(socket);
    let text = "";
    near.on("data", (chunk) => (text += chunk));
    near.on("error", () => {});
    near.write(head);
    await Promise.race([once(near, "close"), once(near, "data"), once(near, "end")]);
    near.destroy();
    return text;
  };
  const tunnel = (to: string, more = "") => raw(`CONNECT ${to} HTTP/1.1\r\nhost: ${more || to}\r\n\r\n`);

  test("S27: reaches the page, so that the attempts could", async () => {
    expect(await tunnel(`page.example:${pagesPort}`)).toContain("200");
  });

  test.each(ADDRESSES)("S27: tunnels to %s", async (address) => {
    const authority = at(address)
      .replace(/^[a-z-]*:?\/*/i, "")
      .replace(/[/\\]$/, "");
    expect(await tunnel(authority.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent))).not.toMatch(
      /^HTTP\/1.1 200/,
    );
    expect(connections).toBe(0);
  });

  test.each(ADDRESSES.filter((address) => /^[\x21-\x7e]+$/.test(address)))(
    "S27: forwards to %s",
    async (address) => {
      const answer = await new Promise<number>((settle) => {
        const asked = request({ socketPath: socket, path: at(address), agent: false }, (answer) => {
          answer.resume();
          settle(answer.statusCode ?? 0);
        });
        asked.on("error", () => settle(0)).end();
      });
      expect(answer).not.toBe(200);
      expect(connections).toBe(0);
    },
  );

  test.each([
    ["another Host header than the address", () => tunnel(`page.example:${port}`, `127.0.0.1:${port}`)],
    ["two addresses", () => tunnel(`page.example:${pagesPort} 127.0.0.1:${port}`)],
    ["a path after the port", () => tunnel(`127.0.0.1:${port}/../page.example:${pagesPort}`)],
    [
      "a path alone, with the address as Host",
      () => raw(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`),
    ],
    [
      "a second request behind the first",
      () =>
        raw(
          `GET http://page.example:${pagesPort}/ HTTP/1.1\r\nhost: x\r\n\r\nCONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n`,
        ),
    ],
    [
      "an upgrade",
      () =>
        raw(
          `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
        ),
    ],
  ])("S27: %s", async (_, attempt) => {
    await attempt();
    expect(connections).toBe(0);
  });
});
