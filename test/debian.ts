/**
 * A minimal Debian made by debootstrap: the base of the bridge's image and of the trial's machines. Making it takes half a
 * minute, so it is kept between runs as one file.
 */
import { execFile } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** Outside of the run's temporary folder (test/run-folder.ts), because runs share what lies here. */
export const SHARED_FOLDER = "/var/tmp";
const MIRROR = process.env.DEBIAN_MIRROR ?? "http://deb.debian.org/debian";
export const RELEASE = "bookworm";

/** The prefix to run as root: nothing for root, otherwise sudo without a question. */
export const AS_ROOT: readonly string[] = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
export const ROOT_ENV = { ...process.env, PATH: [process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter) };

/** @returns its output */
export async function asRoot(...command: string[]): Promise<string> {
  const [program = "", ...args] = [...AS_ROOT, ...command];
  return (await promisify(execFile)(program, args, { env: ROOT_ENV })).stdout;
}

/** @returns its tar file */
export async function minimalDebian(): Promise<string> {
  const tar = join(SHARED_FOLDER, `edgecall-${RELEASE}-minbase.tar`);
  if (isKept(tar)) return tar;
  // Written beside it first, so that another run never finds half a file.
  const dir = mkdtempSync(join(SHARED_FOLDER, "edgecall-debian-"));
  try {
    const [root, made] = [join(dir, "root"), join(dir, "tar")];
    await asRoot("debootstrap", "--variant=minbase", RELEASE, root, MIRROR);
    await asRoot("tar", "-C", root, "--exclude=./var/cache/apt/archives/*.deb", "-cf", made, ".");
    await asRoot("chmod", "644", made);
    await asRoot("mv", made, tar);
  } finally {
    await asRoot("rm", "-rf", dir);
  }
  return tar;
}

/**
 * Whether root made it before.
 * @throws when another user made it, because root starts programs from it
 */
export function isKept(path: string): boolean {
  if (!existsSync(path)) return false;
  if (lstatSync(path).uid !== 0) throw new Error(`${path} is not root's; take it away first`);
  return true;
}
