/** A second device at `npm start`, with only the command that the console shows. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { interrupt, npmStart, running, useStateFolder } from "./npm-start.ts";

const folder = useStateFolder();
const stopping: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

test("gets the embedded broker's address, and finds it again after a restart of the stack", {
  tags: ["needs/linux"],
  timeout: 180_000,
}, async () => {
  const port = String(await freePort());
  const first = npmStart(folder.path, [], { PORT: port });
  const client = await running(first);
  expect(first.out()).toMatch(/ssh -R (\d+):127\.0\.0\.1:\1 -R (\d+):127\.0\.0\.1:\2 YOU@DEVICE/);
  const made = await client.fetch("/v1/device-codes", { method: "POST", body: "{}" });
  const { command } = (await made.json()) as { command: string };
  // As in a terminal, but not as root.
  const dir = join(folder.path, "eye");
  const line = `${command.replace("sudo sh", "sh")} --name eye --no-service '${dir}'`;
  const installed = spawnSync("/bin/sh", ["-c", line], { encoding: "utf8", timeout: 60_000 });
  expect(installed, installed.stderr).toMatchObject({ status: 0 });
  const [, broker = "none"] = /broker\s+(\S+)/.exec(first.out()) ?? [];
  expect(installed.stderr).toContain(`its broker: ${broker}\n  which is this machine itself. If `);
  expect(readFileSync(join(dir, "agent.toml"), "utf8")).toContain(`url = "${broker}"`);

  interrupt(first);
  await first.code;
  const second = npmStart(folder.path, [], { PORT: port });
  await running(second);
  expect(second.out()).toContain(broker);
  const agent = spawn("/bin/sh", ["-c", `exec ${installed.stdout}`], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => agent.once("close", () => resolve()));
  stopping.push(async () => {
    agent.kill("SIGTERM");
    await ended;
  });
  const answers = async () => (await client.command("eye", "ping").catch(() => undefined))?.status === 200;
  await until(answers, { within: 60_000, what: "the device answers" });
  interrupt(second);
  await second.code;
});
