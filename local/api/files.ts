/** The files that are made of the code, by their path in the repository. */
import { makeClientTypes } from "./client-types.ts";
import { makeDocument } from "./document.ts";
import { referencePages } from "./reference/pages.ts";
import type { Served } from "./served.ts";

/** Not in git: `npm install` and `npm run check` make it. No program reads it when it runs, since it has types alone. */
const TYPES = "client/routes.ts";

/** @param isWhole false: the client's types alone */
export async function makeFiles(
  served: readonly Served[],
  isWhole: boolean,
): Promise<Record<string, string>> {
  const document = makeDocument(served);
  const types = { [TYPES]: makeClientTypes(document) };
  if (!isWhole) return types;
  return {
    "worker/features/console/public/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
    ...(await referencePages(document)),
    ...types,
  };
}
