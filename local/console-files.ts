/** The console's files: those under worker/console/public, and the script that is built from worker/console/page. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { bundleConsole } from "./bundles.ts";
import { buildDeviceFiles, type DeviceFiles, INSTALLER, PROGRAM } from "./device-files.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".js": "text/javascript; charset=utf-8",
};

export const CONSOLE_SCRIPT = "console.js";
/** Of gzip: a second on a slow phone line. */
export const SCRIPT_MAX_BYTES = 30 * 1024;

export type ServedFile = { type: string; body(): string | Promise<string> };

/**
 * By path, as Cloudflare serves them. What an earlier build left there is not used.
 * @param devices what devices are given; absent: built when one asks
 */
export async function consoleFiles(
  directory: string,
  devices?: DeviceFiles,
): Promise<Map<string, ServedFile>> {
  const names = readdirSync(directory).filter((name) => name !== CONSOLE_SCRIPT && extname(name) in TYPES);
  const files = names.map((name) => [name, readFileSync(join(directory, name), "utf8")] as const);
  const script = [CONSOLE_SCRIPT, await bundleConsole()] as const;
  let built = devices && Promise.resolve(devices);
  const forDevices = (file: keyof DeviceFiles) => async () => {
    built ??= buildDeviceFiles();
    return (await built)[file];
  };
  return new Map<string, ServedFile>([
    ...[...files, script].map(([name, body]): [string, ServedFile] => {
      const path = name === "index.html" ? "/" : `/${name.replace(/\.html$/, "")}`;
      return [path, { type: TYPES[extname(name)] ?? "application/octet-stream", body: () => body }];
    }),
    [`/${INSTALLER}`, { type: "text/plain; charset=utf-8", body: forDevices("installer") }],
    [`/${PROGRAM}`, { type: "application/octet-stream", body: forDevices("program") }],
  ]);
}
