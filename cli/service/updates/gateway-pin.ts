/**
 * The gateway from which this machine takes its programs: its address, the home, and the key that must sign the description
 * of a program. Only root may write it; the services may write their own copies in their state folders.
 */
import { mkdir, readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { SETTINGS_DIR } from "../services.ts";

export const GATEWAY_FILE = `${SETTINGS_DIR}/gateway.json`;

const GatewayPin = z.object({
  /** Without a slash at the end. */
  url: z.string().check(z.regex(/^https?:\/\/\S+$/)),
  home: z.string(),
  public_key: PublicKey,
});
export type GatewayPin = z.infer<typeof GatewayPin>;

/** The file has no secret. */
export async function pinGateway(pin: GatewayPin): Promise<void> {
  await mkdir(SETTINGS_DIR, { recursive: true });
  await writeAtomic(GATEWAY_FILE, `${JSON.stringify(pin)}\n`, { mode: 0o644 });
}

/** @throws with a text for a person */
export async function pinnedGateway(): Promise<GatewayPin> {
  const text = await readFile(GATEWAY_FILE, "utf8").catch(() => undefined);
  if (text === undefined) {
    throw new Error(
      `${GATEWAY_FILE} is missing, which pairing by a code writes: name a FILE, or pair this machine again (docs/guides/first-pi.md)`,
    );
  }
  const read = checkJson(GatewayPin, text);
  if (!read.ok) throw new Error(`${GATEWAY_FILE}: ${read.error}; pair this machine again`);
  return read.value;
}
