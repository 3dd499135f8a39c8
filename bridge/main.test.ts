/** The bridge as a process: signals, exit codes, and the text for a missing setting. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { usePlayed } from "./testkit/played.ts";

const played = usePlayed();

describe("the program", () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const run = (env: Record<string, string>) => {
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, HEALTH_PORT: "0", ...env },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    played.after(() => child.kill("SIGKILL"));
    return { child, stderr: () => stderr };
  };
  test("SIGTERM: it says goodbye and exits with 0", async () => {
    const { child, stderr } = run(played.environment());
    const [message] = await once(child, "message");
    expect(message).toEqual({ ready: true });
    child.kill("SIGTERM");
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    await until(() => played.home.closes.length > 0);
    expect(played.home.closes).toEqual([1001]);
    const lines = stderr().trim().split("\n");
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ program: "bridge" });
    expect(stderr()).not.toContain("secret");
  });

  test("ends with the stack that started it", async () => {
    const { child } = run(played.environment());
    await once(child, "message");
    child.disconnect();
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  test("a missing setting is named, and it exits with 2", async () => {
    const { child, stderr } = run({ MQTT_URL: "nonsense" });
    const [code] = await once(child, "close");
    expect(code).toBe(2);
    for (const name of ["GATEWAY_URL", "BRIDGE_TOKEN", "MQTT_URL"]) expect(stderr()).toContain(`${name}: `);
  });
});
