/** Starts the system's Chromium in its sandbox, whose only network access is the guard. */

import { existsSync } from "node:fs";
import { access, constants, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cutText } from "@edgecall/core/text/cut.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { ExecOps } from "@edgecall/pi-agent/env/environment.ts";
import { lookFor, NoAnswer } from "@edgecall/pi-agent/env/probe.ts";
import { runProcess } from "@edgecall/pi-agent/env/run-process.ts";
import { systemFolders } from "@edgecall/pi-agent/env/sandbox/sandbox.ts";
import { LINUX_ONLY, platformMissing } from "@edgecall/pi-agent/tools/machine/platforms.ts";
import type { GuardOptions } from "@edgecall/pi-agent/tools/web/web-guard.ts";
import type { Browser } from "playwright-core";
import { GuardProxy } from "./guard-proxy.ts";
import {
  BROWSER_ENV,
  type BrowserPlace,
  browserArguments,
  COVERED_PROC,
  sandboxArguments,
} from "./sandbox-arguments.ts";

export type ChromiumOptions = {
  /** The addresses that pages may reach. */
  guard?: GuardOptions;
  /** Absolute path of Chromium; absent = it is searched. */
  program?: string;
  /** The bubblewrap program. */
  bwrap?: string;
};

export type Chromium = { browser: Browser; proxy: GuardProxy; close(): Promise<void> };

/** The program itself comes first, because Debian's /usr/bin/chromium is a script that reads settings in /etc. */
const PROGRAMS = [
  "/usr/lib/chromium/chromium",
  "/usr/lib/chromium-browser/chromium-browser",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
];
const HOW_TO_GET_IT = "apt install chromium bubblewrap";
/** A Pi Zero needs this long to load Chromium from its card. */
const START_MS = 60_000;

/** @returns what is missing and how to install it; undefined when it can be started @throws NoAnswer */
export async function chromiumMissing(options: ChromiumOptions = {}): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY);
  if (elsewhere) return elsewhere;
  if (!playwrightThere()) return "the package playwright-core is not installed: npm install playwright-core";
  const program = await findProgram(options.program);
  if (program === undefined) return `no Chromium was found: ${HOW_TO_GET_IT}`;
  const look = ["sh", "-c", 'unshare --user true && exec "$0" --version', program] as const;
  const bwrap: ExecOps = { run: (argv, options) => runProcess(argv, { ...options, env: BROWSER_ENV }) };
  const started = await lookFor(
    bwrap,
    [options.bwrap ?? "bwrap", ...sandboxArguments(placeOf(program)), ...look],
    START_MS,
  );
  if (!started) return `Chromium's sandbox does not start (there is no bubblewrap): ${HOW_TO_GET_IT}`;
  if (started.exitCode === 0) return undefined;
  const why = started.output.slice(-300) || `exit code ${started.exitCode}`;
  throw new NoAnswer(
    `Chromium's sandbox does not start (${why}): ${HOW_TO_GET_IT}, and let ordinary users have user namespaces, also nested ones`,
  );
}

/** @throws Error with a text for people when it does not start */
export async function startChromium(options: ChromiumOptions = {}): Promise<Chromium> {
  const program = await findProgram(options.program);
  if (program === undefined) throw new Error(`no Chromium was found: ${HOW_TO_GET_IT}`);
  // Imported here, so that an agent that opens no page does not load its seven megabytes.
  const { chromium } = await import("playwright-core");
  const folder = await mkdtemp(join(tmpdir(), "edgecall-browser-"));
  const socket = join(folder, "guard");
  const proxy = await GuardProxy.start(socket, options.guard ?? {});
  const putAway = async () => {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const browser = await chromium.launch({
      executablePath: options.bwrap ?? (await onPath("bwrap")),
      args: browserArguments({ ...placeOf(program), socket }),
      ignoreDefaultArgs: true,
      env: BROWSER_ENV,
      timeout: START_MS,
      // Playwright must not handle this process's signals; bwrap ends together with it.
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
    });
    browser.once("disconnected", () => void putAway());
    return { browser, proxy, close: async () => await browser.close() };
  } catch (error) {
    await putAway();
    const said = messageOf(error);
    throw new Error(`Chromium did not start: ${cutText(said, 300)}`, { cause: error });
  }
}

/** Looks for Playwright without loading it. */
function playwrightThere(): boolean {
  try {
    createRequire(import.meta.url).resolve("playwright-core");
    return true;
  } catch {
    return false;
  }
}

async function findProgram(wanted?: string): Promise<string | undefined> {
  for (const program of wanted === undefined ? PROGRAMS : [wanted]) {
    if (await mayRun(program)) return program;
  }
  return undefined;
}

async function onPath(name: string): Promise<string> {
  for (const folder of ["/usr/bin", "/usr/local/bin", "/bin"]) {
    const program = join(folder, name);
    if (await mayRun(program)) return program;
  }
  throw new Error(`${name} was not found: ${HOW_TO_GET_IT}`);
}

async function mayRun(program: string): Promise<boolean> {
  return await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function placeOf(program: string): BrowserPlace {
  return {
    program,
    node: process.execPath,
    system: systemFolders(),
    proc: COVERED_PROC.filter((name) => existsSync(join("/proc", name))),
  };
}
