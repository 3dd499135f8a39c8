/**
 * The console's appearance: every screen fits a phone and a desktop, in both themes. With PICTURES=1 the test makes the
 * pictures in docs/pictures.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { openDevice, openScreen, openWindow, signIn, useChromium } from "./chromium.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "docs/pictures") : undefined;
const WIDTHS = { phone: 390, desktop: 1280 };

/** The fake model's calls and answer for each question. */
const PLAYED: Record<string, { calls: Array<Record<string, unknown>>; text: string }> = {
  "How warm is the garden house, and how much memory is free?": {
    calls: [
      { agent_id: "garden-pi", action: "temperature" },
      { agent_id: "garden-pi", action: "memory" },
    ],
    text: "The **garden house** as `garden-pi` measured it just now:\n\n- its processor is at 48 °C, which is well\n- half of its memory is free",
  },
  "Show me the garden.": {
    calls: [{ agent_id: "garden-pi", action: "read", params: { path: "snapshot.png" } }],
    text: "This is the last picture that `garden-pi` took.",
  },
  "Leave a note for whoever waters the plants.": {
    calls: [
      {
        agent_id: "garden-pi",
        action: "write",
        params: { path: "note.txt", content: "The tomatoes need water." },
      },
    ],
    text: "The note is there.",
  },
};
const model = await startPlayedModel();
afterAll(() => model.close());

const stack = useStack(
  {
    vars: {
      BUDGET_DAY_TOKENS: "20000",
      PRICES: `{"played":{"in":0.25,"out":2}}`,
      LLM_BASE_URL: model.url,
      LLM_MODEL: "played",
    },
  },
  async (stack) => {
    const capabilities =
      "garden house: temperature, CPU, memory and disk of a Pi Zero; camera pictures in its workspace";
    await stack.startAgent({ id: "garden-pi", capabilities, top: { policy: { shell: "ask" } } });
    await stack.startAgent({
      id: "attic",
      capabilities: "attic: temperature, network and services of a Pi 4",
    });
    writeFileSync(join(stack.workspaceOf("garden-pi"), "snapshot.png"), sunset(480, 200));
    await stack.gateway.online("garden-pi");
    await stack.gateway.online("attic");
    const run = (agent: string, tool: string, parameters = {}) =>
      stack.gateway.command(agent, "tool", { tool, parameters });
    for (const tool of ["temperature", "cpu", "memory", "disk", "system_info"])
      for (const agent of ["garden-pi", "attic"]) await run(agent, tool);
    await run("attic", "read", { path: "none.txt" });
    for (const id of ["garden-pi", "attic"]) {
      await stack.agent(id).stop();
      await stack.restartAgent(id);
    }
    await stack.gateway.online("attic");
  },
);

describe("the console's looks", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  useChromium(async (browser) => {
    page = await openWindow(browser);
  });

  /** Checks both widths in both themes: nothing is wider than the page. */
  async function look(name: string) {
    for (const [device, width] of Object.entries(WIDTHS))
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: device === "phone" ? 844 : 800 });
        if (name !== "chat") await page.evaluate("document.querySelector('main').scrollTo(0, 0)");
        const beside = await page.evaluate(
          "[document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth)",
        );
        expect(beside, `${name} at ${width} px`).toEqual([0, 0]);
        if (!PICTURES || name === "sign-in") continue;
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: join(PICTURES, `console-${name}-${width}-${colorScheme}.png`) });
      }
    await page.setViewportSize({ width: WIDTHS.desktop, height: 800 });
  }

  test("every screen fits", async () => {
    await page.goto(stack.gateway.url);
    await page.getByLabel("Token").waitFor();
    await look("sign-in");
    await signIn(page, stack.gateway.url, TOKENS.owner);

    const ask = async (text: string) => {
      await page.getByLabel("Message").fill(text);
      await page.getByRole("button", { name: "Ask" }).click();
      return page.locator(".turn").last();
    };
    for (const question of Object.keys(PLAYED)) {
      const turn = await ask(question);
      await turn.locator(".question, .answer").first().waitFor();
    }
    await look("chat");

    const screen = (name: string) => openScreen(page, name);
    await screen("Home");
    await page
      .getByRole("link", { name: /garden-pi/ })
      .first()
      .waitFor();
    await look("home");
    const card = await openDevice(page, "garden-pi");
    await card.getByRole("button", { name: "Ping" }).click();
    await card.getByText(/round trip/).waitFor();
    await card.getByRole("button", { name: /actions/ }).click();
    await card.getByLabel("Action").selectOption("read");
    await card.getByLabel("path").fill("snapshot.png");
    await card.getByRole("button", { name: "Try it" }).click();
    const picture = card.getByRole("img", { name: /from garden-pi/ });
    await picture.waitFor();
    await expect
      .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(480);
    await look("machine");
    await screen("Record");
    await page.getByRole("row").nth(1).waitFor();
    await look("record");
    await screen("Use and cost");
    await page.getByRole("rowheader", { name: "attic" }).waitFor();
    // 5 calls with 812 input tokens at $0.25 a million, and 64 output tokens at $2.
    await page.getByText("$0.0017", { exact: true }).waitFor();
    await page
      .getByRole("img", { name: /^Tokens a day: 4,380 in 14 days.*Dashed: the budget, 20,000/ })
      .waitFor();
    await look("use");
    await screen("This gateway");
    await page.getByText("version 0").waitFor();
    await look("setup");
  });
});

/** Makes a PNG of an evening sky, which a browser can draw. */
function sunset(width: number, height: number): Buffer {
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(1 + width * 3);
    for (let x = 0; x < width; x += 1) {
      const sun = Math.hypot(x - width * 0.7, y - height * 0.55) < height * 0.16;
      const hill = y > height * 0.78 - 18 * Math.sin((x / width) * 5);
      const sky = [90 + (y / height) * 150, 70 + (y / height) * 70, 130 - (y / height) * 60];
      row.set(hill ? [28, 52, 44] : sun ? [255, 222, 150] : sky, 1 + x * 3);
    }
    return row;
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const parts = [
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...parts]);
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** An OpenAI-compatible endpoint that plays the answers above. */
async function startPlayedModel() {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return void response.writeHead(404).end();
    let body = "";
    for await (const part of request) body += part;
    const { messages } = JSON.parse(body) as { messages: Array<{ role: string; content: unknown }> };
    const at = messages.findLastIndex(({ role, content }) => role === "user" && PLAYED[String(content)]);
    const played = PLAYED[String(messages[at]?.content)];
    const isSecond = messages.slice(at).some(({ role }) => role === "tool");
    const tool_calls = played?.calls.map((call, index) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: { name: "edge_call", arguments: JSON.stringify(call) },
    }));
    const delta = isSecond || !played ? { content: played?.text ?? "" } : { tool_calls };
    const finish_reason = "tool_calls" in delta ? "tool_calls" : "stop";
    const chunks = [
      { choices: [{ index: 0, delta, finish_reason }] },
      { choices: [], usage: { prompt_tokens: 812, completion_tokens: 64, total_tokens: 876 } },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}
