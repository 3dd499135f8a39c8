import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { BridgeStatus, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { startBridge } from "../bridge.ts";
import { readSettings } from "../settings.ts";
import { startAedes } from "../testkit/brokers.ts";
import { PlayedHome } from "../testkit/home.ts";
import { openService, type ServiceOptions } from "./service.ts";

const cleanup: Array<() => unknown> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

/** A bridge of a reachable home, as a service whose messages to systemd go to a file. */
async function served(
  options: Pick<ServiceOptions, "onTrial" | "readyWithinMs">,
  more: Record<string, string> = {},
) {
  const home = new PlayedHome();
  const [gateway, broker] = await Promise.all([home.start(), startAedes()]);
  const folder = mkdtempSync(join(tmpdir(), "edgecall-bridge-service-"));
  const said = join(folder, "said");
  const fd = openSync(said, "a");
  cleanup.push(
    () => closeSync(fd),
    () => broker.stop(),
    () => home.stop(),
  );
  const env = {
    GATEWAY_URL: gateway,
    BRIDGE_TOKEN: "secret",
    MQTT_URL: broker.url,
    HEALTH_PORT: "0",
    EDGECALL_NOTIFY_FD: String(fd),
    RUNTIME_DIRECTORY: folder,
    ...more,
  };
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.errors.join("; "));
  const service = openService({ settings: read.settings, log: () => {}, env, ...options });
  cleanup.push(() => service.stopping());
  const start = () => {
    const bridge = startBridge(read.settings, service.log);
    cleanup.push(() => bridge.stop());
    service.started(bridge);
  };
  const status = () => {
    const file = checkJson(BridgeStatus, readFileSync(join(folder, STATUS_FILE), "utf8"));
    if (!file.ok) throw new Error(file.error);
    return file.value;
  };
  return { home, broker, start, status, folder, said: () => readFileSync(said, "utf8") };
}

test("systemd is told that it is ready when broker and gateway are connected; until then the status names the missing one", async () => {
  const { home, broker, start, status, said } = await served({ onTrial: false });
  home.refuseWith = 503;
  start();
  await until(() => status().broker?.up);
  expect(said()).not.toContain("READY=1");
  expect(said()).toContain("STATUS=offline: no gateway");
  home.refuseWith = undefined;
  await until(() => said().includes("READY=1"));
  expect(status()).toMatchObject({
    online: true,
    gateway: { up: true },
    broker: { url: broker.url, up: true },
  });
  expect(said()).toContain("STATUS=online");

  home.refuseWith = 401;
  home.drop();
  await until(() => !status().online);
  expect(status()).toMatchObject({ gateway: { up: false }, broker: { up: true } });
  await until(() => status().last_errors.at(-1)?.event === "gateway.refuses");
  expect(status().gateway.problem).toContain("the gateway refuses");
});

test("booting does not wait forever for the Internet", async () => {
  const { home, start, status, said } = await served({ onTrial: false, readyWithinMs: 50 });
  home.refuseWith = 503;
  start();
  await until(() => said().includes("READY=1"));
  expect(status().online).toBe(false);
});

test("on trial it is ready only when it is online", async () => {
  const { home, start, status, said } = await served({ onTrial: true, readyWithinMs: 0 });
  home.refuseWith = 503;
  start();
  await until(() => home.connections === 0 && status().broker?.up && status().last_errors.length > 2);
  expect(said()).not.toContain("READY=1");
  home.refuseWith = undefined;
  await until(() => said().includes("READY=1"));
});

test("it keeps sending signs of life while it runs", async () => {
  const { said } = await served({ onTrial: false }, { WATCHDOG_USEC: "60000" });
  await until(() => said().split("WATCHDOG=1").length > 3);
});

test("without systemd nothing is written", async () => {
  const { start, folder, said, home } = await served(
    { onTrial: false },
    { EDGECALL_NOTIFY_FD: "", RUNTIME_DIRECTORY: "/nowhere" },
  );
  start();
  await until(() => home.connections === 1);
  expect(said()).toBe("");
  expect(() => readFileSync(join(folder, STATUS_FILE))).toThrow("ENOENT");
});
