/** `npm run package`: npm's package as dist/edgecall-VERSION.tgz, from the folder dist/package. */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { packPackage, writePackage } from "./package.ts";

const DIST = join(ROOT, "dist");
await mkdir(DIST, { recursive: true });
const folder = join(DIST, "package");
await writePackage(folder);
const tarball = await packPackage(folder, DIST);
console.log(`${tarball}  ${((await stat(tarball)).size / 2 ** 20).toFixed(1)} MiB`);
