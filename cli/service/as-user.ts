/** Work of root's on files of a service, with the service's rights. */
import { mkdir } from "node:fs/promises";
import { must } from "./programs.ts";

/**
 * Whatever the service may have put in its folders, a link to a file of root's say, is then no way to that file. Without
 * root it is just done. The rights are the whole process's: nothing else goes on meanwhile.
 */
export async function asUser<T>(user: string, work: () => Promise<T>): Promise<T> {
  const { getuid, getgroups, setgroups, setegid, seteuid } = process;
  if (getuid?.() !== 0 || !getgroups || !setgroups || !setegid || !seteuid) return work();
  const groups = getgroups();
  // Root's further groups are rights, too: its own group may write what the service may not.
  setgroups([]);
  try {
    setegid(user);
    seteuid(user);
    return await work();
  } finally {
    seteuid(0);
    setegid(0);
    setgroups(groups);
  }
}

/**
 * A folder of a service's: made where there is none, and its user's with all that is in it (links are not followed).
 * @returns what does work in it, with that user's rights
 */
export async function inFolderOf(
  user: string,
  folder: string,
): Promise<<T>(work: () => Promise<T>) => Promise<T>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await must("chown", "-R", `${user}:${user}`, folder);
  return (work) => asUser(user, work);
}
