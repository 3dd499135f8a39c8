/**
 * Builds the programs once for a run. Each start of the Worker would build the same, for 2.5 s of a processor; and the bridge and
 * the agent, as one file each, start with a second of it less than from their sources.
 */
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildGateway } from "../local/build-gateway.ts";
import { writeBuiltGateway } from "../local/built-gateway.ts";
import { bundleAgent, bundleBridge } from "../local/bundles.ts";

const at = (path: string) => fileURLToPath(new URL(`../worker/${path}`, import.meta.url));

/** Several projects name it, and one folder serves them all. It is in the run's folder, which is removed at the end. */
export default async function setup(): Promise<void> {
  if (process.env.EDGECALL_BUILT) return;
  const folder = mkdtempSync(join(tmpdir(), "gateway-"));
  process.env.EDGECALL_BUILT = folder;
  const { script, page } = await buildGateway({
    bundle: undefined,
    main: at("index.ts"),
    assets: at("features/console/public"),
  });
  await writeBuiltGateway(folder, { bundle: script, files: page ?? new Map() });
  // The browser's package stays beside the agent.
  symlinkSync(fileURLToPath(new URL("../node_modules", import.meta.url)), join(folder, "node_modules"));
  writeFileSync(join(folder, "agent.cjs"), await bundleAgent({ testTools: true }));
  writeFileSync(join(folder, "bridge.mjs"), await bundleBridge());
}
