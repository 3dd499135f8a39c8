/** `npm run deploy` as a program, with the real wrangler and a fake of Cloudflare's API. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CloudflareApi, startCloudflareApi } from "./cloudflare-api.ts";
import { ROOT } from "./program.ts";

const API_TOKEN = "token-of-the-fake-api-0123456789abcdefghijk";
let api: CloudflareApi;
/** The home folder of wrangler, which also receives its temporary files. */
let home: string;

beforeAll(async () => {
  api = await startCloudflareApi(API_TOKEN);
  home = mkdtempSync(join(tmpdir(), "edgecall-deploy-test-"));
});
afterAll(async () => {
  await api.stop();
  rmSync(home, { recursive: true, force: true });
});

async function deploy(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["cli/main.ts", "deploy", ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: home,
      CLOUDFLARE_API_BASE_URL: api.apiUrl,
      CLOUDFLARE_API_TOKEN: API_TOKEN,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      CI: "true",
      ...env,
    },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const leftBehind = () => readdirSync(home).filter((file) => file.startsWith("edgecall-deploy"));

test("a first deploy sets everything up, and the next one asks nothing and changes only the code", async () => {
  const model = ["--model-url", "https://models.test/v1", "--model", "m-1"];
  const first = await deploy(["--url", api.gatewayUrl, ...model], { LLM_API_KEY: "key-of-models-test" });
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`The console: ${api.gatewayUrl}/`),
  });

  const worker = api.workers.get("edgecall");
  const made = /your token +(\S+)\n +one for clients +(\S+).*\n +the bridge's token +(\S+)/.exec(
    first.stdout,
  );
  const [token = "", client = "", bridge = ""] = made?.slice(1) ?? [];
  expect(token.length).toBeGreaterThan(40);
  const stored = (name: string) => JSON.parse(worker?.secrets.get(name) ?? "null");
  expect(stored("API_TOKENS")).toEqual([
    {
      hash: sha256(token),
      name: "owner",
      home: "home",
      role: "owner",
      scopes: ["ask", "command", "approve", "admin"],
    },
    { hash: sha256(client), name: "client", home: "home", role: "member", scopes: ["ask"] },
  ]);
  expect(stored("BRIDGE_TOKENS")).toEqual([{ hash: sha256(bridge), name: "bridge", home: "home" }]);
  expect(first.stdout).toContain(`GATEWAY_URL=${api.gatewayUrl} BRIDGE_TOKEN=${bridge} MQTT_URL=`);
  expect(Object.fromEntries(worker?.secrets ?? [])).toMatchObject({
    LLM_BASE_URL: "https://models.test/v1",
    LLM_MODEL: "m-1",
    LLM_API_KEY: "key-of-models-test",
    CONNECTIONS_KEY: expect.stringMatching(/^\S{40,}$/),
  });
  // Shown once on stdout and nowhere else, and not left on the disk.
  for (const secret of [token, bridge, "key-of-models-test"]) expect(first.stderr).not.toContain(secret);
  expect(leftBehind()).toEqual([]);
  expect(worker?.metadata).toMatchObject({
    bindings: expect.arrayContaining([
      expect.objectContaining({ type: "durable_object_namespace", class_name: "Home" }),
      expect.objectContaining({ type: "ai", name: "AI" }),
      expect.objectContaining({ type: "ratelimit", name: "RATE_GUESSES" }),
    ]),
    observability: expect.objectContaining({
      enabled: true,
      traces: expect.objectContaining({ enabled: true }),
    }),
  });
  expect(JSON.stringify(worker?.metadata)).toContain("deferred");
  // Settings from the dashboard and every secret survive an upgrade.
  expect(worker?.metadata.keep_bindings).toEqual(expect.arrayContaining(["plain_text", "secret_text"]));

  const before = new Map(worker?.secrets);
  const again = await deploy(["--url", api.gatewayUrl]);
  expect(again.stderr).toContain("Upgrade of");
  expect(again).toMatchObject({ code: 0, stdout: `${api.gatewayUrl} is up to date.\n\n` });
  expect(api.workers.get("edgecall")?.deploys).toBe(2);
  expect(api.workers.get("edgecall")?.secrets).toEqual(before);

  // A gateway that was deployed before this key existed gets it, and nothing else.
  worker?.secrets.delete("CONNECTIONS_KEY");
  const later = await deploy(["--url", api.gatewayUrl]);
  expect(later.stderr).toContain("Secrets to set: CONNECTIONS_KEY.");
  const after = new Map(api.workers.get("edgecall")?.secrets);
  expect(after.get("CONNECTIONS_KEY")).toMatch(/^\S{40,}$/);
  expect(after.set("CONNECTIONS_KEY", before.get("CONNECTIONS_KEY") ?? "")).toEqual(before);
}, 240_000);

test("a rehearsal prints what it would do, and changes nothing", async () => {
  const rehearsal = await deploy(["--name", "cabin", "--dry-run"]);
  expect(rehearsal).toMatchObject({ code: 0, stdout: "" });
  for (const words of [
    "First deploy of 'cabin'",
    "Secrets to set: API_TOKENS, BRIDGE_TOKENS, CONNECTIONS_KEY.",
    "Model: Workers AI.",
    "Total Upload",
    "Nothing was changed",
  ])
    expect(rehearsal.stderr).toContain(words);
  expect(api.workers.has("cabin")).toBe(false);
}, 120_000);

test("without a sign-in, or with an invalid one, it says what to do", async () => {
  const nobody = await deploy([], { CLOUDFLARE_API_TOKEN: "" });
  expect(nobody).toMatchObject({ code: 1, stdout: "" });
  expect(nobody.stderr).toContain("npx wrangler login");
  expect(nobody.stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
}, 60_000);

test("C12 --dry-run needs no sign-in: it prints the plan, and builds", async () => {
  const rehearsal = await deploy(["--dry-run"], { CLOUDFLARE_API_TOKEN: "" });
  expect(rehearsal, rehearsal.stderr).toMatchObject({ code: 0, stdout: "" });
  expect(rehearsal.stderr).toContain("Not signed in to Cloudflare");
  expect(rehearsal.stderr).toContain("First deploy of 'edgecall'.");
  expect(rehearsal.stderr).toContain("Nothing was changed: this was --dry-run.");
});
