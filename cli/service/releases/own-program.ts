/** The file that this process was started from, which `install` copies. */
import { readFile } from "node:fs/promises";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

export async function ownProgram(): Promise<Buffer> {
  if (isSea()) return readFile(process.execPath);
  const file = fileURLToPath(import.meta.url);
  // The bundle is one file. A source file is one of many, and cannot be installed.
  if (file.endsWith(".ts")) {
    throw new Error("from the sources: npm run build, then sudo node dist/edgecall.cjs");
  }
  return readFile(file);
}
