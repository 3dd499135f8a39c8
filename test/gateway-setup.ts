/** Builds the Worker once for a run: each start of it would build the same, for 2.5 s of a processor. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildGateway } from "../local/build-gateway.ts";
import { writeBuiltGateway } from "../local/built-gateway.ts";

const at = (path: string) => fileURLToPath(new URL(`../worker/${path}`, import.meta.url));

/** Several projects name it, and one folder serves them all. It is in the run's folder, which is removed at the end. */
export default async function setup(): Promise<void> {
  if (process.env.EDGECALL_BUILT) return;
  const folder = mkdtempSync(join(tmpdir(), "gateway-"));
  process.env.EDGECALL_BUILT = folder;
  const { script, page } = await buildGateway({
    bundle: undefined,
    main: at("index.ts"),
    assets: at("frontends/console/public"),
  });
  await writeBuiltGateway(folder, { bundle: script, files: page ?? new Map() });
}
