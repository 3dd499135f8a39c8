/**
 * A minimal Debian by debootstrap, which what is tested on a Debian of its own begins with: the bridge's image and the
 * machines of the trial. It takes half a minute to make: kept between runs, as one file.
 */
import { execFile } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const MIRROR = process.env.DEBIAN_MIRROR ?? "http://deb.debian.org/debian";
export const RELEASE = "bookworm";

/** It needs root; elsewhere sudo, if it asks nothing. */
export const AS_ROOT: readonly string[] = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
export const ROOT_ENV = { ...process.env, PATH: [process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter) };

/** @returns what it said */
export async function asRoot(...command: string[]): Promise<string> {
  const [program = "", ...args] = [...AS_ROOT, ...command];
  return (await promisify(execFile)(program, args, { env: ROOT_ENV })).stdout;
}

/** @returns its tar file */
export async function minimalDebian(): Promise<string> {
  const tar = join(tmpdir(), `edgecall-${RELEASE}-minbase.tar`);
  if (isKept(tar)) return tar;
  // Beside it first: another run never finds half of it.
  const dir = mkdtempSync(join(tmpdir(), "edgecall-debian-"));
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
 * Whether it was made before, by root.
 * @throws if by somebody else: anybody may make a file there, and root starts what is in it
 */
export function isKept(path: string): boolean {
  if (!existsSync(path)) return false;
  if (lstatSync(path).uid !== 0) throw new Error(`${path} is not root's; take it away first`);
  return true;
}
