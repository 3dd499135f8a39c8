import { createPrivateKey, sign as signInNode } from "node:crypto";
import { describe, expect, test } from "vitest";
import { digestOf, PAIR, SIGNED_SAMPLE, sample, signingCases } from "../testkit/signing-cases.ts";
import { fingerprint, signedBytes, withSignature } from "./signing.ts";

describe("in Node", signingCases);

test("Node's own crypto module, which bridge and agent sign with, makes the same signatures", async () => {
  const der = Buffer.from(PAIR.privateKey, "base64url");
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const texts = sample().map(({ place, body }) =>
    withSignature(body, signInNode(null, signedBytes(place, body), key)),
  );
  expect(await digestOf(texts)).toBe(SIGNED_SAMPLE);
});

test("a fingerprint is short enough for a person to compare", async () => {
  expect(await fingerprint(PAIR.publicKey)).toMatch(/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/);
});
