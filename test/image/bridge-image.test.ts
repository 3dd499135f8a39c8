/** The bridge's image: its content, a run as shipped, and its health check over the network. */
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PlayedBroker, startAedes } from "../../bridge/testkit/brokers.ts";
import { PlayedHome } from "../../bridge/testkit/home.ts";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { BuiltImage } from "./built-image.ts";

/** The first run makes a Debian. */
const BUILD_WITHIN_MS = 400_000;

describe("with buildah, debootstrap and bubblewrap (apt-get install)", {
  tags: ["needs/root", "needs/buildah", "needs/debootstrap", "needs/bubblewrap"],
}, () => {
  let image: BuiltImage;
  let home: PlayedHome;
  let broker: PlayedBroker;
  let port: number;
  let bridge: ChildProcess;
  let logged = "";
  const env: Record<string, string> = {};

  beforeAll(async () => {
    image = await BuiltImage.build();
    home = new PlayedHome();
    broker = await startAedes();
    port = await freePort();
    Object.assign(env, {
      GATEWAY_URL: await home.start(),
      BRIDGE_TOKEN: "secret",
      MQTT_URL: broker.url,
      HEALTH_PORT: String(port),
      HEALTH_HOST: "127.0.0.1",
    });
    bridge = image.start([], env);
    bridge.stderr?.on("data", (text) => {
      logged += text;
    });
  }, BUILD_WITHIN_MS);

  afterAll(async () => {
    bridge.kill("SIGKILL");
    await home.stop();
    await broker.stop();
    await image.remove();
  }, 60_000);

  const asked = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    return response && { status: response.status, text: await response.text() };
  };

  test("it is small, has no shell, and its user is not root", async () => {
    expect(await image.size()).toBeLessThan(150_000_000);
    expect(image.config.User).toBe("10001:10001");
    for (const path of ["bin/sh", "usr/bin/sh", "bin/bash", "usr/bin/apt", "usr/bin/env"])
      expect(existsSync(join(image.root, path))).toBe(false);
  });

  test("it runs as shipped, as its user and without write access, and reports over the network that it is ready", async () => {
    await until(async () => (await asked("/readyz"))?.status === 200, {
      within: 20_000,
      what: "readyz",
    });
    expect((await asked("/healthz"))?.status).toBe(200);
    expect(home.of("hello")).toHaveLength(1);
    const status = statusOf(nodeBelow(bridge.pid ?? 0));
    expect(/^CapEff:\t(\w+)/m.exec(status)?.[1]).toBe("0000000000000000");
    console.log(`bridge image: ${Math.round((await image.size()) / 1e6)} MB, RSS ${rssMb(status)} MB`);
  });

  test("its health check reports if the gateway is connected", async () => {
    const [, ...check] = image.config.Healthcheck?.Test ?? [];
    const well = await image.run(check, { HEALTH_PORT: String(port) });
    expect(well).toMatchObject({ code: 0, stdout: expect.stringContaining('"ready":true') });
    home.refuseWith = 503;
    home.drop();
    await until(async () => (await asked("/readyz"))?.status === 503);
    const ill = await image.run(check, { HEALTH_PORT: String(port) });
    expect(ill).toMatchObject({ code: 1, stdout: expect.stringContaining('"gateway":"offline"') });
    const gone = await image.run(check, { HEALTH_PORT: "1" });
    expect(gone).toMatchObject({ code: 1, stdout: expect.stringContaining("no bridge answers on port 1") });
  });

  test("the same image writes the broker's files into a writable folder only", async () => {
    const denied = image.start(["broker-files", "/opt/files"], {});
    expect(await new Promise((resolve) => denied.once("close", resolve))).toBe(1);

    const dir = mkdtempSync(join(tmpdir(), "broker-"));
    chmodSync(dir, 0o777);
    const child = image.start(["broker-files", "/broker", "pi-1"], {}, { [dir]: "/broker" });
    let output = "";
    child.stdout?.on("data", (text) => {
      output += text;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(output).toContain('username = "pi-1"');
    expect(readFileSync(join(dir, "mosquitto.conf"), "utf8")).toContain("acl_file /broker/acl");
    expect(readFileSync(join(dir, "passwords"), "utf8")).toMatch(/^pi-1:\$7\$/m);
  });

  test("SIGTERM ends it at once", async () => {
    const ended = new Promise((resolve) => bridge.once("close", resolve));
    process.kill(nodeBelow(bridge.pid ?? 0), "SIGTERM");
    await ended;
    expect(logged).toContain('"event":"bridge.stopped"');
  });
});

/** Returns the pid of Node. bubblewrap's own processes are between it and `pid`. */
function nodeBelow(pid: number): number {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      const status = statusOf(id);
      const parent = Number(/^PPid:\t(\d+)/m.exec(status)?.[1]);
      return [{ id: Number(id), parent, isNode: /^Name:\tnode/m.test(status) }];
    });
  const below = (parent: number): typeof processes =>
    processes.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.id)]);
  const found = below(pid).find(({ isNode }) => isNode);
  if (!found) throw new Error("the bridge does not run");
  return found.id;
}

/** Returns an empty text when the process has ended. */
function statusOf(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

function rssMb(status: string): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}
