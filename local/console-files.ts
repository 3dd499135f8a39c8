/**
 * The console's files: those under worker/features/console/public, the scripts that are built from worker/features/console/page, the
 * stylesheet from worker/features/console/style, and the languages.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundleConsole, bundleConsoleStyle } from "./bundles.ts";
import { buildDeviceFiles, type DeviceFiles, INSTALLER, PROGRAM } from "./device-files.ts";
import { languageFiles } from "./language-files.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

export const CONSOLE_STYLE = "console.css";
/** The scripts that the page loads before it shows anything. */
export const FIRST_SCRIPTS: readonly string[] = ["console.js", "console-chunk.js"];
/** After gzip, of these together: about a second on a slow phone connection. */
export const SCRIPT_MAX_BYTES = 40 * 1024;
/** After gzip, of a screen that is loaded when it is opened. */
export const SCREEN_MAX_BYTES = 16 * 1024;

/** @returns their size after gzip @throws when they are too large */
export function sizeOfScripts(scripts: Readonly<Record<string, string>>): { first: number; screens: number } {
  const sizes = { first: 0, screens: 0 };
  for (const [name, code] of Object.entries(scripts)) {
    const bytes = gzipSync(code).length;
    if (FIRST_SCRIPTS.includes(name)) sizes.first += bytes;
    else sizes.screens += bytes;
  }
  if (sizes.first > SCRIPT_MAX_BYTES)
    throw new Error(`${FIRST_SCRIPTS.join(", ")}: too large: a phone loads them before anything is shown`);
  if (sizes.screens > SCREEN_MAX_BYTES) throw new Error("the scripts of screens are too large");
  return sizes;
}

type Body = string | Uint8Array;
export type ServedFile = { type: string; body(): Body | Promise<Body> };

/**
 * Returns the files by path, as Cloudflare serves them. Files of an earlier build are not used.
 * @param devices the files for devices; absent = built on the first request
 */
export async function consoleFiles(
  directory: string,
  devices?: DeviceFiles,
): Promise<Map<string, ServedFile>> {
  const built = {
    ...(await bundleConsole()),
    [CONSOLE_STYLE]: await bundleConsoleStyle(),
    ...languageFiles(),
  };
  const names = readdirSync(directory).filter((name) => !(name in built) && extname(name) in TYPES);
  const files = names.map((name) => [name, readFileSync(join(directory, name))] as const);
  let given = devices && Promise.resolve(devices);
  const forDevices = (file: keyof DeviceFiles) => async () => {
    given ??= buildDeviceFiles();
    return (await given)[file];
  };
  return new Map<string, ServedFile>([
    ...[...files, ...Object.entries(built)].map(([name, body]): [string, ServedFile] => {
      const path = name === "index.html" ? "/" : `/${name.replace(/\.html$/, "")}`;
      return [path, { type: TYPES[extname(name)] ?? "application/octet-stream", body: () => body }];
    }),
    [`/${INSTALLER}`, { type: "text/plain; charset=utf-8", body: forDevices("installer") }],
    [`/${PROGRAM}`, { type: "application/octet-stream", body: forDevices("program") }],
  ]);
}
