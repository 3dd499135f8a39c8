/** The console as a person uses it: real Chromium with the whole stack. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { builtConsole, SCRIPT_MAX_BYTES, START_MAX_BYTES } from "../../local/console-files.ts";
import { script } from "../scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../tokens.ts";
import {
  askIn,
  axeFinds,
  holdAnswer,
  openCall,
  openDevice,
  openScreen,
  openWindow,
  signIn,
  useChromium,
} from "./chromium.ts";
import { useStack } from "./stack.ts";

/** A page, a picture and links that would run something if any of them were more than text. */
const HOSTILE =
  `<img src=x onerror="window.ran=1"><script>window.ran=2</script><svg onload="window.ran=3">` +
  `<iframe srcdoc="<script>parent.ran=4</script>"></iframe> [click](javascript:window.ran=5) ` +
  `![see](https://evil.example/who-reads) <a href="data:text/html,<script>1</script>">x</a>`;

/** Attempts of a script that got into the page. */
const TRIES = `(async () => {
  let script = "ran", markup = "became markup";
  try {
    const inline = document.createElement("script");
    inline.text = "window.ran = 7";
    document.body.append(inline);
  } catch { script = "refused" }
  try {
    document.body.insertAdjacentHTML("beforeend", "<i>x</i>");
  } catch { markup = "refused" }
  const away = await fetch("https://evil.example/", { mode: "no-cors" }).then(() => "went out", () => "refused");
  return { script, ran: "ran" in window, markup, away };
})()`;

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env, capabilities: `garden <b onclick="window.ran=6">pi</b>` });
  writeFileSync(join(stack.workspaceOf("pi"), "evil.html"), HOSTILE);
  await stack.gateway.online("pi");
});

const call = (action: string, params: object = {}) => ({
  calls: [{ arguments: { agent_id: "pi", action, params } }],
});

describe("the console", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  const violations: string[] = [];

  useChromium(async (browser) => {
    page = await openWindow(browser);
    page.on("console", (message) => {
      if (message.type() === "error") violations.push(message.text());
    });
    page.on("pageerror", (error) => violations.push(String(error)));
  });

  const screen = (name: string) => openScreen(page, name);

  /** Repeats until it is shown, because a device sends its audit log in its own time. */
  async function lookUntil(entry: Locator) {
    for (let tries = 0; tries < 40 && !(await entry.isVisible()); tries += 1) {
      await page.getByRole("button", { name: "Refresh" }).click();
      await entry.waitFor({ timeout: 500 }).catch(() => undefined);
    }
    await entry.waitFor();
  }

  const ask = (text: string) => askIn(page, text);

  test("a wrong token is reported; the right one makes a session that no script can read", async () => {
    await page.goto(stack.gateway.url);
    await page.getByLabel("Token").fill("not-a-token-of-this-home");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("no such token").waitFor();
    violations.length = 0;
    await signIn(page, stack.gateway.url, TOKENS.owner);
    expect(await page.context().cookies()).toMatchObject([
      { name: "__Host-edgecall", httpOnly: true, secure: true, sameSite: "Strict", path: "/" },
    ]);
    expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain(TOKENS.owner);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  test("the answer is shown as Markdown, and the call as a line with its output while it runs", async () => {
    const turn = await ask(
      script(call("slow", { ms: 6_000, chunks: 30 }), { text: "It took **long**: $results" }),
    );
    const card = turn.getByRole("article", { name: "slow on pi" });
    await card.getByText("accepted, running").waitFor();
    await card.getByRole("group", { name: "output so far" }).getByText("chunk 3").waitFor();
    await card.getByText(/^done \d/).waitFor();
    await turn.locator("strong", { hasText: "long" }).waitFor();
    // A line, and its answer. Opened, the result too; nothing has it a third time.
    const result = card.getByRole("group", { name: "result" });
    expect(await turn.getByText("30 chunks in 6000 ms").filter({ visible: true }).count()).toBe(1);
    expect((await card.boundingBox())?.height).toBeLessThan(48);
    await openCall(card);
    expect(await result.textContent()).toBe("30 chunks in 6000 ms");
    expect(await turn.getByText("30 chunks in 6000 ms").filter({ visible: true }).count()).toBe(2);
    expect(await axeFinds(page)).toEqual([]);
    await page.reload();
    await page.locator(".turn strong", { hasText: "long" }).waitFor();
  });

  test("a call that is not a read waits for approval", async () => {
    const turn = await ask(script(call("append", { text: "x" }), { text: "$results" }));
    const asked = turn.getByRole("group", { name: "Run append on pi with 1 value?" });
    expect(await asked.getByRole("group", { name: "what would be run" }).textContent()).toContain(
      '"text": "x"',
    );
    await asked.getByRole("button", { name: "Run", exact: true }).click();
    await turn.locator(".answer", { hasText: /^appended / }).waitFor();
    const second = await ask(script(call("append", { text: "y" }), { text: "$results" }));
    await second.getByRole("button", { name: "No", exact: true }).click();
    await second.locator(".answer", { hasText: "did not approve" }).waitFor();
  });

  test("Stop ends a turn", async () => {
    const turn = await ask(script(call("slow", { ms: 600_000 }), { text: "never" }));
    await turn.getByRole("article", { name: "slow on pi" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await turn.locator(".answer.cancelled").waitFor();
    await page.getByRole("button", { name: "Ask" }).waitFor();
  });

  test("Stop keeps the part of the answer that was already written", async () => {
    const turn = await ask(script({ text: "I begin and never end", pause: "stopped" }));
    const part = turn.locator("p:not(.asked)", { hasText: "I begin" });
    await part.waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await turn.locator(".answer.cancelled", { hasText: "Cancelled." }).waitFor();
    expect(await part.isVisible()).toBe(true);
    stack.model.release("stopped");
  });

  test("a page that is opened during a turn shows it until its end", async () => {
    const turn = await ask(script({ hold: "reopened", step: { text: "I am still here" } }));
    await turn.getByText("thinking").waitFor();
    await page.reload();
    await page.getByText("thinking").waitFor();
    stack.model.release("reopened");
    await page.locator(".turn").last().locator(".answer", { hasText: "I am still here" }).waitFor();
  });

  test("Devices: a ping, and an action with a form from its schema, which Record then shows", async () => {
    const card = await openDevice(page, "pi");
    await card.getByRole("button", { name: "Ping" }).click();
    await card.getByText(/round trip/).waitFor();
    await card.getByRole("button", { name: /actions/ }).click();
    await card.getByLabel("Action").selectOption("slow");
    const form = card.getByRole("form", { name: "Try slow" });
    await form.getByLabel("ms").fill("soon");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText("ms: expected a number").waitFor();
    await form.getByLabel("ms").fill("5");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText("1 chunks in 5 ms").waitFor();
    await card.getByLabel("Action").selectOption("job");
    const job = card.getByRole("form", { name: "Try job" });
    // Long enough for a slow browser to see it run.
    await job.getByLabel("ms").fill("6000");
    await job.getByRole("button", { name: "Try it" }).click();
    await job.getByRole("button", { name: "Run", exact: true }).click();
    await job.getByText("goes on in the background").waitFor();
    expect(await job.getByText(/^done/).count()).toBe(0);
    await job.getByText("done after 6000 ms").waitFor();
    await card.getByLabel("Action").selectOption("read");
    await form
      .or(card.getByRole("form", { name: "Try read" }))
      .getByLabel("path")
      .fill("evil.html");
    await card.getByRole("button", { name: "Try it" }).click();
    await card.getByText("window.ran=2").waitFor();

    // An agent sends its audit log when it comes online.
    await stack.agent("pi").stop();
    await stack.restartAgent("pi");
    await screen("Record");
    const row = page.getByRole("row").filter({ hasText: "evil.html" }).first();
    await lookUntil(row);
    // Of the person who looks.
    expect(await row.textContent()).toContain("you over api");
    // An answer that comes while a person types leaves the text alone.
    const late = await holdAnswer(page, /\/v1\/audit\?/);
    await page.getByRole("button", { name: "Refresh" }).click();
    await late.read;
    await page.getByLabel("Tool").fill("append");
    const shown = page.waitForResponse(/\/v1\/audit\?/);
    late.pass();
    await (await shown).finished();
    await page.getByLabel("Tool").press("Enter");
    await page.getByLabel("Result").selectOption("error");
    await lookUntil(page.getByText("One matching call"));
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export JSON lines" }).click();
    const saved = readFileSync(await (await saving).path(), "utf8")
      .trim()
      .split("\n");
    expect(saved.map((line) => JSON.parse(line))).toMatchObject([
      { tool: "append", error_type: "permission_denied" },
    ]);
    await screen("Use and cost");
    await page.getByRole("rowheader", { name: "pi" }).waitFor();
  });

  test("HTML, script and SVG of a device or a model are shown as text everywhere, and load nothing", async () => {
    violations.length = 0;
    await screen("Chats");
    const turn = await ask(
      script(call("read", { path: "evil.html" }), call("ask_me", { text: HOSTILE, options: ["<b>no</b>"] }), {
        text: `${HOSTILE} $results`,
      }),
    );
    await turn.getByRole("group", { name: "pi asks" }).getByText("window.ran=2").waitFor();
    await turn.getByRole("button", { name: "<b>no</b>" }).click();
    await turn.locator(".answer").getByText("window.ran=2").first().waitFor();
    await openDevice(page, "pi");
    await page.getByText("<b onclick").waitFor();
    await screen("Chats");
    await page.locator(".answer").last().waitFor();

    expect(await page.evaluate("'ran' in window")).toBe(false);
    const hrefs = await page
      .locator(".turns a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(hrefs.every((href) => href?.startsWith("https://evil.example/"))).toBe(true);
    expect(await page.locator(".turns :is(img, svg, iframe, script, b)").count()).toBe(0);
    expect(violations).toEqual([]);
  });

  test("Devices: a code for a new device, as one command", async () => {
    await screen("Devices");
    await page.getByRole("link", { name: /Add a device/ }).click();
    const devices = page.getByRole("region", { name: "Add a device" });
    await devices.getByRole("button", { name: "Show the command" }).click();
    await devices.getByText(/^curl -fsS \S+\/install\.sh \| sudo sh -s -- a-[A-Z2-9]{12}$/).waitFor();
    await devices.getByText("Waiting for the device").waitFor();
    // The home has a bridge, so what is about another one is folded.
    expect(await devices.getByRole("button", { name: "Add the home's bridge" }).isVisible()).toBe(false);
    expect(await devices.getByLabel("Broker").isVisible()).toBe(false);
    await devices.getByText("First stop the gateway, start it again like this").waitFor();
    await devices.getByText("HOST=0.0.0.0 MQTT_URL=mqtt://192.168.1.2:1883 npm start").waitFor();
    await devices.getByText("More", { exact: true }).click();
    await devices.getByRole("button", { name: "Add the home's bridge" }).click();
    await devices.getByText(/^curl .* a-[A-Z2-9]{12} --with-bridge$/).waitFor();
    await devices.getByText("replaces an existing one").waitFor();
    // After a refusal the earlier code is no longer shown.
    await devices.getByLabel("Broker").fill("not an address");
    await devices.getByRole("button", { name: "Show the command" }).click();
    await devices.getByRole("alert").waitFor();
    expect(await devices.getByText(/install\.sh/).count()).toBe(0);
    await screen("Keys of devices");
    await page.getByRole("button", { name: "Revoke the key of pi" }).waitFor();
  });

  test("Setup: a chat app's stranger is listed there, and is admitted with a role", async () => {
    await screen("People");
    await page.getByText("Nobody is waiting.").waitFor();
    await fetch(`${stack.gateway.url}/webhooks/telegram/family`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram,
      },
      body: JSON.stringify({
        update_id: 1,
        message: {
          message_id: 1,
          date: 0,
          from: { id: 41, first_name: "<b>Eve</b>" },
          chat: { id: 41, type: "private" },
          text: "hi",
        },
      }),
    });
    // The page that is open asks again by itself, each 15 s.
    await page.getByLabel(/^Role of .*Eve/).waitFor({ timeout: 40_000 });
    await page.getByLabel(/^Role of .*Eve/).selectOption("member");
    await page.getByRole("button", { name: /^Let .*Eve.* in$/ }).click();
    await page.getByRole("button", { name: /^Remove .*Eve/ }).waitFor();
    await page.getByText("over telegram (family), member").waitFor();
    await page.getByRole("button", { name: /^Remove .*Eve/ }).click();
    await page.getByText("Nobody is waiting.").waitFor();
  });

  test("also within the page: no inline script, no markup from text, no request to another origin", async () => {
    const tried = await page.evaluate(TRIES);
    expect(tried).toEqual({ script: "refused", ran: false, markup: "refused", away: "refused" });
  });

  test("the session works only on this page", async () => {
    const [cookie] = await page.context().cookies();
    const sent = (path: string, headers: Record<string, string>, method = "POST") =>
      fetch(`${stack.gateway.url}${path}`, {
        method,
        headers: {
          cookie: `${cookie?.name}=${cookie?.value}`,
          "content-type": "application/json",
          ...headers,
        },
        ...(method === "POST" && { body: JSON.stringify({ command: "ping" }) }),
      }).then(({ status }) => status);
    const own = { origin: stack.gateway.url, "x-edgecall-console": "1" };
    const ping = "/v1/agents/pi/commands";
    expect(await sent(ping, own)).toBe(200);
    expect(await sent(ping, { origin: stack.gateway.url })).toBe(403);
    expect(await sent(ping, { "x-edgecall-console": "1" })).toBe(403);
    expect(await sent(ping, { ...own, origin: "https://evil.example" })).toBe(403);
    expect(await sent("/v1/agents", { "sec-fetch-site": "same-site" }, "GET")).toBe(403);
    expect(await sent("/v1/agents", { "sec-fetch-site": "same-origin" }, "GET")).toBe(200);
    expect(await sent("/mcp", own)).toBe(401);
    expect(await sent("/v1/chat/completions", own)).toBe(401);
    const [start, until, mac] = (cookie?.value ?? "").split(".");
    for (const forged of [
      `${start}.${Number(until) + 1}.${mac}`,
      `${start}.${until}.${"A".repeat(43)}`,
      "x",
      "",
    ])
      expect(await sent(ping, { ...own, cookie: `__Host-edgecall=${forged}` })).toBe(401);
  });

  test.each(["light", "dark"] as const)("axe finds nothing on any screen, %s", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const name of ["Home", "Chats", "Devices", "Rules", "Record", "Use and cost", "Setup"]) {
      await screen(name);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await axeFinds(page), name).toEqual([]);
    }
  });

  test("signing out ends the session, and removes the conversation from the page", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect((await page.request.get(`${stack.gateway.url}/v1/agents`)).status()).toBe(401);
  });
});

test("the page's scripts are small, and every file has its headers", async () => {
  const { files, sizes } = await builtConsole();
  const kib = (bytes: number) => (bytes / 1024).toFixed(1);
  console.log(
    `first scripts ${kib(sizes.first)} KiB gzip, of ${SCRIPT_MAX_BYTES / 1024}; until usable ${kib(sizes.start)}, of ${START_MAX_BYTES / 1024}`,
  );
  const scripts = Object.keys(files).filter((name) => /^console.*\.js$/.test(name));
  expect(scripts.length).toBeGreaterThan(5);
  const icons = ["icon.svg", "icon-180.png", "icon-192.png", "icon-512.png"];
  for (const name of ["", ...scripts, "console.css", ...icons]) {
    const { status, headers } = await fetch(`${stack.gateway.url}/${name}`);
    expect([name, status, headers.get("x-content-type-options")]).toEqual([name, 200, "nosniff"]);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
  }
  expect((await fetch(`${stack.gateway.url}/console-chat-AAAAAAAA.js`)).status).toBe(404);
});
