/**
 * A session: keys that an agent's run and its gateway share, so that most of their messages carry an HMAC in place of a
 * signature, which costs a fortieth of it. docs/explain/security.md says what that promises ("Sessions").
 *
 * Each side makes an X25519 key pair for the run and signs its public half with Ed25519: the agent's stands in its presence,
 * the gateway's in its commands. HKDF-SHA-256 makes three keys of the shared secret. The HMAC covers what a signature covers:
 *
 *     {"command":"ping", … ,"n":1795300000000,"mac":"43 characters of base64url"}
 *
 * An agent's message has a second HMAC behind the first, with the key that Home tells the bridge. The bridge can tell the
 * agent's messages from a stranger's with it, and can make none that Home accepts.
 */
import { fromBase64Url, toBase64Url, utf8 } from "../encoding.ts";
import { check } from "./parse.ts";
import { type Key, type Place, PublicKey } from "./signing.ts";

const DOMAIN = "edgecall session v1";
const MAC_DOMAIN = "edgecall mac v1";

/** A bridge that knows sessions says so in its hello. */
export const SESSION_FEATURE = "session";

/** Bytes of a key, and of an HMAC. */
const BYTES = 32;
const CHARS = 43;
/** `commands` authenticates the gateway to the agent, `reports` the agent to Home, `bridge` the agent to the bridge. */
const KEYS = ["commands", "reports", "bridge"] as const;
export type SessionKey = (typeof KEYS)[number];
export type SessionKeys<K> = Record<SessionKey, K>;
/** Bytes that HKDF has to make. */
export const SESSION_BYTES = KEYS.length * BYTES;

/** Whom a session belongs to: the public keys of both identities, and both halves; base64url. A home has a key of its own. */
export type SessionParties = {
  agent: string;
  bootId: string;
  agentKey: string;
  gatewayKey: string;
  agentHalf: string;
  gatewayHalf: string;
};

/** HKDF's `info`: keys that are made for other parties, another run or other halves are other keys. */
export function sessionInfo(parties: SessionParties): Uint8Array<ArrayBuffer> {
  const { agent, bootId, agentKey, gatewayKey, agentHalf, gatewayHalf } = parties;
  const bound = [agent, bootId, agentKey, gatewayKey, agentHalf, gatewayHalf];
  return utf8(`${DOMAIN}\n${JSON.stringify(bound)}`);
}

/** @param bytes HKDF's output, SESSION_BYTES long */
export function splitSessionKeys(bytes: Uint8Array): SessionKeys<Uint8Array<ArrayBuffer>> {
  const at = (key: SessionKey) => {
    const from = KEYS.indexOf(key) * BYTES;
    return new Uint8Array(bytes.slice(from, from + BYTES));
  };
  return { commands: at("commands"), reports: at("reports"), bridge: at("bridge") };
}

/** The bytes that an HMAC covers. */
export function macBytes({ agent, kind }: Place, body: string): Uint8Array<ArrayBuffer> {
  const from = kind === "commands" ? "gateway" : "agent";
  return utf8(`${MAC_DOMAIN}\n${from}\n${agent}/${kind}\n${body}`);
}

/** @param macs one of a command, two of an agent's message: Home's and the bridge's @returns the text to publish */
export function withMac(body: string, ...macs: Uint8Array[]): string {
  return `${body.slice(0, -1)},"mac":"${macs.map(toBase64Url).join("")}"}`;
}

const FORM = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]";
const COMMAND_TAIL = new RegExp(`^,"mac":"(${FORM})"\\}$`);
const MESSAGE_TAIL = new RegExp(`^,"mac":"(${FORM})(${FORM})"\\}$`);
const FRAME_CHARS = ',"mac":""}'.length;

type Coded = { body: string; macs: Partial<SessionKeys<Uint8Array<ArrayBuffer>>> };

/** Splits a published text into the text that the HMACs cover and the HMACs, each named for its key; undefined: it has none. */
export function splitMac(kind: Place["kind"], text: string): Coded | undefined {
  const isCommand = kind === "commands";
  const length = FRAME_CHARS + (isCommand ? 1 : 2) * CHARS;
  const tail = (isCommand ? COMMAND_TAIL : MESSAGE_TAIL).exec(text.slice(-length));
  if (tail?.[1] === undefined) return undefined;
  const [first, second] = [fromBase64Url(tail[1]), fromBase64Url(tail[2] ?? "")];
  const macs = isCommand ? { commands: first } : { reports: first, bridge: second };
  return { body: `${text.slice(0, -length)}}`, macs };
}

/** Only these topics may have an HMAC. The broker retains the others, and they have to outlast the session. */
export function isOfSession(kind: Place["kind"]): boolean {
  return kind === "commands" || kind === "reports" || kind === "events";
}

// ── with WebCrypto, as Workers have it ────────────────────────────────────────────────────────────────

const X25519 = "X25519";
const HMAC = { name: "HMAC", hash: "SHA-256" };

export type OwnHalf = { publicKey: string; privateKey: Key };

/** Makes one side's half of a session. */
export async function newSessionHalf(): Promise<OwnHalf> {
  // SAFETY: for X25519 generateKey returns a pair.
  const pair = (await crypto.subtle.generateKey(X25519, false, ["deriveBits"])) as Record<
    "publicKey" | "privateKey",
    Key
  >;
  const raw = (await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer;
  return { publicKey: toBase64Url(new Uint8Array(raw)), privateKey: pair.privateKey };
}

/** @param theirs the other side's half @returns SESSION_BYTES; undefined when `theirs` is no key, or a point of small order */
export async function sessionSecret(
  own: Key,
  theirs: string,
  parties: SessionParties,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!check(PublicKey, theirs).ok) return undefined;
  try {
    const peer = await crypto.subtle.importKey("raw", fromBase64Url(theirs), X25519, false, []);
    // Not written in the call: the types of Workers have another name for `public`.
    const dh = { name: X25519, public: peer };
    const shared = await crypto.subtle.deriveBits(dh, own, 256);
    const secret = await crypto.subtle.importKey("raw", shared, "HKDF", false, ["deriveBits"]);
    const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: sessionInfo(parties) };
    return new Uint8Array(await crypto.subtle.deriveBits(hkdf, secret, SESSION_BYTES * 8));
  } catch {
    return undefined;
  }
}

export async function importMacKey(key: Uint8Array<ArrayBuffer>): Promise<Key> {
  return await crypto.subtle.importKey("raw", key, HMAC, false, ["sign", "verify"]);
}

/** @returns the HMAC of a text at a place, 32 bytes */
export async function macOf(key: Key, place: Place, body: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, macBytes(place, body)));
}

/** Whether a text carries this key's HMAC for this place. */
export async function hasMac(use: SessionKey, key: Key, place: Place, text: string): Promise<boolean> {
  const coded = splitMac(place.kind, text);
  const mac = coded?.macs[use];
  if (!coded || !mac) return false;
  return await crypto.subtle.verify("HMAC", key, mac, macBytes(place, coded.body));
}
