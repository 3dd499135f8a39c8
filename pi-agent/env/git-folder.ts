/**
 * Finds the writes that change what git runs. A hook, a filter or a monitor that `.git/config` names is a program that the
 * next git call starts, so a write there is judged as one that runs programs.
 */
import { lstat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** These entries make a folder one of git's, whatever its name: a bare repository, `git init --separate-git-dir`. */
const PARTS = ["HEAD", "objects", "refs"];

/** Letters that some file systems drop or fold: `.GIT`, `.g<invisible>it`, `.git.`, and the short name on FAT. */
function isGitName(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/[\p{Cf}\p{Cc}]/gu, "")
    .replace(/[. ]{1,255}$/, "")
    .toLowerCase();
  return plain === ".git" || plain === "git~1";
}

/**
 * @param top the workspace, without links
 * @param real where the write goes, without links, below `top`
 */
export async function isInGitFolder(top: string, real: string): Promise<boolean> {
  if (real.slice(top.length).split(sep).some(isGitName)) return true;
  for (let path = real; path !== top && path.startsWith(top); path = dirname(path)) {
    const folder = dirname(path);
    // The file that this write makes counts as there: it may be the part that was missing.
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
