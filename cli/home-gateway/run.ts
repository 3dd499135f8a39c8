/** `edgecall gateway run`: the service starts this. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export async function runGateway(): Promise<never> {
  const program = join(dirname(fileURLToPath(import.meta.url)), "gateway.mjs");
  if (!existsSync(program)) throw new Error(`${program} is not there; only an installed gateway has it`);
  await import(pathToFileURL(program).href);
  // The gateway ends the process itself.
  return new Promise(() => {});
}
