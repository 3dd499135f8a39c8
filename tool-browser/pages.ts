/**
 * One page for each conversation, in a single browser that starts with the first page and ends with the last. Conversations
 * share no cookies, logins or caches, because each has its own browser context.
 */
import { isDeepStrictEqual } from "node:util";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Chromium, type ChromiumOptions, startChromium } from "./chromium.ts";

export type Caller = ToolContext["caller"];

export type PagesOptions = ChromiumOptions & {
  /** After this time in ms an unused page is closed. */
  idleMs?: number;
};

/** Long enough for a person to answer a question in between. */
export const IDLE_MS = 5 * 60_000;
/** Each takes 100 MB or more. Opening one more closes the least recently used. */
export const MAX_CONVERSATIONS = 3;
/** Most further pages that a page may open. */
const MAX_POPUPS = 3;
const VIEWPORT = { width: 1_280, height: 800 };
/** Time for an element to appear and become usable. */
const ELEMENT_MS = 5_000;
/** Just below the longest time-out of a call. */
const NAVIGATION_MS = 115_000;

export class OpenPage {
  readonly owner: Owner;
  readonly context: BrowserContext;
  readonly proxy: Chromium["proxy"];
  /** Address of the last requested document, even if it failed. */
  wantedUrl = "";
  /** Whether the last document was a download, which cannot be shown. */
  isDownload = false;

  constructor(owner: Owner, context: BrowserContext, proxy: Chromium["proxy"]) {
    this.owner = owner;
    this.context = context;
    this.proxy = proxy;
    context.setDefaultTimeout(ELEMENT_MS);
    context.setDefaultNavigationTimeout(NAVIGATION_MS);
    context.on("page", (page) => this.#watch(page));
  }

  /** The newest page, because a page that a click opens is the wanted one. */
  get page(): Page | undefined {
    return this.context.pages().at(-1);
  }

  #watch(page: Page): void {
    if (this.context.pages().length > 1 + MAX_POPUPS) return void page.close().catch(() => {});
    page.on("request", (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) {
        this.wantedUrl = request.url();
        this.isDownload = false;
      }
    });
    page.on("download", (download) => {
      this.isDownload = true;
      void download.cancel().catch(() => {});
    });
  }
}

type Owner = { principal: string; channel: string; conversation: string };
type Held = { open: OpenPage; timer?: NodeJS.Timeout };

export class Pages {
  readonly guard: NonNullable<ChromiumOptions["guard"]>;
  readonly #options: PagesOptions;
  readonly #idleMs: number;
  /** Least recently used first. */
  #held: Held[] = [];
  #chromium: Promise<Chromium> | undefined;

  constructor(options: PagesOptions = {}) {
    this.guard = options.guard ?? {};
    this.#options = options;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  /** The number of conversations that have a page. */
  get size(): number {
    return this.#held.length;
  }

  /** The running browser, if there is one. */
  browser(): Browser | undefined {
    return this.#held[0]?.open.context.browser() ?? undefined;
  }

  pageOf(caller: Caller): OpenPage | undefined {
    return this.#find(caller)?.open;
  }

  /** Returns the conversation's page, or opens one. @throws Error with a text for people when there is no browser */
  async open(caller: Caller): Promise<OpenPage> {
    const known = this.pageOf(caller);
    if (known?.page) return known;
    if (known) await this.close(caller);
    while (this.#held.length >= MAX_CONVERSATIONS) await this.#end(this.#held[0]);
    const { browser, proxy } = await this.#started();
    const context = await browser.newContext({
      viewport: VIEWPORT,
      acceptDownloads: false,
      // A service worker would keep answering for a site after its page is closed.
      serviceWorkers: "block",
    });
    const open = new OpenPage(ownerOf(caller), context, proxy);
    const held: Held = { open };
    this.#held.push(held);
    await context.newPage();
    this.#startIdling(held);
    return open;
  }

  /** Runs `work` on an open page, which is not idle meanwhile. */
  async during<T>(open: OpenPage, work: () => Promise<T>): Promise<T> {
    const held = this.#held.find((it) => it.open === open);
    clearTimeout(held?.timer);
    try {
      return await work();
    } finally {
      if (held && this.#held.includes(held)) {
        this.#held = [...this.#held.filter((it) => it !== held), held];
        this.#startIdling(held);
      }
    }
  }

  /** @returns whether there was a page */
  async close(caller: Caller): Promise<boolean> {
    const held = this.#find(caller);
    await this.#end(held);
    return held !== undefined;
  }

  async closeAll(): Promise<void> {
    for (const held of [...this.#held]) await this.#end(held);
    await this.#quit();
  }

  #startIdling(held: Held): void {
    clearTimeout(held.timer);
    held.timer = setTimeout(() => void this.#end(held), this.#idleMs);
    held.timer.unref();
  }

  #find(caller: Caller): Held | undefined {
    const owner = ownerOf(caller);
    return this.#held.find(({ open }) => isDeepStrictEqual(open.owner, owner));
  }

  async #end(held: Held | undefined): Promise<void> {
    if (!held || !this.#held.includes(held)) return;
    clearTimeout(held.timer);
    this.#held = this.#held.filter((it) => it !== held);
    await held.open.context.close().catch(() => {});
    if (this.#held.length === 0) await this.#quit();
  }

  async #quit(): Promise<void> {
    const running = this.#chromium;
    this.#chromium = undefined;
    await running?.then(
      ({ close }) => close(),
      () => {},
    );
  }

  async #started(): Promise<Chromium> {
    this.#chromium ??= startChromium(this.#options);
    const starting = this.#chromium;
    try {
      const chromium = await starting;
      chromium.browser.once("disconnected", () => {
        // It crashed or was killed for lack of memory; the next page starts a new one.
        if (this.#chromium !== starting) return;
        this.#chromium = undefined;
        for (const { timer } of this.#held) clearTimeout(timer);
        this.#held = [];
      });
      return chromium;
    } catch (error) {
      if (this.#chromium === starting) this.#chromium = undefined;
      throw error;
    }
  }
}

function ownerOf({ principal, channel, conversation = "" }: Caller): Owner {
  return { principal, channel, conversation };
}
