/**
 * Writes the console's script and stylesheet, and the installation files of devices, to the folder that wrangler uploads.
 * Prints the script's size, and fails when it is too large.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleConsole, bundleConsoleStyle } from "./bundles.ts";
import { CONSOLE_SCRIPT, CONSOLE_STYLE, SCRIPT_MAX_BYTES } from "./console-files.ts";
import { buildDeviceFiles, INSTALLER, PROGRAM } from "./device-files.ts";

const at = (name: string) =>
  fileURLToPath(new URL(`../worker/frontends/console/public/${name}`, import.meta.url));
const script = await bundleConsole();
const size = gzipSync(script).length;
console.log(`${CONSOLE_SCRIPT}: ${(size / 1024).toFixed(1)} KiB gzip, of ${SCRIPT_MAX_BYTES / 1024}`);
if (size > SCRIPT_MAX_BYTES)
  throw new Error(`${CONSOLE_SCRIPT} is too large: a phone loads it before anything is shown`);
await writeFile(at(CONSOLE_SCRIPT), script);
await writeFile(at(CONSOLE_STYLE), await bundleConsoleStyle());
const { installer, program } = await buildDeviceFiles();
await writeFile(at(PROGRAM), program);
await writeFile(at(INSTALLER), installer);
