/** The file that this very process was started from: what `install` puts in place. */
import { readFile } from "node:fs/promises";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

export async function ownProgram(): Promise<Buffer> {
  if (isSea()) return readFile(process.execPath);
  const file = fileURLToPath(import.meta.url);
  // The bundle knows itself by its own file; a source file is one of many.
  if (file.endsWith(".ts")) {
    throw new Error("from the sources: npm run build, then sudo node dist/edgecall.cjs");
  }
  return readFile(file);
}
