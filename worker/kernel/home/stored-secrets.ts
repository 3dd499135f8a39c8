/**
 * Secrets of other services that a home keeps in its rows, and so in a back-up: they are encrypted with a key derived from the secret
 * CONNECTIONS_KEY, if that is set; else the rows are as safe as the object's storage.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { SettingsError } from "../settings/settings-error.ts";

/** A shorter CONNECTIONS_KEY can be guessed. */
const KEY_MIN_CHARS = 32;
/** AES-GCM's own. */
const NONCE_BYTES = 12;

/** Words for a secret that cannot be opened; what to do about it follows. */
export const OTHER_KEY = "was kept with another CONNECTIONS_KEY than the one that is set now";

export class StoredSecrets {
  readonly #home: string;
  readonly #secret: string | undefined;

  /** @param home the home's id @param secret CONNECTIONS_KEY */
  constructor(home: string, secret: string | undefined) {
    this.#home = home;
    this.#secret = secret;
  }

  /**
   * @param place the row that it belongs to: rows cannot be swapped
   * @returns `plain:` and the text, or `aes:` and the nonce with the ciphertext
   * @throws SettingsError
   */
  async seal(text: string, place: string): Promise<string> {
    if (!this.#secret) return `plain:${text}`;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const key = await this.#key(this.#secret);
    const sealed = new Uint8Array(
      await crypto.subtle.encrypt(this.#algorithm(nonce, place), key, utf8(text)),
    );
    return `aes:${toBase64Url(nonce)}.${toBase64Url(sealed)}`;
  }

  /** @returns undefined: it was sealed with another key, or for another row @throws SettingsError */
  async open(stored: string, place: string): Promise<string | undefined> {
    if (stored.startsWith("plain:")) return stored.slice("plain:".length);
    const [, nonce, sealed] = /^aes:([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(stored) ?? [];
    if (!this.#secret || nonce === undefined || sealed === undefined) return undefined;
    const key = await this.#key(this.#secret);
    try {
      const algorithm = this.#algorithm(fromBase64Url(nonce), place);
      return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, fromBase64Url(sealed)));
    } catch {
      return undefined;
    }
  }

  #algorithm(iv: Uint8Array, place: string) {
    return { name: "AES-GCM", iv, additionalData: utf8(`${this.#home}/${place}`) };
  }

  /** @throws SettingsError */
  async #key(secret: string): Promise<CryptoKey> {
    if (secret.length < KEY_MIN_CHARS)
      throw new SettingsError(`CONNECTIONS_KEY: expected at least ${KEY_MIN_CHARS} characters`);
    const material = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey"]);
    const hkdf = {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: utf8("edgecall connections v1"),
    };
    return await crypto.subtle.deriveKey(hkdf, material, { name: "AES-GCM", length: 256 }, false, [
      "encrypt",
      "decrypt",
    ]);
  }
}
