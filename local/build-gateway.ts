/** Builds the Worker and the files that it serves, for a start from the sources. */
import { bundleWorker } from "./bundles.ts";
import { consoleFiles, galleryFiles, type ServedFile } from "./console-files.ts";
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
