/**
 * `edgecall` as single executables for Linux: Node's own format, on the Node binaries of the npm registry that
 * package-lock.json pins. Cross-built: no code cache, which is made for one machine and refused by any other flag.
 */

import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ARCHITECTURES, lockedPackage, nodeFor, packageFolder } from "./locked-package.ts";

/** Node looks for this in itself, and postject turns its last digit from 0 to 1. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/**
 * @param bundle the program as one CommonJS file
 * @param dist where they go
 * @returns their names and sizes in bytes
 */
export async function buildExecutables(
  bundle: string,
  dist: string,
): Promise<Array<{ name: string; bytes: number }>> {
  const work = await mkdtemp(join(tmpdir(), "edgecall-executables-"));
  try {
    const blob = await blobOf(bundle, work);
    await mkdir(dist, { recursive: true });
    const built: Array<{ name: string; bytes: number }> = [];
    for (const architecture of ARCHITECTURES) {
      const name = `edgecall-linux-${architecture}`;
      const file = join(work, name);
      await copyFile(join(await packageFolder(nodeFor(architecture), work), "bin/node"), file);
      await chmod(file, 0o755);
      const cli = join(require.resolve("postject/dist/api.js"), "../cli.js");
      await run(process.execPath, [cli, file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE]);
      await copyFile(file, join(dist, name));
      built.push({ name, bytes: (await stat(file)).size });
    }
    return built;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The same for every architecture, made by the Node that this repository runs with. */
async function blobOf(bundle: string, work: string): Promise<string> {
  const [main, blob, config] = ["main.cjs", "blob", "sea.json"].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ];
  const pinned = (await lockedPackage(nodeFor("x64"))).version;
  // Node reads only what its own version has written.
  if (process.versions.node !== pinned) {
    throw new Error(
      `executables are built with Node ${pinned}; this is ${process.versions.node}: use npm run build`,
    );
  }
  await writeFile(main, bundle);
  await writeFile(
    config,
    JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true, useCodeCache: false }),
  );
  await run(process.execPath, ["--experimental-sea-config", config]);
  return blob;
}
