/**
 * `npm run build`: the programs and the console's script as one file each under dist/, with their sizes;
 * with `-- --executables`, `edgecall` as single executables as well; with `-- --gateway`, the gateway for a home's machine, for both processors.
 */
import { execFileSync } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { bundleAgent, bundleBridge, bundleCommand, bundleConsole, bundleWorker } from "./bundles.ts";
import { writeDeployButton } from "./deploy-button.ts";
import { servedProgram } from "./device-files.ts";
import { buildExecutables } from "./executables.ts";
import { writeHomeAssistantApp } from "./home-assistant-app.ts";
import { HERE, writeGatewayFolder } from "./home-gateway/folder.ts";
import { ARCHITECTURES } from "./locked-package.ts";

const { values } = parseArgs({
  options: { executables: { type: "boolean", default: false }, gateway: { type: "boolean", default: false } },
});
const DIST = new URL("../dist/", import.meta.url);
const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`.padStart(12);

console.log(`${"".padEnd(20)}${"raw".padStart(12)}${"gzip".padStart(12)}`);
for (const [name, bundle] of [
  ["worker/index.js", bundleServedWorker],
  ["console.js", async () => Object.values((await bundleConsole()).code).join("\n")],
  ["bridge.mjs", bundleBridge],
  ["pi-agent.cjs", bundleAgent],
  ["edgecall.cjs", bundleCommand],
] as const) {
  try {
    const code = await bundle();
    const file = fileURLToPath(new URL(name, DIST));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
    console.log(`${name.padEnd(20)}${kib(Buffer.byteLength(code))}${kib(gzipSync(code).length)}`);
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

async function bundleServedWorker(): Promise<string> {
  return await bundleWorker({ minify: true, program: servedProgram(await bundleCommand()) });
}

if (!process.exitCode) {
  const button = fileURLToPath(new URL("deploy-button/", DIST));
  await writeDeployButton(button);
  console.log(button);
}

if (!process.exitCode) {
  const path = (name: string, from: URL | string = DIST) => fileURLToPath(new URL(name, from));
  const app = path("home-assistant/edgecall_bridge/");
  await writeHomeAssistantApp(path("../bridge/", import.meta.url), path("bridge.mjs"), app);
  console.log(app);
}

if (values.executables) {
  const built = await buildExecutables(await bundleCommand(), fileURLToPath(DIST));
  for (const { name, bytes } of built) console.log(`${name.padEnd(20)}${kib(bytes)}`);
}

if (values.gateway) {
  const folder = fileURLToPath(new URL("edgecall-gateway/", DIST));
  // This machine's last, since its folder stays.
  for (const architecture of ARCHITECTURES.toSorted((one) => (one === HERE ? 1 : -1))) {
    await writeGatewayFolder(folder, architecture);
    const archive = fileURLToPath(new URL(`edgecall-gateway-linux-${architecture}.tar.gz`, DIST));
    const owner = ["--owner=0", "--group=0", "--numeric-owner"];
    execFileSync("tar", ["-C", fileURLToPath(DIST), ...owner, "-czf", archive, "edgecall-gateway"]);
    console.log(`${archive}${kib((await stat(archive)).size)}`);
  }
  console.log(folder);
}
