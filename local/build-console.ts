/** Writes the console's script to where wrangler uploads it from, says how large it is, and refuses one that is too large. */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleConsole } from "./bundles.ts";
import { CONSOLE_SCRIPT, SCRIPT_MAX_BYTES } from "./console-files.ts";

const file = fileURLToPath(new URL(`../worker/console/public/${CONSOLE_SCRIPT}`, import.meta.url));
const script = await bundleConsole();
const size = gzipSync(script).length;
console.log(`${CONSOLE_SCRIPT}: ${(size / 1024).toFixed(1)} KiB gzip, of ${SCRIPT_MAX_BYTES / 1024}`);
if (size > SCRIPT_MAX_BYTES)
  throw new Error(`${CONSOLE_SCRIPT} is too large: a phone loads it before anything is shown`);
await writeFile(file, script);
