/** Finds wrangler: a checkout has it; the package fetches it once, since it is larger than the package. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, ROOT } from "@edgecall/node/places.ts";

/** The checkout's, as package.json pins it. */
export const WRANGLER_VERSION = "4.156.2";
const MEGABYTES = 228;
const FILE = "node_modules/wrangler/bin/wrangler.js";

/** @param ask undefined: it is fetched without a question @throws with words for a person */
export async function wranglerFile(
  env: Readonly<Record<string, string | undefined>>,
  { say, ask }: { say(line: string): void; ask: { fetch(what: string): Promise<boolean> } | undefined },
): Promise<string> {
  const own = join(ROOT, FILE);
  if (existsSync(own)) return own;
  const folder = join(cacheFolder(env), `wrangler-${WRANGLER_VERSION}`);
  const file = join(folder, FILE);
  if (existsSync(file)) return file;
  const what = `wrangler ${WRANGLER_VERSION}, Cloudflare's program for this, from npm: ${MEGABYTES} MB in ${folder}`;
  if (ask && !(await ask.fetch(what))) throw new Error("wrangler is needed, and was not fetched");
  say(`Fetching ${what}`);
  // A fetch that is cut off leaves nothing that looks whole.
  const half = `${folder}.${process.pid}`;
  try {
    await mkdir(half, { recursive: true });
    await npmInstall(half, `wrangler@${WRANGLER_VERSION}`);
    if (!existsSync(file)) await rename(half, folder);
  } finally {
    await rm(half, { recursive: true, force: true });
  }
  return file;
}

/** Without scripts of packages: wrangler needs none to upload what is built. */
async function npmInstall(folder: string, wanted: string): Promise<void> {
  const words = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", wanted];
  const npm = spawn("npm", words, { stdio: ["ignore", 2, 2] });
  const code = await new Promise<number | null>((resolve, reject) => {
    npm.once("error", (error) => reject(new Error(`npm could not be started: ${error.message}`)));
    npm.once("close", resolve);
  });
  if (code !== 0) throw new Error(`npm could not fetch ${wanted}: see above`);
}
