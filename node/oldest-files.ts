/** Keeps a folder of small files small: an agent runs for years on a small SD card. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Deletes the files that were changed least lately. @param suffix of the names that count */
export async function deleteOldest(folder: string, suffix: string, most: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  if (names.length <= most) return;
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => a.at - b.at);
  for (const { name } of dated.slice(0, names.length - most)) await rm(join(folder, name), { force: true });
}
