/** Writes the console's script to where wrangler uploads it from, and says how large it is. */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleConsole } from "./bundles.ts";
import { CONSOLE_SCRIPT } from "./console-files.ts";

const file = fileURLToPath(new URL(`../worker/console/public/${CONSOLE_SCRIPT}`, import.meta.url));
const script = await bundleConsole();
await writeFile(file, script);
console.log(`${CONSOLE_SCRIPT}: ${(gzipSync(script).length / 1024).toFixed(1)} KiB gzip`);
