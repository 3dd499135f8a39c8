/** The words by which agents and readings are found: a file beside the console, which is read when something is first looked for. */
import { giveSearchWords, hasSearchWords, type SearchWords } from "@edgecall/core/agents/search-words.ts";
import type { Env } from "./env.ts";
import { readFile } from "./files.ts";

/** If it cannot be read now, the words themselves are looked for, and the file again the next time. */
export async function readSearchWords(env: Env): Promise<void> {
  if (hasSearchWords()) return;
  const data = await readFile(env, "search-words.json");
  // SAFETY: the build wrote it (local/language-files.ts).
  if (data !== undefined && data !== null) giveSearchWords(data as SearchWords);
}
