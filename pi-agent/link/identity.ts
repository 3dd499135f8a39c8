/**
 * The device's key pair: made here, never sent anywhere, in `key.json` of the state directory, readable for its own user
 * alone. And the gateway's public key, which comes from agent.toml or from pairing (`gateway.json`).
 */
import { createHash, randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { RELAY_TOKEN_SECONDS, relayTokenBody, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
import {
  fingerprintOf,
  type Place,
  PublicKey,
  rotationBytes,
  signedBytes,
  splitSigned,
  withSignature,
} from "@edgecall/core/protocol/signing.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { KeyPair, verifierOf } from "@edgecall/node/keypair.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { AgentSettingsError } from "../config/settings.ts";

export const KEY_FILE = "key.json";
const GATEWAY_FILE = "gateway.json";
/** Of counter.ts. */
export const COUNTER_FILE = "counter.json";

/** `private_key`: PKCS #8, base64url. */
const KeyFile = z.looseObject({ public_key: PublicKey, private_key: z.string() });
const GatewayFile = z.looseObject({ public_key: PublicKey });

export class Identity {
  readonly #pair: KeyPair;

  constructor(pair: KeyPair) {
    this.#pair = pair;
  }

  get publicKey(): string {
    return this.#pair.publicKey;
  }

  /** @param body a stamped text @returns the text to publish */
  sign(place: Place, body: string): string {
    return withSignature(body, this.#pair.sign(signedBytes(place, body)));
  }

  /** Signs that `newKey` takes the place of this key. @returns base64url */
  nameSuccessor(agent: string, newKey: string): string {
    return this.#pair.sign(rotationBytes(agent, newKey)).toString("base64url");
  }

  /** Makes a token for the gateway's relay, valid for five minutes. @param place of the relay; see `relayPlace` @param now epoch ms */
  relayToken(agent: string, place: string, now: number): string {
    const exp = Math.floor(now / 1_000) + RELAY_TOKEN_SECONDS;
    const body = relayTokenBody({ agent, exp, for: place, nonce: randomUUID() });
    return `${body}.${this.#pair.sign(relayTokenBytes(body)).toString("base64url")}`;
  }

  get fingerprint(): string {
    return fingerprintOf(createHash("sha256").update(Buffer.from(this.publicKey, "base64url")).digest());
  }
}

/** A key file exists, but cannot be used. The message is for a person. */
class IdentityError extends AgentSettingsError {
  constructor(problem: string) {
    super([problem]);
  }
}

/**
 * Reads the device's identity; makes one when there is none yet.
 * @throws IdentityError when the file is damaged: the gateway does not know a new key, so a person has to decide
 */
export async function openIdentity(stateDir: string): Promise<Identity> {
  const path = join(stateDir, KEY_FILE);
  const text = await readIfThere(path);
  return text === undefined ? await makeIdentity(stateDir) : readIdentity(path, text);
}

/** Reads the identity from a key file's text. @throws IdentityError when the text is damaged */
export function readIdentity(path: string, text: string): Identity {
  const file = checkJson(KeyFile, text);
  if (!file.ok) throw damaged(path, file.error);
  try {
    const identity = new Identity(KeyPair.fromPrivateKey(file.value.private_key));
    if (identity.publicKey === file.value.public_key) return identity;
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
  throw damaged(path, "the two keys are no pair");
}

/** Makes a new key pair, and replaces an existing one. */
export async function makeIdentity(stateDir: string): Promise<Identity> {
  const pair = KeyPair.make();
  const file = { public_key: pair.publicKey, private_key: pair.privateKey };
  await writeAtomic(join(stateDir, KEY_FILE), `${JSON.stringify(file)}\n`);
  return new Identity(pair);
}

/** Stores the key of the gateway that this device obeys from its next start on. */
export async function rememberGateway(stateDir: string, publicKey: string): Promise<void> {
  await writeAtomic(join(stateDir, GATEWAY_FILE), `${JSON.stringify({ public_key: publicKey })}\n`);
}

/** Reads a file's text; undefined: there is none. */
type ReadFile = (path: string) => Promise<string | undefined> | string | undefined;

/**
 * Returns the public key of the only gateway whose commands count: that of agent.toml, or the one that pairing stored. Undefined: this
 * device was never paired, and obeys whatever its broker brings.
 *
 * A device that was paired once stays paired: its key, or the counter of its signed messages, is there without the gateway's key only when a
 * file was lost or a pairing was not finished.
 * @throws IdentityError when the gateway's key is lost, damaged or unreadable, with what to do
 */
export async function readGateway(
  { stateDir, gatewayKey }: { stateDir: string; gatewayKey: string | undefined },
  read: ReadFile = readIfThere,
): Promise<string | undefined> {
  if (gatewayKey !== undefined) return gatewayKey;
  const path = join(stateDir, GATEWAY_FILE);
  const text = await read(path);
  if (text !== undefined) {
    const file = checkJson(GatewayFile, text);
    if (!file.ok) throw damaged(path, file.error);
    return file.value.public_key;
  }
  const signs: string[] = [];
  for (const name of [KEY_FILE, COUNTER_FILE])
    if ((await read(join(stateDir, name))) !== undefined) signs.push(name);
  if (signs.length > 0) throw new IdentityError(lostGateway(path, signs.join(" and ")));
  return undefined;
}

function lostGateway(path: string, signs: string): string {
  return (
    `${path}: missing, but ${signs} beside it shows that this device was paired, or that its pairing was not finished, so it obeys nothing; ` +
    "pair this device again, or write the gateway's key into agent.toml as [gateway] public_key. " +
    `Only a device that anything on its broker may command starts without it: remove ${signs} too`
  );
}

/** @returns a check of texts signed by this key @throws IdentityError when it is no key */
export function signedTextVerifier(publicKey: string): (place: Place, text: string) => boolean {
  const isSigned = verifierOf(publicKey);
  if (!isSigned) throw new IdentityError(`gateway.public_key: '${publicKey}' is no Ed25519 key`);
  return (place, text) => {
    const split = splitSigned(text);
    return split !== undefined && isSigned(signedBytes(place, split.body), split.signature);
  };
}

/** @throws IdentityError when there is a file that this user cannot read */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES" || code === "EPERM")
      throw new IdentityError(`${path}: this user may not read it (${code}); ${await cureFor(path)}`);
    throw damaged(path, code === "EISDIR" ? "it is a folder" : messageOf(error));
  }
}

/** A file of another user is mostly one that root restored or wrote. */
async function cureFor(path: string): Promise<string> {
  const owner = await stat(path).catch(() => undefined);
  const own = process.getuid?.();
  if (owner === undefined || own === undefined || owner.uid === own)
    return "give this user the right to read it";
  return `it belongs to user ${owner.uid}: sudo chown ${own} ${path}`;
}

function damaged(path: string, why: string): IdentityError {
  return new IdentityError(`${path}: damaged (${why}); remove it and pair this device again`);
}
