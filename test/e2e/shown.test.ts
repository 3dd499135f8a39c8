/** Pages and pictures that a device shows: a page that it wrote and a picture of a web page, through real programs. */
import { chromium } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { readAllowedRanges } from "../../core/web/address.ts";
import type { Agent } from "../../pi-agent/agent.ts";
import { localFiles } from "../../pi-agent/env/local-files.ts";
import { memoryLog, readyAgent, testSettings } from "../../pi-agent/testing/home.ts";
import { type Site, startSite, startTrap } from "../../pi-agent/testing/web-site.ts";
import { canvas } from "../../pi-agent/tools/web/canvas.ts";
import { browser } from "../../tool-browser/browser.ts";
import { Pages } from "../../tool-browser/pages.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { useStack } from "./stack.ts";

let agent: Agent;
let site: Site;
let pages: Pages;

const stack = useStack({}, async (stack) => {
  site = await startSite("127.0.0.2", (_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Weather</title><h1>21 degrees</h1>");
  });
  const allowed = readAllowedRanges(["127.0.0.2"]);
  pages = new Pages({
    guard: {
      resolve: async () => [{ address: "127.0.0.2", family: 4 }],
      ...(allowed.ok && { allowed: allowed.value }),
    },
  });
  const settings = testSettings(Number(new URL(stack.mqttUrl).port), {
    policy: new Map([["browser", "allow"]]),
  });
  const tools = [canvas({ files: localFiles({ cwd: settings.tools.workspace }) }), browser(pages)];
  agent = await readyAgent(settings, { log: memoryLog().log, tools });
  await stack.gateway.online("eye");
});
// Before the stack's own hook, because the hook that is registered last runs first.
afterAll(async () => {
  await agent?.stop();
  await pages?.closeAll();
  await site?.close();
});

const call = (action: string, params: object) => ({
  calls: [{ arguments: { agent_id: "eye", action, params } }],
});
type Shown = { media?: Array<{ id: string; media_type: string }> } | undefined;

test("a device's page is served without authority: nothing in it runs, loads or links anywhere", {
  tags: ["needs/chromium", "needs/bubblewrap"],
}, async () => {
  const trap = await startTrap();
  const away = `http://127.0.0.1:${trap.port}/`;
  const html = `<h1 id=h>Plan</h1><script>document.title = "ran"</script><img src=x onerror="document.title='ran'">
    <svg onload="document.title='ran'"><circle r=9 /></svg><img src="${away}">
    <link rel=stylesheet href="${away}"><meta http-equiv=refresh content="0;url=${away}">
    <form action="${away}"><button>Send</button></form><a href="javascript:document.title='ran'">js</a>
    <p style="color: rgb(1, 2, 3)">styled</p>`;
  const turn = await stack.gateway.ask(script(call("canvas", { html, title: "Plan" }), { text: "$results" }));
  const [media] = (turn.calls[0] as Shown)?.media ?? [];
  expect(media?.media_type).toBe("text/html");
  expect(turn.answer).toContain(`Shown to the user: Plan, at /v1/media/${media?.id}.`);

  const response = await stack.gateway.fetch(`/v1/media/${media?.id}`);
  expect(response.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");

  const person = await chromium.launch({ executablePath: "/usr/bin/chromium" });
  try {
    const page = await person.newPage({ extraHTTPHeaders: { authorization: `Bearer ${TOKENS.owner}` } });
    const address = `${stack.gateway.url}/v1/media/${media?.id}`;
    await page.goto(address, { waitUntil: "load" });
    expect(await page.locator("h1").textContent()).toBe("Plan");
    expect(await page.evaluate("getComputedStyle(document.querySelector('p')).color")).toBe("rgb(1, 2, 3)");
    await page.getByText("js").click();
    await page.getByText("Send").click({ noWaitAfter: true });
    expect(await page.title()).toBe("Plan");
    expect(page.url()).toBe(address);
    expect(await page.evaluate("window.origin")).toBe("null");
    expect(trap.connections()).toBe(0);
  } finally {
    await person.close();
    await trap.close();
  }
});

test("a web page reaches the model as text and as a picture, and the person as a picture", {
  tags: ["needs/chromium", "needs/bubblewrap"],
}, async () => {
  const turn = await stack.gateway.ask(
    // In one batch, because once the page's text is in the conversation, network access needs approval.
    script(
      {
        calls: [
          ...call("browser", { action: "open", url: `http://weather.example:${site.port}/` }).calls,
          ...call("browser", { action: "screenshot" }).calls,
        ],
      },
      { text: "$results / $pictures" },
    ),
  );
  expect(turn.answer).toContain('heading "21 degrees"');
  expect(turn.answer).toMatch(/ \/ data:image\/jpeg \d+$/);
  const [media] = (turn.calls[1] as Shown)?.media ?? [];
  const picture = await stack.gateway.fetch(`/v1/media/${media?.id}`);
  expect(picture.headers.get("content-type")).toBe("image/jpeg");
  expect(
    Buffer.from(await picture.arrayBuffer())
      .subarray(0, 3)
      .toString("hex"),
  ).toBe("ffd8ff");
});
