/** A gateway's or an attacker's statements about a program, and which of them are accepted. */
import { createHash } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { programBytes } from "@edgecall/core/protocol/program.ts";
import {
  importPrivateKey,
  type KeyPair,
  newKeyPair,
  sign,
  withSignature,
} from "@edgecall/core/protocol/signing.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isOlder } from "./from-gateway.ts";
import type { GatewayPin } from "./gateway-pin.ts";
import { fetchProgram, offeredBy } from "./gateway-program.ts";

const PROGRAM = Buffer.from("console.log('edgecall 0.2.0')\n".repeat(100));
const FACTS = {
  version: "0.2.0",
  sha256: createHash("sha256").update(PROGRAM).digest("hex"),
  bytes: PROGRAM.length,
};

let server: Server;
let keys: KeyPair;
let pin: GatewayPin;
let manifest: (nonce: string) => Promise<string> | string;
let program: (response: ServerResponse) => void;
let asked: URL[];
beforeEach(async () => {
  keys = await newKeyPair();
  asked = [];
  manifest = (nonce) => signed({ ...FACTS, nonce });
  program = (response) => void response.end(PROGRAM);
  server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://gateway");
    asked.push(url);
    if (url.pathname === "/edgecall.cjs") return program(response);
    void Promise.resolve(manifest(url.searchParams.get("nonce") ?? "")).then((text) => response.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pin = { url, home: "a", public_key: keys.publicKey };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function signed(value: object, by: KeyPair = keys): Promise<string> {
  const body = JSON.stringify(value);
  const key = await importPrivateKey(by.privateKey);
  return withSignature(body, new Uint8Array(await crypto.subtle.sign("Ed25519", key, programBytes(body))));
}

test("a manifest counts when the home's key signed it for this request; the program must match it", async () => {
  const offered = await offeredBy(pin);
  expect(offered).toEqual(FACTS);
  expect((await fetchProgram(pin, offered)).equals(PROGRAM)).toBe(true);
  const query = Object.fromEntries(asked[0]?.searchParams ?? []);
  expect(query).toEqual({ home: "a", key: keys.publicKey, nonce: expect.stringMatching(/^[\w-]{32}$/) });
  await offeredBy(pin);
  expect(asked.at(-1)?.searchParams.get("nonce")).not.toBe(query.nonce);
});

test.each<[string, string, () => typeof manifest]>([
  [
    "forged, by another key",
    "not signed",
    () => async (nonce) => signed({ ...FACTS, nonce }, await newKeyPair()),
  ],
  ["without a signature", "not signed", () => (nonce) => JSON.stringify({ ...FACTS, nonce })],
  [
    "a command of the same home's",
    "not signed",
    () => async (nonce) =>
      sign(
        await importPrivateKey(keys.privateKey),
        { agent: "eye", kind: "commands" },
        JSON.stringify({ ...FACTS, nonce }),
      ),
  ],
  [
    "changed after it was signed",
    "not signed",
    () => async (nonce) => (await signed({ ...FACTS, nonce })).replace(FACTS.sha256, "0".repeat(64)),
  ],
  [
    "an old one, said again",
    "to somebody else before",
    () => () => signed({ ...FACTS, nonce: "n".repeat(32) }),
  ],
  [
    "of no version",
    "cannot be read: version",
    () => (nonce) => signed({ ...FACTS, version: "latest", nonce }),
  ],
  ["too large", "cannot be read: bytes", () => (nonce) => signed({ ...FACTS, bytes: 2 ** 40, nonce })],
  ["a page", "not signed", () => () => "<html>".repeat(10_000)],
])("a manifest that is %s is refused", async (_what, words, make) => {
  manifest = make();
  await expect(offeredBy(pin)).rejects.toThrow(words);
});

test.each<[string, string, (response: ServerResponse) => void]>([
  ["another one", "is not the program", (response) => response.end(Buffer.from(PROGRAM).fill(65, 0, 1))],
  ["shorter", "99 bytes of 3000", (response) => response.end(PROGRAM.subarray(0, 99))],
  ["longer", "more than 3000 bytes", (response) => response.end(Buffer.concat([PROGRAM, PROGRAM]))],
  [
    "cut off on its way",
    "nothing was changed",
    (response) => {
      response.writeHead(200, { "content-length": PROGRAM.length });
      response.write(PROGRAM.subarray(0, 99), () => response.destroy());
    },
  ],
  ["not there", "404", (response) => void response.writeHead(404).end()],
])("a program that is %s is refused", async (_what, words, serve) => {
  program = serve;
  await expect(fetchProgram(pin, FACTS)).rejects.toThrow(words);
});

test("an endless answer is cut off", async () => {
  server.removeAllListeners("request").on("request", (_request, response: ServerResponse) => {
    const more = () =>
      void (response.writable && response.write(Buffer.alloc(65_536, 32), () => setImmediate(more)));
    more();
  });
  await expect(offeredBy(pin)).rejects.toThrow("more than 65536 bytes");
});

test("an unreachable gateway, or one without this home, is reported in words", async () => {
  server.removeAllListeners("request").on("request", (_request, response: ServerResponse) => {
    response
      .writeHead(404)
      .end('{"error":{"code":"not_found","message":"no home of this gateway has this key"}}');
  });
  await expect(offeredBy(pin)).rejects.toThrow("offers no program: no home of this gateway has this key");
  server.removeAllListeners("request").on("request", (_request, response: ServerResponse) => {
    response.writeHead(500).end(JSON.stringify({ error: { message: "x".repeat(10_000) } }));
  });
  await expect(offeredBy(pin)).rejects.toThrow(/program: x{499}…$/);
  await expect(offeredBy({ ...pin, url: "http://127.0.0.1:9" })).rejects.toThrow("cannot be reached");
});

test("versions are compared by their numbers", () => {
  const older = [
    ["0.1.0", "0.2.0"],
    ["0.9.0", "0.10.0"],
    ["0.2.9", "1.0.0"],
  ] as const;
  for (const [one, other] of older) expect([isOlder(one, other), isOlder(other, one)]).toEqual([true, false]);
  expect([isOlder("0.2.0", "0.2.0"), isOlder("0.2.0", "")]).toEqual([false, false]);
});
