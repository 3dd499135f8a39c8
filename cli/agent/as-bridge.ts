/** A machine that is paired as the home's bridge too: the bridge has a key and a folder of its own. */
import { chown, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openIdentity } from "@edgecall/pi-agent/identity.ts";
import { writeWhole } from "@edgecall/pi-agent/whole-file.ts";
import { UsageError } from "../command.ts";

/** Read by bridge/own-key.ts. */
const GATEWAY_FILE = "gateway.json";

export type AsBridge = {
  /** What the gateway is shown of it. */
  shown: { public_key: string; broker?: string };
  fingerprint: string;
  /** Writes down whose bridge it is. */
  paired(where: { gateway: string; home: string }): Promise<void>;
};

/**
 * @param folder the bridge's state; made where there is none. Whose it is, his are the files in it
 * @param broker as other devices reach it; undefined: the bridge keeps no broker's files
 */
export async function asBridge(
  folder: string | undefined,
  broker: string | undefined,
): Promise<AsBridge | undefined> {
  if (folder === undefined) {
    if (broker !== undefined) throw new UsageError("--bridge-broker: is of use with --bridge-state alone");
    return undefined;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { publicKey, fingerprint } = await openIdentity(folder);
  return {
    shown: { public_key: publicKey, ...(broker !== undefined && { broker }) },
    fingerprint,
    async paired(where) {
      await writeWhole(join(folder, GATEWAY_FILE), `${JSON.stringify(where)}\n`);
      const { uid, gid } = await stat(folder);
      for (const name of ["key.json", GATEWAY_FILE]) await chown(join(folder, name), uid, gid);
    },
  };
}
