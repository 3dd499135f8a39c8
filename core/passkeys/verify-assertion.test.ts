import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex, toBase64Url, tryFromBase64Url } from "../encoding.ts";
import { rawSignature } from "./ecdsa-signature.ts";
import { ALGORITHMS, type Assertion, challengeOf, type Decision, type Passkey } from "./passkey.ts";
import { Authenticator, type Deviation, derSignature } from "./testkit/authenticator.ts";
import { type Expected, verifyAssertion } from "./verify-assertion.ts";

const ORIGIN = "https://edgecall.ann.workers.dev";
const RP_ID = "edgecall.ann.workers.dev";
const HANDLE = toBase64Url(new Uint8Array(32).fill(7));

const DECISION: Decision = {
  home: "home",
  about: "q-1",
  what: "a".repeat(64),
  answer: "approve",
  keep: "",
  person: "ann",
  nonce: toBase64Url(new Uint8Array(32).fill(1)),
  until: 1_800_000_000_000,
};

async function expectedOf(decision: Decision = DECISION): Promise<Expected> {
  return { challenge: await challengeOf(decision), origin: ORIGIN, rpId: RP_ID, userHandle: HANDLE };
}

/** SimpleWebAuthn's word on the same assertion. It takes the public key as COSE, which is made here. */
async function peerAgrees(passkey: Passkey, assertion: Assertion, expected: Expected): Promise<boolean> {
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id: assertion.id,
        rawId: assertion.id,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: assertion.clientDataJSON,
          authenticatorData: assertion.authenticatorData,
          signature: assertion.signature,
        },
      },
      expectedChallenge: toBase64Url(fromHex(expected.challenge) ?? new Uint8Array()),
      expectedOrigin: expected.origin,
      expectedRPID: expected.rpId,
      requireUserVerification: true,
      credential: { id: passkey.id, publicKey: await coseOf(passkey), counter: passkey.counter },
    });
    return verified;
  } catch {
    return false;
  }
}

/** RFC 9053: the few bytes of CBOR for one key. */
async function coseOf({ algorithm, publicKey }: Passkey): Promise<Uint8Array<ArrayBuffer>> {
  const spki = tryFromBase64Url(publicKey) ?? new Uint8Array();
  const head = ({ length }: Uint8Array): number[] =>
    length < 24 ? [0x40 + length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255];
  const text = (bytes: Uint8Array): number[] => [...head(bytes), ...bytes];
  if (algorithm === -7) {
    const point = spki.subarray(-64);
    return new Uint8Array([
      0xa5,
      1,
      2,
      3,
      0x26,
      0x20,
      1,
      0x21,
      ...text(point.subarray(0, 32)),
      0x22,
      ...text(point.subarray(32)),
    ]);
  }
  if (algorithm === -8)
    return new Uint8Array([0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, ...text(spki.subarray(-32))]);
  const name = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("spki", spki, name, true, ["verify"]);
  const { n = "", e = "" } = (await crypto.subtle.exportKey("jwk", key)) as JsonWebKey;
  const numbers = [n, e].map((one) => tryFromBase64Url(one) ?? new Uint8Array());
  return new Uint8Array([
    0xa4,
    1,
    3,
    3,
    0x39,
    1,
    0,
    0x20,
    ...text(numbers[0] ?? new Uint8Array()),
    0x21,
    ...text(numbers[1] ?? new Uint8Array()),
  ]);
}

const NAMES = { [-7]: "ES256", [-8]: "EdDSA", [-257]: "RS256" };

describe.each(ALGORITHMS.map((algorithm) => [NAMES[algorithm], algorithm] as const))("%s", (_, algorithm) => {
  test("an assertion for this decision counts, here and for SimpleWebAuthn", async () => {
    for (const isSynced of [false, true]) {
      const authenticator = await Authenticator.make(algorithm, HANDLE, isSynced);
      const expected = await expectedOf();
      const assertion = await authenticator.assert(expected);
      const verified = await verifyAssertion(authenticator.passkey, assertion, expected);
      expect(verified).toEqual({ ok: true, counter: isSynced ? 0 : 1, isSynced });
      expect(await peerAgrees(authenticator.passkey, assertion, expected)).toBe(true);
    }
  });

  test("no bit of what is signed may differ, nor of the signature", async () => {
    const authenticator = await Authenticator.make(algorithm, HANDLE);
    const expected = await expectedOf();
    const assertion = await authenticator.assert(expected);
    for (const part of ["clientDataJSON", "authenticatorData", "signature"] as const) {
      const bytes = tryFromBase64Url(assertion[part]) ?? new Uint8Array();
      for (let bit = 0; bit < bytes.length * 8; bit += part === "clientDataJSON" ? 7 : 5) {
        const other = bytes.slice();
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const changed = { ...assertion, [part]: toBase64Url(other) };
        const verified = await verifyAssertion(authenticator.passkey, changed, expected);
        expect(verified.ok, `${part}, bit ${bit}`).toBe(false);
      }
    }
  });
});

describe("refused, each for its own reason", () => {
  type Case = [
    name: string,
    why: string,
    change: {
      decision?: Partial<Decision>;
      deviation?: Deviation;
      passkey?: Partial<Passkey>;
      expected?: Partial<Expected>;
      assertion?: Partial<Assertion>;
    },
    /** SimpleWebAuthn has no such check, or leaves it to its caller. */
    peerTakesIt?: true,
  ];
  test.each<Case>([
    ["another call", "challenge", { decision: { what: "b".repeat(64) } }],
    ["another question", "challenge", { decision: { about: "q-2" } }],
    ["once turned into always", "challenge", { decision: { keep: "c".repeat(64) } }],
    ["yes turned into no", "challenge", { decision: { answer: "deny" } }],
    ["another home", "challenge", { decision: { home: "cabin" } }],
    ["another person's decision", "challenge", { decision: { person: "ben" } }],
    ["another time to live", "challenge", { decision: { until: 1_800_000_000_001 } }],
    [
      "a replay of the same answer with another nonce",
      "challenge",
      { decision: { nonce: toBase64Url(new Uint8Array(32)) } },
    ],
    [
      "another origin",
      "origin",
      { deviation: { clientData: { origin: "https://edgecall.eve.workers.dev" } } },
    ],
    ["the origin with another port", "origin", { deviation: { clientData: { origin: `${ORIGIN}:8443` } } }],
    ["the origin without TLS", "origin", { deviation: { clientData: { origin: `http://${RP_ID}` } } }],
    [
      "a page in a frame of another site",
      "frame",
      { deviation: { clientData: { crossOrigin: true } } },
      true,
    ],
    [
      "a frame's top origin",
      "frame",
      { deviation: { clientData: { topOrigin: "https://x.example" } } },
      true,
    ],
    ["the answer to a registration", "type", { deviation: { clientData: { type: "webauthn.create" } } }],
    ["another host", "host", { deviation: { rpId: "workers.dev" } }],
    ["the authenticator was not touched", "not present", { deviation: { flags: 0x04 } }],
    ["the person was not verified", "not verified", { deviation: { flags: 0x01 } }],
    ["backed up without being able to", "backup", { deviation: { flags: 0x15 } }],
    ["synced, which it was not when it was made", "backup", { deviation: { flags: 0x1d } }, true],
    ["with extensions that were not asked for", "authenticator data", { deviation: { flags: 0x85 } }],
    ["with a key, as at registration", "authenticator data", { deviation: { flags: 0x45 } }],
    ["a counter that stood still", "counter", { deviation: { counter: 5 }, passkey: { counter: 5 } }],
    ["a counter that fell", "counter", { deviation: { counter: 4 }, passkey: { counter: 5 } }],
    ["a counter that fell to 0", "counter", { deviation: { counter: 0 }, passkey: { counter: 5 } }],
    ["another passkey's id", "credential", { assertion: { id: "AAAA" } }, true],
    ["another person's handle", "person", { deviation: { userHandle: "BBBB" } }, true],
    ["client data that is no JSON", "client data", { assertion: { clientDataJSON: "AAAA" } }],
    [
      "client data that is a list",
      "client data",
      { assertion: { clientDataJSON: toBase64Url(new TextEncoder().encode("[]")) } },
    ],
    ["authenticator data that is cut", "authenticator data", { assertion: { authenticatorData: "AAAA" } }],
    ["no signature", "signature", { assertion: { signature: "AA" } }],
    ["the stored algorithm is another one", "signature", { passkey: { algorithm: -8 } }, true],
    ["the stored key is another one", "signature", { passkey: { publicKey: "AAAA" } }, true],
  ])("%s: %s", async (_, why, { decision, deviation, passkey, expected, assertion }, peerTakesIt) => {
    const authenticator = await Authenticator.make(-7, HANDLE);
    const asked = await expectedOf({ ...DECISION, ...decision });
    const given = { ...(await authenticator.assert(asked, deviation)), ...assertion };
    const stored = { ...authenticator.passkey, ...passkey };
    const wanted = { ...(await expectedOf()), ...expected };
    expect(await verifyAssertion(stored, given, wanted)).toEqual({ ok: false, why });
    if (!peerTakesIt) expect(await peerAgrees(stored, given, wanted)).toBe(false);
  });

  test("an authenticator that does not tell the person's handle is believed by its key", async () => {
    const authenticator = await Authenticator.make(-7, HANDLE);
    const expected = await expectedOf();
    const assertion = await authenticator.assert(expected, { userHandle: null });
    expect((await verifyAssertion(authenticator.passkey, assertion, expected)).ok).toBe(true);
  });
});

describe("signatures in DER", () => {
  test("each pair of numbers comes back as it was, and no other form of it does", () => {
    const half = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .filter((bytes) => bytes.some((byte) => byte !== 0));
    fc.assert(
      fc.property(half, half, (r, s) => {
        const raw = new Uint8Array([...r, ...s]);
        const der = new Uint8Array(derSignature(raw));
        expect(rawSignature(der)).toEqual(raw);
        expect(rawSignature(new Uint8Array([...der, 0]))).toBeUndefined();
        expect(rawSignature(der.slice(0, -1))).toBeUndefined();
        // A leading zero more, with all lengths right.
        const length = der[3] ?? 0;
        const padded = new Uint8Array([0x30, (der[1] ?? 0) + 1, 0x02, length + 1, 0, ...der.slice(4)]);
        expect(rawSignature(padded)).toBeUndefined();
      }),
    );
  });

  test.each<[string, number[]]>([
    ["nothing", []],
    ["a negative number", [0x30, 6, 2, 1, 0x80, 2, 1, 1]],
    ["an empty number", [0x30, 5, 2, 0, 2, 1, 1]],
    ["one number", [0x30, 3, 2, 1, 1]],
    ["three numbers", [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1]],
    ["a long form of the length", [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]],
    ["a number that ends behind the signature", [0x30, 6, 2, 1, 1, 2, 9, 1]],
    ["33 bytes that need no zero", [0x30, 38, 2, 33, ...new Array(33).fill(1), 2, 1, 1]],
    ["another type", [0x30, 6, 3, 1, 1, 2, 1, 1]],
  ])("%s is none", (_, bytes) => {
    expect(rawSignature(new Uint8Array(bytes))).toBeUndefined();
  });
});
