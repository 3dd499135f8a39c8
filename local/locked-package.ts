/** Packages that package-lock.json pins for another processor than this one's, so that nothing has to be built there. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";

export const ARCHITECTURES = ["x64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

const Locked = z.looseObject({ version: z.string(), integrity: z.string() });
const Lock = z.looseObject({ packages: z.record(z.string(), z.unknown()) });
const Named = z.looseObject({ version: z.optional(z.string()) });

/** Node for Linux. */
export const nodeFor = (architecture: Architecture) => `node-linux-${architecture}`;
/** The Workers runtime for Linux. */
export const workerdFor = (architecture: Architecture) =>
  `@cloudflare/workerd-linux-${architecture === "x64" ? "64" : architecture}`;

/** @throws when the lock file does not pin it */
export async function lockedPackage(name: string): Promise<z.infer<typeof Locked>> {
  const lock = checkJson(Lock, await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const read = check(Locked, lock.ok ? lock.value.packages[`node_modules/${name}`] : undefined);
  if (read.ok) return read.value;
  throw new Error(`package-lock.json has no ${name} with its integrity`);
}

/**
 * @param work where one from the registry is unpacked
 * @returns the folder of the installed package, or of one from the registry that is what the lock file pins
 */
export async function packageFolder(name: string, work: string): Promise<string> {
  const { version, integrity } = await lockedPackage(name);
  const installed = join(ROOT, "node_modules", name);
  const there = checkJson(Named, await readFile(join(installed, "package.json"), "utf8").catch(() => "{}"));
  if (there.ok && there.value.version === version) return installed;
  const folder = join(work, name);
  await mkdir(folder, { recursive: true });
  const run = promisify(execFile);
  const { stdout } = await run("npm", ["pack", "--silent", `${name}@${version}`, "--pack-destination", work]);
  const archive = join(work, stdout.trim());
  const is = `sha512-${createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")}`;
  if (is !== integrity) throw new Error(`${name}@${version} is not what package-lock.json pins: ${is}`);
  await run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  return folder;
}
