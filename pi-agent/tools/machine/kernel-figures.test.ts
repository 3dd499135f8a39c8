import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { callTool } from "../../testing/call.ts";
import { PI_5, PI_ZERO_2W, tree } from "../../testing/tree.ts";
import { kernelTools } from "../../toolbox/all.ts";
import { cpu } from "./cpu.ts";
import { disk, usedPercent } from "./disk.ts";
import { listProcesses, parseStat } from "./list-processes.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { memory } from "./memory.ts";
import { realMounts } from "./mounts.ts";
import { networkInfo } from "./network-info.ts";
import { systemInfo } from "./system-info.ts";
import { temperature } from "./temperature.ts";
import { throttlingText } from "./throttling.ts";

const zero = { root: tree(PI_ZERO_2W) };
const five = { root: tree(PI_5) };
const bare = { root: tree({ "/empty": "" }) };
const here = { root: "/" };

describe("temperature", () => {
  test("of a Pi Zero 2 W: one zone, listed once although hwmon has it too", async () => {
    expect((await callTool(temperature(zero))).text).toBe("cpu-thermal: 48.3 °C");
  });

  test("of a Pi 5: the other chips too, but no impossible reading", async () => {
    expect((await callTool(temperature(five))).text).toBe(
      "cpu-thermal: 48.3 °C\nrp1_adc: 51.0 °C\nnvme Composite: 39.9 °C",
    );
  });

  test("without a sensor it says so, and where it looked", async () => {
    const { text, code } = await callTool(temperature(bare));
    expect(code).toBe("unavailable");
    expect(text).toContain("no temperature sensor");
    expect(text).toContain("/sys/class/thermal/thermal_zone*/temp");
  });

  test("a sensor with a nonsense value is left out", async () => {
    const root = tree({
      "/sys/class/thermal/thermal_zone0/temp": "",
      "/sys/class/thermal/thermal_zone1/temp": "x",
    });
    expect((await callTool(temperature({ root }))).code).toBe("unavailable");
  });
});

describe("cpu", () => {
  test("load, cores and clock; with an unchanged counter it gives the average since the start", async () => {
    const { text, result } = await callTool(cpu(zero));
    // A rule may watch each average.
    expect(result.details).toMatchObject({ load_1: 0.42, load_5: 0.31, load_15: 0.25 });
    expect(text).toBe(
      "CPU 20% busy (on average since the start, 4 cores); load average 0.42, 0.31, 0.25 (1, 5, 15 min); clock 600 MHz of 1000 MHz",
    );
  });

  test("of this machine, over a sample", async () => {
    const { text, result } = await callTool(cpu(here));
    expect(text).toMatch(
      /^CPU \d+% busy \(over 200 ms, \d+ cores?\); load average [\d., ]+ \(1, 5, 15 min\)/,
    );
    expect(result.details?.usage_percent).toBeGreaterThanOrEqual(0);
    expect(result.details?.usage_percent).toBeLessThanOrEqual(100);
  });

  test("without /proc/stat it says so", async () => {
    expect((await callTool(cpu(bare))).code).toBe("unavailable");
  });
});

describe("memory", () => {
  test("available memory counts as free", async () => {
    expect((await callTool(memory(zero))).text).toBe(
      "RAM 50% used (214 MiB of 427 MiB, 214 MiB available); swap 9.8 MiB of 100.0 MiB used",
    );
  });

  test("of this machine, and without one", async () => {
    expect((await callTool(memory(here))).text).toMatch(/^RAM \d+% used \(.* available\); (no )?swap/);
    expect((await callTool(memory(bare))).code).toBe("unavailable");
  });
});

describe("disk", () => {
  test("real file systems only, each device once", () => {
    expect(realMounts(PI_ZERO_2W["/proc/self/mounts"] ?? "")).toEqual([
      { device: "/dev/mmcblk0p2", path: "/", type: "ext4" },
      { device: "/dev/mmcblk0p1", path: "/boot/firmware", type: "vfat" },
      { device: "/dev/sda1", path: "/media/my stick", type: "vfat" },
    ]);
  });

  test("each mount of the tree is measured", async () => {
    const lines = (await callTool(disk(zero))).text.split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /^\/ \d+% used \([\d.]+ [kMGT]B of [\d.]+ [kMGT]B, .* free\) ext4 on \/dev\/mmcblk0p2$/,
    );
  });

  test("the percentage is df's", async () => {
    // `df` rounds up, and counts only what users may use.
    expect(usedPercent(13_032_435_712, 84_760_858_624)).toBe(14);
    const df = execFileSync("df", ["-P", "/"], { encoding: "utf8" }).split("\n")[1] ?? "";
    const { result } = await callTool(disk(here), { path: "/" });
    expect(result.details?.disks).toMatchObject([{ used_percent: Number(/(\d+)%/.exec(df)?.[1]) }]);
  });

  test("a path shows its own disk", async () => {
    const { text } = await callTool(disk(zero), { path: "/media/my stick/a.txt" });
    expect(text).toMatch(
      /^\/media\/my stick\/a.txt \d+% used .* vfat on \/dev\/sda1 \(mounted at \/media\/my stick\)$/,
    );
    expect((await callTool(disk(zero), { path: "/nowhere" })).code).toBe("not_found");
    expect((await callTool(disk(zero), { path: "relative" })).code).toBe("invalid_params");
    expect((await callTool(disk(bare))).code).toBe("unavailable");
  });
});

describe("system_info", () => {
  test("of a Pi Zero 2 W", async () => {
    expect((await callTool(systemInfo(zero))).text.split("\n")).toEqual([
      "model: Raspberry Pi Zero 2 W Rev 1.0",
      "os: Debian GNU/Linux 12 (bookworm)",
      "kernel: 6.6.51+rpt-rpi-v8",
      "hostname: alex-eye",
      "uptime: 3 days 4 h 5 min",
      "throttling: now: under-voltage, throttled",
    ]);
  });

  test("throttling in words", () => {
    expect(throttlingText("0")).toBe("none");
    expect(throttlingText("throttled=0x50000")).toBe("earlier since the start: under-voltage, throttled");
    expect(throttlingText("80008")).toBe("now: soft temperature limit");
    expect(throttlingText("?")).toBeUndefined();
  });

  test("of this machine", async () => {
    expect((await callTool(systemInfo(here))).text).toContain(`hostname: ${hostname()}`);
    expect((await callTool(systemInfo(bare))).code).toBe("unavailable");
  });
});

describe("network_info", () => {
  test("counters, link and Wi-Fi signal, without the addresses of the machine that runs the test", async () => {
    expect((await callTool(networkInfo(zero))).text).toBe(
      "lo: received 7.7 kB, sent 7.7 kB\nwlan0: up Wi-Fi signal -52 dBm received 376 MB, sent 599 kB",
    );
  });

  test("of this machine, with addresses", async () => {
    expect((await callTool(networkInfo(here))).text).toMatch(/^lo: .*127\.0\.0\.1/m);
    expect((await callTool(networkInfo(bare))).code).toBe("unavailable");
  });
});

describe("list_processes", () => {
  test("odd names are read correctly", () => {
    expect(parseStat(PI_ZERO_2W["/proc/77/stat"] ?? "")).toEqual({ name: "my (odd) proc", ticks: 1_000 });
    expect(parseStat("junk")).toBeUndefined();
  });

  test("by memory, with secrets masked", async () => {
    const { text } = await callTool(listProcesses(zero), { sort_by: "memory", limit: 2 });
    expect(text.split("\n")).toEqual([
      "3 processes; the 2 with the most memory:",
      "77 my (odd) proc: CPU 0.0%, memory 40.0 MiB, sync --password *** mqtt://me:***@broker",
      "1 systemd: CPU 0.0%, memory 11.0 MiB, /sbin/init splash",
    ]);
  });

  test("masking keeps the rest of a command", () => {
    expect(maskSecrets("run --token=abc -v x")).toBe("run --token=*** -v x");
    expect(maskSecrets("run --api-key abc --port 1")).toBe("run --api-key *** --port 1");
    expect(maskSecrets("compass north")).toBe("compass ***");
    expect(maskSecrets("node main.ts --config a")).toBe("node main.ts --config a");
  });

  test("of this machine: a busy process comes first", async () => {
    const { text, result } = await callTool(listProcesses(here), { limit: 50 });
    expect(text).toMatch(/^\d+ processes; the \d+ with the most CPU/);
    const pids = (result.details?.processes as Array<{ pid: number; cpu_percent: number }>) ?? [];
    expect(pids.length).toBeGreaterThan(1);
    expect(pids.map((one) => one.cpu_percent)).toEqual(
      pids.map((one) => one.cpu_percent).sort((a, b) => b - a),
    );
  });

  test("limits are kept", async () => {
    expect((await callTool(listProcesses(zero), { limit: 51 })).code).toBe("invalid_params");
    expect((await callTool(listProcesses(zero), { sort_by: "name" })).code).toBe("invalid_params");
    expect((await callTool(listProcesses(bare))).code).toBe("unavailable");
  });
});

test("every tool for the kernel's figures is a read, safe to repeat, with a description in everyday words", () => {
  const tools = kernelTools({ root: "/" });
  expect(tools.length).toBeGreaterThan(6);
  for (const tool of tools) {
    expect(tool).toMatchObject({ effect: "read", idempotent: true });
    expect(tool.description.length).toBeGreaterThan(60);
  }
});
