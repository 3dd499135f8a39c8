import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRelayToken, relayPlace, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
import { importPublicKey, isRotation, isSigned, type Key } from "@edgecall/core/protocol/signing.ts";
import { describe, expect, test } from "vitest";
import { makeIdentity, openIdentity, readGateway, rememberGateway, signedTextVerifier } from "./identity.ts";

const folder = () => mkdtempSync(join(tmpdir(), "edgecall-identity-"));
const reports = { agent: "eye", kind: "reports" } as const;

async function keyOf(publicKey: string): Promise<Key> {
  const key = await importPublicKey(publicKey);
  if (!key) throw new Error("no key");
  return key;
}

test("it is made once, readable only by its own user, and is the same at the next start", async () => {
  const dir = folder();
  const first = await openIdentity(dir);
  const again = await openIdentity(dir);
  expect(again.publicKey).toBe(first.publicKey);
  expect(again.fingerprint).toBe(first.fingerprint);
  expect(statSync(join(dir, "key.json")).mode & 0o777).toBe(0o600);
});

test("its signatures are valid in the gateway's runtime, and here", async () => {
  const identity = await openIdentity(folder());
  const text = identity.sign(reports, '{"a":"ä\\ud83d\\ude00","n":1}');
  expect(await isSigned(await keyOf(identity.publicKey), reports, text)).toBe(true);
  expect(signedTextVerifier(identity.publicKey)(reports, text)).toBe(true);
  expect(signedTextVerifier(identity.publicKey)({ ...reports, agent: "ear" }, text)).toBe(false);
});

test("an old key signs the new one", async () => {
  const dir = folder();
  const old = await openIdentity(dir);
  const next = await makeIdentity(dir);
  const word = old.nameSuccessor("eye", next.publicKey);
  expect(await isRotation(await keyOf(old.publicKey), "eye", next.publicKey, word)).toBe(true);
  expect((await openIdentity(dir)).publicKey).toBe(next.publicKey);
});

test("a damaged key, however it was cut, is never replaced without the owner", async () => {
  const dir = folder();
  await openIdentity(dir);
  const path = join(dir, "key.json");
  const whole = readFileSync(path, "utf8");
  for (let length = whole.trimEnd().length - 1; length >= 0; length -= 7) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    await expect(openIdentity(dir)).rejects.toThrow(
      /key\.json: damaged \(.*\); remove it and pair this device again/,
    );
  }
  writeFileSync(path, JSON.stringify({ ...JSON.parse(whole), private_key: "AAAA" }));
  await expect(openIdentity(dir)).rejects.toThrow(/damaged/);
});

test("an unpaired device and a damaged pairing are distinguished", async () => {
  const dir = folder();
  const gateway = () => readGateway({ stateDir: dir, gatewayKey: undefined });
  expect(await gateway()).toBeUndefined();
  const { publicKey } = await openIdentity(dir);
  await rememberGateway(dir, publicKey);
  expect(await gateway()).toBe(publicKey);
  truncateSync(join(dir, "gateway.json"), 20);
  await expect(gateway()).rejects.toThrow(/gateway\.json: damaged/);
});

describe("O2: paired once means paired", () => {
  const key = async () => (await openIdentity(folder())).publicKey;
  const gatewayOf = (stateDir: string) => readGateway({ stateDir, gatewayKey: undefined });

  test.each(["key.json", "counter.json"])("O2: %s without gateway.json is a lost file", async (own) => {
    const dir = folder();
    writeFileSync(join(dir, own), "{}");
    await expect(gatewayOf(dir)).rejects.toThrow(
      new RegExp(`gateway\\.json: missing, but ${own} .* obeys nothing; pair this device again, or `),
    );
    // agent.toml is enough.
    const configured = await key();
    expect(await readGateway({ stateDir: dir, gatewayKey: configured })).toBe(configured);
  });

  test.each([
    ["empty", ""],
    ["cut", '{"public_key":"AA'],
    ["of another shape", '{"url":"https://gw.example.org"}'],
    ["null", "null"],
  ])("O2: a gateway.json that is %s is no missing one", async (_, text) => {
    const dir = folder();
    writeFileSync(join(dir, "gateway.json"), text);
    await expect(gatewayOf(dir)).rejects.toThrow(/gateway\.json: damaged \(/);
  });

  test("O2: a folder in its place, and a link to nowhere beside a key, are told in words", async () => {
    const dir = folder();
    mkdirSync(join(dir, "gateway.json"));
    await expect(gatewayOf(dir)).rejects.toThrow(/gateway\.json: damaged \(it is a folder\)/);
    const other = folder();
    await openIdentity(other);
    symlinkSync(join(other, "gone"), join(other, "gateway.json"));
    await expect(gatewayOf(other)).rejects.toThrow(/gateway\.json: missing, but key\.json/);
  });
});

test("an invalid gateway key is reported", () => {
  expect(() => signedTextVerifier("nonsense")).toThrow("gateway.public_key: 'nonsense' is no Ed25519 key");
});

test("its relay token is valid for five minutes, only there, and only with its key", async () => {
  const identity = await openIdentity(folder());
  const now = Date.now();
  const place = relayPlace("https://gw.example.org/v1/relay/home/");
  expect(place).toBe("gw.example.org/v1/relay/home");
  const text = identity.relayToken("eye", place, now);
  expect(text).not.toBe(identity.relayToken("eye", place, now));
  const read = readRelayToken(text, place, now + 299_000);
  if (!read.ok) throw new Error(read.error);
  expect(read.value.claims).toMatchObject({ agent: "eye", for: place });
  const signature = Buffer.from(read.value.signature, "base64url");
  const isBy = async (key: string) =>
    await crypto.subtle.verify("Ed25519", await keyOf(key), signature, relayTokenBytes(read.value.body));
  expect(await isBy(identity.publicKey)).toBe(true);
  expect(await isBy((await openIdentity(folder())).publicKey)).toBe(false);
  expect(readRelayToken(text, place, now + 301_000)).toMatchObject({ ok: false });
  expect(readRelayToken(text, "gw.example.org/v1/relay/other", now)).toMatchObject({ ok: false });
});
