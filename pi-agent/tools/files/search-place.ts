/** Where a search looks, and how what it finds is named: as the other tools take it. */
import { dirname, isAbsolute, join, relative } from "node:path";
import type { Environment, FileKind } from "../../env/environment.ts";

/** rg runs in `cwd` and looks at `target`; `prefix` makes of its names paths from the workspace. */
export type SearchPlace = { cwd: string; target: string; prefix: string; kind: FileKind };

/** @throws FileError where `path` is not there, or may not be read */
export async function searchPlace(
  { files, cwd }: Pick<Environment, "files" | "cwd">,
  path: string,
  signal: AbortSignal,
): Promise<SearchPlace> {
  // At once: each is a round trip over ssh.
  const [{ kind }, real, top] = await Promise.all([
    files.stat(path, { signal }),
    files.canonical(path, "read", { signal }),
    files.canonical(cwd, "read", { signal }),
  ]);
  const way = relative(top, real);
  // The few files that may be read elsewhere are searched by their full name.
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

/** @param name as rg gives it: `./a/b` */
export function fromWorkspace({ prefix }: SearchPlace, name: string): string {
  return isAbsolute(name) ? name : join(prefix, name);
}
