import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadTokens, ownTokens, tokenRecords, withOwnRecords } from "./tokens.ts";

const PROGRAM = fileURLToPath(new URL("./new-tokens.ts", import.meta.url));

test("npm run tokens: the owner's, a client's without approvals, and the bridge's", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
  const [own = "", client = "", bridge = ""] = [...stdout.matchAll(/^ {2}\S.*? {2,}([\w-]{43})\b/gm)].map(
    ([, token]) => token,
  );
  const [api, bridges] = [...stdout.matchAll(/^\[.*$/gm)].map(
    ([line]) => JSON.parse(line) as Array<{ hash: string; scopes: string[] }>,
  );
  const hash = (token: string) => createHash("sha256").update(token).digest("hex");
  expect(api).toMatchObject([
    { hash: hash(own), role: "owner", scopes: ["ask", "command", "approve", "admin"] },
    { hash: hash(client), role: "member", scopes: ["ask"] },
  ]);
  expect(bridges).toMatchObject([{ hash: hash(bridge) }]);
  expect(new Set([own, client, bridge]).size).toBe(3);
  const [, key] = /secret put CONNECTIONS_KEY\n([\w-]{43})\n/.exec(stdout) ?? [];
  expect([own, client, bridge]).not.toContain(key);
  expect(key).toBeDefined();
});

test("the stack's own tokens are kept; tokens without a key get one, which stays", () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-tokens-"));
  try {
    const made = loadTokens(dir, undefined);
    expect(new Set(Object.values(made)).size).toBe(3);
    expect(loadTokens(dir, undefined)).toEqual(made);
    expect(loadTokens(dir, "given")).toEqual({ ...made, api: "given" });

    writeFileSync(join(dir, "tokens.json"), JSON.stringify({ api: "a-token", bridge: "b-token" }));
    expect(loadTokens(dir, "given")).toEqual({ ...made, api: "given", bridge: "b-token" });
    expect(JSON.parse(readFileSync(join(dir, "tokens.json"), "utf8"))).toMatchObject({ api: "a-token" });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("O15: the key of the chat apps outlives tokens.json, and an older version's key in it is taken over", () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-tokens-"));
  try {
    const file = join(dir, "tokens.json");
    writeFileSync(file, JSON.stringify({ api: "a-token", bridge: "b-token", connections: "c-key" }));
    expect(loadTokens(dir, undefined)).toEqual({ api: "a-token", bridge: "b-token", connections: "c-key" });
    rmSync(file);
    const anew = loadTokens(dir, undefined);
    expect(anew.connections).toBe("c-key");
    expect(anew.api).not.toBe("a-token");
    expect(statSync(join(dir, "connections.key")).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("O15: a rotation replaces the owner's token alone, on disk and in the records", () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-tokens-"));
  try {
    const before = loadTokens(dir, undefined);
    const guest = { hash: "0".repeat(64), name: "phone", home: "home", role: "guest", scopes: ["ask"] };
    const own = ownTokens(dir, undefined, { API_TOKENS: JSON.stringify([guest]) });
    const { BRIDGE_TOKENS } = own.records();
    const token = own.rotate?.() ?? "";
    expect(token).not.toBe(before.api);
    expect(loadTokens(dir, undefined)).toEqual({ ...before, api: token });
    const api = JSON.parse(own.records().API_TOKENS) as Array<{ hash: string }>;
    const hash = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(api.map((record) => record.hash)).toEqual([hash(token), guest.hash]);
    expect(own.records().BRIDGE_TOKENS).toBe(BRIDGE_TOKENS);
    expect(ownTokens(dir, "given", {}).rotate).toBeUndefined();
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("G8 the person's own API_TOKENS are valid next to the printed token", () => {
  const own = tokenRecords({ api: "a".repeat(43), bridge: "b".repeat(43) });
  const guest = { hash: "0".repeat(64), name: "phone", home: "home", role: "guest", scopes: ["ask"] };
  const { API_TOKENS, BRIDGE_TOKENS } = withOwnRecords(own, { API_TOKENS: JSON.stringify([guest]) });
  expect(JSON.parse(API_TOKENS)).toEqual([...JSON.parse(own.API_TOKENS), guest]);
  expect(BRIDGE_TOKENS).toBe(own.BRIDGE_TOKENS);
});
