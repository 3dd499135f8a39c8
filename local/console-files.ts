/**
 * The console's files: those under worker/features/console/public, the scripts that are built from worker/features/console/page, the
 * stylesheet from worker/features/console/style, the languages, and the names of characters.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { htmlDecodeTree } from "entities/decode";
import { PROGRAM, type ServedFile } from "./built-gateway.ts";
import {
  bundleConsole,
  bundleConsoleStyle,
  bundleGallery,
  bundleGalleryStyle,
  type ConsoleScripts,
} from "./bundles.ts";
import { buildDeviceFiles, type DeviceFiles, INSTALLER } from "./device-files.ts";
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

/** After gzip, of the scripts that the page loads before it shows anything: about a second on a slow phone connection. */
export const SCRIPT_MAX_BYTES = 40 * 1024;
/** After gzip, of the scripts of one screen that is loaded when it is opened. */
export const SCREEN_MAX_BYTES = 16 * 1024;
/** After gzip, of all that the page loads until a person can use it: page, style, first scripts and one screen. */
export const START_MAX_BYTES = 100 * 1024;

export type Sizes = { first: number; start: number; largest: number };

/** @returns sizes after gzip @throws when one is too large */
function sizesOf({ code, first }: ConsoleScripts, page: string, style: string): Sizes {
  const size = (text: string) => gzipSync(text).length;
  const sizes = { first: 0, start: size(page) + size(style), largest: 0 };
  for (const [name, text] of Object.entries(code)) {
    const bytes = size(text);
    if (first.includes(name)) sizes.first += bytes;
    else if (bytes > SCREEN_MAX_BYTES) throw new Error(`${name}: too large for a screen's script`);
    else sizes.largest = Math.max(sizes.largest, bytes);
  }
  sizes.start += sizes.first + sizes.largest;
  if (sizes.first > SCRIPT_MAX_BYTES)
    throw new Error(`${first.join(", ")}: too large: a phone loads them before anything is shown`);
  if (sizes.start > START_MAX_BYTES) throw new Error("the page is too large until it can be used");
  return sizes;
}

/** The files that are made of sources: page, scripts, stylesheet, languages, names of characters. */
export async function builtConsole(): Promise<{ files: Record<string, string>; sizes: Sizes }> {
  const [scripts, style] = await Promise.all([bundleConsole(), bundleConsoleStyle()]);
  const preload = scripts.first
    .filter((name) => name !== "console.js")
    .map((name) => `<link rel="modulepreload" href="/${name}">`)
    .join("\n    ");
  const page = readFileSync(new URL("../worker/features/console/page/index.html", import.meta.url), "utf8")
    // Without it the browser asks for these when it has read console.js.
    .replace("<!-- scripts -->", () => preload);
  return {
    files: {
      "index.html": page,
      ...scripts.code,
      "console.css": style,
      ...languageFiles(),
      // core/web/character-names.ts
      "character-names.json": JSON.stringify([...htmlDecodeTree]),
    },
    sizes: sizesOf(scripts, page, style),
  };
}

/** The page of all parts, by path. Only the stack of a checkout has it. */
export function galleryFiles(): Map<string, ServedFile> {
  const page = new URL("../worker/features/console/page/gallery/gallery.html", import.meta.url);
  return new Map<string, ServedFile>([
    ["/dev/parts", { type: TYPES[".html"] ?? "", body: () => readFileSync(page, "utf8") }],
    // They are built when somebody looks.
    ["/dev/parts.js", { type: TYPES[".js"] ?? "", body: () => bundleGallery() }],
    ["/dev/parts.css", { type: TYPES[".css"] ?? "", body: () => bundleGalleryStyle() }],
  ]);
}

/** One of an earlier build, whose names had other hashes. */
export function isConsoleScript(name: string): boolean {
  return /^console.*\.js$/.test(name);
}

/**
 * Returns the files by path, as Cloudflare serves them. Files of an earlier build are not used.
 * @param devices the files for devices; absent = built on the first request
 */
export async function consoleFiles(
  directory: string,
  devices?: DeviceFiles,
): Promise<Map<string, ServedFile>> {
  const built = (await builtConsole()).files;
  const names = readdirSync(directory).filter(
    (name) => !(name in built || isConsoleScript(name)) && extname(name) in TYPES,
  );
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
