/** Lets root work on a service's files with the service's rights. */
import { mkdir } from "node:fs/promises";
import { must } from "./programs.ts";

/**
 * Runs work as this user. So a link that the service may have put in its folder does not lead to root's files. Without root
 * the work simply runs. The rights apply to the whole process, so nothing else may run meanwhile.
 */
export async function asUser<T>(user: string, work: () => Promise<T>): Promise<T> {
  const { getuid, getgroups, setgroups, setegid, seteuid } = process;
  if (getuid?.() !== 0 || !getgroups || !setgroups || !setegid || !seteuid) return work();
  const groups = getgroups();
  // Root's groups are rights too: its own group may write files that the service may not.
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
 * Makes a service's folder if it is missing, and gives it with its content to the service's user. Links are not followed.
 * @returns a function that runs work with that user's rights
 */
export async function inFolderOf(
  user: string,
  folder: string,
): Promise<<T>(work: () => Promise<T>) => Promise<T>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await must("chown", "-R", `${user}:${user}`, folder);
  return (work) => asUser(user, work);
}
