import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { KeyPair, verifierOf } from "./keypair.ts";

const bytes = Buffer.from("a report");

test("a pair's signature is valid only for its text, also after the pair was stored", () => {
  const pair = KeyPair.make();
  const kept = KeyPair.fromPrivateKey(pair.privateKey);
  expect(kept.publicKey).toBe(pair.publicKey);
  const isSigned = verifierOf(pair.publicKey);
  expect(isSigned?.(bytes, kept.sign(bytes))).toBe(true);
  expect(isSigned?.(Buffer.from("another"), kept.sign(bytes))).toBe(false);
  expect(isSigned?.(bytes, KeyPair.make().sign(bytes))).toBe(false);
});

test("keys of another kind are refused", () => {
  expect(verifierOf("nonsense")).toBeUndefined();
  expect(() => KeyPair.fromPrivateKey("AAAA")).toThrow();
  const { privateKey } = generateKeyPairSync("x25519");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64url");
  expect(() => KeyPair.fromPrivateKey(pkcs8)).toThrow("not an Ed25519 key");
});
