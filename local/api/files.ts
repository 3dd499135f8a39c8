/** The files that are made of the Worker's declarations, by their path in the repository. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { makeClientTypes } from "./client-types.ts";
import { makeDocument } from "./document.ts";
import type { Served } from "./served.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = "client/routes.ts";

export function makeFiles(served: readonly Served[]): Record<string, string> {
  const document = makeDocument(served);
  return {
    "worker/features/console/public/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
    [TYPES]: formatted(makeClientTypes(document)),
  };
}

/** In the repository's format, so that people can read what changed. */
function formatted(text: string): string {
  const biome = `${ROOT}/node_modules/.bin/biome`;
  return execFileSync(biome, ["format", `--stdin-file-path=${TYPES}`], {
    cwd: ROOT,
    input: text,
    encoding: "utf8",
  });
}
