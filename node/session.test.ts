import {
  hasMac,
  importMacKey,
  macOf,
  newSessionHalf,
  sessionSecret,
  splitSessionKeys,
  withMac,
} from "@edgecall/core/protocol/session.ts";
import { type Place, stamped } from "@edgecall/core/protocol/signing.ts";
import { bothHalves } from "@edgecall/core/testkit/session-cases.ts";
import { expect, test } from "vitest";
import { OwnHalf } from "./session.ts";

const REPORT: Place = { agent: "pi", kind: "reports" };
const COMMAND: Place = { agent: "pi", kind: "commands" };
const BODY = stamped('{"a":"ä\\u0000"}', { boot_id: "a run", n: 1 });

async function session() {
  const own = new OwnHalf();
  const gateway = await newSessionHalf();
  const { parties: others } = await bothHalves();
  const parties = { ...others, agentHalf: own.publicKey, gatewayHalf: gateway.publicKey };
  const secret = await sessionSecret(gateway.privateKey, own.publicKey, parties);
  const keys = own.keysWith(parties);
  if (!secret || !keys) throw new Error("no session");
  return { own, parties, keys, raw: splitSessionKeys(secret) };
}

test("Node's crypto and WebCrypto make the same keys and the same HMACs", async () => {
  const { keys, raw } = await session();
  for (const use of ["commands", "reports", "bridge"] as const) {
    const key = await importMacKey(raw[use]);
    const place = use === "commands" ? COMMAND : REPORT;
    const mac = await macOf(key, place, BODY);
    expect(new Uint8Array(keys[use].mac(place, BODY))).toEqual(mac);
    const text = use === "commands" ? withMac(BODY, mac) : withMac(BODY, mac, mac);
    expect(await hasMac(use, key, place, text)).toBe(true);
    expect(keys[use].isOn(place, text)).toBe(true);
    expect(keys[use].isOn(place, text.replace('"n":1', '"n":2'))).toBe(false);
    expect(keys[use].isOn({ ...place, agent: "po" }, text)).toBe(false);
  }
});

test("an invalid half of the gateway makes no session", async () => {
  const { own, parties } = await session();
  for (const gatewayHalf of ["", "short", "A".repeat(43)])
    expect(own.keysWith({ ...parties, gatewayHalf })).toBeUndefined();
});
