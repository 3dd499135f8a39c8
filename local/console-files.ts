/** The console's files: those under worker/console/public, and the script that is built from worker/console/page. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { bundleConsole } from "./bundles.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".js": "text/javascript; charset=utf-8",
};

export const CONSOLE_SCRIPT = "console.js";
/** Of gzip: a second on a slow phone line. */
export const SCRIPT_MAX_BYTES = 30 * 1024;

/** By path, as Cloudflare serves them. A script that an earlier build left there is not used. */
export async function consoleFiles(directory: string): Promise<Map<string, { type: string; body: string }>> {
  const names = readdirSync(directory).filter((name) => name !== CONSOLE_SCRIPT && extname(name) in TYPES);
  const files = names.map((name) => [name, readFileSync(join(directory, name), "utf8")] as const);
  const script = [CONSOLE_SCRIPT, await bundleConsole()] as const;
  return new Map(
    [...files, script].map(([name, body]) => {
      const path = name === "index.html" ? "/" : `/${name}`;
      return [path, { type: TYPES[extname(name)] ?? "application/octet-stream", body }];
    }),
  );
}
