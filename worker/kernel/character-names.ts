/** HTML's names of characters: a file beside the console, which is read when a page or an answer may have one. */
import { giveCharacterNames, hasCharacterNames } from "@edgecall/core/web/character-names.ts";
import type { Env } from "./env.ts";
import { readFile } from "./files.ts";

/** If it cannot be read now, names stay as they are written, and the file is read again the next time. */
export async function readCharacterNames(env: Pick<Env, "ASSETS">): Promise<void> {
  if (hasCharacterNames()) return;
  const data = await readFile(env, "character-names.json");
  // SAFETY: the build wrote it (local/console-files.ts).
  if (data !== undefined && data !== null) giveCharacterNames(data as number[]);
}
