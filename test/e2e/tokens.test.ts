/** Tokens with `npm start`: the printed one, the person's own, and those that `edgecall tokens` makes. */
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { edgecall } from "./command.ts";
import { npmStart, running, useStateFolder } from "./npm-start.ts";

const folder = useStateFolder();

test("G8 own API_TOKENS are valid next to the printed token; edgecall tokens adds, lists and revokes", async () => {
  const mine = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(mine).digest("hex");
  const record = { hash, name: "phone", home: "home", role: "guest", scopes: ["ask"] };
  const started = npmStart(folder.path, [], { API_TOKENS: JSON.stringify([record]), PORT: "0" });
  const { url } = await running(started);
  const token = /token\s+(\S+)/.exec(started.out())?.[1] ?? "";
  const status = async (path: string, bearer: string) =>
    (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })).status;
  expect(await status("/v1/keys", token)).toBe(200);
  expect(await status("/v1/agents", mine)).toBe(200);
  expect(await status("/v1/keys", mine)).toBe(403);

  const env = (bearer: string) => ({ EDGECALL_URL: url, EDGECALL_TOKEN: bearer, HOME: folder.path });
  const added = await edgecall(
    ["tokens", "add", "kitchen", "--role", "member", "--scopes", "ask,command", "--expires", "30d"],
    env(token),
  );
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^ec_home_[\w-]{43}\n$/) });
  expect(added.err).toMatch(/'kitchen' \(member; ask, command; expires in 30 d\)/);
  const made = added.out.trim();
  expect(await status("/v1/agents", made)).toBe(200);

  const list = await edgecall(["tokens", "list"], env(token));
  expect(list.out).toMatch(/kitchen +member +ask command +in 30 d +\d+ s ago +local/);
  expect(list.out).toMatch(/phone +guest +ask +never +- +API_TOKENS +secret-/);
  expect(list.out).not.toContain(made);

  const refused = await edgecall(["tokens", "list"], env(made));
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("'admin'") });
  expect(await edgecall(["tokens", "revoke", "nobody"], env(token))).toMatchObject({ code: 1 });
  expect(await edgecall(["tokens", "revoke", "phone"], env(token))).toMatchObject({
    code: 1,
    err: expect.stringContaining("API_TOKENS"),
  });
  expect(await edgecall(["tokens", "revoke", "kitchen"], env(token))).toMatchObject({ code: 0 });
  expect(await status("/v1/agents", made)).toBe(401);
  const admin = ["--role", "owner", "--scopes", "ask,admin"];
  const boss = (await edgecall(["tokens", "add", "boss", ...admin], env(token))).out.trim();
  const helper = (await edgecall(["tokens", "add", "helper", ...admin], env(boss))).out.trim();
  const wall = (await edgecall(["tokens", "add", "wall"], env(helper))).out.trim();
  const aide = (await edgecall(["tokens", "add", "aide", ...admin], env(helper))).out.trim();
  const left = await edgecall(["tokens", "revoke", "boss"], env(token));
  expect(left.err).toMatch(
    /'boss' is revoked.*\nit made 'helper' \(\S+\), 'wall' \(\S+\), 'aide' \(\S+\), which still count/,
  );
  expect(await status("/v1/agents", wall)).toBe(200);
  // The token of this request is revoked with its maker.
  const all = await edgecall(["tokens", "revoke", "helper", "--made"], env(aide));
  expect(all).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^'helper' is revoked.*\n'wall' is revoked.*\n'aide' is revoked/),
  });
  expect(await Promise.all([boss, helper, wall, aide].map((one) => status("/v1/agents", one)))).toEqual([
    401, 401, 401, 401,
  ]);
  expect((await edgecall(["tokens", "add"], env(token))).code).toBe(2);
  expect((await edgecall(["tokens", "add", "x", "--expires", "soon"], env(token))).err).toContain(
    "--expires",
  );
}, 90_000);
