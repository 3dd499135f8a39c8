/** Reads from /proc/self/mounts the file systems that hold a person's data. */

export type Mount = { device: string; path: string; type: string };

/** Types that count without a device of their own. Network and memory types do not: a dead NFS server hangs the call. */
const REAL_TYPES = new Set(["zfs", "overlay", "btrfs", "bcachefs", "fuseblk"]);
/** Read-only images, which are always 100% full. */
const IMAGE_TYPES = new Set(["squashfs", "erofs", "iso9660"]);

/** @returns each real file system once, with its shortest path, sorted by path */
export function realMounts(text: string): Mount[] {
  const byDevice = new Map<string, Mount>();
  for (const line of text.split("\n")) {
    const [device, path, type] = line.split(" ").map(unescapeOctal);
    if (!device || !path || !type || IMAGE_TYPES.has(type)) continue;
    if (!device.startsWith("/dev/") && !REAL_TYPES.has(type)) continue;
    // Every overlay has the device "overlay". Only the one at / is the machine's own; others belong to containers.
    if (type === "overlay" && path !== "/") continue;
    const known = byDevice.get(device);
    if (!known || path.length < known.path.length) byDevice.set(device, { device, path, type });
  }
  return [...byDevice.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Decodes octal escapes: the kernel writes a space in a path as \040. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Returns the mount of a path: the longest one that is a prefix of it. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts
    .filter((mount) => path === mount.path || path.startsWith(mount.path === "/" ? "/" : `${mount.path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
