/** The argument `path` of the file tools, with tolerance for usual mistakes. */
import { basename, dirname, join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Target, ToolContext } from "@edgecall/core/tools/contract.ts";
import { FileError, type FileInfo, type FileOps } from "../../env/environment.ts";
import { absent } from "../../env/file-errors.ts";

/** Linux' PATH_MAX. */
const PATH_MAX_CHARS = 4_096;

export function filePath(description: string) {
  return z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS), z.describe(description));
}

/**
 * Finds a file by its exact name, or else by the only name in its folder that looks the same: with a no-break space for a
 * space, a straight quote for a curly one, or composed accents for decomposed ones. Use it only for reads; a change must
 * reach exactly the file that the person was shown (`statExact`).
 * @throws FileError; `not_found` lists similar names
 */
export async function statFuzzy(
  files: FileOps,
  path: string,
  signal: AbortSignal,
): Promise<{ path: string; info: FileInfo }> {
  try {
    return { path, info: await files.stat(path, { signal }) };
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not_found") throw error;
    // Models write a file as other programs mention it: `@src/x.ts`.
    if (path.startsWith("@") && path.length > 1) {
      const mentioned = path.slice(1);
      const info = await files.stat(mentioned, { signal }).catch(() => undefined);
      if (info) return { path: mentioned, info };
    }
    const names = await namesBeside(files, path, signal);
    const same = names.filter((name) => looks(name) === looks(basename(path)));
    const [only] = same;
    if (only === undefined || same.length > 1) throw withSimilar(error, path, names);
    const near = join(dirname(path), only);
    return { path: near, info: await files.stat(near, { signal }) };
  }
}

/** Finds a file by its exact name. @throws FileError; `not_found` lists similar names */
export async function statExact(files: FileOps, path: string, signal: AbortSignal): Promise<FileInfo> {
  try {
    return await files.stat(path, { signal });
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not_found") throw error;
    throw withSimilar(error, path, await namesBeside(files, path, signal));
  }
}

/** For `Tool.targets`: resolves each path. A path that cannot be resolved fails with its own error at the write. */
export async function targetsOf(
  files: FileOps,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Target[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      try {
        return [await files.target(path, { signal })];
      } catch (error) {
        if (error instanceof FileError) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** The target of a path that could not be resolved when the call was judged. Nothing is written there later. */
const NOWHERE = { real: "", link: false, git: false };

/** Returns the options that restrict a write to the target that was judged. */
export function asJudged(
  { targets, signal }: Pick<ToolContext, "targets" | "signal">,
  path: string,
): { signal: AbortSignal; judged: Target | undefined } {
  return { signal, judged: targets && (targets.find((one) => one.path === path) ?? { ...NOWHERE, path }) };
}

async function namesBeside(files: FileOps, path: string, signal: AbortSignal): Promise<string[]> {
  const entries = await files.readDir(dirname(path), { signal }).catch(() => []);
  return entries.map(({ name }) => name);
}

function looks(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replaceAll(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replaceAll(/\s/g, " ");
}

/** Adds names with another case or ending, which are the usual mistakes. */
function withSimilar(error: FileError, path: string, names: readonly string[]): FileError {
  const stem = (name: string) =>
    looks(name)
      .toLowerCase()
      .replace(/\.[^.]*$/, "");
  const similar = names.filter((name) => stem(name) === stem(basename(path))).slice(0, 3);
  if (similar.length === 0) return error;
  const problem = absent(path, error.cause);
  return new FileError(problem.code, `${problem.message} Similar: ${similar.join(", ")}.`, {
    cause: error.cause,
  });
}
