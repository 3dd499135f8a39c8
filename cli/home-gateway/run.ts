/** `edgecall gateway run`: the service starts this. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "@edgecall/node/places.ts";

export async function runGateway(): Promise<never> {
  const program = join(ROOT, "gateway.mjs");
  if (!existsSync(program)) throw new Error(`${program} is not there; only an installed gateway has it`);
  await import(pathToFileURL(program).href);
  // The gateway ends the process itself.
  return new Promise(() => {});
}
