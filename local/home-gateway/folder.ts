/**
 * The gateway as a folder that runs on a home's machine with nothing but Node: the Worker and its files, built; the program that
 * runs it; Miniflare and workerd for one kind of processor; and `edgecall`, which installs it.
 */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WRANGLER_TOML } from "@edgecall/node/places.ts";
import { buildToShip } from "../build-gateway.ts";
import { writeBuiltGateway } from "../built-gateway.ts";
import { bundleHomeGateway } from "../bundles.ts";
import { type Architecture, packageFolder, workerdFor } from "../locked-package.ts";
import { copyPackage } from "../packages.ts";

/** Miniflare wants sharp for a binding of images, which the Worker does not have. Both have native parts. */
const isLeftOut = (name: string) => name === "sharp" || name.startsWith("@cloudflare/workerd-");
/** The processor of this machine. */
export const HERE: Architecture = process.arch === "arm64" ? "arm64" : "x64";

/** Writes the folder anew. */
export async function writeGatewayFolder(folder: string, architecture = HERE): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const [gateway, runner] = await Promise.all([buildToShip(), bundleHomeGateway()]);
  await writeBuiltGateway(folder, gateway);
  await writeFile(join(folder, "gateway.mjs"), runner);
  await cp(WRANGLER_TOML, join(folder, "wrangler.toml"));
  await copyPackage("miniflare", folder, isLeftOut);
  const work = await mkdtemp(join(tmpdir(), "edgecall-workerd-"));
  const name = workerdFor(architecture);
  try {
    await cp(await packageFolder(name, work), join(folder, "node_modules", name), { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
