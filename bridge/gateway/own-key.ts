/**
 * The bridge's key pair (`key.json`) and the gateway and home that it belongs to (`gateway.json`). Pairing writes both into
 * the state folder (`edgecall agent pair --bridge-state`). They are read once, at the start.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bridgeTokenBody, bridgeTokenBytes, TOKEN_AHEAD_MS } from "@edgecall/core/protocol/bridge-token.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { messageOf } from "@edgecall/node/log.ts";

const KeyFile = z.looseObject({ private_key: z.string() });
const GatewayFile = z.looseObject({
  gateway: z.string(),
  home: z.string(),
  /** Pairing by a program before 0.5 wrote none. */
  gateway_key: z.optional(PublicKey),
});

export type OwnKey = {
  /** The gateway that it was paired with: `https://…`. */
  gateway: string;
  home: string;
  /** The gateway's public key; undefined: pairing did not store it. */
  gatewayKey: string | undefined;
  /** Makes a token for one dial. @param host of the gateway, with its port @param now epoch ms, by the gateway's clock */
  token(host: string, now: number): string;
};

/** @returns undefined when the bridge is not paired @throws with a text for a person, when the files cannot be used */
export function readOwnKey(folder: string): OwnKey | undefined {
  const [keyPath, gatewayPath] = [join(folder, "key.json"), join(folder, "gateway.json")];
  const [keyText, gatewayText] = [readIfThere(keyPath), readIfThere(gatewayPath)];
  if (keyText === undefined || gatewayText === undefined) return undefined;
  const file = checkJson(KeyFile, keyText);
  if (!file.ok) throw damaged(keyPath, file.error);
  const paired = checkJson(GatewayFile, gatewayText);
  if (!paired.ok) throw damaged(gatewayPath, paired.error);
  const pair = pairOf(keyPath, file.value.private_key);
  const { gateway, home, gateway_key: gatewayKey } = paired.value;
  let last = 0;
  return {
    gateway,
    home,
    gatewayKey,
    token(host, now) {
      // Each number is higher than the one before, even if the clock was put back. A number that is further ahead than any
      // gateway accepts does not count: otherwise no number would be higher until that time comes.
      last = now > last - TOKEN_AHEAD_MS ? Math.max(now, last + 1) : now;
      const body = bridgeTokenBody({ home, for: host, n: last });
      return `${body}.${pair.sign(bridgeTokenBytes(body)).toString("base64url")}`;
    },
  };
}

function pairOf(path: string, pkcs8: string): KeyPair {
  try {
    return KeyPair.fromPrivateKey(pkcs8);
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function damaged(path: string, why: string): Error {
  return new Error(`${path}: damaged (${why}); remove it and pair this machine again`);
}
