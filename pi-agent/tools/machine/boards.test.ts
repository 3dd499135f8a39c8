import { describe, expect, test } from "vitest";
import type { Board } from "../../testing/boards/common.ts";
import { PC } from "../../testing/boards/pc.ts";
import { PI_4 } from "../../testing/boards/pi-4.ts";
import { PI_5 } from "../../testing/boards/pi-5.ts";
import { PI_ZERO_2W } from "../../testing/boards/zero-2w.ts";
import { callTool } from "../../testing/call.ts";
import { programs, saying } from "../../testing/programs/folder.ts";
import { tree } from "../../testing/tree.ts";
import { cpu } from "./cpu.ts";
import { disk } from "./disk.ts";
import { listProcesses } from "./list-processes.ts";
import { memory } from "./memory.ts";
import { networkInfo } from "./network-info.ts";
import { systemInfo } from "./system-info.ts";
import { temperature } from "./temperature.ts";

type Expected = {
  board: Board;
  temperature: string[];
  cpu: string;
  memory: string;
  disks: string[];
  system: string[];
  network: string[];
};

const EXPECTED: Record<string, Expected> = {
  "Pi Zero 2 W": {
    board: PI_ZERO_2W,
    temperature: ["cpu-thermal: 48.3 °C", "1-wire 28-3c01d607ab12: 21.4 °C"],
    cpu: "CPU 20% busy (on average since the start, 4 cores); load average 0.42, 0.31, 0.25 (1, 5, 15 min); clock 600 MHz of 1000 MHz",
    memory: "RAM 50% used (214 MiB of 427 MiB, 214 MiB available); swap 0 bytes of 100.0 MiB used",
    disks: ["/", "/boot/firmware"],
    system: [
      "model: Raspberry Pi Zero 2 W Rev 1.0",
      "os: Debian GNU/Linux 12 (bookworm)",
      "kernel: 6.6.51+rpt-rpi-v8",
      "hostname: alex-eye",
      "uptime: 3 days 4 h 5 min",
      "throttling: now: under-voltage, throttled",
    ],
    network: [
      "lo: received 7.7 kB, sent 7.7 kB",
      "wlan0: up Wi-Fi signal -52 dBm received 376 MB, sent 599 kB",
    ],
  },
  "Pi 4": {
    board: PI_4,
    temperature: ["cpu-thermal: 61.3 °C", "bme280: 22.2 °C"],
    cpu: "CPU 20% busy (on average since the start, 4 cores); load average 1.02, 0.84, 0.61 (1, 5, 15 min); clock 1500 MHz of 1800 MHz",
    memory: "RAM 25% used (948 MiB of 3.7 GiB, 2.8 GiB available); swap 0 bytes of 512 MiB used",
    disks: ["/", "/boot/firmware"],
    system: [
      "model: Raspberry Pi 4 Model B Rev 1.4",
      "os: Debian GNU/Linux 12 (bookworm)",
      "kernel: 6.6.62+rpt-rpi-v8",
      "hostname: attic",
      "uptime: 14 days 3 min",
      "throttling: none",
    ],
    network: [
      "lo: received 52.0 kB, sent 52.0 kB",
      "eth0: up received 98.7 GB, sent 1.2 GB",
      "wlan0: down received 0 bytes, sent 0 bytes",
    ],
  },
  "Pi 5": {
    board: PI_5,
    temperature: ["cpu-thermal: 44.6 °C", "rp1_adc: 47.3 °C", "nvme Composite: 39.9 °C"],
    cpu: "CPU 20% busy (on average since the start, 4 cores); load average 0.10, 0.22, 0.11 (1, 5, 15 min); clock 1500 MHz of 2400 MHz",
    memory: "RAM 10% used (805 MiB of 7.9 GiB, 7.1 GiB available); swap 0 bytes of 2.0 GiB used",
    disks: ["/", "/boot/firmware"],
    system: [
      "model: Raspberry Pi 5 Model B Rev 1.0",
      "os: Debian GNU/Linux 13 (trixie)",
      "kernel: 6.12.47+rpt-rpi-2712",
      "hostname: workshop",
      "uptime: 6 min",
      "throttling: earlier since the start: CPU clock capped",
    ],
    network: [
      "lo: received 4.1 kB, sent 4.1 kB",
      "eth0: down received 0 bytes, sent 0 bytes",
      "wlan0: up Wi-Fi signal -61 dBm received 12.4 MB, sent 3.1 MB",
    ],
  },
  "a PC": {
    board: PC,
    temperature: ["x86_pkg_temp: 52.0 °C", "coretemp Package id 0: 52.0 °C", "coretemp Core 0: 50.0 °C"],
    cpu: "CPU 20% busy (on average since the start, 8 cores); load average 0.00, 0.01, 0.05 (1, 5, 15 min); clock 800 MHz of 3400 MHz",
    memory: "RAM 25% used (3.9 GiB of 15.4 GiB, 11.6 GiB available); no swap",
    disks: ["/"],
    system: [
      "model: LENOVO 20L5CTO1WW",
      "os: Debian GNU/Linux 12 (bookworm)",
      "kernel: 6.1.0-38-amd64",
      "hostname: desk",
      "uptime: 1 day 1 min",
    ],
    network: ["lo: received 100 bytes, sent 100 bytes", "enp0s31f6: up received 1.0 MB, sent 500 kB"],
  },
};

describe.each(Object.entries(EXPECTED))("%s", (_, expected) => {
  const place = { root: tree(expected.board) };

  test("temperature", async () => {
    expect((await callTool(temperature(place))).text.split("\n")).toEqual(expected.temperature);
  });

  test("cpu", async () => {
    expect((await callTool(cpu(place))).text).toBe(expected.cpu);
  });

  test("memory", async () => {
    expect((await callTool(memory(place))).text).toBe(expected.memory);
  });

  test("disk", async () => {
    const { result } = await callTool(disk(place));
    const disks = (result.details?.disks ?? []) as Array<{ path: string }>;
    expect(disks.map(({ path }) => path)).toEqual(expected.disks);
  });

  test("system_info", async () => {
    expect((await callTool(systemInfo(place))).text.split("\n")).toEqual(expected.system);
  });

  test("network_info", async () => {
    expect((await callTool(networkInfo(place))).text.split("\n")).toEqual(expected.network);
  });

  test("list_processes", async () => {
    expect((await callTool(listProcesses(place))).text).toContain(
      "1 systemd: CPU 0.0%, memory 11.0 MiB, /sbin/init",
    );
  });
});

describe("throttling, if the kernel does not show the firmware's report", () => {
  const { "/sys/devices/platform/soc/soc:firmware/get_throttled": _, ...board } = PI_ZERO_2W;
  const root = tree(board);

  test("vcgencmd reports it", async () => {
    const exec = programs({ vcgencmd: saying("throttled=0x50000") });
    const { text } = await callTool(systemInfo({ root, exec }));
    expect(text).toContain("throttling: earlier since the start: under-voltage, throttled");
  });

  test("otherwise the voltage sensor does", async () => {
    expect((await callTool(systemInfo({ root, exec: programs({}) }))).text).toContain(
      "throttling: under-voltage since the start",
    );
  });
});

test("sensors on wires: a missing or impossible value is no reading", async () => {
  const root = tree({
    "/sys/bus/w1/devices/28-3c01d607ab12/temperature": "85000\n",
    "/sys/bus/w1/devices/28-3c01d607ab13/temperature": "\n",
    "/sys/bus/w1/devices/w1_bus_master1/temperature": "1000\n",
    "/sys/bus/iio/devices/iio:device0/name": "mpu6050\n",
    "/sys/bus/iio/devices/iio:device0/in_temp_raw": "-2096\n",
    "/sys/bus/iio/devices/iio:device0/in_temp_offset": "12420\n",
    "/sys/bus/iio/devices/iio:device0/in_temp_scale": "2.941176\n",
    "/sys/bus/iio/devices/iio:device1/in_temp_raw": "5\n",
  });
  expect((await callTool(temperature({ root }))).text).toBe("mpu6050: 30.4 °C");
});
