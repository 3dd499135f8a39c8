import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { AgentStatus, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Agent } from "../agent.ts";
import { type Broker, memoryLog, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { openService } from "./service.ts";

const cleanup: Array<() => unknown> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

/** A service whose messages to systemd go to a file. */
async function served(onTrial: boolean, more: Record<string, string> = {}) {
  const broker: Broker = await startBroker();
  const folder = mkdtempSync(join(tmpdir(), "edgecall-service-"));
  const said = join(folder, "said");
  const fd = openSync(said, "a");
  cleanup.push(
    () => closeSync(fd),
    () => broker.stop(),
  );
  const settings = testSettings(broker.port);
  const env = { EDGECALL_NOTIFY_FD: String(fd), RUNTIME_DIRECTORY: folder, ...more };
  const service = openService({ settings, log: memoryLog().log, env, onTrial });
  cleanup.push(() => service.stopping());
  const start = async (): Promise<Agent> => {
    const agent = await readyAgent(settings, { log: service.log });
    cleanup.push(() => agent.stop());
    return agent;
  };
  const status = () => {
    const read = checkJson(AgentStatus, readFileSync(join(folder, STATUS_FILE), "utf8"));
    if (!read.ok) throw new Error(read.error);
    return read.value;
  };
  return { broker, folder, service, start, status, said: () => readFileSync(said, "utf8") };
}

test("systemd is told when it runs; the status says what it offers and how its connection is", async () => {
  const { broker, service, start, status, said } = await served(false);
  const agent = await start();
  service.started(agent);
  expect(said()).toContain("READY=1");
  expect(said()).toContain(`STATUS=online at mqtt://127.0.0.1:${broker.port}`);
  expect(status()).toMatchObject({ agent_id: "eye", online: true, model: null, last_errors: [] });
  expect(status().tools).toContain("memory");
  await broker.stop();
  await until(() => !status().online);
  expect(status().last_errors.at(-1)).toMatchObject({ event: "mqtt.offline" });
  expect(said()).toMatch(/STATUS=offline: /);
});

test("on trial it is ready only when it is online", async () => {
  const { service, start, said } = await served(true);
  service.started(await start());
  expect(said()).not.toContain("READY=1");
  service.online();
  expect(said()).toContain("READY=1");
});

test("it keeps sending signs of life while it runs", async () => {
  const { said } = await served(false, { WATCHDOG_USEC: "60000" });
  await until(() => said().split("WATCHDOG=1").length > 3);
});

test("without systemd nothing is written", async () => {
  const { folder, start, service, said } = await served(false, {
    EDGECALL_NOTIFY_FD: "",
    RUNTIME_DIRECTORY: "/nowhere",
  });
  service.started(await start());
  expect(said()).toBe("");
  expect(() => readFileSync(join(folder, STATUS_FILE))).toThrow("ENOENT");
});
