/** The images of a release: both processors by their files, this one's by running it. */
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAedes } from "../../bridge/testkit/brokers.ts";
import { PlayedHome } from "../../bridge/testkit/home.ts";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { type OneProcessor, releasedImages, unpackImage } from "./released-image.ts";
import { startImage } from "./start-image.ts";

const BUILD_WITHIN_MS = 600_000;
const NAMES = ["edgecall-bridge", "edgecall-gateway"] as const;
const APP = "edgecall-bridge-app";
/** Of each image, besides its libraries. */
const OWN = {
  "edgecall-bridge": ["opt/edgecall/bridge.mjs", "usr/local/bin/node"],
  "edgecall-gateway": ["opt/edgecall/gateway.mjs", "opt/edgecall/worker.js", "usr/local/bin/node"],
};
const WRITABLE = { "edgecall-bridge": ["broker", "state"], "edgecall-gateway": ["state"] };

describe("with buildah, apt and bubblewrap", {
  tags: ["needs/root", "needs/buildah", "needs/bubblewrap"],
}, () => {
  const images = new Map<string, OneProcessor[]>();
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    const out = await releasedImages();
    for (const name of [...NAMES, APP])
      images.set(name, unpackImage(join(out, `${name}-${VERSION}-image.tar.gz`)));
  }, BUILD_WITHIN_MS);
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  const of = (name: string, architecture: string): OneProcessor => {
    const found = images.get(name)?.find((one) => one.architecture === architecture);
    if (!found) throw new Error(`no ${name} for ${architecture}`);
    return found;
  };
  /** Starts the one for this machine's processor. */
  const start = (name: string, options: Omit<Parameters<typeof startImage>[0], "root" | "config">) => {
    const { root, config } = of(name, process.arch === "x64" ? "amd64" : process.arch);
    const child = startImage({ root, config, ...options });
    children.push(child);
    let err = "";
    child.stderr?.on("data", (text) => {
      err += text;
    });
    const code = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { child, err: () => err, code };
  };
  const isHealthy = async (name: string, env: Record<string, string>) => {
    const [, ...command] = of(name, "amd64").config.Healthcheck?.Test ?? [];
    return (await start(name, { command, env }).code) === 0;
  };

  test.each(NAMES)("%s: for both processors the same files, each of its own", (name) => {
    expect(images.get(name)?.map(({ architecture }) => architecture)).toEqual(["amd64", "arm64"]);
    /** Without what is named after a processor. */
    const alike = (path: string) =>
      path
        .replace(/(x86_64|aarch64)-linux-gnu/, "TRIPLET")
        .replace(/lib(64)?\/ld-linux-.*/, "LOADER")
        .replace(/workerd-linux-(64|arm64)/, "WORKERD");
    const lists = ["amd64", "arm64"].map((architecture) => {
      const { files, config, root } = of(name, architecture);
      const machines = files.flatMap(({ machine }) => machine ?? []);
      expect(new Set(machines)).toEqual(new Set([architecture]));
      // Node, its loader, and ten libraries; the gateway's workerd.
      expect(machines).toHaveLength(name === "edgecall-gateway" ? 13 : 12);
      const paths = files.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(OWN[name]));
      for (const path of ["bin/sh", "usr/bin/sh", "bin/bash", "usr/bin/env", "usr/bin/apt"])
        expect(paths).not.toContain(path);
      expect(config).toMatchObject({
        User: "10001:10001",
        Healthcheck: { Test: ["CMD", "/usr/local/bin/node", ...Array(2).fill(expect.any(String))] },
        Labels: { "org.opencontainers.image.version": VERSION },
      });
      expect(config.Entrypoint[0]).toBe("/usr/local/bin/node");
      // All that its user may write.
      const owned = files.filter(({ uid }) => uid !== 0);
      expect(owned.map(({ path, uid, mode }) => [path, uid, mode & 0o777])).toEqual(
        WRITABLE[name].map((path) => [path, 10_001, 0o700]),
      );
      for (const { path, mode } of files)
        if (path !== "tmp" && (mode & 0o170000) !== 0o120000) expect(mode & 0o022, path).toBe(0);
      if (name === "edgecall-gateway")
        expect(readFileSync(join(root, "opt/edgecall/worker.js"), "utf8")).toContain(`"${VERSION}"`);
      return paths
        .map(alike)
        .filter((path) => !/^lib(64)?$/.test(path))
        .sort();
    });
    expect(lists[1]).toEqual(lists[0]);
  });

  test("Home Assistant's app has the same files, and starts as root, which alone may read its options", () => {
    for (const [architecture, arch] of [
      ["amd64", "amd64"],
      ["arm64", "aarch64"],
    ] as const) {
      const app = of(APP, architecture);
      expect(app.files).toEqual(of("edgecall-bridge", architecture).files);
      expect(app.config).toMatchObject({
        User: "0:0",
        Healthcheck: { Test: expect.arrayContaining(["health", "alive"]) },
        Labels: { "io.hass.type": "app", "io.hass.version": VERSION, "io.hass.arch": arch },
      });
    }
  });

  test("the bridge runs as shipped, and its health check knows whether it is connected", async () => {
    const home = new PlayedHome();
    const broker = await startAedes();
    const port = String(await freePort());
    try {
      const bridge = start("edgecall-bridge", {
        env: {
          GATEWAY_URL: await home.start(),
          BRIDGE_TOKEN: "secret",
          MQTT_URL: broker.url,
          HEALTH_PORT: port,
          HEALTH_HOST: "127.0.0.1",
        },
      });
      await until(() => isHealthy("edgecall-bridge", { HEALTH_PORT: port }), { within: 60_000 });
      expect(home.of("hello")).toHaveLength(1);
      expect(bridge.err()).toContain('"event":"gateway.up"');
      expect(await isHealthy("edgecall-bridge", { HEALTH_PORT: "1" })).toBe(false);
    } finally {
      await home.stop();
      await broker.stop();
    }
  });

  test("the gateway runs as shipped, keeps its state in /state alone, and answers its owner", async () => {
    const state = mkdtempSync(join(tmpdir(), "edgecall-state-"));
    chmodSync(state, 0o777);
    const port = String(await freePort());
    const env = { PORT: port };
    const gateway = start("edgecall-gateway", { env, writable: { [state]: "/state" } });
    await until(() => isHealthy("edgecall-gateway", env), { within: 90_000, what: gateway.err() });
    const { api } = JSON.parse(readFileSync(join(state, "tokens.json"), "utf8")) as { api: string };
    const status = await fetch(`http://127.0.0.1:${port}/v1/status`, {
      headers: { authorization: `Bearer ${api}` },
    });
    expect(await status.json()).toMatchObject({ version: VERSION });
    expect(readFileSync(join(state, "version"), "utf8")).toBe(`${VERSION}\n`);
    expect(await isHealthy("edgecall-gateway", { PORT: "1" })).toBe(false);
  });
});
