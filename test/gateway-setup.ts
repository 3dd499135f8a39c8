/**
 * Builds the programs once for a run. Each start of the Worker would build the same, for 2.5 s of a processor; and as one file each, the
 * bridge and the agent start with a second of it less than from their sources, and what starts the Worker with half a second less.
 */
import { copyFileSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildGateway } from "../local/build-gateway.ts";
import { writeBuiltGateway } from "../local/built-gateway.ts";
import { bundleAgent, bundleBridge } from "../local/bundles.ts";
import { IS_SHORT } from "./clock.ts";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Several projects name it, and one folder serves them all. It is in the run's folder, which is removed at the end. */
export default async function setup(): Promise<void> {
  if (process.env.EDGECALL_BUILT) return;
  const folder = mkdtempSync(join(tmpdir(), "gateway-"));
  process.env.EDGECALL_BUILT = folder;
  await buildPrograms(folder, IS_SHORT);
}

/** Builds all of them into a folder. */
export async function buildPrograms(folder: string, testClock: boolean): Promise<void> {
  const { script, page } = await buildGateway({
    bundle: undefined,
    main: at("worker/index.ts"),
    assets: at("worker/features/console/public"),
    testClock,
  });
  await writeBuiltGateway(folder, { bundle: script, files: page ?? new Map() });
  // The browser's package stays beside the agent, and Miniflare beside the Worker's program.
  symlinkSync(at("node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "agent.cjs"), await bundleAgent({ testTools: true, testClock }));
  writeFileSync(join(folder, "bridge.mjs"), await bundleBridge({ testClock }));
  // It finds wrangler.toml beside itself.
  copyFileSync(at("wrangler.toml"), join(folder, "wrangler.toml"));
  await build({
    entryPoints: [at("local/worker.ts")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    external: ["miniflare", "./build-gateway.ts"],
    logLevel: "error",
  });
}
