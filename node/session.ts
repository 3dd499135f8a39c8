/** Sessions (core/protocol/session.ts) with Node's own crypto, which works at once. */
import {
  createHmac,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import {
  macBytes,
  SESSION_BYTES,
  type SessionKey,
  type SessionKeys,
  type SessionParties,
  sessionInfo,
  splitMac,
  splitSessionKeys,
} from "@edgecall/core/protocol/session.ts";
import type { Place } from "@edgecall/core/protocol/signing.ts";

/** A key of a session. */
export class MacKey {
  readonly #use: SessionKey;
  readonly #key: KeyObject;

  /** @param key 32 bytes */
  constructor(use: SessionKey, key: Uint8Array) {
    this.#use = use;
    this.#key = createSecretKey(key);
  }

  /** @param body a stamped text @returns its HMAC, 32 bytes */
  mac(place: Place, body: string): Buffer {
    return createHmac("sha256", this.#key).update(macBytes(place, body)).digest();
  }

  /** True if a text carries this key's HMAC for this place. */
  isOn(place: Place, text: string): boolean {
    const coded = splitMac(place.kind, text);
    const mac = coded?.macs[this.#use];
    return coded !== undefined && mac !== undefined && timingSafeEqual(mac, this.mac(place, coded.body));
  }
}

/** The agent's half of its run's session. */
export class OwnHalf {
  readonly publicKey: string;
  readonly #key: KeyObject;

  constructor() {
    this.#key = generateKeyPairSync("x25519").privateKey;
    this.publicKey = createPublicKey(this.#key).export({ format: "jwk" }).x ?? "";
  }

  /** @returns the session's keys; undefined when the gateway's half is no key, or a point of small order */
  keysWith(parties: SessionParties): SessionKeys<MacKey> | undefined {
    try {
      const jwk = { kty: "OKP", crv: "X25519", x: parties.gatewayHalf };
      const publicKey = createPublicKey({ key: jwk, format: "jwk" });
      const shared = diffieHellman({ privateKey: this.#key, publicKey });
      const secret = hkdfSync("sha256", shared, new Uint8Array(), sessionInfo(parties), SESSION_BYTES);
      const { commands, reports, bridge } = splitSessionKeys(new Uint8Array(secret));
      return {
        commands: new MacKey("commands", commands),
        reports: new MacKey("reports", reports),
        bridge: new MacKey("bridge", bridge),
      };
    } catch {
      return undefined;
    }
  }
}
