/** The argument `path` of the file tools, and what models and people get wrong in it. */
import { basename, dirname, join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Target, ToolContext } from "@edgecall/core/tools/contract.ts";
import { FileError, type FileInfo, type FileOps } from "../../env/environment.ts";
import { absent } from "../../env/file-errors.ts";

/** As Linux has it (PATH_MAX). */
export const PATH_MAX_CHARS = 4_096;

export function filePath(description: string) {
  return z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS), z.describe(description));
}

/**
 * For reads alone: what is changed has to be the very file that a person was shown (`statExact`).
 *
 * Finds a file by its name, or by the one name in its folder that looks the same: a typed no-break space for a
 * space, a straight quote for a curly one, composed accents for decomposed. The name as given comes first.
 *
 * @throws FileError; `not_found` names what is similar
 */
export async function statNear(
  files: FileOps,
  path: string,
  signal: AbortSignal,
): Promise<{ path: string; info: FileInfo }> {
  try {
    return { path, info: await files.stat(path, { signal }) };
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not_found") throw error;
    // Models copy how other programs mention a file: `@src/x.ts`.
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

/** Finds a file by its name and no other. @throws FileError; `not_found` names what is similar */
export async function statExact(files: FileOps, path: string, signal: AbortSignal): Promise<FileInfo> {
  try {
    return await files.stat(path, { signal });
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not_found") throw error;
    throw withSimilar(error, path, await namesBeside(files, path, signal));
  }
}

/** For `Tool.targets`: where each path leads. What cannot be looked up fails in its own words when it is tried. */
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

/** Of a path that could not be looked up when the call was judged: nothing is written there later. */
const NOWHERE = { real: "", link: false, git: false };

/** The options of a write: to where it was judged to go, and nowhere else. */
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

/** Another case or ending is the usual slip. */
function withSimilar(error: FileError, path: string, names: readonly string[]): FileError {
  const stem = (name: string) =>
    looks(name)
      .toLowerCase()
      .replace(/\.[^.]*$/, "");
  const similar = names.filter((name) => stem(name) === stem(basename(path))).slice(0, 3);
  if (similar.length === 0) return error;
  const said = absent(path, error.cause);
  return new FileError(said.code, `${said.message} Similar: ${similar.join(", ")}.`, { cause: error.cause });
}
