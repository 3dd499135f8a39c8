/** Work of root's on files of a service, with the service's rights. */

/**
 * Whatever the service may have put in its folders, a link to a file of root's say, is then no way to that file. Without
 * root it is just done. The rights are the whole process's: nothing else goes on meanwhile.
 */
export async function asUser<T>(user: string, work: () => Promise<T>): Promise<T> {
  const { getuid, setegid, seteuid } = process;
  if (getuid?.() !== 0 || !setegid || !seteuid) return work();
  setegid(user);
  seteuid(user);
  try {
    return await work();
  } finally {
    seteuid(0);
    setegid(0);
  }
}
