/** Lists the files of a folder that match a glob, for find and glob, which only differ in their order. */
import { type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import { type Environment, FileError } from "../../env/environment.ts";
import { CUT_MAX_BYTES, cutNotice, NOTICE_BYTES, withNotice } from "../../output/text-cut.ts";
import { globOptions, notIgnored, runRg } from "./ripgrep.ts";
import { fromWorkspace, searchPlace } from "./search-place.ts";

export const FILES_LIMIT = 1_000;
export const FILES_MAX = 5_000;

/** Folders with thousands of generated files, which are rarely wanted. */
const GENERATED = ["node_modules", "__pycache__"];

/** Returns the generated folders to leave out, except those that the pattern or the folder names. */
function leftOut(pattern: string, path: string): string[] {
  return GENERATED.filter((name) => !pattern.includes(name) && !path.includes(name)).map(
    (name) => `--glob=!${name}`,
  );
}

export async function listFiles(
  environment: Pick<Environment, "cwd" | "files" | "exec">,
  wanted: { pattern: string; path: string; limit: number; newestFirst: boolean },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { pattern, path, limit, newestFirst } = wanted;
  const place = await searchPlace(environment, path, signal);
  if (place.kind !== "directory") throw new FileError("not_directory", `'${path}' is a file, not a folder.`);
  const included = await notIgnored(environment, pattern, { cwd: place.cwd, target: ".", signal });
  const found: string[] = [];
  let bytes = 0;
  let cut: "files" | "bytes" | undefined;
  const args = [
    "--files",
    "--null",
    newestFirst ? "--sortr=modified" : "--sort=path",
    ...globOptions(pattern),
    ...leftOut(pattern, path),
    "--",
    ".",
  ];
  await runRg(environment, args, {
    cwd: place.cwd,
    signal,
    lineEnd: "\0",
    onLine(name) {
      if (included && !included.has(name)) return true;
      // A name may contain a newline, but the list has one name on each line.
      const shown = fromWorkspace(place, name).replaceAll(/\p{Cc}/gu, "\ufffd");
      const more = Buffer.byteLength(shown) + 1;
      if (found.length === limit) cut = "files";
      else if (bytes + more > CUT_MAX_BYTES - NOTICE_BYTES) cut = "bytes";
      if (cut) return false;
      found.push(shown);
      bytes += more;
      return true;
    },
  });
  const details = { files: found.length, ...(cut && { cut }) };
  if (found.length === 0) return textResult("No files found matching pattern", details);
  if (!cut) return textResult(found.join("\n"), details);
  const more = Math.min(2 * limit, FILES_MAX);
  const narrow = "a narrower pattern or path";
  const notice = cutNotice({
    what: "files",
    first: 1,
    last: found.length,
    limitBytes: cut === "bytes" ? CUT_MAX_BYTES : undefined,
    next: cut === "bytes" || more === limit ? `Use ${narrow}.` : `Use limit=${more} for more, or ${narrow}.`,
  });
  return textResult(withNotice(found.join("\n"), notice), details);
}
