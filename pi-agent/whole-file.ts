import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Puts `content` at `path`, whole or not at all, whenever the power goes; for the agent's own user alone. */
export async function writeWhole(path: string, content: string | Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const handle = await open(next, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(next, path);
  await syncFolder(folder);
}

/** A new name in a folder survives a power cut only when the folder is synced too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
