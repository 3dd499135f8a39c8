/** Copies an installed package with all that it needs, for what is shipped with it. */
import { existsSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";

/** Of workerd, Miniflare uses what names the program's place; its own folder has the program once more, and one for browsers. */
const NOT_NEEDED =
  /\/node_modules$|\/workerd\/(bin|worker\.mjs|install\.js|workerd\.capnp)$|\.map$|\.d\.[cm]?ts$/;

const Package = z.looseObject({
  dependencies: z.optional(z.record(z.string(), z.string())),
  optionalDependencies: z.optional(z.record(z.string(), z.string())),
});

/** @param to its node_modules are filled @param isLeftOut packages that are not copied */
export async function copyPackage(
  name: string,
  to: string,
  isLeftOut: (name: string) => boolean,
): Promise<void> {
  for (const path of await packagesOf(name, ROOT, isLeftOut))
    await cp(join(ROOT, path), join(to, path), {
      recursive: true,
      // Each package is listed with its own path, also one within another.
      filter: (from) => from === join(ROOT, path) || !NOT_NEEDED.test(from),
    });
}

/** Paths of a package and of all that it needs, below the repository's root. */
async function packagesOf(
  name: string,
  from: string,
  isLeftOut: (name: string) => boolean,
  found = new Set<string>(),
): Promise<Set<string>> {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) {
      const below = path.slice(ROOT.length);
      if (found.has(below)) return found;
      found.add(below);
      const read = checkJson(Package, await readFile(join(path, "package.json"), "utf8"));
      const needed = read.ok ? { ...read.value.dependencies, ...read.value.optionalDependencies } : {};
      for (const next of Object.keys(needed))
        if (!isLeftOut(next)) await packagesOf(next, path, isLeftOut, found);
      return found;
    }
    // Optional packages are for other processors.
    if (folder.length <= ROOT.length) return found;
  }
}
