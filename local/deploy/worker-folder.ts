/** The built Worker as a folder that wrangler deploys as it is. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse as parseToml, stringify as toToml } from "smol-toml";
import type { BuiltGateway } from "../built-gateway.ts";

/** @param dir created if missing; its files are replaced @param wranglerToml of a checkout; the rest of it stays as it is */
export async function writeWorkerFolder(
  dir: string,
  { bundle, files }: BuiltGateway,
  wranglerToml: string,
): Promise<void> {
  await writeFiles(dir, { "index.js": bundle, "wrangler.toml": standingAlone(wranglerToml) });
  for (const [path, { type, body }] of files) {
    const name = path === "/" ? "/index" : path;
    await writeFiles(dir, { [`public${name}${type.startsWith("text/html") ? ".html" : ""}`]: await body() });
  }
}

/** @param files their contents by path below the folder */
export async function writeFiles(dir: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
}

function standingAlone(wranglerToml: string): string {
  const { build: _, alias: __, ...config } = parseToml(wranglerToml);
  const assets = { ...(config.assets as object), directory: "public" };
  // Else pages of the assets are uploaded once more, as modules.
  return toToml({ ...config, main: "index.js", no_bundle: true, find_additional_modules: false, assets });
}
