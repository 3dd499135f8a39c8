/**
 * Writes the console's scripts and stylesheet, the languages, and the installation files of devices, to the folder that wrangler uploads.
 * Prints the scripts' sizes, and fails when they are too large.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleConsole, bundleConsoleStyle } from "./bundles.ts";
import {
  CONSOLE_STYLE,
  FIRST_SCRIPTS,
  SCREEN_MAX_BYTES,
  SCRIPT_MAX_BYTES,
  sizeOfScripts,
} from "./console-files.ts";
import { buildDeviceFiles, INSTALLER, PROGRAM } from "./device-files.ts";
import { languageFiles } from "./language-files.ts";

const at = (name: string) =>
  fileURLToPath(new URL(`../worker/features/console/public/${name}`, import.meta.url));
const scripts = await bundleConsole();
const kib = (bytes: number) => (bytes / 1024).toFixed(1);
const { first, screens } = sizeOfScripts(scripts);
console.log(`${FIRST_SCRIPTS.join(", ")}: ${kib(first)} KiB gzip, of ${kib(SCRIPT_MAX_BYTES)}`);
console.log(`scripts of screens: ${kib(screens)} KiB gzip, of ${kib(SCREEN_MAX_BYTES)}`);
for (const [name, code] of Object.entries(scripts)) await writeFile(at(name), code);
await writeFile(at(CONSOLE_STYLE), await bundleConsoleStyle());
for (const [name, text] of Object.entries(languageFiles())) await writeFile(at(name), text);
const { installer, program } = await buildDeviceFiles();
await writeFile(at(PROGRAM), program);
await writeFile(at(INSTALLER), installer);
