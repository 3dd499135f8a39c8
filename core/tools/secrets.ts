/**
 * Masks known secrets (keys, passwords, tokens) in results, log lines and live output. It only finds exact copies: an
 * encoded secret passes. It is a safety net behind the rule that tools get no secrets.
 */

/** A shorter secret would mask ordinary words. */
const SECRET_MIN_LENGTH = 8;
const MASK = "[secret]";

/** Replaces every occurrence of a secret by `[secret]`; overlapping occurrences become one. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const found = secrets.filter(longEnough).flatMap((secret) => occurrences(text, secret));
  if (found.length === 0) return text;
  found.sort((a, b) => a.from - b.from);
  let masked = "";
  let end = 0;
  for (const { from, to } of found) {
    if (from >= end) masked += text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}

/** The same for a JSON value, within lists and objects; keys stay unchanged. */
export function maskDeep(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return maskSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, secrets));
  // An instance of a class is not JSON, and a copy of its fields would be a different value.
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, secrets)]));
}

/**
 * The filter for output in pieces. It holds back a possible beginning of a secret until the next piece arrives.
 */
export class SecretStream {
  readonly #secrets: readonly string[];
  #held = "";

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter(longEnough);
  }

  /** @returns the text that is safe to show now */
  push(text: string): string {
    const masked = maskSecrets(this.#held + text, this.#secrets);
    const safe = masked.length - this.#beginningAtEnd(masked);
    this.#held = masked.slice(safe);
    return masked.slice(0, safe);
  }

  /** @returns the rest. The output may end in the middle of a secret, so a long beginning of one is masked too. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest.length >= SECRET_MIN_LENGTH ? MASK : rest;
  }

  /** Returns the length of the longest suffix of the text that is a prefix of a secret. */
  #beginningAtEnd(text: string): number {
    const longest = Math.max(0, ...this.#secrets.map((secret) => secret.length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
      const tail = text.slice(-length);
      if (this.#secrets.some((secret) => secret.startsWith(tail))) return length;
    }
    return 0;
  }
}

function longEnough(secret: string): boolean {
  return secret.length >= SECRET_MIN_LENGTH;
}

function occurrences(text: string, secret: string): Array<{ from: number; to: number }> {
  const found = [];
  for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + 1))
    found.push({ from, to: from + secret.length });
  return found;
}
