/**
 * The gateway as a folder that runs on a home's machine with nothing but Node: the Worker and its files, built; the program that
 * runs it; Miniflare and workerd for this processor; and `edgecall`, which installs it.
 */
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WRANGLER_TOML } from "@edgecall/node/places.ts";
import { buildToShip } from "../build-gateway.ts";
import { writeBuiltGateway } from "../built-gateway.ts";
import { bundleHomeGateway } from "../bundles.ts";
import { copyPackage } from "../packages.ts";

/** Miniflare wants it for a binding of images, which the Worker does not have. It has native parts. */
const isLeftOut = (name: string) => name === "sharp";

/** Writes the folder anew. */
export async function writeGatewayFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const [gateway, runner] = await Promise.all([buildToShip(), bundleHomeGateway()]);
  await writeBuiltGateway(folder, gateway);
  await writeFile(join(folder, "gateway.mjs"), runner);
  await cp(WRANGLER_TOML, join(folder, "wrangler.toml"));
  await copyPackage("miniflare", folder, isLeftOut);
}
