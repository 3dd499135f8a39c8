/**
 * Each screen of the console and each of its states, with something waiting, in the demo home: boxes, overflow, text and colours in
 * each window and theme, in German, in large text and in forced colours. With PICTURES=1 the pictures are written to dist/pictures.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { axeFinds, openWindow, useChromium } from "./chromium.ts";
import { layoutFaults } from "./layout.ts";
import { ROOT } from "./program.ts";
import { useShownHome } from "./shown-home.ts";

const PICTURES = process.env.PICTURES === "1" ? join(ROOT, "dist/pictures") : undefined;
const THEMES = ["light", "dark"] as const;
const WIDTHS = [390, 820, 1280];
const SLOW = { timeout: 120_000 };

const { stack, house, questionOf } = useShownHome();

type State = {
  name: string;
  /** In the address; absent: as it is. */
  hash?: () => string;
  /** What is there when the state is. */
  shown: string;
  /** How it is reached from its address. */
  reach?: (page: Page) => Promise<unknown>;
  /** How it is left. */
  leave?: (page: Page) => Promise<unknown>;
};

const TASKS = ["gateway", "people", "passkeys", "programs", "clients", "notifications", "tokens", "keys"];
TASKS.push("lending", "model", "usage", "language");

const at = (name: string, hash: string, shown: string): State => ({ name, hash: () => hash, shown });
const waiting = (of: string): State => ({
  name: `approval-${of}`,
  hash: () => `#/waiting/${questionOf(of)}`,
  shown: ".sheet .approval .answers",
});
/** The routes that `held` are not answered meanwhile. */
const HELD = /\/v1\/(devices|agents|status|audit)(\?|$)/;
const loading = (name: string, hash: string): State => ({
  name: `${name}-loading`,
  hash: () => hash,
  shown: ".skeleton",
  // A page that is loaded anew has nothing yet.
  reach: async (page) => {
    await page.route(HELD, () => {});
    await page.reload();
  },
  leave: (page) => page.unroute(HELD),
});
/** A home that has nothing. */
const empty = (name: string, hash: string): State => ({
  name: `${name}-empty`,
  hash: () => hash,
  shown: ".nothing",
  reach: async (page) => {
    const nothing = { json: { devices: [], left_out: [], agents: [], total: 0 } };
    await page.route(/\/v1\/(devices|agents)(\?|$)/, (route) => route.fulfill(nothing));
    await page.reload();
  },
  leave: (page) => page.unroute(/\/v1\/(devices|agents)(\?|$)/),
});

/** An answer of the gateway with something else in it. */
const changed = (state: State, path: RegExp, change: Record<string, unknown>): State => ({
  ...state,
  reach: async (page) => {
    await page.route(path, async (route) => {
      const answer = (await (await route.fetch()).json()) as Record<string, unknown>;
      await route.fulfill({ json: { ...answer, ...change } });
    });
    await page.reload();
  },
  leave: (page) => page.unroute(path),
});
const LENT = {
  ...{ name: "The cabin by the lake", url: null, scopes: ["command"], reads_only: false, problem: null },
  ...{ expires_at: Date.now() + 864e5, seen_at: Date.now(), by: "anna", at: Date.now() },
  agents: [
    { id: "cabin/stove", online: true, line: "The stove of the cabin, and how warm it is", actions: ["set"] },
    { id: "cabin/boat", online: false, line: "The boat's battery", actions: [] },
  ],
};
const AWAY = { online: false, id: "bridge", version: null, connected_at: null, updates: null, update: null };

const STATES: readonly State[] = [
  at("home", "#/home", ".area-card .tile"),
  {
    ...at("home-news", "#/home", ".news .event"),
    reach: (page) => page.locator(".bell > button").click(),
    leave: (page) => page.keyboard.press("Escape"),
  },
  {
    ...at("home-find", "#/home", "dialog[open]"),
    reach: (page) => page.keyboard.press("Control+k"),
    leave: (page) => page.keyboard.press("Escape"),
  },
  loading("home", "#/home"),
  empty("home", "#/home"),
  {
    ...at("home-gone", "#/home", ".lost .banner"),
    reach: async (page) => {
      await page.locator(".area-card .tile").first().waitFor();
      await page.context().setOffline(true);
    },
    leave: (page) => page.context().setOffline(false),
  },
  changed(at("home-away", "#/home", ".banner.wait"), /\/v1\/status$/, {
    bridge: { ...AWAY, last_seen: Date.now() - 36e5 },
  }),
  at("devices", "#/devices", ".thing"),
  at("devices-area", "#/devices/:area:Kitchen", ".thing"),
  at("device", "#/devices/kitchen-light", ".device-panel article"),
  at("device-asks", "#/devices/washing-machine", ".device-panel article"),
  at("device-lock", "#/devices/front-door", ".device-panel article"),
  changed(at("device-lent", "#/devices/cabin%2Fstove", ".device-panel article"), /\/v1\/lending$/, {
    borrowed: [LENT],
  }),
  {
    // A press that does nothing is said over the screen.
    ...at("device-failed", "#/devices", ".toasts.failed .toast"),
    reach: async (page) => {
      await page.route(/\/commands\?/, (route) =>
        route.fulfill({
          status: 500,
          json: { error: { code: "internal", message: "The home did not take it." } },
        }),
      );
      await page.getByRole("switch").first().click();
    },
    leave: async (page) => {
      await page.unroute(/\/commands\?/);
      await page.locator(".toasts.failed button").click();
    },
  },
  at("machine", "#/devices/garden-pi", ".device-panel article"),
  {
    ...at("machine-actions", "#/devices/garden-pi", ".try"),
    reach: async (page) => {
      await page.locator(".device-panel button[aria-expanded]").first().click();
      await page.locator(".actions select").selectOption("bash");
    },
  },
  at("devices-add", "#/devices/:add", "#add-device"),
  loading("devices", "#/devices"),
  empty("devices", "#/devices"),
  at("waiting", "#/waiting", ".wait-row .acts"),
  ...["plug", "lock", "batch", "script"].map(waiting),
  at("approval-gone", "#/waiting/00000000-0000-4000-8000-000000000000", ".sheet .notice"),
  at("chat", "#/chat/answered", ".turn .answer"),
  {
    ...at("chat-call", "#/chat/answered", ".call details[open] pre"),
    reach: (page) => page.locator(".call summary").first().click(),
    leave: (page) => page.locator(".call summary").first().click(),
  },
  at("chat-told", "#/chat/freezer", ".turn .said"),
  at("chat-asked", "#/chat/plug", ".question.approval .answers"),
  { ...at("chat-new", "#/chat/console-new", ".welcome") },
  at("rules", "#/rules", ".screen h2"),
  at("record", "#/record", ".lines tr"),
  at("more", "#/more", ".tile"),
  at("setup", "#/setup", ".tasks"),
  ...TASKS.map((task) => at(`setup-${task}`, `#/setup/${task}`, "main h2, main .panel")),
];

describe("the console's layout", { tags: ["needs/chromium"] }, () => {
  let page: Page;
  let german: Page;
  useChromium(async (browser) => {
    // It happens before the page is open, and Home shows it as news.
    house().change("Freezer", { temperature: -14.2 });
    page = await openWindow(browser);
    const context = await browser.newContext({ locale: "de-DE", viewport: { width: 360, height: 740 } });
    german = await context.newPage();
  });

  test("sign-in, in both languages", SLOW, async () => {
    for (const one of [page, german]) {
      await one.goto(stack.gateway.url);
      await one.locator("input").first().waitFor();
      if (one === page) await look("sign-in");
      else expect(await layoutFaults(one)).toEqual([]);
      await one.locator("input").first().fill(TOKENS.owner);
      await one.keyboard.press("Enter");
      await one.locator(".area-card .tile").first().waitFor();
    }
    await page.locator(".bell .count").waitFor({ timeout: 60_000 });
  });

  async function open(one: Page, { hash, shown, reach }: State) {
    if (hash) await one.evaluate(`location.hash = ${JSON.stringify(hash())}`);
    await one.evaluate("document.querySelector('main')?.scrollTo(0, 0)");
    await reach?.(one);
    await one.locator(shown).first().waitFor();
    // Behind it is what loads by itself.
    if (!shown.includes("skeleton"))
      await expect.poll(() => one.locator("main .skeleton").count(), { timeout: 20_000 }).toBe(0);
  }

  /** In all windows and themes. */
  async function look(name: string) {
    for (const width of WIDTHS)
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: width < 700 ? 844 : 900 });
        const what = `${name} at ${width} px, ${colorScheme}`;
        if (PICTURES) {
          mkdirSync(PICTURES, { recursive: true });
          await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
        }
        expect.soft(await layoutFaults(page), what).toEqual([]);
        if (width !== 820) expect.soft(await axeFinds(page), what).toEqual([]);
      }
  }

  test.each(STATES)("$name: every width, both themes, large text, forced colours", SLOW, async (state) => {
    await open(page, state);
    await look(state.name);
    await page.emulateMedia({ colorScheme: "light", forcedColors: "active", reducedMotion: "reduce" });
    expect.soft(await layoutFaults(page), "forced colours").toEqual([]);
    expect.soft(await axeFinds(page), "forced colours").toEqual([]);
    await page.emulateMedia({ forcedColors: "none" });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect.soft(await layoutFaults(page), `200 % at ${width} px`).toEqual([]);
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${state.name}-${width}-large.png`) });
    }
    await page.evaluate("document.documentElement.style.fontSize = ''");
    await state.leave?.(page);
  });

  test.each(STATES)("$name: in German, 360 px", SLOW, async (state) => {
    await open(german, state);
    for (const size of ["100%", "200%"]) {
      await german.evaluate(`document.documentElement.style.fontSize = '${size}'`);
      expect.soft(await layoutFaults(german), size).toEqual([]);
      if (PICTURES)
        await german.screenshot({ path: join(PICTURES, `${state.name}-360-de-${size.slice(0, 3)}.png`) });
    }
    await german.evaluate("document.documentElement.style.fontSize = ''");
    await state.leave?.(german);
  });
});
