/** Cloudflare Access's token, checked with a team of ours: its keys over HTTP, its signature with WebCrypto. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testVars } from "../../../test/tokens.ts";
import type { Env } from "../env.ts";
import { accessEntry } from "./access.ts";

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url");

describe("sign-in over Cloudflare Access", () => {
  let keys: CryptoKeyPair;
  let team = "";
  const server = createServer(async (request, response) => {
    const jwk = await crypto.subtle.exportKey("jwk", keys.publicKey);
    const found = request.url === "/cdn-cgi/access/certs";
    response.writeHead(found ? 200 : 404).end(JSON.stringify({ keys: [{ ...jwk, kid: "k1" }] }));
  });
  beforeAll(async () => {
    keys = (await crypto.subtle.generateKey(RSA, true, ["sign", "verify"])) as CryptoKeyPair;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    team = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const env = (more = {}) =>
    ({
      ...testVars,
      ACCESS_TEAM_DOMAIN: team,
      ACCESS_AUD: "our-app",
      ACCESS_EMAILS: "Anna@Example.org=anna, gus@example.org=gus",
      ...more,
    }) as unknown as Env;

  async function jwt(claims: object = {}, header: object = {}, signer = keys.privateKey): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const body = { iss: team, aud: ["our-app"], email: "anna@example.org", exp: now + 600, ...claims };
    const text = `${base64(JSON.stringify({ alg: "RS256", kid: "k1", ...header }))}.${base64(JSON.stringify(body))}`;
    const mac = await crypto.subtle.sign(RSA.name, signer, Buffer.from(text));
    return `${text}.${base64(new Uint8Array(mac))}`;
  }

  test("a person in ACCESS_EMAILS gets that record's rights for as long as Access says", async () => {
    const entry = await accessEntry(env(), await jwt());
    expect(entry).toMatchObject({ ok: true, token: { name: "anna", home: "a", role: "owner" } });
    expect(entry.ok && entry.seconds).toBeLessThanOrEqual(600);
  });

  test("other people get none", async () => {
    const other = (await crypto.subtle.generateKey(RSA, true, ["sign", "verify"])) as CryptoKeyPair;
    const good = await jwt();
    const [head, , mac] = good.split(".");
    const forged = base64(JSON.stringify({ iss: team, aud: "our-app", email: "gus@example.org", exp: 9e9 }));
    const refused: Array<[string, string]> = [
      [await jwt({}, {}, other.privateKey), "the token's signature is wrong"],
      [`${head}.${forged}.${mac}`, "the token's signature is wrong"],
      [await jwt({}, { alg: "none" }), "not a token of Cloudflare Access"],
      [await jwt({}, { alg: "HS256" }), "not a token of Cloudflare Access"],
      [await jwt({}, { kid: "k2" }), "the team's keys cannot be had, or do not have the token's"],
      [await jwt({ aud: "another-app" }), "the token is for another team or application"],
      [
        await jwt({ iss: "https://evil.cloudflareaccess.com" }),
        "the token is for another team or application",
      ],
      [await jwt({ exp: 1 }), "the token's time is over"],
      [await jwt({ email: "eve@example.org" }), "ACCESS_EMAILS does not name eve@example.org"],
      [await jwt({ email: undefined }), "the token names no person"],
      ["a.b", "not a token of Cloudflare Access"],
      ["a.b.c", "not a token of Cloudflare Access"],
      [`${good}.x`, "not a token of Cloudflare Access"],
      ["x".repeat(9_000), "not a token of Cloudflare Access"],
    ];
    for (const [token, why] of refused) expect(await accessEntry(env(), token)).toEqual({ ok: false, why });
  });

  test("a wrong setting is named", async () => {
    await expect(accessEntry(env({ ACCESS_EMAILS: "anna@example.org=nobody" }), await jwt())).rejects.toThrow(
      "ACCESS_EMAILS: expected EMAIL=NAME of a record in API_TOKENS, got 'anna@example.org=nobody'",
    );
    await expect(
      accessEntry(env({ ACCESS_TEAM_DOMAIN: "http://evil.example" }), await jwt()),
    ).rejects.toThrow("ACCESS_TEAM_DOMAIN");
  });
});
