/**
 * Recognises writes that change what git runs. The next git call starts the hooks, filters and monitors that `.git/config`
 * names, so such a write is judged like running a program.
 */
import { lstat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** A folder with these entries belongs to git, whatever its name: a bare repository, `git init --separate-git-dir`. */
const PARTS = ["HEAD", "objects", "refs"];

/** Also finds forms that some file systems treat as `.git`: `.GIT`, `.g<invisible>it`, `.git.`, and FAT's short name. */
function isGitName(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/[\p{Cf}\p{Cc}]/gu, "")
    .replace(/[. ]{1,255}$/, "")
    .toLowerCase();
  return plain === ".git" || plain === "git~1";
}

/** @param top the workspace, without links @param real the target of the write, without links, below `top` */
export async function isInGitFolder(top: string, real: string): Promise<boolean> {
  if (real.slice(top.length).split(sep).some(isGitName)) return true;
  for (let path = real; path !== top && path.startsWith(top); path = dirname(path)) {
    const folder = dirname(path);
    // The file of this write counts as present, since it may be the missing entry.
    const there = PARTS.map((part) => basename(path) === part || isThere(join(folder, part)));
    if ((await Promise.all(there)).every(Boolean)) return true;
  }
  return false;
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
