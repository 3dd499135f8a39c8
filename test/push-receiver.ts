/**
 * The other end of Web Push, written apart from the gateway's with node:crypto: a browser's keys, which open messages (RFC 8291),
 * and what a push service checks of a sender (RFC 8292).
 */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";

export class TestReceiver {
  readonly #ecdh = createECDH("prime256v1");
  readonly #auth: Buffer;

  constructor(fixed?: { privateKey: string; auth: string }) {
    if (fixed) this.#ecdh.setPrivateKey(Buffer.from(fixed.privateKey, "base64url"));
    else this.#ecdh.generateKeys();
    this.#auth = fixed ? Buffer.from(fixed.auth, "base64url") : randomBytes(16);
  }

  get keys(): { p256dh: string; auth: string } {
    return { p256dh: this.#ecdh.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
  }

  /** @returns the secret that is shared with the sender, RFC 8291 §3.3 */
  agree(sender: Buffer): Buffer {
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#ecdh.getPublicKey(), sender]);
    return Buffer.from(hkdfSync("sha256", this.#ecdh.computeSecret(sender), this.#auth, info, 32));
  }
}

/** @returns the message's text @throws when a byte is wrong, or there is more than one record */
export function openPush(receiver: TestReceiver, body: Uint8Array): string {
  const bytes = Buffer.from(body);
  const salt = bytes.subarray(0, 16);
  const recordSize = bytes.readUInt32BE(16);
  const idLength = bytes.readUInt8(20);
  if (idLength !== 65) throw new Error(`keyid: expected a public key of 65 bytes, got ${idLength}`);
  const sender = bytes.subarray(21, 86);
  const record = bytes.subarray(86);
  if (bytes.length > 4_096) throw new Error(`body: expected at most 4096 bytes, got ${bytes.length}`);
  if (record.length > recordSize) throw new Error("record: expected one");
  const secret = receiver.agree(sender);
  const derive = (name: string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, salt, `Content-Encoding: ${name}\0`, length));
  const opener = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
  opener.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([opener.update(record.subarray(0, -16)), opener.final()]);
  const end = padded.findLastIndex((byte: number) => byte !== 0);
  if (padded[end] !== 2) throw new Error("padding: expected the delimiter of the last record");
  return padded.subarray(0, end).toString();
}

/** @returns the sender's public key @throws an error that names the wrong field */
export function checkVapid(header: string, endpoint: string, now: number): string {
  const [, head = "", body = "", signature = "", key = ""] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]{87})$/.exec(header) ?? [];
  if (key === "") throw new Error(`authorization: expected 'vapid t=…, k=…', got '${header}'`);
  const read = (text: string) =>
    JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
  if (read(head).alg !== "ES256") throw new Error("alg: expected ES256");
  const { aud, exp, sub } = read(body);
  if (aud !== new URL(endpoint).origin) throw new Error(`aud: expected the push service, got '${aud}'`);
  const left = Number(exp) - now / 1_000;
  if (!(left > 0 && left <= 86_400)) throw new Error(`exp: expected a time within a day, got ${left} s`);
  if (!/^(https:\/\/|mailto:)/.test(String(sub)))
    throw new Error(`sub: expected https or mailto, got '${sub}'`);
  const point = Buffer.from(key, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  const bytes = Buffer.from(signature, "base64url");
  if (!verify("sha256", Buffer.from(`${head}.${body}`), { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes))
    throw new Error("signature: expected one of the key k");
  return key;
}
