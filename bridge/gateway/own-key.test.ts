/** The bridge's own key: its files, its tokens, and its texts when it is refused. */
import { generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bridgeTokenBytes,
  isFresh,
  type SignedBridgeToken,
  splitBridgeToken,
} from "@edgecall/core/protocol/bridge-token.ts";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import type { LogFields } from "@edgecall/node/log.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { readSettings } from "../settings.ts";
import { PlayedHome } from "../testkit/home.ts";
import { GatewayLink, STAY_AWAY_MS } from "./gateway.ts";
import { readOwnKey } from "./own-key.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const keyFile = {
  public_key: publicKey.export({ format: "jwk" }).x,
  private_key: privateKey.export({ format: "der", type: "pkcs8" }).toString("base64url"),
};
const GATEWAY = { gateway: "https://gate.example", home: "a" };

let folder: string;
const put = (name: string, content: unknown) =>
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "own-key-"));
  put("key.json", keyFile);
  put("gateway.json", GATEWAY);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(token: string): SignedBridgeToken {
  const split = splitBridgeToken(token);
  if (!split) throw new Error(`no token: ${token}`);
  expect(
    verify(null, bridgeTokenBytes(split.body), publicKey, Buffer.from(split.signature, "base64url")),
  ).toBe(true);
  return split;
}

test("each token is signed for one gateway and has a higher counter than the one before, also after the clock was put back", () => {
  const key = readOwnKey(folder);
  const claims = [5_000, 4_000, 5_001, 9_000].map(
    (now) => read(key?.token("gate.example", now) ?? "").claims,
  );
  expect(claims[0]).toEqual({ home: "a", for: "gate.example", n: 5_000 });
  expect(claims.map(({ n }) => n)).toEqual([5_000, 5_001, 5_002, 9_000]);
});

test("a refused token from a clock that was hours ahead does not outrank later tokens with the right time", () => {
  const key = readOwnKey(folder);
  const times = [10_000_000, 2_000_000, 2_000_000].map(
    (now) => read(key?.token("gate.example", now) ?? "").claims.n,
  );
  expect(times).toEqual([10_000_000, 2_000_000, 2_000_001]);
});

test.each([
  [0, true],
  [-59_000, true],
  [-61_000, false],
  [4_000, true],
  [6_000, false],
])("a token of %i ms from now is fresh: %s", (ahead, fresh) => {
  const now = 1_795_000_000_000;
  expect(isFresh({ home: "a", for: "x", n: now + ahead }, now)).toBe(fresh);
});

describe("settings", () => {
  const errorsOf = (env: Record<string, string>) => {
    const result = readSettings(env);
    return result.ok ? [] : result.errors;
  };

  test("with the key neither token nor address is needed; explicit settings have priority", () => {
    for (const name of ["BRIDGE_STATE", "STATE_DIRECTORY"]) {
      expect(readSettings({ [name]: folder })).toMatchObject({
        ok: true,
        settings: {
          gatewayUrl: "wss://gate.example/bridge",
          ownKey: { gateway: GATEWAY.gateway },
          bridgeToken: undefined,
        },
      });
    }
    const env = { BRIDGE_STATE: folder, GATEWAY_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "tok" };
    expect(readSettings(env)).toMatchObject({
      ok: true,
      settings: { gatewayUrl: "ws://127.0.0.1:1/bridge", bridgeToken: "tok", ownKey: undefined },
    });
  });
  test("missing, damaged or foreign files are named; the key is not shown", () => {
    expect(errorsOf({ BRIDGE_STATE: "/nowhere" })).toEqual([
      expect.stringMatching(/^BRIDGE_STATE: .*pair this machine/),
      expect.stringMatching(/^GATEWAY_URL: missing/),
    ]);
    // systemd sets this for every service, so without a key it is no error.
    expect(errorsOf({ STATE_DIRECTORY: "/nowhere", GATEWAY_URL: "https://x" })).toEqual([
      expect.stringMatching(/^BRIDGE_TOKEN: missing.*BRIDGE_STATE/),
    ]);
    for (const [name, content] of [
      ["key.json", ""],
      ["key.json", { private_key: "AAAA" }],
      ["gateway.json", "{"],
      ["gateway.json", { gateway: "https://x" }],
    ] as const) {
      put("key.json", keyFile);
      put("gateway.json", GATEWAY);
      put(name, content);
      const errors = errorsOf({ BRIDGE_STATE: folder, GATEWAY_URL: "https://x" });
      expect(errors, name).toHaveLength(1);
      expect(errors[0]).toMatch(new RegExp(`^BRIDGE_STATE: .*${name}: damaged .*pair this machine again`));
      expect(errors[0]).not.toContain(keyFile.private_key);
    }
  });
});

describe("at the gateway", () => {
  let logged: Array<{ event: string; fields: LogFields | undefined }>;
  let link: GatewayLink | undefined;
  const log = (event: string) => logged.find((line) => line.event === event)?.fields;
  beforeEach(() => {
    logged = [];
  });
  afterEach(async () => await link?.stop());

  function dial(url: string, token = (_: number) => "secret"): GatewayLink {
    link = new GatewayLink({
      url: `${url.replace("http", "ws")}/bridge`,
      token,
      bridgeId: "attic",
      log: (_, event, fields) => logged.push({ event, fields }),
      onFrame() {},
      onWelcome() {},
      onDown() {},
    });
    link.start();
    return link;
  }

  /** Answers every upgrade with the same response. */
  async function refusing(headers: Record<string, string>, body: string, status = 401) {
    const server = createServer();
    server.on("upgrade", (_, socket) => {
      // A client that has read enough resets the connection.
      socket.on("error", () => {});
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\n${lines.join("")}\r\n${body}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, stop: () => server.close() };
  }

  const STALE = '{"error":{"code":"stale_token","message":"its clock is wrong"}}';

  test("a clock that is months behind is noticed, and the next token has the gateway's time", async () => {
    const months = 8_000_000_000;
    const date = new Date(Date.now() + months).toUTCString();
    const gateway = await refusing({ date }, STALE);
    const times: number[] = [];
    dial(gateway.url, (now) => {
      times.push(now);
      return "token";
    });
    await until(() => times.length > 2, { within: 20_000 });
    gateway.stop();
    expect(Math.abs((times[0] ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(Math.abs((times[1] ?? 0) - Date.now() - months)).toBeLessThan(60_000);
    expect(log("gateway.clock_taken")).toEqual({
      gateway: new Date(date).toISOString(),
      here: expect.stringMatching(/Z$/),
    });
    expect(log("gateway.down")).toMatchObject({ status: 401, code: "stale_token" });
    expect(log("gateway.refuses")).toBeUndefined();
  });

  test("a time that is years off is refused, from a gateway or an impostor", async () => {
    const gateway = await refusing({ date: "Thu, 01 Jan 2099 00:00:00 GMT" }, STALE);
    const times: number[] = [];
    const bridge = dial(gateway.url, (now) => {
      times.push(now);
      return "token";
    });
    await until(() => times.length > 2, { within: 20_000 });
    gateway.stop();
    for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
    expect(log("gateway.clock_not_taken")).toMatchObject({ gateway: "2099-01-01T00:00:00.000Z" });
    expect(bridge.problem).toMatch(/its clock is wrong; .*2099-01-01.*this machine .*timedatectl/);
  });

  test.each([
    [
      "in the gateway's words",
      '{"error":{"code":"key_revoked","message":"revoked; Replace"}}',
      "revoked; Replace",
    ],
    ["by somebody else", "<html>no</html>", "HTTP 401"],
    ["by somebody who does not end", "x".repeat(100_000), "HTTP 401"],
  ])("a refusal %s is logged, and retried after five minutes", async (_, body, words) => {
    const gateway = await refusing({}, body);
    const bridge = dial(gateway.url);
    await until(() => log("gateway.refuses"));
    expect(log("gateway.refuses")).toMatchObject({ status: 401, retry_in_ms: STAY_AWAY_MS });
    expect(bridge.problem).toBe(`the gateway refuses: ${words}`);
    gateway.stop();
  });

  test("a revoked key ends the connection for now, and the log says what to do", async () => {
    const home = new PlayedHome();
    const bridge = dial(await home.start());
    await until(() => bridge.up);
    home.drop(CLOSE.revoked);
    await until(() => log("gateway.down"));
    expect(log("gateway.down")).toMatchObject({
      code: CLOSE.revoked,
      reason: "test",
      retry_in_ms: STAY_AWAY_MS,
    });
    expect(bridge.problem).toContain("test");
    await home.stop();
  });
});
