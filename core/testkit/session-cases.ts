/** Tests of sessions that every runtime must pass with the same result: Node (core/, node/) and workerd (worker/). */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { toBase64Url } from "../encoding.ts";
import { TOPIC_KINDS } from "../protocol/names.ts";
import {
  hasMac,
  importMacKey,
  isOfSession,
  macOf,
  newSessionHalf,
  type SessionParties,
  sessionInfo,
  sessionSecret,
  splitMac,
  splitSessionKeys,
  withMac,
} from "../protocol/session.ts";
import { type Key, type Place, stamped, stampOf } from "../protocol/signing.ts";
import { PAIR } from "./signing-cases.ts";

const place: fc.Arbitrary<Place> = fc.record({
  agent: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  kind: fc.constantFrom(...TOPIC_KINDS.filter(isOfSession)),
});
const stamp = fc.record({ n: fc.maxSafeNat(), boot_id: fc.string({ minLength: 1, maxLength: 64 }) });
const body = fc
  .tuple(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { minKeys: 1 }), stamp)
  .map(([said, stamp]) => stamped(JSON.stringify(said), stamp));

export async function bothHalves() {
  const [agent, gateway] = await Promise.all([newSessionHalf(), newSessionHalf()]);
  const parties: SessionParties = {
    agent: "pi",
    bootId: "a run",
    agentKey: PAIR.publicKey,
    gatewayKey: PAIR.publicKey,
    agentHalf: agent.publicKey,
    gatewayHalf: gateway.publicKey,
  };
  return { agent, gateway, parties };
}

export function sessionCases(): void {
  let keys: { commands: Key; reports: Key; bridge: Key };
  beforeAll(async () => {
    const { agent, gateway, parties } = await bothHalves();
    const secret = await sessionSecret(agent.privateKey, parties.gatewayHalf, parties);
    if (!secret) throw new Error("no secret");
    expect(await sessionSecret(gateway.privateKey, parties.agentHalf, parties)).toEqual(secret);
    const { commands, reports, bridge } = splitSessionKeys(secret);
    expect(new Set([commands, reports, bridge].map(toBase64Url)).size).toBe(3);
    keys = {
      commands: await importMacKey(commands),
      reports: await importMacKey(reports),
      bridge: await importMacKey(bridge),
    };
  });

  /** The text as the right side publishes it. */
  async function sealed(at: Place, body: string): Promise<string> {
    const names = at.kind === "commands" ? (["commands"] as const) : (["reports", "bridge"] as const);
    return withMac(body, ...(await Promise.all(names.map((name) => macOf(keys[name], at, body)))));
  }
  const isFrom = async (at: Place, text: string) =>
    at.kind === "commands"
      ? await hasMac("commands", keys.commands, at, text)
      : (await hasMac("reports", keys.reports, at, text)) && (await hasMac("bridge", keys.bridge, at, text));

  test("what a side sent counts, is JSON as before with a field more, and its stamp is read", async () => {
    await fc.assert(
      fc.asyncProperty(place, body, async (at, body) => {
        const text = await sealed(at, body);
        expect(await isFrom(at, text)).toBe(true);
        const { mac, ...rest } = JSON.parse(text) as Record<string, unknown>;
        expect(mac).toMatch(at.kind === "commands" ? /^[\w-]{43}$/ : /^[\w-]{86}$/);
        const { mac: _, ...before } = JSON.parse(body) as Record<string, unknown>;
        expect(rest).toEqual(before);
        const { n, boot_id } = rest;
        expect(stampOf(text)).toMatchObject({ ok: true, value: { n, boot_id } });
      }),
      { numRuns: 100 },
    );
  });

  test("nothing that was changed, cut or put elsewhere counts", async () => {
    await fc.assert(
      fc.asyncProperty(
        place,
        place,
        body,
        fc.nat(),
        fc.nat(0xffff),
        async (at, elsewhere, body, where, char) => {
          const text = await sealed(at, body);
          const index = where % text.length;
          const changed = text.slice(0, index) + String.fromCharCode(char) + text.slice(index + 1);
          if (changed !== text) expect(await isFrom(at, changed)).toBe(false);
          if (at.agent !== elsewhere.agent || at.kind !== elsewhere.kind)
            expect(await isFrom(elsewhere, text)).toBe(false);
          expect(await isFrom(at, text.slice(0, index))).toBe(false);
          expect(await isFrom(at, `${text} `)).toBe(false);
          expect(await isFrom(at, body)).toBe(false);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("a command's HMAC is no report's, Home's is not the bridge's, and a shorter one is none", async () => {
    const body = stamped('{"a":1}', { boot_id: "a run", n: 1 });
    const command: Place = { agent: "pi", kind: "commands" };
    const report: Place = { agent: "pi", kind: "reports" };
    const ofCommand = await macOf(keys.commands, command, body);
    const [ofReport, ofBridge] = [
      await macOf(keys.reports, report, body),
      await macOf(keys.bridge, report, body),
    ];
    for (const macs of [
      [ofCommand, ofCommand],
      [ofBridge, ofBridge],
      [ofBridge, ofReport],
      [ofReport],
      [ofReport.slice(0, 16), ofBridge],
      [],
    ])
      expect(await hasMac("reports", keys.reports, report, withMac(body, ...macs))).toBe(false);
    expect(await hasMac("bridge", keys.bridge, report, withMac(body, ofReport, ofReport))).toBe(false);
    for (const macs of [[ofReport], [ofReport, ofBridge], [ofCommand.slice(0, 31)], [ofCommand, ofCommand]])
      expect(await hasMac("commands", keys.commands, command, withMac(body, ...macs))).toBe(false);
    // Even with the right key, a reflected text is for another place.
    expect(await hasMac("commands", keys.reports, command, withMac(body, ofReport))).toBe(false);
  });

  test("another run, agent, identity or half makes other keys", async () => {
    const { agent, parties } = await bothHalves();
    const other = (await newSessionHalf()).publicKey;
    const changed: SessionParties[] = [
      { ...parties, agent: "po" },
      { ...parties, bootId: "the next run" },
      { ...parties, agentKey: other },
      { ...parties, gatewayKey: other },
      { ...parties, agentHalf: other },
      { ...parties, gatewayHalf: other },
    ];
    const secrets = await Promise.all(
      [parties, ...changed].map((it) => sessionSecret(agent.privateKey, parties.gatewayHalf, it)),
    );
    expect(new Set(secrets.map((it) => it && toBase64Url(it))).size).toBe(changed.length + 1);
    const moved = { ...parties, agent: `pi","a run` };
    expect(sessionInfo(moved)).not.toEqual(sessionInfo(parties));
  });

  /** Points of small order: with them everybody would know the secret. */
  const small = [
    "00".repeat(32),
    `01${"00".repeat(31)}`,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    `ec${"ff".repeat(30)}7f`,
    `ed${"ff".repeat(30)}7f`,
    `ee${"ff".repeat(30)}7f`,
  ].map((hex) => toBase64Url(Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))));
  test.each([...small, "", "short", "A".repeat(44), "ä".repeat(43)])("%j is nobody's half", async (half) => {
    const { agent, parties } = await bothHalves();
    expect(await sessionSecret(agent.privateKey, half, { ...parties, gatewayHalf: half })).toBeUndefined();
  });

  test("arbitrary text has no HMAC, and is never an error", () => {
    const tail = fc.stringMatching(/^[A-Za-z0-9_-]{0,90}$/).map((mac) => `{"a":1,"mac":"${mac}"}`);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json(), tail), place, (text, at) => {
        const coded = splitMac(at.kind, text);
        if (coded) expect(text.startsWith(coded.body.slice(0, -1))).toBe(true);
      }),
    );
  });
}
