import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadTokens, tokenRecords, withOwnRecords } from "./tokens.ts";

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

    const file = join(dir, "tokens.json");
    writeFileSync(file, JSON.stringify({ api: "a-token", bridge: "b-token" }));
    const { connections, ...tokens } = loadTokens(dir, "given");
    expect(tokens).toEqual({ api: "given", bridge: "b-token" });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      api: "a-token",
      bridge: "b-token",
      connections,
    });
    expect(loadTokens(dir, undefined).connections).toBe(connections);
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
