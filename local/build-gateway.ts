/** Builds the Worker and the files that it serves: for a start from the sources, and for all that is shipped. */

import { join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { stop } from "esbuild";
import type { BuiltGateway, ServedFile } from "./built-gateway.ts";
import { bundleWorker } from "./bundles.ts";
import { consoleFiles, galleryFiles } from "./console-files.ts";
import { buildDeviceFiles, servedProgram } from "./device-files.ts";

/**
 * @param options.bundle brings no word of the program for devices, or its own: it is built when one asks
 * @param options.assets the console's folder; undefined: nothing is served
 * @param options.testClock for tests alone, as in `bundleWorker`
 */
export async function buildGateway({
  bundle,
  main,
  assets,
  testClock = false,
}: {
  bundle: string | undefined;
  main: string;
  assets: string | undefined;
  testClock?: boolean;
}): Promise<{ script: string; page: ReadonlyMap<string, ServedFile> | undefined }> {
  const devices = bundle === undefined && assets !== undefined ? await buildDeviceFiles() : undefined;
  const program = devices && servedProgram(devices.program);
  const [script, page] = await Promise.all([
    bundle ?? bundleWorker({ entry: main, testClock, ...(program && { program }) }),
    assets === undefined ? undefined : consoleFiles(assets, devices),
  ]);
  return { script, page: page && new Map([...page, ...galleryFiles()]) };
}

/** Builds them as they are deployed and installed: minified, without the page of the console's parts. */
export async function buildToShip(): Promise<BuiltGateway> {
  const devices = await buildDeviceFiles();
  const [bundle, files] = await Promise.all([
    bundleWorker({ minify: true, program: servedProgram(devices.program) }),
    consoleFiles(join(ROOT, "worker/features/console/public"), devices),
  ]);
  return { bundle, files };
}

/** Ends esbuild's helper process. It comes back when a file is built on request. */
export async function stopBuilding(): Promise<void> {
  await stop();
}
