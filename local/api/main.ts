/**
 * `npm run api` writes the files that are made of the routes' declarations. `--types` writes the client's types alone, and `--print` prints
 * everything, for the test.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { makeFiles, TYPES } from "./files.ts";
import { LEFT_OUT } from "./left-out.ts";
import { readServed } from "./served.ts";

const served = await readServed();
const files = makeFiles(served);
const [mode] = process.argv.slice(2);
if (mode === "--print") {
  const names = served.map(({ method, path }) => `${method} ${path}`);
  process.stdout.write(JSON.stringify({ files, served: names, leftOut: LEFT_OUT }));
} else
  for (const [path, text] of Object.entries(files))
    if (mode !== "--types" || path === TYPES)
      await writeFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), text);
