/** A failure of the file system, in words for a person. */
import { messageOf } from "@edgecall/node/log.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of this path is no folder",
  EISDIR: "is a folder, not a file",
  EACCES: "this user may not read or write it; try with sudo",
  EPERM: "this user may not do that; try with sudo",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
};

/** @returns "/no/ca.pem: there is no such file or folder"; of any other error its message */
export function fileProblem(error: unknown): string {
  const { code = "", path } = error as NodeJS.ErrnoException;
  const words = WORDS[code];
  return words === undefined || path === undefined ? messageOf(error) : `${path}: ${words}`;
}
