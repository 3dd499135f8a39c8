/**
 * The gateway from which this machine takes its programs: where it is, which home this is, and the key that has to sign
 * what is said of a program. Root's own: the copies in the services' state folders are theirs to write.
 */
import { mkdir, readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { SETTINGS_DIR } from "../services.ts";

export const GATEWAY_FILE = `${SETTINGS_DIR}/gateway.json`;

const GatewayPin = z.object({
  /** Without a slash at its end. */
  url: z.string().check(z.regex(/^https?:\/\/\S+$/)),
  home: z.string(),
  public_key: PublicKey,
});
export type GatewayPin = z.infer<typeof GatewayPin>;

/** There is nothing secret in it. */
export async function pinGateway(pin: GatewayPin): Promise<void> {
  await mkdir(SETTINGS_DIR, { recursive: true });
  await writeAtomic(GATEWAY_FILE, `${JSON.stringify(pin)}\n`, { mode: 0o644 });
}

/** @throws in words for a person */
export async function pinnedGateway(): Promise<GatewayPin> {
  const text = await readFile(GATEWAY_FILE, "utf8").catch(() => undefined);
  if (text === undefined) {
    throw new Error(
      `${GATEWAY_FILE} is missing, which pairing by a code writes: name a FILE, or pair this machine again (docs/install.md)`,
    );
  }
  const read = checkJson(GatewayPin, text);
  if (!read.ok) throw new Error(`${GATEWAY_FILE}: ${read.error}; pair this machine again`);
  return read.value;
}
