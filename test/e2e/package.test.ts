/** npm's package from its tarball: one command is the whole product, on a machine that has nothing else of ours. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatewayFolder } from "../../cli/home-gateway/own-folder.ts";
import { WRANGLER_VERSION } from "../../local/deploy/wrangler-file.ts";
import { freePort } from "../../local/port.ts";
import { InstalledPackage, packedEdgecall, type Ran } from "../package.ts";
import { until } from "../wait.ts";
import { type CloudflareApi, startCloudflareApi } from "./cloudflare-api.ts";
import { ROOT } from "./program.ts";

const TARBALL_MAX_MB = 6;
const API_TOKEN = "token-of-the-fake-api-0123456789abcdefghijk";

describe("npm's package", { tags: ["needs/linux"], timeout: 180_000 }, () => {
  let tarball: string;
  let edgecall: InstalledPackage;
  let npm: Ran;
  beforeAll(async () => {
    tarball = await packedEdgecall();
    ({ installed: edgecall, npm } = await InstalledPackage.install(tarball));
  }, 240_000);

  test("it is small, and npm installs it without a warning and without a script", () => {
    expect(npm, npm.err).toMatchObject({ code: 0 });
    expect(npm.err).not.toMatch(/warn/i);
    expect(statSync(tarball).size / 2 ** 20).toBeLessThan(TARBALL_MAX_MB);
    const lock = JSON.parse(
      readFileSync(join(edgecall.folder, "node_modules/.package-lock.json"), "utf8"),
    ) as { packages: Record<string, { inBundle?: boolean; optional?: boolean; version: string }> };
    const fetched = Object.entries(lock.packages).filter(([, { inBundle }]) => !inBundle);
    expect(fetched.map(([path]) => path.replace(/-(linux|darwin)-.*/, ""))).toEqual([
      "node_modules/@cloudflare/workerd",
      "node_modules/edgecall",
    ]);
    // The one that this repository is tested with.
    const own = JSON.parse(readFileSync(join(ROOT, "node_modules/workerd/package.json"), "utf8"));
    expect(fetched[0]?.[1].version).toBe(own.version);
    expect(existsSync(join(edgecall.folder, "node_modules/edgecall/node_modules/sharp"))).toBe(false);
  });

  test("edgecall version, and the list of commands", async () => {
    expect(await edgecall.edgecall(["version"])).toEqual({ code: 0, out: `edgecall ${VERSION}\n`, err: "" });
    const { out } = await edgecall.edgecall(["--help"]);
    for (const name of ["start", "ask", "deploy", "pair", "doctor", "rules", "waiting"])
      expect(out).toMatch(new RegExp(`^ +edgecall ${name}\\b`, "m"));
  });

  test("an installed gateway of it is a folder that needs nothing of npm's", async () => {
    const folder = await gatewayFolder(
      join(edgecall.folder, "node_modules/edgecall/dist"),
      join(edgecall.home, "gateway"),
    );
    const state = join(edgecall.home, "state");
    const starts = async (dir: string) => {
      const port = String(await freePort());
      const env = { PATH: "", STATE_DIRECTORY: dir, PORT: port };
      const gateway = spawn(process.execPath, [join(folder, "gateway.mjs")], {
        env,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let err = "";
      gateway.stderr.on("data", (text) => {
        err += text;
      });
      const answers = () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
      try {
        await until(answers, { within: 60_000, what: "the gateway answers" });
      } finally {
        gateway.kill("SIGTERM");
        await once(gateway, "close");
      }
      return err;
    };
    expect(await starts(state)).not.toContain("way back");
    // A container's: an older version wrote it, and nothing is kept beside it.
    const older = VERSION.replace(/^(\d+)\.(\d+)/, (_, major, minor) => `${major}.${Number(minor) - 1}`);
    const tokens = readFileSync(join(state, "tokens.json"), "utf8");
    writeFileSync(join(state, "version"), `${older}\n`);
    const [, back = ""] =
      new RegExp(`start edgecall ${older} with STATE_DIRECTORY=(\\S+);`).exec(await starts(state)) ?? [];
    expect(dirname(back)).toBe(join(state, "copies"));
    expect(readFileSync(join(back, "version"), "utf8")).toBe(`${older}\n`);
    // The way back leads to a state that runs.
    await starts(back);
    expect(readFileSync(join(back, "tokens.json"), "utf8")).toBe(tokens);
  });

  test("on an older Node it says in one line which it needs", async () => {
    const old = join(edgecall.home, "old.cjs");
    writeFileSync(old, 'Object.defineProperty(process.versions, "node", { value: "20.19.4" });\n');
    for (const words of [["version"], ["start", "--demo"]])
      expect(await edgecall.edgecall(words, { node: ["--require", old] })).toEqual({
        code: 1,
        out: "",
        err: `edgecall needs Node 22 or newer; this is Node 20.19.4 (${process.execPath}).\n`,
      });
  });

  test("start --demo --ask answers, and keeps its state in the person's home", async () => {
    const asked = await edgecall.edgecall(["start", "--demo", "--ask", "Which windows are open?"]);
    expect(asked).toEqual({ code: 0, out: "Bedroom window: open.\n", err: "" });
    expect(existsSync(join(edgecall.home, ".local/state/edgecall/demo/tokens.json"))).toBe(true);
  });

  test("what start runs is asked without a login, serves devices this very program, and ends as a whole", async () => {
    const port = String(await freePort());
    const program = join(edgecall.folder, "node_modules/.bin/edgecall");
    const started = spawn(process.execPath, [program, "start"], {
      cwd: edgecall.folder,
      env: { PATH: process.env.PATH, HOME: edgecall.home, PORT: port },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = new Promise<number | null>((resolve) => started.once("close", resolve));
    try {
      let out = "";
      started.stdout.on("data", (chunk: Buffer) => (out += chunk));
      await until(() => out.includes("edgecall runs"), { within: 60_000, what: "edgecall runs" });
      const asked = await edgecall.edgecall(["ask", "How full is the root disk?"]);
      expect(asked, asked.err).toMatchObject({ code: 0, out: expect.stringMatching(/\d+ %/) });
      for (const words of [["waiting"], ["rules"], ["doctor", "--no-model"]])
        expect(await edgecall.edgecall(words)).toMatchObject({ code: 0 });
      const served = await fetch(`http://127.0.0.1:${port}/edgecall.cjs`);
      const own = readFileSync(join(edgecall.folder, "node_modules/edgecall/dist/edgecall.cjs"));
      expect(Buffer.from(await served.arrayBuffer()).equals(own)).toBe(true);
      expect((await fetch(`http://127.0.0.1:${port}/`)).headers.get("content-type")).toContain("text/html");
    } finally {
      started.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
    // It has left the state folder.
    expect(existsSync(join(edgecall.home, ".local/state/edgecall/running.json"))).toBe(false);
  });

  describe("deploy", () => {
    let api: CloudflareApi;
    beforeAll(async () => {
      api = await startCloudflareApi(API_TOKEN);
    });
    afterAll(() => api.stop());

    test("it uploads what the package has, by the wrangler that is there", async () => {
      // As it is after the first time: fetched, whose 228 MB would be fetched in each run.
      const cached = join(edgecall.home, ".cache/edgecall", `wrangler-${WRANGLER_VERSION}`);
      mkdirSync(cached, { recursive: true });
      symlinkSync(join(ROOT, "node_modules"), join(cached, "node_modules"));
      const deployed = await edgecall.edgecall(["deploy", "--yes", "--url", api.gatewayUrl], {
        env: {
          CLOUDFLARE_API_BASE_URL: api.apiUrl,
          CLOUDFLARE_API_TOKEN: API_TOKEN,
          CLOUDFLARE_CF_FETCH_ENABLED: "false",
          CI: "true",
        },
      });
      expect(deployed, deployed.err).toMatchObject({
        code: 0,
        out: expect.stringContaining(`The console: ${api.gatewayUrl}/`),
      });
      expect(api.workers.get("edgecall")?.deploys).toBe(1);
    });
  });
});
