/** The place of a search, and the names of its results, which other tools accept as paths. */
import { dirname, isAbsolute, join, relative } from "node:path";
import type { Environment, FileKind } from "../../env/environment.ts";

/** rg runs in `cwd` and searches `target`; `prefix` turns its names into paths from the workspace. */
export type SearchPlace = { cwd: string; target: string; prefix: string; kind: FileKind };

/** @throws FileError when `path` does not exist or may not be read */
export async function searchPlace(
  { files, cwd }: Pick<Environment, "files" | "cwd">,
  path: string,
  signal: AbortSignal,
): Promise<SearchPlace> {
  // In parallel, because each is a round trip over ssh.
  const [{ kind }, real, top] = await Promise.all([
    files.stat(path, { signal }),
    files.canonical(path, "read", { signal }),
    files.canonical(cwd, "read", { signal }),
  ]);
  const way = relative(top, real);
  // Files outside the workspace that may be read are searched by their full path.
  if (way.startsWith("..") || isAbsolute(way)) return { cwd: top, target: real, prefix: "", kind };
  return kind === "directory"
    ? { cwd: real, target: ".", prefix: way, kind }
    : {
        cwd: dirname(real),
        target: `./${real.slice(dirname(real).length).replace(/^\/+/, "")}`,
        prefix: dirname(way),
        kind,
      };
}

/** @param name as rg prints it: `./a/b` */
export function fromWorkspace({ prefix }: SearchPlace, name: string): string {
  return isAbsolute(name) ? name : join(prefix, name);
}
