/** Pairs a machine as the home's bridge too. The bridge has a key and a folder of its own. */
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
  /** The bridge's part of the request to the gateway. */
  request: { public_key: string; broker?: string };
  fingerprint: string;
  /** Stores the gateway and home of the bridge, and the only key whose rules that act it runs. */
  paired(where: { gateway: string; home: string; gateway_key: string }): Promise<void>;
};

/**
 * @param folder the bridge's state, made if it is missing. In the service's folder, files belong to the service's user
 * @param broker the address for other devices; undefined: the bridge manages no broker
 */
export async function asBridge(
  folder: string | undefined,
  broker: string | undefined,
  say: (text: string) => void,
): Promise<AsBridge | undefined> {
  if (folder === undefined) {
    if (broker !== undefined) throw new UsageError("--bridge-broker: needs --bridge-state");
    return undefined;
  }
  const isService = folder === BRIDGE.places.state;
  // The service may not be installed yet. Its files are written with its user's rights.
  if (isService) {
    await makeUser(BRIDGE, [], say);
    await makeStateDir(BRIDGE);
  } else await mkdir(folder, { recursive: true, mode: 0o700 });
  const asOwner = <T>(work: () => Promise<T>) => (isService ? asUser(BRIDGE.user, work) : work());
  const { publicKey, fingerprint } = await asOwner(() => openIdentity(folder));
  return {
    request: { public_key: publicKey, ...(broker !== undefined && { broker }) },
    fingerprint,
    async paired(where) {
      await asOwner(() => writeAtomic(join(folder, GATEWAY_FILE), `${JSON.stringify(where)}\n`));
    },
  };
}
