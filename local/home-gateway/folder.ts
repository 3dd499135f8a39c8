/**
 * The gateway as a folder that runs on a home's machine with nothing but Node: the Worker and its files, built; the program that
 * runs it; Miniflare and workerd for this processor; and `edgecall`, which installs it.
 */

import { existsSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeBuiltGateway } from "../built-gateway.ts";
import { bundleHomeGateway, bundleWorker } from "../bundles.ts";
import { consoleFiles } from "../console-files.ts";
import { buildDeviceFiles, PROGRAM, servedProgram } from "../device-files.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Miniflare wants it for a binding of images, which the Worker does not have. It has native parts. */
const LEFT_OUT = ["sharp"];

const Package = z.looseObject({
  dependencies: z.optional(z.record(z.string(), z.string())),
  optionalDependencies: z.optional(z.record(z.string(), z.string())),
});

/** Writes the folder anew. */
export async function writeGatewayFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const devices = await buildDeviceFiles();
  const [bundle, runner, files] = await Promise.all([
    bundleWorker({ minify: true, program: servedProgram(devices.program) }),
    bundleHomeGateway(),
    consoleFiles(join(ROOT, "worker/features/console/public"), devices),
  ]);
  await writeBuiltGateway(folder, { bundle, files });
  await writeFile(join(folder, "gateway.mjs"), runner);
  await writeFile(join(folder, PROGRAM), devices.program);
  await cp(join(ROOT, "wrangler.toml"), join(folder, "wrangler.toml"));
  for (const path of await packagesOf("miniflare", ROOT))
    await cp(join(ROOT, path), join(folder, path), {
      recursive: true,
      // Each package is listed with its own path, also one within another. workerd's own folder has the program once more.
      filter: (from) => from === join(ROOT, path) || !/\/node_modules$|\/workerd\/bin$|\.map$/.test(from),
    });
}

/** Paths of a package and of all that it needs, below the repository's root. */
async function packagesOf(name: string, from: string, found = new Set<string>()): Promise<Set<string>> {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) {
      const below = path.slice(ROOT.length);
      if (found.has(below)) return found;
      found.add(below);
      const read = checkJson(Package, await readFile(join(path, "package.json"), "utf8"));
      const needed = read.ok ? { ...read.value.dependencies, ...read.value.optionalDependencies } : {};
      for (const next of Object.keys(needed))
        if (!LEFT_OUT.includes(next)) await packagesOf(next, path, found);
      return found;
    }
    // Optional packages are for other processors.
    if (folder.length <= ROOT.length) return found;
  }
}
