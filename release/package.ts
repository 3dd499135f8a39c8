/**
 * npm's package `edgecall`: everything built, with Miniflare and workerd's own package inside, as the lock file pins them. What npm still
 * fetches is workerd's program for the machine's processor. Left out of Miniflare is sharp, which has native parts and is for images alone.
 */
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT, WRANGLER_TOML } from "@edgecall/node/places.ts";
import { buildToShip } from "../local/build-gateway.ts";
import { writeBuiltGateway } from "../local/built-gateway.ts";
import { bundleStack } from "../local/bundles.ts";
import { copyPackage } from "../local/packages.ts";

/** The oldest Node that Miniflare runs on. */
const ENGINES = { node: ">=22" };
const isLeftOut = (name: string) => name === "sharp" || name.startsWith("@cloudflare/workerd-");

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
const Names = z.optional(z.record(z.string(), z.string()));
const Manifest = z.looseObject({
  version: z.string().check(z.regex(EXACT)),
  dependencies: Names,
  optionalDependencies: Names,
});
type Manifest = z.infer<typeof Manifest>;

/** Writes the folder anew. */
export async function writePackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const dist = join(folder, "dist");
  await mkdir(join(folder, "bin"), { recursive: true });
  const [gateway, stack] = await Promise.all([buildToShip(), bundleStack()]);
  await writeBuiltGateway(dist, gateway);
  await cp(WRANGLER_TOML, join(dist, "wrangler.toml"));
  for (const [name, code] of Object.entries(stack)) await writeFile(join(dist, name), code);
  const bin = join(folder, "bin/edgecall.js");
  await cp(join(ROOT, "release/edgecall.cjs"), bin);
  await chmod(bin, 0o755);
  for (const name of ["README.md", "LICENSE"]) await cp(join(ROOT, name), join(folder, name));
  await copyPackage("miniflare", folder, isLeftOut);
  const inside = (name: string) => join(folder, `node_modules/${name}/package.json`);
  const programs = await withoutLeftOut(inside("workerd"));
  await withoutLeftOut(inside("miniflare"));
  const { version: miniflare } = await readManifest(inside("miniflare"));
  await writeManifest(join(folder, "package.json"), { miniflare }, programs);
}

/**
 * A package inside ours needs nothing that is not there, and has neither a script of its installation, of which npm would warn, nor a command.
 * @returns what it needs that is not there, by exact versions
 */
async function withoutLeftOut(file: string): Promise<Record<string, string>> {
  const { dependencies = {}, optionalDependencies = {}, scripts, bin, ...rest } = await readManifest(file);
  const kept = Object.entries(dependencies).filter(([name]) => !isLeftOut(name));
  await writeFile(file, JSON.stringify({ ...rest, dependencies: Object.fromEntries(kept) }));
  const missing = Object.entries(optionalDependencies).filter(([name]) => isLeftOut(name));
  const loose = missing.find(([, version]) => !EXACT.test(version));
  if (loose) throw new Error(`${file}: expected an exact version of ${loose.join(", got ")}`);
  return Object.fromEntries(missing);
}

async function writeManifest(
  file: string,
  inside: Record<string, string>,
  programs: Record<string, string>,
): Promise<void> {
  const { name, version, description, license } = await readManifest(join(ROOT, "package.json"));
  const manifest = {
    ...{ name, version, description, license },
    bin: { edgecall: "bin/edgecall.js" },
    engines: ENGINES,
    files: ["bin", "dist"],
    dependencies: inside,
    bundleDependencies: Object.keys(inside),
    // npm takes the one for the machine. Where there is none, all commands but `start` work.
    optionalDependencies: programs,
  };
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

async function readManifest(file: string): Promise<Manifest> {
  const read = checkJson(Manifest, await readFile(file, "utf8"));
  if (!read.ok) throw new Error(`${file}: ${read.error}`);
  return read.value;
}

/** @param folder of `writePackage` @param into an existing folder @returns the tarball, as npm would publish it */
export async function packPackage(folder: string, into: string): Promise<string> {
  const words = ["pack", "--silent", "--ignore-scripts", folder, "--pack-destination", into];
  const { stdout } = await promisify(execFile)("npm", words);
  return join(into, stdout.trim());
}
