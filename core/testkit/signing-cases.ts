/** Signature tests that every runtime must pass with the same result: Node (core/) and workerd (worker/). */

import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { fromHex, toBase64Url } from "../encoding.ts";
import { TOPIC_KINDS } from "../protocol/names.ts";
import { check } from "../protocol/parse.ts";
import {
  importPrivateKey,
  importPublicKey,
  isRotation,
  isSigned,
  type Key,
  newKeyPair,
  type Place,
  PublicKey,
  rotationBytes,
  sign,
  splitSigned,
  stamped,
  stampOf,
} from "../protocol/signing.ts";

/** RFC 8032 §7.1, test 1; the private one as PKCS #8. */
export const PAIR = {
  privateKey: "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v_VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
  publicKey: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};

/** SHA-256 over all signed texts of `SAMPLE`. Node's crypto module made it (see core's test); every runtime must match. */
export const SIGNED_SAMPLE = "Ngb54Rtzoz812Vm11bk9Yl6w0M-mOZYbvnaV8OVOOsc";

const place: fc.Arbitrary<Place> = fc.record({
  agent: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  kind: fc.constantFrom(...TOPIC_KINDS),
});
const stamp = fc.record({ n: fc.maxSafeNat(), boot_id: fc.string({ minLength: 1, maxLength: 64 }) });
/** Any text that a side may sign: any JSON, with all of Unicode. */
const body = fc
  .tuple(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { minKeys: 1 }), stamp)
  .map(([said, stamp]) => stamped(JSON.stringify(said), stamp));

export function sample(): Array<{ place: Place; body: string }> {
  return fc.sample(fc.record({ place, body }), { seed: 20261122, numRuns: 200 });
}

export async function digestOf(texts: readonly string[]): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("\n")));
  return toBase64Url(new Uint8Array(digest));
}

export function signingCases(): void {
  let signer: Key;
  let verifier: Key;
  beforeAll(async () => {
    signer = await importPrivateKey(PAIR.privateKey);
    const key = await importPublicKey(PAIR.publicKey);
    if (!key) throw new Error("the key of RFC 8032 is none?");
    verifier = key;
  });

  /** Points of order 8, 8, 4, 1 and 2, and the last two in their second encoding; each with both signs. */
  const small = [
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "00".repeat(32),
    `01${"00".repeat(31)}`,
    `ec${"ff".repeat(30)}7f`,
    `ed${"ff".repeat(30)}7f`,
    `ee${"ff".repeat(30)}7f`,
  ].flatMap((hex) => {
    const bytes = fromHex(hex) ?? new Uint8Array();
    return [0, 0x80].map((sign) => toBase64Url(bytes.map((byte, n) => (n === 31 ? byte | sign : byte))));
  });
  test.each(small)("a point of small order is nobody's key: %s", async (text) => {
    expect(await importPublicKey(text)).toBeUndefined();
  });
  test("and its neighbours are keys like any other, as far as they are points", async () => {
    expect(await importPublicKey(PAIR.publicKey)).toBeDefined();
    expect(check(PublicKey, `AQAA${"A".repeat(38)}E`).ok).toBe(true);
    expect(check(PublicKey, `B${"A".repeat(42)}`).ok).toBe(true);
  });

  test("the same texts have the same signatures as in any other runtime", async () => {
    const texts: string[] = [];
    for (const { place, body } of sample()) texts.push(await sign(signer, place, body));
    expect(await digestOf(texts)).toBe(SIGNED_SAMPLE);
  });

  test("what was signed is believed, is JSON as before with a field more, and its stamp is read", async () => {
    await fc.assert(
      fc.asyncProperty(place, body, async (place, body) => {
        const text = await sign(signer, place, body);
        expect(await isSigned(verifier, place, text)).toBe(true);
        const { sig, ...rest } = JSON.parse(text) as Record<string, unknown>;
        expect(sig).toMatch(/^[A-Za-z0-9_-]{86}$/);
        const { sig: _, ...before } = JSON.parse(body) as Record<string, unknown>;
        expect(rest).toEqual(before);
        expect(splitSigned(text)?.body).toBe(body);
        const { n, boot_id } = rest;
        expect(stampOf(text)).toMatchObject({ ok: true, value: { n, boot_id } });
      }),
      { numRuns: 100 },
    );
  });

  test("nothing that was changed is believed: not a character, not its place, not its key", async () => {
    const other = await newKeyPair();
    const otherKey = await importPublicKey(other.publicKey);
    if (!otherKey) throw new Error("a new key is none?");
    await fc.assert(
      fc.asyncProperty(
        place,
        place,
        body,
        fc.nat(),
        fc.nat(0xffff),
        async (at, elsewhere, body, where, char) => {
          const text = await sign(signer, at, body);
          const index = where % text.length;
          const changed = text.slice(0, index) + String.fromCharCode(char) + text.slice(index + 1);
          if (changed !== text) expect(await isSigned(verifier, at, changed)).toBe(false);
          if (at.agent !== elsewhere.agent || at.kind !== elsewhere.kind)
            expect(await isSigned(verifier, elsewhere, text)).toBe(false);
          expect(await isSigned(otherKey, at, text)).toBe(false);
          expect(await isSigned(verifier, at, text.slice(0, where % text.length))).toBe(false);
          expect(await isSigned(verifier, at, `${text} `)).toBe(false);
          expect(await isSigned(verifier, at, body)).toBe(false);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("arbitrary text is refused, and never an error", async () => {
    const tail = fc
      .string({ unit: "binary", minLength: 0, maxLength: 90 })
      .map((sig) => `{"a":1,"sig":"${sig}"}`);
    const right = fc
      .stringMatching(/^[A-Za-z0-9_-]{86}$/)
      .chain((sig) => fc.json().map((json) => `${json.slice(0, -1)},"sig":"${sig}"}`));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "binary" }), fc.json(), tail, right),
        place,
        async (text, at) => {
          expect(await isSigned(verifier, at, text)).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  });

  describe("a key", () => {
    test.each(["", "short", "A".repeat(42), "A".repeat(44), `${"A".repeat(42)}=`, "ä".repeat(43)])(
      "is not %j",
      async (text) => {
        expect(await importPublicKey(text)).toBeUndefined();
      },
    );

    test("is new each time, and a pair signs for itself", async () => {
      const [one, two] = await Promise.all([newKeyPair(), newKeyPair()]);
      expect(one.publicKey).not.toBe(two.publicKey);
      const key = await importPublicKey(one.publicKey);
      if (!key) throw new Error("a new key is none?");
      const at: Place = { agent: "pi", kind: "reports" };
      const text = await sign(await importPrivateKey(one.privateKey), at, '{"n":1}');
      expect(await isSigned(key, at, text)).toBe(true);
    });

    test("is replaced by the word of the one before it, for one agent and one new key", async () => {
      const { publicKey } = await newKeyPair();
      const word = await crypto.subtle.sign("Ed25519", signer, rotationBytes("pi", publicKey));
      const signature = toBase64Url(new Uint8Array(word));
      expect(await isRotation(verifier, "pi", publicKey, signature)).toBe(true);
      expect(await isRotation(verifier, "po", publicKey, signature)).toBe(false);
      expect(await isRotation(verifier, "pi", PAIR.publicKey, signature)).toBe(false);
      expect(await isRotation(verifier, "pi", publicKey, "nonsense")).toBe(false);
    });
  });
}
