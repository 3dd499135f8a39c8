import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("./new-tokens.ts", import.meta.url));

test("npm run tokens: the owner's, a client's that cannot approve, and the bridge's", async () => {
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
});
