import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { parse as parseToml } from "smol-toml";
import { expect, onTestFinished, test } from "vitest";
import { writeDeployButton } from "./deploy-button.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("the deploy button's folder is self-contained: wrangler accepts it, with everything that the repository has", async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-button-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  await writeDeployButton(dir);
  // Screens' scripts have names of the build's choice.
  const names = readdirSync(join(dir, "public")).filter((name) => !/^console-.+\.js$/.test(name));
  expect(names.sort()).toEqual([
    "api.html",
    "api.js",
    "character-names.json",
    "console.css",
    "console.js",
    "edgecall.cjs",
    "icon-180.png",
    "icon-192.png",
    "icon-512.png",
    "icon.svg",
    "index.html",
    "install.sh",
    "manifest.webmanifest",
    "openapi.json",
    "phrases-cs.json",
    "phrases-de.json",
    "phrases-es.json",
    "phrases-fr.json",
    "phrases-it.json",
    "phrases-nl.json",
    "phrases-pl.json",
    "phrases-pt.json",
    "phrases-zh.json",
    "search-words.json",
    "sentences-cs.json",
    "sentences-de.json",
    "sentences-en.json",
    "sentences-es.json",
    "sentences-fr.json",
    "sentences-it.json",
    "sentences-nl.json",
    "sentences-pl.json",
    "sentences-pt.json",
    "sentences-zh.json",
    "sw.js",
    "tokens.html",
    "tokens.js",
  ]);

  // Without a node_modules folder above it, so that a module that is missing in the file is noticed.
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [wrangler, "deploy", "--dry-run", "--outdir", join(dir, "out")],
    {
      cwd: dir,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: dir, WRANGLER_SEND_METRICS: "false", CI: "true" },
    },
  );
  expect(`${stdout}${stderr}`).toContain("--dry-run: exiting now.");
  expect(status).toBe(0);
  for (const binding of ["HOME", "CONVERSATION", "AI", "RATE_GUESSES", "ASSETS"])
    expect(stdout).toContain(`env.${binding}`);
  const { metafile } = await build({
    entryPoints: [join(dir, "index.js")],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    external: ["cloudflare:*"],
    logLevel: "silent",
  });
  expect(Object.keys(metafile.inputs)).toHaveLength(1);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  expect(imported.length).toBeGreaterThan(0);
  for (const { path } of imported) expect(path).toMatch(/^cloudflare:/);

  const read = (path: string) => readFileSync(path, "utf8");
  const [own, root] = [
    parseToml(read(join(dir, "wrangler.toml"))),
    parseToml(read(join(ROOT, "wrangler.toml"))),
  ];
  const same = [
    "compatibility_date",
    "compatibility_flags",
    "durable_objects",
    "migrations",
    "ratelimits",
    "ai",
  ];
  for (const key of same) expect(own[key]).toEqual(root[key]);

  const { cloudflare, devDependencies } = JSON.parse(read(join(dir, "package.json")));
  expect(Object.keys(devDependencies)).toEqual(["wrangler"]);
  const examples = read(join(dir, ".dev.vars.example")).trim().split("\n");
  expect(examples.map((line) => line.split("=")[0])).toEqual(["API_TOKENS", "BRIDGE_TOKENS"]);
  for (const line of examples) {
    const [, name = "", value = ""] = /^(\w+)="(.*)"$/.exec(line) ?? [];
    expect(cloudflare.bindings[name].description.length).toBeGreaterThan(20);
    // Unchanged it gives no access, because the gateway accepts only JSON.
    expect(() => JSON.parse(value)).toThrow();
  }
}, 60_000);
