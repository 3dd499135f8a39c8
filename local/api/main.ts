/**
 * `npm run api` writes the files that are made of the code: openapi.json, the client's types, and the tables of docs/reference/. `--types`
 * writes the client's types alone, and `--print` prints everything, for the test.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { makeFiles } from "./files.ts";
import { LEFT_OUT } from "./left-out.ts";
import { readServed } from "./served.ts";

const served = await readServed();
const [mode] = process.argv.slice(2);
const files = await makeFiles(served, mode !== "--types");
if (mode === "--print") {
  const names = served.map(({ method, path }) => `${method} ${path}`);
  process.stdout.write(JSON.stringify({ files, served: names, leftOut: LEFT_OUT }));
} else
  for (const [path, text] of Object.entries(files))
    await writeFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), text);
