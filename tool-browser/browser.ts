import { setTimeout as pause } from "node:timers/promises";
import { INLINE_MAX_CHARS } from "@edgecall/core/protocol/media.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { checkUrl, URL_MAX_CHARS } from "@edgecall/core/web/address.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { formatSize } from "@edgecall/pi-agent/output/text-cut.ts";
import { type ChromiumOptions, chromiumMissing } from "./chromium.ts";
import { locate, pageText } from "./page-text.ts";
import { IDLE_MS, type OpenPage, type Pages } from "./pages.ts";

const ACTIONS = ["open", "click", "type", "read", "screenshot", "close"] as const;
const LOOKS: readonly string[] = ["read", "screenshot", "close"];
/** Most characters of a page's text for `read`. */
const READ_CHARS = 20_000;
/** Most characters after an action that changes the page: mostly enough to see its effect. */
const GLANCE_CHARS = 6_000;
const SELECTOR_MAX_CHARS = 1_000;
const TYPED_MAX_CHARS = 10_000;
/** The first quality that fits a message is used; if none fits, the best one is uploaded to the gateway. */
const QUALITIES = [80, 60, 40, 20] as const;
const INLINE_BYTES = (INLINE_MAX_CHARS / 4) * 3;
/** The effects of a click begin within this time. */
const SETTLE_MS = 300;
const PICTURE_MS = 20_000;

const INPUT = z.strictObject({
  action: z.enum(ACTIONS),
  url: z
    .optional(z.string().check(z.minLength(1), z.maxLength(URL_MAX_CHARS)))
    .check(z.describe("For open: https://… or http://…")),
  selector: z
    .optional(z.string().check(z.minLength(1), z.maxLength(SELECTOR_MAX_CHARS)))
    .check(
      z.describe(
        "For click and type: a ref from the page's text, like e12; or CSS, text=…, role=button[name=…]",
      ),
    ),
  text: z
    .optional(z.string().check(z.maxLength(TYPED_MAX_CHARS)))
    .check(z.describe("For type: replaces what is there")),
  submit: z.optional(z.boolean()).check(z.describe("For type: press Enter after it")),
  offset: z
    .optional(z.int().check(z.minimum(0), z.maximum(10_000_000)))
    .check(z.describe("For read: first character, from 0")),
});
type Input = z.output<typeof INPUT>;
type Action = Input["action"];

const NEEDS: Partial<Record<Action, ReadonlyArray<"url" | "selector" | "text">>> = {
  open: ["url"],
  click: ["selector"],
  type: ["selector", "text"],
};

/** @param pages this agent's; the caller closes them at the end */
export function browser(pages: Pages): Tool {
  return defineTool({
    name: "browser",
    description: `Use a web page like a person, where webfetch is not enough: scripts run, things can be clicked and filled in. One page per conversation, kept for ${IDLE_MS / 60_000} minutes. open, click and type answer with the start of the page's text; read gives ${READ_CHARS} characters at once, screenshot a JPEG. Public addresses only; no files, no downloads, no addresses of a home network.`,
    input: INPUT,
    effect: "network",
    // The person allowed opening the page, and reading it sends nothing.
    effectIn: ({ action }) => (LOOKS.includes(action) ? "read" : "network"),
    permission: "network",
    idempotent: false,
    taints: true,
    // Two busy pages at once are too much for a small machine.
    lock: () => "browser",
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    async execute(input, context): Promise<ToolResult> {
      const problem = problemOf(input, pages);
      if (problem) return problem;
      const { caller, signal } = context;
      if (input.action === "close")
        return textResult((await pages.close(caller)) ? "The page is closed." : "No page was open.");
      const open = input.action === "open" ? await opened(pages, context) : pages.pageOf(caller);
      if (!open) {
        return faultResult("unavailable", {
          text: "Error: No page is open in this conversation (one that is not used is closed).",
          advice: 'Use action="open" with url first.',
        });
      }
      if ("content" in open) return open;
      // Close a page whose state is unknown, since it may continue what it was doing.
      const stop = () => void pages.close(caller);
      signal.addEventListener("abort", stop, { once: true });
      try {
        return await pages.during(open, () => act(open, input, context));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  });
}

/** @returns what is missing and how to install it; undefined when the tool can be offered */
export async function browserMissing(options: ChromiumOptions = {}): Promise<string | undefined> {
  return await chromiumMissing(options);
}

function problemOf(input: Input, pages: Pages): ToolResult | undefined {
  const missing = NEEDS[input.action]?.find((name) => input[name] === undefined);
  if (missing)
    return faultResult(
      "invalid_params",
      `Error: Invalid parameters for 'browser': action="${input.action}" needs '${missing}'.`,
    );
  if (input.action !== "open") return undefined;
  const checked = checkUrl(input.url?.trim() ?? "", pages.guard.allowed);
  return checked.ok ? undefined : notOpened(checked.code, `'url' ${checked.problem}`);
}

async function opened(pages: Pages, { caller, signal }: ToolContext): Promise<OpenPage | ToolResult> {
  try {
    const open = await pages.open(caller);
    signal.throwIfAborted();
    return open;
  } catch (error) {
    signal.throwIfAborted();
    const said = messageOf(error);
    return faultResult(
      "unavailable",
      { text: `Error: There is no browser: ${said}.`, advice: "Tell the user." },
      {
        cause: error,
      },
    );
  }
}

async function act(open: OpenPage, input: Input, context: ToolContext): Promise<ToolResult> {
  open.proxy.forget();
  switch (input.action) {
    case "open":
      return await navigate(open, input.url ?? "");
    case "click":
      return await use(open, input.selector ?? "", "click", (element) => element.click());
    case "type":
      return await use(open, input.selector ?? "", "fill in", async (element) => {
        const isChoice = await element.evaluate(({ tagName }) => tagName === "SELECT");
        if (isChoice) await element.selectOption(input.text ?? "");
        else await element.fill(input.text ?? "");
        if (input.submit) await element.press("Enter");
      });
    case "screenshot":
      return await picture(open, context);
    default:
      return await textResultOf(open, input.offset ?? 0, READ_CHARS);
  }
}

async function navigate(open: OpenPage, url: string): Promise<ToolResult> {
  let status: number | undefined;
  try {
    const response = await open.page?.goto(url.trim(), { waitUntil: "domcontentloaded" });
    status = response?.status();
  } catch (error) {
    // The browser reports that there is no page shortly before it reports the download.
    await pause(SETTLE_MS);
    return (
      refusal(open) ??
      notOpened(
        "io",
        open.isDownload ? "it is a download, not a page" : "the site could not be reached",
        error,
      )
    );
  }
  const refused = refusal(open);
  if (refused) return refused;
  const shown = await textResultOf(open, 0, GLANCE_CHARS);
  return status === undefined || status < 400 ? shown : withNote(shown, `The site answered ${status}.`);
}

/** Acts on one element and waits for the effects. */
async function use(
  open: OpenPage,
  selector: string,
  what: string,
  work: (element: ReturnType<typeof locate>) => Promise<unknown>,
): Promise<ToolResult> {
  const { page } = open;
  if (!page) return gone();
  const element = locate(page, selector);
  open.wantedUrl = "";
  try {
    await work(element);
  } catch (error) {
    return await notUsed(element, selector, what, error);
  }
  await pause(SETTLE_MS);
  if (open.wantedUrl !== "") await open.page?.waitForLoadState("domcontentloaded").catch(() => {});
  return refusal(open) ?? (await textResultOf(open, 0, GLANCE_CHARS));
}

async function notUsed(
  element: ReturnType<typeof locate>,
  selector: string,
  what: string,
  cause: unknown,
): Promise<ToolResult> {
  const found = await element.count().catch(() => undefined);
  const look = 'Use action="read" to see what there is.';
  if (found === undefined)
    return faultResult(
      "invalid_params",
      { text: `Error: '${selector}' is no selector.`, advice: look },
      { cause },
    );
  if (found === 0)
    return faultResult(
      "not_found",
      { text: `Error: Nothing on the page matches '${selector}'.`, advice: look },
      { cause },
    );
  if (found > 1)
    return faultResult(
      "not_unique",
      {
        text: `Error: ${found} elements match '${selector}'. Use a selector that only one matches, like a ref.`,
        advice: look,
      },
      { cause },
    );
  return faultResult(
    "unavailable",
    {
      text: `Error: '${selector}' is there, but it was not possible to ${what} it: it is hidden, disabled, covered by something, or of another kind.`,
      advice: look,
    },
    { cause },
  );
}

async function textResultOf(open: OpenPage, offset: number, maxChars: number): Promise<ToolResult> {
  const { page } = open;
  if (!page) return gone();
  const read = await pageText(page, offset, maxChars);
  if (read.ok) return textResult(read.text, { url: page.url() });
  return faultResult(
    "beyond_eof",
    `Error: 'offset' ${offset} is beyond the end of the page (${read.total} characters).`,
  );
}

async function picture({ page }: OpenPage, { artifact, signal }: ToolContext): Promise<ToolResult> {
  if (!page) return gone();
  let best: Buffer | undefined;
  let fitting: Buffer | undefined;
  for (const quality of QUALITIES) {
    const jpeg = await page.screenshot({ type: "jpeg", quality, timeout: PICTURE_MS });
    signal.throwIfAborted();
    best ??= jpeg;
    fitting = jpeg.length <= INLINE_BYTES ? jpeg : undefined;
    if (fitting) break;
  }
  const taken = fitting ?? best ?? Buffer.alloc(0);
  const text = `Picture of the page (${formatSize(taken.length)}).`;
  return {
    content: [{ type: "text", text }, await artifact(taken, "image/jpeg")],
    details: { url: page.url(), bytes: taken.length },
  };
}

/** Returns a fault when the guard refused the address that was opened, or that a redirect or click led to. */
function refusal({ wantedUrl, proxy }: OpenPage): ToolResult | undefined {
  const problem = URL.canParse(wantedUrl) ? proxy.refusal(new URL(wantedUrl).host) : undefined;
  return problem === undefined
    ? undefined
    : notOpened("private_address", `the page's address, or one that it led to, ${problem}`);
}

function notOpened(code: Parameters<typeof faultResult>[0], problem: string, cause?: unknown): ToolResult {
  const advice =
    code === "private_address" || code === "blocked"
      ? "Do not try it another way. Explain to the user."
      : code === "io"
        ? "Try another page or explain to the user."
        : 'Use action="open" with an address like https://example.com/page.';
  return faultResult(code, { text: `Error: Nothing was opened: ${problem}.`, advice: advice }, { cause });
}

function gone(): ToolResult {
  return faultResult("unavailable", {
    text: "Error: The page closed itself.",
    advice: 'Use action="open" with url to open one.',
  });
}

function withNote(result: ToolResult, note: string): ToolResult {
  return { ...result, content: [{ type: "text", text: note }, ...result.content] };
}
