/**
 * The secret filter: known secrets (keys, passwords, tokens) never leave in a result, a log line or a live
 * output. It finds them letter for letter; a tool that encodes a secret gets it past, so this is a net below
 * the rule that tools are not handed secrets, not the rule.
 */

/** A shorter one would blot out ordinary words. */
export const SECRET_MIN_LENGTH = 8;
const MASK = "[secret]";

/** Replaces every occurrence of a secret by `[secret]`; overlapping ones become one. */
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

/** The same for a value of JSON, through lists and objects; keys are left alone. */
export function maskDeep(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return maskSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, secrets));
  // Whatever has a class of its own is no JSON, and taken apart it would be something else.
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, secrets)]));
}

/**
 * The filter for output that comes in pieces: what may be the beginning of a secret is held back until the
 * next piece tells.
 */
export class SecretStream {
  readonly #secrets: readonly string[];
  #held = "";

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter(longEnough);
  }

  /** @returns what is safe to show by now */
  push(text: string): string {
    const masked = maskSecrets(this.#held + text, this.#secrets);
    const safe = masked.length - this.#beginningAtEnd(masked);
    this.#held = masked.slice(safe);
    return masked.slice(0, safe);
  }

  /** @returns the rest; the output may have been cut in the middle of a secret, so a long beginning is masked too */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest.length >= SECRET_MIN_LENGTH ? MASK : rest;
  }

  /** Length of the longest end of the text that is a beginning of a secret. */
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
