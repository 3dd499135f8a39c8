/** The sign-in at Home Assistant, with one that is played over HTTP and checks what a real one checks. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@edgecall/node/clock.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TokenRefused } from "./connection.ts";
import { accessToken, type Grant, revoke, SignIns } from "./sign-in.ts";

const CLIENT = "https://gate.example/";
const STATE = "0123456789abcdef-0123456789";

let server: Server;
let url: string;
let folder: string;
/** Of the browser: the code is for this challenge. */
let challenge: string;
let refreshes: Set<string>;
let asked: Record<string, string>[];
let now: number;

beforeEach(async () => {
  [refreshes, asked, now, challenge] = [new Set(["refresh-1"]), [], 0, ""];
  folder = mkdtempSync(join(tmpdir(), "sign-in-"));
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = Object.fromEntries(new URLSearchParams(body));
    asked.push(form);
    const answer = (status: number, json: object) => response.writeHead(status).end(JSON.stringify(json));
    if (request.url === "/auth/revoke") {
      refreshes.delete(form.token ?? "");
      answer(200, {});
    } else if (form.grant_type === "refresh_token" && refreshes.has(form.refresh_token ?? ""))
      answer(200, { access_token: "access-2", expires_in: 1_800 });
    else if (
      form.code === "the-code" &&
      createHash("sha256")
        .update(form.code_verifier ?? "")
        .digest("base64url") === challenge
    )
      answer(200, { access_token: "access-1", refresh_token: "refresh-1", expires_in: 1_800 });
    else answer(400, { error: "invalid_grant" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

const signIns = () => new SignIns(folder, { ...systemClock, now: () => now });

/** @returns the query of the address that the browser opens */
function begun(of: SignIns, given = url, state = STATE): URLSearchParams {
  const begun = of.begin({ url: given, client: CLIENT, redirect: CLIENT, state });
  if ("error" in begun) throw new Error(begun.error);
  const query = new URL(begun.authorize).searchParams;
  challenge = query.get("code_challenge") ?? "";
  return query;
}

test("the browser is sent to Home Assistant with a challenge; the code is redeemed with the verifier, and the grant is kept for the bridge alone", async () => {
  const one = signIns();
  const query = begun(one, `${url}/lovelace/0?edit=1`);
  expect(Object.fromEntries(query)).toMatchObject({
    response_type: "code",
    client_id: CLIENT,
    redirect_uri: CLIENT,
    state: STATE,
    code_challenge_method: "S256",
  });
  expect(query.has("code_verifier")).toBe(false);
  const grant = await one.finish({ state: STATE, code: "the-code" });
  expect(grant).toEqual({ url, client: CLIENT, refresh: "refresh-1" });
  expect(asked).toMatchObject([{ grant_type: "authorization_code", client_id: CLIENT }]);
  expect(signIns().kept()).toEqual(grant);
  const file = join(folder, "home-assistant.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain("access-1");
  expect(await accessToken(grant as Grant)).toBe("access-2");
});

test("a code counts once, within ten minutes, and for a sign-in that was begun here", async () => {
  const one = signIns();
  begun(one);
  expect(await one.finish({ state: "a-state-that-was-never-begun", code: "the-code" })).toHaveProperty(
    "error",
  );
  now = 600_001;
  expect(await one.finish({ state: STATE, code: "the-code" })).toHaveProperty("error");
  begun(one);
  expect(await one.finish({ state: STATE, code: "another" })).toMatchObject({
    error: expect.stringContaining("refuses"),
  });
  expect(await one.finish({ state: STATE, code: "the-code" })).toHaveProperty("error");
  expect(one.kept()).toBeUndefined();
  // The challenge of an earlier begin is another one.
  begun(one);
  const first = challenge;
  begun(one, url, `${STATE}-2`);
  challenge = first;
  expect(await one.finish({ state: `${STATE}-2`, code: "the-code" })).toHaveProperty("error");
});

test.each(["homeassistant.local:8123", "ftp://ha.local", "http://anna:pw@ha.local", "javascript:alert(1)"])(
  "a wrong address is named: %s",
  (given) => {
    const begun = signIns().begin({ url: given, client: CLIENT, redirect: CLIENT, state: STATE });
    expect(begun).toEqual({ error: expect.stringMatching(/^url: /) });
  },
);

test("a grant that was revoked is told apart from a Home Assistant that is away, and from one that answers something else", async () => {
  const one = signIns();
  begun(one);
  const grant = (await one.finish({ state: STATE, code: "the-code" })) as Grant;
  one.forget();
  expect(one.kept()).toBeUndefined();
  await revoke(grant);
  expect([...refreshes]).toEqual([]);
  await expect(accessToken(grant)).rejects.toThrow(TokenRefused);
  const of = async (one: Grant) => await accessToken(one).catch((error: unknown) => error);
  const other = createServer((_, response) => response.end(`{"access_token":"${"x".repeat(100_000)}"}`));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const at = { ...grant, url: `http://127.0.0.1:${(other.address() as AddressInfo).port}` };
  expect(String(await of(at))).toBe("Error: it answers HTTP 200");
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  const away = await of(at);
  expect(away).not.toBeInstanceOf(TokenRefused);
  expect(String(away)).toContain("ECONNREFUSED");
});
