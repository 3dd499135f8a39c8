/** Reads the kernel's files in /proc and /sys, below a root that tests can set. */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** @returns the text without NULs and trailing white space; undefined when it is missing or unreadable */
export async function readKernel(root: string, path: string): Promise<string | undefined> {
  try {
    // /proc is in memory, so four trips to the thread pool would cost more than the read. A sensor in /sys may be slow.
    const text = path.startsWith("/proc/")
      ? readFileSync(join(root, path), "utf8")
      : await readFile(join(root, path), "utf8");
    return text.replaceAll("\0", "").trimEnd();
  } catch {
    // Sensors vanish, processes end, and drivers return EIO or EINVAL; all of these mean "no reading".
    return undefined;
  }
}

export async function readKernelNumber(root: string, path: string): Promise<number | undefined> {
  const text = await readKernel(root, path);
  if (text === undefined || text.trim() === "") return undefined;
  const value = Number(text.trim());
  return Number.isFinite(value) ? value : undefined;
}

/** Returns matching names of a folder, in the order of their numbers; none when the folder is missing. */
export async function listKernel(root: string, path: string, pattern: RegExp): Promise<string[]> {
  try {
    const names = await readdir(join(root, path));
    return names
      .filter((name) => pattern.test(name))
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  } catch {
    return [];
  }
}

/** Reads a `Key: 123 kB` line of /proc/meminfo or /proc/[pid]/status. Returns kB. */
export function kilobytesOf(text: string, key: string): number | undefined {
  const found = new RegExp(`^${key}:\\s+(\\d+)\\s*kB`, "m").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
