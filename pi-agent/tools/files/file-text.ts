/** Reads the text of a file that will be changed, and refuses files that are not text. */
import { FileError, type FileOps } from "../../env/environment.ts";
import { isFolder, notRegular } from "../../env/file-errors.ts";
import { formatSize } from "../../output/text-cut.ts";

/** Loose matching takes about 100 bytes of memory for each character, which must fit a device with 512 MB. */
export const EDIT_MAX_BYTES = 1024 * 1024;

/**
 * Returns the text unchanged, including a byte order mark, so that untouched parts are written back byte for byte.
 *
 * @throws FileError, also for a file that is not UTF-8, since writing it back would change it
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
