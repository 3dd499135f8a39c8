/**
 * Writes the console's page, scripts and stylesheet, the languages, and the installation files of devices, to the folder that wrangler
 * uploads. Prints the sizes, and fails when they are too large.
 */
import { readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PROGRAM } from "./built-gateway.ts";
import {
  builtConsole,
  isConsoleScript,
  SCREEN_MAX_BYTES,
  SCRIPT_MAX_BYTES,
  START_MAX_BYTES,
} from "./console-files.ts";
import { buildDeviceFiles, INSTALLER } from "./device-files.ts";

const at = (name: string) =>
  fileURLToPath(new URL(`../worker/features/console/public/${name}`, import.meta.url));
const { files, sizes } = await builtConsole();
const kib = (bytes: number) => (bytes / 1024).toFixed(1);
console.log(`the first scripts: ${kib(sizes.first)} KiB gzip, of ${kib(SCRIPT_MAX_BYTES)}`);
console.log(`the largest script of a screen: ${kib(sizes.largest)} KiB gzip, of ${kib(SCREEN_MAX_BYTES)}`);
console.log(`all until the page can be used: ${kib(sizes.start)} KiB gzip, of ${kib(START_MAX_BYTES)}`);
for (const name of await readdir(at(""))) if (isConsoleScript(name)) await rm(at(name));
for (const [name, text] of Object.entries(files)) await writeFile(at(name), text);
const { installer, program } = await buildDeviceFiles();
await writeFile(at(PROGRAM), program);
await writeFile(at(INSTALLER), installer);
