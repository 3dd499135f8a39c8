/** The files that are made of the Worker's declarations, by their path in the repository. */
import { makeClientTypes } from "./client-types.ts";
import { makeDocument } from "./document.ts";
import type { Served } from "./served.ts";

/** Not in git: `npm install` and `npm run check` make it. No program reads it when it runs, since it has types alone. */
export const TYPES = "client/routes.ts";

export function makeFiles(served: readonly Served[]): Record<string, string> {
  const document = makeDocument(served);
  return {
    "worker/features/console/public/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
    [TYPES]: makeClientTypes(document),
  };
}
