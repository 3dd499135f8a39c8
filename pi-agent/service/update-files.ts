/** The files by which this agent has itself updated; undefined where nothing would look at them. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { OUTCOMES_VARIABLE, REQUEST_FILE, type UpdateFiles } from "@edgecall/core/service/update.ts";
import { writeWhole } from "../whole-file.ts";

/** @param env the service's: the unit that has the first variable is installed together with the one that looks */
export function updateFiles(env: Readonly<Record<string, string | undefined>>): UpdateFiles | undefined {
  const { [OUTCOMES_VARIABLE]: outcomes, STATE_DIRECTORY: state } = env;
  if (!outcomes || !state) return undefined;
  const request = join(state, REQUEST_FILE);
  return {
    request: () => textOf(request),
    ask: (id) => writeWhole(request, id),
    withdraw: () => rm(request, { force: true }),
    outcomes: () => textOf(outcomes),
  };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
