/** The text of a file that is going to be changed, and nothing else than text. */
import { FileError, type FileOps } from "../../env/environment.ts";
import { isFolder, notRegular } from "../../env/file-errors.ts";
import { formatSize } from "./text-cut.ts";

/** Matching loosely takes some 100 bytes of memory a character: a device of 512 MB has to live through it. */
export const EDIT_MAX_BYTES = 1024 * 1024;

/**
 * Text as it is, byte order mark and all: what is not touched has to come out as it went in.
 *
 * @throws FileError, also when it is not UTF-8: it would come out changed
 */
export async function readText(files: FileOps, path: string, signal: AbortSignal): Promise<string> {
  const { kind, bytes } = await files.stat(path, { signal });
  if (kind === "directory") throw isFolder(path);
  if (kind !== "file") throw notRegular(path);
  if (bytes > EDIT_MAX_BYTES) {
    throw new FileError(
      "too_large",
      `'${path}' has ${formatSize(bytes)}; files up to ${formatSize(EDIT_MAX_BYTES)} can be changed.`,
    );
  }
  const content = await files.readFile(path, { signal });
  try {
    if (content.includes(0)) throw new TypeError("NUL");
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new FileError(
      "is_binary",
      `'${path}' is not a text file (not UTF-8, or with NUL bytes). Nothing was changed.`,
      { cause },
    );
  }
}
