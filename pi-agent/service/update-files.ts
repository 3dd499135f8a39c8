/** The files by which this agent has itself updated; undefined where nothing would look at them. */
import { readFile, rm } from "node:fs/promises";
import * as core from "@edgecall/core/service/update.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";

export function updateFiles(env: Readonly<Record<string, string | undefined>>): core.UpdateFiles | undefined {
  return core.updateFiles(env, {
    readText,
    writeWhole: writeAtomic,
    remove: (path) => rm(path, { force: true }),
  });
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
