/** A device's web tools over real sockets: what the guard allows, and what it does not. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type AllowedRanges, readAllowedRanges } from "@edgecall/core/web/address.ts";
import { fetchPage } from "@edgecall/core/web/fetch-page.ts";
import { webfetch } from "@edgecall/core/web/webfetch.ts";
import { afterEach, describe, expect, test, vi } from "vitest";
import { callTool } from "../../testing/call.ts";
import { websearchMissing, webTools } from "./web.ts";
import { guardedFetch, type Resolve } from "./web-guard.ts";

const closing: Array<() => unknown> = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

/** A real server on this machine that records its requests. */
async function serve(answer: RequestListener, host = "127.0.0.1") {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, host);
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { requests, port: (server.address() as AddressInfo).port };
}

/** Counts connections, whatever is sent on them. */
async function trap(host = "127.0.0.1") {
  const trapped = { connections: 0, port: 0 };
  const server = createTcpServer((socket) => {
    trapped.connections += 1;
    socket.destroy();
  });
  server.listen(0, host);
  await once(server, "listening");
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  trapped.port = (server.address() as AddressInfo).port;
  return trapped;
}

function allow(...entries: string[]): AllowedRanges {
  const ranges = readAllowedRanges(entries);
  if (!ranges.ok) throw new Error(ranges.error);
  return ranges.value;
}

/** A resolver with these names that records the requested ones. */
function names(table: Record<string, string[]>) {
  const asked: string[] = [];
  const resolve: Resolve = async (host) => {
    asked.push(host);
    return (table[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, resolve };
}

const LOCAL = allow("127.0.0.1");

describe("the guard", () => {
  test("connects to an allowed address, and resolves the name once", async () => {
    const { port, requests } = await serve((_, response) => response.end("hello"));
    const { resolve, asked } = names({ "site.example": ["127.0.0.1"] });
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL, resolve }), allowed: LOCAL });
    expect((await callTool(tool, { url: `http://site.example:${port}/a` })).text).toContain("hello");
    expect(requests[0]?.headers.host).toBe(`site.example:${port}`);
    expect(asked).toEqual(["site.example"]);
  });

  test("never connects to a name that leads to this machine or the home network", async () => {
    const four = await trap();
    const six = await trap("::1");
    for (const [address, port] of [
      ["127.0.0.1", four.port],
      ["::ffff:127.0.0.1", four.port],
      ["::1", six.port],
      ["10.0.0.1", 8080],
      ["fe80::1", 8080],
    ] as const) {
      const { resolve, asked } = names({ "evil.example": [address] });
      const tool = webfetch({ fetch: guardedFetch({ resolve }) });
      const { code, text } = await callTool(tool, { url: `http://evil.example:${port}/` });
      expect([code, asked.length], address).toEqual(["private_address", 1]);
      expect(text).not.toContain(address);
    }
    expect(four.connections + six.connections).toBe(0);
  });

  test("the system's own resolver is judged too", async () => {
    const trapped = await trap();
    // The one name of this machine that every resolver knows; in a URL it would be refused earlier.
    const fetch = guardedFetch();
    const signal = AbortSignal.timeout(5_000);
    const init = { method: "GET", headers: {}, redirect: "manual", signal } as const;
    await expect(fetch(`http://localhost:${trapped.port}/`, init)).rejects.toThrow(/private or special/);
    const lookup: Resolve = async () =>
      (await import("node:dns")).promises.lookup("localhost", { all: true });
    await expect(
      guardedFetch({ resolve: lookup })(`http://a.example:${trapped.port}/`, init),
    ).rejects.toThrow(/private/);
    expect(trapped.connections).toBe(0);
  });

  test("a name with another address the second time is judged again", async () => {
    const rebound = await trap("127.0.0.2");
    const { port, requests } = await serve((_, response) =>
      response.writeHead(302, { location: `http://rebind.example:${rebound.port}/` }).end(),
    );
    const looks: string[] = [];
    const rebinding: Resolve = async () => {
      looks.push(looks.length === 0 ? "127.0.0.1" : "127.0.0.2");
      return [{ address: looks.at(-1) ?? "", family: 4 }];
    };
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL, resolve: rebinding }), allowed: LOCAL });
    const { code } = await callTool(tool, { url: `http://rebind.example:${port}/` });
    expect(code).toBe("private_address");
    expect(looks).toEqual(["127.0.0.1", "127.0.0.2"]);
    expect([requests.length, rebound.connections]).toEqual([1, 0]);
  });

  test("the address of a redirect is checked again", async () => {
    const private_ = await trap("127.0.0.2");
    const { port } = await serve((_, response) =>
      response.writeHead(302, { location: `http://b.example:${private_.port}/` }).end(),
    );
    const { resolve, asked } = names({ "a.example": ["127.0.0.1"], "b.example": ["127.0.0.2"] });
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL, resolve }), allowed: LOCAL });
    expect((await callTool(tool, { url: `http://a.example:${port}/` })).code).toBe("private_address");
    expect(asked).toEqual(["a.example", "b.example"]);
    expect(private_.connections).toBe(0);
  });

  test("a numeric address needs no look-up, and is judged too", async () => {
    const trapped = await trap();
    const init = {
      method: "GET",
      headers: {},
      redirect: "manual",
      signal: AbortSignal.timeout(5_000),
    } as const;
    for (const host of ["127.0.0.1", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"])
      await expect(guardedFetch()(`http://${host}:${trapped.port}/`, init)).rejects.toThrow(
        /private or special/,
      );
    expect(trapped.connections).toBe(0);
  });

  test("no proxy from the environment is used", async () => {
    const proxy = await trap();
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    const { port } = await serve((_, response) => response.end("direct"));
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL }), allowed: LOCAL });
    expect((await callTool(tool, { url: `http://127.0.0.1:${port}/` })).text).toContain("direct");
    expect(proxy.connections).toBe(0);
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("%s is decompressed, and a bomb of it is cut at the limit", async (encoding, pack) => {
    const headers = { "content-encoding": encoding, "content-type": "text/plain" };
    const { port } = await serve((request, response) => {
      const body = request.url === "/bomb" ? Buffer.alloc(20_000_000, 97) : "packed text";
      response.writeHead(200, headers).end(pack(body));
    });
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL }), allowed: LOCAL });
    expect((await callTool(tool, { url: `http://127.0.0.1:${port}/` })).text).toContain("packed text");
    expect((await callTool(tool, { url: `http://127.0.0.1:${port}/bomb` })).code).toBe("too_large");
  });

  test("a page that breaks off, a strange status and a missing server are reported in words", async () => {
    const { port } = await serve((request, response) => {
      if (request.url === "/strange") response.socket?.end("HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n");
      else
        response
          .writeHead(200, { "content-length": "1000", "content-encoding": "gzip" })
          .write("half", () => response.destroy());
    });
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL }), allowed: LOCAL });
    const { port: nobody } = await trap();
    await closing.pop()?.();
    for (const url of [
      `http://127.0.0.1:${port}/half`,
      `http://127.0.0.1:${port}/strange`,
      `http://127.0.0.1:${nobody}/`,
    ])
      expect((await callTool(tool, { url })).code).toBe("io");
  });

  test("a cancel closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    const { port } = await serve((_, response) => {
      response.on("close", closed.resolve);
      response.write("and then");
    });
    const tool = webfetch({ fetch: guardedFetch({ allowed: LOCAL }), allowed: LOCAL });
    // Long enough for the connection on a busy machine.
    const hasty = { ...tool, timeoutMs: 1_000 };
    expect((await callTool(hasty, { url: `http://127.0.0.1:${port}/` })).code).toBe("timeout");
    await closed.promise;
  });
});

describe("the shared cases", () => {
  type Route = {
    status?: number;
    type?: string;
    location?: string;
    body?: string | { repeat: [string, number] };
  };
  type Case = {
    id: string;
    tool: string;
    given?: {
      routes?: Record<string, Route>;
      resolver?: Record<string, string[]>;
      allowPrivate?: string[];
      maxBodyBytes?: number;
    };
    input: { url?: string; maxChars?: number; headers?: unknown };
    expect: {
      ok?: boolean;
      error?: string;
      textIncludes?: string[];
      textExcludes?: string[];
      requests?: number;
      notSentTo?: { other: string[] };
      neverConnectsTo?: string[];
      configError?: boolean;
    };
  };
  const all = JSON.parse(
    readFileSync(new URL("../../../test/cases/web.json", import.meta.url), "utf8"),
  ) as Case[];

  test.each(all.filter((one) => one.tool === "web_fetch"))(
    "$id",
    async ({ given = {}, input, expect: wanted }) => {
      const { port, requests } = await serve((request, response) => {
        const {
          status = 200,
          type,
          location,
          body = "",
        } = given.routes?.[request.url ?? ""] ?? { status: 404 };
        const whole = typeof body === "string" ? body : body.repeat[0].repeat(body.repeat[1]);
        const headers = {
          ...(type && { "content-type": type }),
          ...(location && { location: full(location) }),
        };
        response.writeHead(request.headers.host?.startsWith("other.") ? 200 : status, headers).end(whole);
      });
      /** `srv` and `other` are names without a dot, unlike public names; ours are below `.example`. */
      function full(url: string): string {
        return url
          .replace("{port}", String(port))
          .replace(/^http:\/\/(srv|other)\//, `http://$1.example:${port}/`);
      }
      const list = readAllowedRanges(given.allowPrivate ?? (given.routes ? ["127.0.0.1"] : []));
      expect(list.ok).toBe(wanted.configError !== true);
      if (!list.ok) return;
      const { resolve } = names({
        "srv.example": ["127.0.0.1"],
        "other.example": ["127.0.0.1"],
        ...given.resolver,
      });
      const { maxBodyBytes } = given;
      const fetch = guardedFetch({ allowed: list.value, resolve });
      const tool = webfetch({ fetch, allowed: list.value, ...(maxBodyBytes && { maxBodyBytes }) });

      // It accepts no headers from the caller, so none could follow to another host.
      const { url, maxChars: max_chars } = input;
      const args = { ...(url !== undefined && { url: full(url) }), ...(max_chars && { max_chars }) };
      const { text, code } = await callTool(tool, args);
      if (wanted.ok) expect(code).toBeUndefined();
      if (wanted.error) expect(code).toBe(wanted.error);
      for (const part of wanted.textIncludes ?? []) expect(text).toContain(part);
      for (const part of wanted.textExcludes ?? []) expect(text).not.toContain(part);
      if (wanted.requests !== undefined) expect(requests).toHaveLength(wanted.requests);
      if (wanted.neverConnectsTo) expect(code).toBe("private_address");
      if (wanted.notSentTo) {
        const other = requests.find(({ headers }) => headers.host?.startsWith("other."));
        expect(other).toBeDefined();
        for (const name of wanted.notSentTo.other) expect(other?.headers[name]).toBeUndefined();
      }
    },
  );
});

test("the tools of a device: websearch only with a key, and a text on how to get one", async () => {
  const toolNames = (tools: ReturnType<typeof webTools>) => tools.map(({ name }) => name).sort();
  expect(toolNames(webTools())).toEqual(["codesearch", "webfetch"]);
  expect(await websearchMissing({})).toContain("BRAVE_API_KEY");
  const keyed = { brave: { keys: ["key-of-brave"] } };
  expect(toolNames(webTools(keyed))).toEqual(["codesearch", "webfetch", "websearch"]);
  expect(await websearchMissing(keyed)).toBeUndefined();
});

test("requests to the search service pass the guard too", async () => {
  const { port, requests } = await serve((_, response) =>
    response.end(JSON.stringify({ web: { results: [{ title: "Tea", url: "https://tea.example/" }] } })),
  );
  const brave = { keys: ["key-of-brave"], baseUrl: `http://search.example:${port}/res/v1` };
  const { resolve } = names({ "search.example": ["127.0.0.1"] });
  const ask = async (allowed: AllowedRanges) => {
    const tool = webTools({ brave, allowed }, resolve).find(({ name }) => name === "websearch");
    return tool ? await callTool(tool, { query: "tea" }) : undefined;
  };
  expect((await ask([]))?.code).toBe("io");
  expect(requests).toHaveLength(0);
  expect((await ask(LOCAL))?.text).toContain("1. Tea\nhttps://tea.example/");
});

describe("the owner's limits", () => {
  test("D12 a name outside of [tools.web] domains is refused for that reason, not as a private address", async () => {
    const { resolve } = names({ "other.example": ["127.0.0.1"] });
    const only = { domains: ["docs.example"], ports: [] };
    const fetch = guardedFetch({ allowed: LOCAL, resolve, only });
    const signal = AbortSignal.timeout(5_000);
    expect(await fetchPage("http://other.example:8081/", { fetch, allowed: LOCAL, signal })).toMatchObject({
      ok: false,
      code: "blocked",
      problem: "the owner allows these names alone: docs.example ([tools.web] in agent.toml)",
    });
  });

  test("remove names and ports, and list the remaining ones", async () => {
    const { port, requests } = await serve((_, response) => response.end("hello"));
    const { resolve } = names({ "docs.example": ["127.0.0.1"], "a.good.example": ["127.0.0.1"] });
    const only = { domains: ["docs.example", "*.good.example"], ports: [port] };
    const fetch = guardedFetch({ allowed: LOCAL, resolve, only });
    const signal = AbortSignal.timeout(5_000);
    const init = { method: "GET", headers: {}, redirect: "manual", signal } as const;
    expect((await fetch(`http://docs.example:${port}/`, init)).status).toBe(200);
    expect((await fetch(`http://a.good.example:${port}/`, init)).status).toBe(200);
    for (const host of ["good.example", "xdocs.example", "docs.example.org", "x.docs.example"])
      await expect(fetch(`http://${host}:${port}/`, init)).rejects.toThrow("these names alone: docs.example");
    await expect(fetch("http://docs.example:8081/", init)).rejects.toThrow(`these ports alone: ${port}`);
    await expect(fetch("https://docs.example/", init)).rejects.toThrow("these ports alone");
    expect(requests).toHaveLength(2);
  });
});
