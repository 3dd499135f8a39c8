/** The files that are made of the Worker's declarations, by their path in the repository. */
import { makeDocument } from "./document.ts";
import type { Served } from "./served.ts";

export function makeFiles(served: readonly Served[]): Record<string, string> {
  const document = makeDocument(served);
  return { "worker/frontends/console/public/openapi.json": `${JSON.stringify(document, null, 2)}\n` };
}
