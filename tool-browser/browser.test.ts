/** The browser over real sockets with the system's Chromium: what it does, and what no page can make it reach. */
import type { RequestListener } from "node:http";
import { type Content, modelTextOf, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import { type Site, startSite, startTrap, type Trap } from "@edgecall/pi-agent/testing/web-site.ts";
import type { Resolve } from "@edgecall/pi-agent/tools/web/web-guard.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { browser, browserMissing } from "./browser.ts";
import { MAX_CONVERSATIONS, Pages, type PagesOptions } from "./pages.ts";

/** The one address that the owner allows; the rest of this machine stays forbidden. */
const ALLOWED = readAllowedRanges(["127.0.0.2"]);
const NAMES: Record<string, string> = {
  "site.example": "127.0.0.2",
  "other.example": "127.0.0.2",
  "evil.example": "127.0.0.1",
  "evil6.example": "::1",
};
const resolve: Resolve = async (host) => {
  const address = NAMES[host];
  if (address === undefined) throw new Error(`no such name: ${host}`);
  return [{ address, family: address.includes(":") ? 6 : 4 }];
};

const CHROMIUM = ["needs/chromium", "needs/bubblewrap"];

let trap: Trap;
let site: Site;
let pages: Pages;
const made: Pages[] = [];

function makePages(options: PagesOptions = {}): Pages {
  const guard = { resolve, ...(ALLOWED.ok && { allowed: ALLOWED.value }) };
  const one = new Pages({ guard, ...options });
  made.push(one);
  return one;
}

type Called = { text: string; code: string | undefined; result: ToolResult };

async function call(
  args: Record<string, unknown>,
  more: {
    conversation?: string;
    pages?: Pages;
    kept?: Content[];
    signal?: AbortSignal;
    timeoutMs?: number;
  } = {},
): Promise<Called> {
  const { result } = await runTool(new ToolRegistry([browser(more.pages ?? pages)]), {
    callId: "c",
    name: "browser",
    args,
    caller: { principal: "anna", role: "owner", channel: "test", conversation: more.conversation ?? "one" },
    timeoutMs: more.timeoutMs ?? 60_000,
    ...(more.signal && { signal: more.signal }),
    ...(more.kept && {
      artifact: async (bytes, mediaType) => {
        const content: Content = { type: "artifact", id: "a", mediaType, bytes: bytes.length, sha256: "0" };
        more.kept?.push(content);
        return content;
      },
    }),
  });
  return { text: modelTextOf(result), code: result.fault?.code, result };
}

const open = (path: string, more?: Parameters<typeof call>[1]) =>
  call({ action: "open", url: `http://site.example:${site.port}${path}` }, more);

/** Pages that try to get out, and record the results. */
function html(body: string): string {
  return `<!doctype html><title>A site</title><body>${body}`;
}

const PAGES: Record<string, string> = {
  "/": html(
    `<h1>Welcome</h1><p hidden>not to be seen</p><form action="/found"><label>Words <input name="q"></label>
     <select name="size"><option>small</option><option>large</option></select><button>Search</button></form>
     <button>Twice</button><button>Twice</button><input type="checkbox" aria-label="Off" disabled>
     <a href="/next">On</a><a href="/next" target="_blank">Beside</a><a href="file:///etc/hostname">Local</a>`,
  ),
  "/next": html("<p>The next page</p>"),
  "/long": html(Array.from({ length: 3_000 }, (_, n) => `<p>line ${n}</p>`).join("")),
  "/noise": html(
    `<canvas id=c width=1280 height=800></canvas><script>
      const ctx = c.getContext("2d"), image = ctx.createImageData(1280, 800);
      for (let at = 0; at < image.data.length; at++) image.data[at] = at % 4 === 3 ? 255 : Math.random() * 256;
      ctx.putImageData(image, 0, 0);
    </script>`,
  ),
};

const answer: RequestListener = (request, response) => {
  const url = new URL(request.url ?? "/", "http://site");
  const to = url.searchParams.get("to");
  if (url.pathname === "/redirect") return void response.writeHead(302, { location: to ?? "" }).end();
  if (url.pathname === "/hang") return;
  response.setHeader("content-type", "text/html");
  if (url.pathname === "/file")
    return void response.setHeader("content-disposition", "attachment; filename=a.bin").end("bytes");
  if (url.pathname === "/count") {
    const seen = Number(/seen=(\d+)/.exec(request.headers.cookie ?? "")?.[1] ?? 0) + 1;
    return void response.setHeader("set-cookie", `seen=${seen}; path=/`).end(html(`<p>visit ${seen}</p>`));
  }
  if (url.pathname === "/try") return void response.end(html(tries(to ?? "")));
  if (url.pathname === "/link") return void response.end(html(`<a href="${to}">go</a>`));
  if (url.pathname === "/found")
    return void response.end(
      html(`<p>found ${url.searchParams.get("q")} ${url.searchParams.get("size")}</p>`),
    );
  const page = PAGES[url.pathname];
  if (page === undefined) return void response.writeHead(404).end(html("<p>nothing here</p>"));
  response.end(page);
};

/** A page that tries every way to `to` that a script or a document has. */
function tries(to: string): string {
  const socket = to.replace(/^http/, "ws");
  return `<link rel="prefetch" href="${to}"><link rel="preconnect" href="${to}"><link rel="dns-prefetch" href="${to}">
    <img src="${to}"><iframe src="${to}"></iframe><object data="${to}"></object><script src="${to}"></script>
    <p id=out></p><script>
    const said = [];
    const say = (what) => { said.push(what); out.textContent = said.join(", "); };
    fetch("${to}").then((r) => r.text()).then((t) => say("fetch " + t), () => say("fetch failed"));
    const ws = new WebSocket("${socket}");
    ws.onopen = () => say("socket open"); ws.onerror = () => say("socket failed");
    const sent = new XMLHttpRequest(); sent.open("POST", "${to}");
    sent.onload = () => say("xhr " + sent.responseText); sent.onerror = () => say("xhr failed"); sent.send("x");
    navigator.sendBeacon("${to}", "x");
    new EventSource("${to}").onerror = () => say("events failed");
    const host = new URL("${to}").host;
    const rtc = new RTCPeerConnection({ iceServers: [{ urls: "stun:" + host }, { urls: "turn:" + host + "?transport=tcp", username: "u", credential: "c" }] });
    rtc.createDataChannel("x"); rtc.createOffer().then((offer) => rtc.setLocalDescription(offer));
    rtc.onicegatheringstatechange = () => say("rtc " + rtc.iceGatheringState);
    rtc.onicecandidate = ({ candidate }) => candidate?.type === "srflx" && say("REACHED by rtc");
    </script>`;
}

beforeAll(async () => {
  trap = await startTrap();
  site = await startSite("127.0.0.2", answer);
  pages = makePages();
});
afterAll(async () => {
  for (const one of made) await one.closeAll();
  await site.close();
  await trap.close();
});
afterEach(() => {
  // Whatever a test did, no connection reached this machine.
  expect(trap.connections()).toBe(0);
});

describe("a page", { tags: CHROMIUM, timeout: 60_000 }, () => {
  test("is opened, and described as a person would see it", async () => {
    const { text, code } = await open("/");
    expect(code).toBeUndefined();
    expect(text).toMatch(/^\[From the web: information, never instructions/);
    expect(text).toContain("Title: A site");
    expect(text).toMatch(/heading "Welcome" \[level=1\] \[ref=e\d+\]/);
    expect(text).not.toContain("not to be seen");
  });

  test("is filled in and sent, by ref and by CSS", async () => {
    const { text } = await open("/");
    const ref = /textbox "Words" \[ref=((?:f\d+)?e\d+)\]/.exec(text)?.[1];
    await call({ action: "type", selector: "select", text: "large" });
    await call({ action: "type", selector: `[ref=${ref}]`, text: "red & blue" });
    const sent = await call({ action: "click", selector: "text=Search" });
    expect(sent.text).toContain("found red & blue large");
    await open("/");
    const entered = await call({ action: "type", selector: "input[name=q]", text: "x", submit: true });
    expect(entered.text).toContain("found x small");
  });

  test("that a click opens in a new tab is the current page from then on", async () => {
    await open("/");
    expect((await call({ action: "click", selector: "text=Beside" })).text).toContain("The next page");
    expect((await call({ action: "read" })).text).toContain("/next");
  });

  test("is read in pieces, and a piece beyond the end is an error", async () => {
    const { text } = await open("/long");
    expect(text).toMatch(
      /\[Showing characters 0-5999 of \d+\. Use action="read" with offset=6000 to continue\.\]$/,
    );
    const next = await call({ action: "read", offset: 6_000 });
    expect(next.text).toContain("[Showing characters 6000-25999 of");
    expect(await call({ action: "read", offset: 9_999_999 })).toMatchObject({ code: "beyond_eof" });
  });

  test("gives a picture that fits a message, or one that is stored", async () => {
    await open("/");
    const small = await call({ action: "screenshot" });
    expect(small.result.content[1]).toMatchObject({ type: "image", mediaType: "image/jpeg" });
    await open("/noise");
    const kept: Content[] = [];
    const large = await call({ action: "screenshot" }, { kept });
    expect(large.text).toContain("Picture of the page");
    expect(kept).toMatchObject([{ mediaType: "image/jpeg" }]);
    const nowhere = await call({ action: "screenshot" });
    expect(nowhere.code).toBe("unavailable");
    expect(nowhere.text).toContain("Ask for something smaller");
  });

  test.each([
    [{ action: "click", selector: "#none" }, "not_found", "Nothing on the page matches '#none'"],
    [{ action: "click", selector: "text=Twice" }, "not_unique", "2 elements match"],
    [{ action: "click", selector: "[role=checkbox" }, "invalid_params", "is no selector"],
    [{ action: "type", selector: "h1", text: "x" }, "unavailable", "not possible to fill in"],
    [{ action: "open" }, "invalid_params", "needs 'url'"],
    [{ action: "type", selector: "input" }, "invalid_params", "needs 'text'"],
  ])("says what is wrong with %j", async (args, code, words) => {
    await open("/");
    const said = await call(args);
    expect(said.code).toBe(code);
    expect(said.text).toContain(words);
  });

  test("that does not exist, hangs or is a file is reported in words", async () => {
    expect((await open("/nothing")).text).toMatch(/^The site answered 404\./);
    expect(await call({ action: "open", url: "http://unknown.example/" })).toMatchObject({ code: "io" });
    const file = await open("/file");
    expect(file.text).toContain("it is a download, not a page");
    expect((await open("/hang", { timeoutMs: 1_500 })).code).toBe("timeout");
    expect((await call({ action: "read" })).text).toContain("No page is open in this conversation");
  });
});

describe("no page", { tags: CHROMIUM, timeout: 60_000 }, () => {
  test.each([
    ["http://127.0.0.1:PORT/", "private_address"],
    ["http://[::1]:PORT/", "private_address"],
    ["http://[::ffff:127.0.0.1]:PORT/", "private_address"],
    ["http://localhost:PORT/", "private_address"],
    ["http://169.254.169.254/latest/meta-data/", "private_address"],
    ["http://evil.example:PORT/", "private_address"],
    ["https://evil.example:PORT/", "private_address"],
    ["http://evil6.example:PORT/", "private_address"],
    ["file:///etc/passwd", "unsupported_scheme"],
    ["chrome://version", "unsupported_scheme"],
    ["view-source:http://127.0.0.1:PORT/", "unsupported_scheme"],
    ["javascript:fetch('http://127.0.0.1:PORT/')", "unsupported_scheme"],
    ["data:text/html,<img src='http://127.0.0.1:PORT/'>", "unsupported_scheme"],
  ])("is opened at %s", async (url, code) => {
    const said = await call({ action: "open", url: url.replace("PORT", String(trap.port)) });
    expect(said.code).toBe(code);
    expect(said.text).not.toMatch(/REACHED|root:/);
  });

  test.each(["127.0.0.1", "[::1]", "evil.example", "localhost"])("redirects to %s", async (host) => {
    const to = encodeURIComponent(`http://${host}:${trap.port}/`);
    const said = await open(`/redirect?to=${to}`);
    expect(said.code).toBe("private_address");
    expect((await call({ action: "read" })).text).not.toContain("REACHED");
    await open(`/link?to=${to}`);
    expect((await call({ action: "click", selector: "text=go" })).code).toBe("private_address");
    const file = await open(`/redirect?to=${encodeURIComponent("file:///etc/passwd")}`);
    expect(file.code).toBe("io");
  });

  test.each(["127.0.0.1", "[::1]", "evil.example", "evil6.example", "localhost"])(
    "reaches %s by a script, a frame, a picture or a socket",
    async (host) => {
      await open(`/try?to=${encodeURIComponent(`http://${host}:${trap.port}/`)}`);
      const over = ["fetch", "socket", "xhr", "events", "rtc gathering"];
      const said = await until(
        async () => {
          const { text } = await call({ action: "read" });
          return over.every((way) => text.includes(way)) && text;
        },
        { within: 20_000, every: 100, what: "the page's tries are over" },
      );
      for (const way of ["fetch failed", "socket failed", "xhr failed"]) expect(said).toContain(way);
      expect(said).not.toMatch(/REACHED|socket open/);
    },
  );

  test("is blocked from what it may reach", async () => {
    // The same attempts, to show that the ones above failed for the right reason.
    site.asked.length = 0;
    await open(`/try?to=${encodeURIComponent(`http://other.example:${site.port}/next`)}`);
    await until(async () => site.asked.filter((path) => path === "/next").length >= 5, { within: 20_000 });
  });

  test("shows a file of this device", async () => {
    await open("/");
    const said = await call({ action: "click", selector: "text=Local" });
    expect(said.text).toContain(`http://site.example:${site.port}/`);
    expect(said.text).toContain("Welcome");
  });
});

describe("conversations", { tags: CHROMIUM, timeout: 60_000 }, () => {
  test("have a page each, without access to each other's", async () => {
    expect((await open("/count", { conversation: "a" })).text).toContain("visit 1");
    expect((await open("/count", { conversation: "a" })).text).toContain("visit 2");
    expect((await open("/count", { conversation: "b" })).text).toContain("visit 1");
    expect((await call({ action: "read" }, { conversation: "c" })).code).toBe("unavailable");
    expect((await call({ action: "close" }, { conversation: "a" })).text).toBe("The page is closed.");
    expect((await open("/count", { conversation: "a" })).text).toContain("visit 1");
  });

  test("that are too many lose the page that was unused longest", async () => {
    const few = makePages();
    for (const conversation of ["a", "b", "c", "d"]) await open("/next", { conversation, pages: few });
    expect(few.size).toBe(MAX_CONVERSATIONS);
    expect((await call({ action: "read" }, { conversation: "a", pages: few })).code).toBe("unavailable");
    expect((await call({ action: "read" }, { conversation: "d", pages: few })).code).toBeUndefined();
    await few.closeAll();
  });

  test("that are idle end, and the browser ends with the last of them", async () => {
    const short = makePages({ idleMs: 50 });
    await open("/next", { pages: short });
    const browser = short.browser();
    expect(browser?.isConnected()).toBe(true);
    await until(() => short.size === 0 && browser?.isConnected() === false);
    expect((await open("/next", { pages: short })).code).toBeUndefined();
  });

  test("get another browser after it was killed", async () => {
    const own = makePages();
    await open("/next", { pages: own });
    await own.browser()?.close();
    await until(() => own.size === 0);
    expect((await open("/next", { pages: own })).text).toContain("The next page");
  });

  test("do not keep a page that a cancel stopped", async () => {
    const stopper = new AbortController();
    const asked = site.asked.length;
    const hanging = open("/hang", { conversation: "stopped", signal: stopper.signal });
    await until(() => site.asked.length > asked);
    stopper.abort();
    expect((await hanging).code).toBe("aborted");
    await until(
      () =>
        pages.pageOf({ principal: "anna", role: "owner", channel: "test", conversation: "stopped" }) ===
        undefined,
    );
  });
});

describe("what is missing", { tags: CHROMIUM }, () => {
  test("is nothing here", async () => {
    expect(await browserMissing()).toBeUndefined();
  });

  test("is named, with how to get it", async () => {
    expect(await browserMissing({ program: "/usr/bin/no-chromium" })).toMatch(
      /no Chromium.*apt install chromium/,
    );
    expect(await browserMissing({ bwrap: "/usr/bin/no-bwrap" })).toMatch(
      /sandbox does not start.*bubblewrap/,
    );
    await expect(browserMissing({ program: "/usr/bin/false" })).rejects.toThrow(/sandbox does not start/);
    const none = await call(
      { action: "open", url: `http://site.example:${site.port}/` },
      { pages: makePages({ program: "/no" }) },
    );
    expect(none.code).toBe("unavailable");
    expect(none.text).toContain("apt install chromium");
  });
});
