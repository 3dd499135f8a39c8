/** The gateway's key that the bridge keeps: its first welcome, another one later, and a damaged file. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { automationBytes, signedBytes, withSignature } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { beforeEach, expect, test } from "vitest";
import { GatewayPin } from "./gateway-pin.ts";

const pair = KeyPair.make();
const other = KeyPair.make();
const welcome = { home: "h1", gateway_key: pair.publicKey };
const body = '{"id":"a-0001","home":"h1"}';
const signed = withSignature(body, pair.sign(automationBytes(body)));
let folder: string;
let logged: string[];
const log = (_: string, event: string) => logged.push(event);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pin-"));
  logged = [];
});

test("a bridge with a token takes the key of its first welcome, also over a restart, and no other one later", async () => {
  const first = await GatewayPin.open(folder, undefined, log);
  expect(first.bodyOf(signed)).toBeUndefined();
  expect(await first.welcomed({ home: "h1" })).toBe(false);
  expect(await first.welcomed(welcome)).toBe(true);
  expect(first.bodyOf(signed)).toBe(body);

  const next = await GatewayPin.open(folder, undefined, log);
  expect(next.home).toBe("h1");
  expect(next.bodyOf(signed)).toBe(body);
  expect(await next.welcomed({ home: "h1", gateway_key: other.publicKey })).toBe(false);
  expect(next.problem).toMatchObject({ code: "gateway_key_changed" });
  expect(await next.welcomed({ home: "h1" })).toBe(false);
  expect(await next.welcomed({ ...welcome, home: "h2" })).toBe(false);
  expect(logged).toContain("gateway_key.other");
  expect(await next.welcomed(welcome)).toBe(true);
  expect(next.problem).toBeUndefined();
});

test("what pairing wrote counts before any welcome, and against a file of before", async () => {
  await (await GatewayPin.open(folder, undefined, log)).welcomed({
    ...welcome,
    gateway_key: other.publicKey,
  });
  const pin = await GatewayPin.open(folder, { home: "h1", key: pair.publicKey }, log);
  expect(pin.bodyOf(signed)).toBe(body);
  expect(await pin.welcomed({ ...welcome, gateway_key: other.publicKey })).toBe(false);
});

test("a damaged file is no first welcome: nothing counts until a person has looked", async () => {
  writeFileSync(join(folder, "gateway-key.json"), "{");
  const pin = await GatewayPin.open(folder, undefined, log);
  expect(await pin.welcomed(welcome)).toBe(false);
  expect(pin.problem).toMatchObject({ code: "gateway_key_damaged" });
  expect(readFileSync(join(folder, "gateway-key.json"), "utf8")).toBe("{");
});

test("a signature counts for rules that act alone, each of its characters, and by this key", async () => {
  const pin = await GatewayPin.open(folder, { home: "h1", key: pair.publicKey }, log);
  const elsewhere = withSignature(body, pair.sign(signedBytes({ agent: "a", kind: "commands" }, body)));
  const stranger = withSignature(body, other.sign(automationBytes(body)));
  for (const text of [elsewhere, stranger, body, signed.replace("a-0001", "a-0002"), ` ${signed}`])
    expect(pin.bodyOf(text)).toBeUndefined();
});
