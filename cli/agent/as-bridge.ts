/** A machine that is paired as the home's bridge too: the bridge has a key and a folder of its own. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { openIdentity } from "@edgecall/pi-agent/link/identity.ts";
import { UsageError } from "../command.ts";
import { asUser } from "../service/as-user.ts";
import { makeStateDir, makeUser } from "../service/install.ts";
import { BRIDGE } from "../service/services.ts";

/** Read by bridge/gateway/own-key.ts. */
const GATEWAY_FILE = "gateway.json";

export type AsBridge = {
  /** What the gateway is shown of it. */
  shown: { public_key: string; broker?: string };
  fingerprint: string;
  /** Writes down whose bridge it is. */
  paired(where: { gateway: string; home: string }): Promise<void>;
};

/**
 * @param folder the bridge's state; made where there is none. The service's: its files are the service's user's
 * @param broker as other devices reach it; undefined: the bridge keeps no broker's files
 */
export async function asBridge(
  folder: string | undefined,
  broker: string | undefined,
  say: (text: string) => void,
): Promise<AsBridge | undefined> {
  if (folder === undefined) {
    if (broker !== undefined) throw new UsageError("--bridge-broker: is of use with --bridge-state alone");
    return undefined;
  }
  const isService = folder === BRIDGE.places.state;
  // The service may not be installed yet; what is written for it is written with its rights.
  if (isService) {
    await makeUser(BRIDGE, [], say);
    await makeStateDir(BRIDGE);
  } else await mkdir(folder, { recursive: true, mode: 0o700 });
  const asOwner = <T>(work: () => Promise<T>) => (isService ? asUser(BRIDGE.user, work) : work());
  const { publicKey, fingerprint } = await asOwner(() => openIdentity(folder));
  return {
    shown: { public_key: publicKey, ...(broker !== undefined && { broker }) },
    fingerprint,
    async paired(where) {
      await asOwner(() => writeAtomic(join(folder, GATEWAY_FILE), `${JSON.stringify(where)}\n`));
    },
  };
}
