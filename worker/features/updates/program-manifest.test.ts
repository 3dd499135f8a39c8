/** The gateway's manifest of the program for devices: its key, its readers, and what it keeps secret. */
import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { programBytes } from "@edgecall/core/protocol/program.ts";
import { importPublicKey, isSigned, newKeyPair, splitSigned } from "@edgecall/core/protocol/signing.ts";
import { beforeAll, expect, test } from "vitest";
import { TOKENS, testProgram } from "../../../test/tokens.ts";
import { ask } from "../../../test/workerd.ts";

const NONCE = "0123456789abcdef-_";

async function gatewayKey(token: string): Promise<string> {
  const keys = (await (await ask("/v1/keys", { token })).json()) as { gateway: { public_key: string } };
  return keys.gateway.public_key;
}

let keyOfA: string;
let keyOfB: string;
beforeAll(async () => {
  keyOfA = await gatewayKey(TOKENS.owner);
  keyOfB = await gatewayKey(TOKENS.otherHome);
});

async function manifest(query: Record<string, string>) {
  const response = await ask(`/edgecall.json?${new URLSearchParams(query)}`, { token: null });
  return { status: response.status, text: await response.text() };
}

test("it is signed with the key of the requesting home, for the request's nonce", async () => {
  const { status, text } = await manifest({ home: "a", key: keyOfA, nonce: NONCE });
  const [sha256, bytes] = testProgram.split(" ");
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ sha256, bytes: Number(bytes), nonce: NONCE });
  const split = splitSigned(text);
  if (!split) throw new Error(`not signed: ${text}`);
  const holds = async (publicKey: string) => {
    const key = await importPublicKey(publicKey);
    return key && (await crypto.subtle.verify("Ed25519", key, split.signature, programBytes(split.body)));
  };
  expect([await holds(keyOfA), await holds(keyOfB)]).toEqual([true, false]);
  // A home's signature here is not valid for a command, whatever its agent and topic.
  const key = await importPublicKey(keyOfA);
  expect(key && (await isSigned(key, { agent: "eye", kind: "commands" }, text))).toBe(false);
});

test("a client without the home's key learns nothing, and creates no key and no object", async () => {
  const stranger = (await newKeyPair()).publicKey;
  const before = (await listDurableObjectIds(env.HOME)).length;
  const refusals = await Promise.all(
    [
      { home: "a", key: stranger, nonce: NONCE },
      { home: "a", key: keyOfB, nonce: NONCE },
      { home: "a", key: "", nonce: NONCE },
      { home: "nowhere", key: keyOfA, nonce: NONCE },
      { home: "", key: keyOfA, nonce: NONCE },
      { home: "a", key: keyOfA, nonce: "short" },
      { home: "a", key: keyOfA, nonce: `${NONCE}"` },
    ].map(manifest),
  );
  expect([...new Set(refusals.map(({ status, text }) => `${status} ${text}`))]).toEqual([
    expect.stringMatching(/^404 .*no home of this gateway has this key/),
  ]);
  expect((await listDurableObjectIds(env.HOME)).length).toBe(before);
});
