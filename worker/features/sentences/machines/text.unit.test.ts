/** What the real tools of a machine say, in the languages of people. The machine is the tree of a Pi, or a program's recorded output. */
import { cs } from "@edgecall/core/phrases/languages/cs.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { en } from "@edgecall/core/phrases/languages/en.ts";
import { es } from "@edgecall/core/phrases/languages/es.ts";
import { fr } from "@edgecall/core/phrases/languages/fr.ts";
import { it } from "@edgecall/core/phrases/languages/it.ts";
import { nl } from "@edgecall/core/phrases/languages/nl.ts";
import { pl } from "@edgecall/core/phrases/languages/pl.ts";
import { pt } from "@edgecall/core/phrases/languages/pt.ts";
import { zh } from "@edgecall/core/phrases/languages/zh.ts";
import { ENGLISH, Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Comparison, Reading } from "@edgecall/core/sentences/frame.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { callTool } from "../../../../pi-agent/testing/call.ts";
import { fakeCsi } from "../../../../pi-agent/testing/programs/cameras.ts";
import { programs, saying } from "../../../../pi-agent/testing/programs/folder.ts";
import { PI_5, PI_ZERO_2W, tree } from "../../../../pi-agent/testing/tree.ts";
import { cpu } from "../../../../pi-agent/tools/machine/cpu.ts";
import { disk } from "../../../../pi-agent/tools/machine/disk.ts";
import { journal } from "../../../../pi-agent/tools/machine/journal.ts";
import { listProcesses } from "../../../../pi-agent/tools/machine/list-processes.ts";
import { memory } from "../../../../pi-agent/tools/machine/memory.ts";
import { networkInfo } from "../../../../pi-agent/tools/machine/network-info.ts";
import { services } from "../../../../pi-agent/tools/machine/services.ts";
import { snapshot } from "../../../../pi-agent/tools/machine/snapshot.ts";
import { systemInfo } from "../../../../pi-agent/tools/machine/system-info.ts";
import { temperature } from "../../../../pi-agent/tools/machine/temperature.ts";
import { figuresIn } from "./figures.ts";
import { machineAnswer } from "./text.ts";

const german = new Phrases(de);
const zero = { root: tree(PI_ZERO_2W) };
const five = { root: tree(PI_5) };
const UNITS = `cron.service loaded active running Regular background program processing daemon
● mosquitto.service loaded failed failed Mosquitto MQTT Broker
ssh.service loaded active running OpenBSD Secure Shell server`;
const logged = JSON.stringify({
  __REALTIME_TIMESTAMP: "1795311326123456",
  SYSLOG_IDENTIFIER: "sshd",
  MESSAGE: "Accepted publickey",
});

const systemctl = (text: string) => services({ exec: programs({ systemctl: saying(text) }) });
const journalctl = (text: string) => journal({ exec: programs({ journalctl: saying(text) }) });

const said = async (tool: Tool, args?: Record<string, unknown>) => (await callTool(tool, args)).text;
const told = async (reading: Reading, tool: Tool, phrases: Phrases, args?: Record<string, unknown>) =>
  machineAnswer({ reading }, "vm", await said(tool, args), phrases).line;

describe("our agent's tools", () => {
  test.each([
    [
      "memory",
      memory(zero),
      "vm, memory: 50 % used (214 MiB of 427 MiB), 214 MiB free, swap 9.8 MiB of 100 MiB.",
    ],
    ["load", cpu(zero), "vm, load: 20 % busy, load average 0.42 / 0.31 / 0.25 (1, 5, 15 min), 4 cores."],
    ["temperature", temperature(zero), "vm: 48.3 °C."],
    ["uptime", systemInfo(zero), "vm, uptime: 3 days 4 h."],
    ["version", systemInfo(zero), "vm, version: Debian GNU/Linux 12 (bookworm), 6.6.51+rpt-rpi-v8."],
    ["services", systemctl(UNITS), "vm: 1 service has failed: mosquitto.\nvm: 2 services run: cron, ssh."],
    ["failed_services", systemctl(UNITS), "vm: 1 service has failed: mosquitto."],
    ["log", journalctl(logged), "vm, log, the newest last:\n2026-11-22T01:35:26Z sshd: Accepted publickey"],
    ["log_errors", journalctl(""), "vm, errors in the log: no entries."],
    [
      "picture",
      snapshot({ ...zero, exec: programs(fakeCsi("rpicam-still")) }),
      "vm, picture: imx708, 640×480.",
    ],
  ] as const)("%s in English", async (reading, tool, text) => {
    expect(await told(reading, tool, ENGLISH)).toBe(text);
  });

  test.each([
    [
      "memory",
      memory(zero),
      "vm, Arbeitsspeicher: zu 50 % belegt (214 MiB von 427 MiB), 214 MiB frei, Swap 9,8 MiB von 100 MiB.",
    ],
    [
      "load",
      cpu(zero),
      "vm, Auslastung: zu 20 % ausgelastet, mittlere Last 0,42 / 0,31 / 0,25 (1, 5, 15 min), 4 Kerne.",
    ],
    ["temperature", temperature(five), "vm: cpu-thermal 48,3 °C, rp1_adc 51 °C, nvme Composite 39,9 °C."],
    ["uptime", systemInfo(zero), "vm, Laufzeit: 3 Tage 4 h."],
    [
      "services",
      systemctl(UNITS),
      "vm: 1 Dienst ist ausgefallen: mosquitto.\nvm: 2 Dienste laufen: cron, ssh.",
    ],
  ] as const)("%s in German", async (reading, tool, text) => {
    expect(await told(reading, tool, german)).toBe(text);
  });

  test("several disks have a line each, and a single one no path", async () => {
    const lines = (await told("disk", disk(zero), german)).split("\n");
    expect(lines.map((line) => line.split(":")[0])).toEqual([
      "vm, Festplatte /",
      "vm, Festplatte /boot/firmware",
      "vm, Festplatte /media/my stick",
    ]);
    expect(lines[0]).toMatch(
      /: zu \d+ % belegt \([\d,]+ [kMGT]B von [\d,]+ [kMGT]B\), [\d,]+ [kMGT]B frei\.$/,
    );
    expect(await told("disk", disk(zero), german, { path: "/" })).toMatch(/^vm, Festplatte: zu \d+ % belegt/);
  });

  test("the state of a machine has its model, its time and what its power supply lacks", async () => {
    expect(await told("state", systemInfo(zero), ENGLISH)).toBe(
      "vm: online, Raspberry Pi Zero 2 W Rev 1.0, Debian GNU/Linux 12 (bookworm), uptime 3 days 4 h, problem now: under-voltage, throttled.",
    );
  });

  test("addresses by which others reach it, without those of its loop and of one link alone", () => {
    const text = [
      "lo: 127.0.0.1, ::1 received 7.7 kB, sent 7.7 kB",
      "wlan0: up 192.168.1.5, 2001:db8::5, fe80::1 Wi-Fi signal -52 dBm received 376 MB, sent 599 kB",
      "docker0: down 172.17.0.1 received 0 bytes, sent 0 bytes",
      "eth0: down received 0 bytes, sent 0 bytes",
    ].join("\n");
    expect(machineAnswer({ reading: "address" }, "vm", text, german).line).toBe(
      "vm, Adresse: 192.168.1.5 2001:db8::5 (wlan0 −52 dBm), 172.17.0.1 (docker0).",
    );
    const [alone] = text.split("\n");
    expect(machineAnswer({ reading: "address" }, "vm", alone ?? "", german).line).toBe(
      "vm, Adresse: gerade unbekannt.",
    );
  });

  test("of this very machine: its addresses and its processes", async () => {
    const here = { root: "/" };
    expect(figuresIn("address", await said(networkInfo(here)))).toMatchObject({ of: "network" });
    const text = await told("processes", listProcesses(here), german);
    expect(text).toMatch(/^vm: \d+ Prozesse, die aktivsten zuerst:\n\d+ /);
  });
});

/** As edge-agent/src/tools.rs of EvoClaw writes them. */
const EVOCLAW: ReadonlyArray<readonly [Reading, Record<string, unknown>, string]> = [
  ["temperature", { temperature_c: 45.6, temperature_f: 114.08, source: "vcgencmd" }, "pi: 45,6 °C."],
  [
    "load",
    { cpu_usage_percent: 12.5, measurement_interval_ms: 100 },
    "pi, Auslastung: zu 12,5 % ausgelastet.",
  ],
  [
    "memory",
    { total_mb: 927, used_mb: 120, free_mb: 500, available_mb: 780, usage_percent: 12.9 },
    "pi, Arbeitsspeicher: zu 12,9 % belegt (120 MiB von 927 MiB), 780 MiB frei.",
  ],
  [
    "disk",
    {
      filesystem: "/dev/root",
      total_gb: 28.9,
      used_gb: 5.1,
      available_gb: 22.6,
      usage_percent: 19,
      mount_point: "/",
    },
    "pi, Festplatte: zu 19 % belegt (5,1 GiB von 28,9 GiB), 22,6 GiB frei.",
  ],
  [
    "uptime",
    { hostname: "pi", kernel: "6.6.51", model: "unknown", uptime: { seconds: 7_260, formatted: "0d 2h 1m" } },
    "pi, Laufzeit: 2 h 1 min.",
  ],
  [
    "address",
    { interfaces: [{ ifname: "eth0", addr_info: [{ family: "inet", local: "10.0.0.9" }] }] },
    "pi, Adresse: 10.0.0.9 (eth0).",
  ],
];

test.each(EVOCLAW)("EvoClaw's %s", (reading, output, text) => {
  expect(machineAnswer({ reading }, "pi", JSON.stringify(output), german).line).toBe(text);
});

describe("a text of another form", () => {
  test.each([
    ["disk", "Filesystem Size\n/dev/sda1 20G"],
    ["disk", "/ 12% used (1.0 GB of 9.0 GB, 8.0 GB free) ext4 on /dev/a\nand more"],
    ["temperature", "it is warm"],
    ["temperature", '{"celsius": 19}'],
    ["memory", "[1, 2]"],
    ["load", '{"cpu_usage_percent": "high"}'],
    ["address", "{broken"],
    ["services", "3 failed:\na.service: A\n2 running: b, c"],
    ["uptime", "uptime is 3 days"],
  ] as const)("of %s stays as it is, below a sentence of the person's language", (reading, text) => {
    expect(figuresIn(reading, text)).toBeUndefined();
    const { line, so } = machineAnswer({ reading, compare: above(1) }, "vm", text, german);
    expect(line).toBe(`vm, ${german.reading(reading)}, im eigenen Wortlaut:\n${text}`);
    expect(so).toBeUndefined();
  });
});

const above = (number: number, unit?: Comparison["value"]["unit"]): Comparison => ({
  is: "above",
  value: { number, ...(unit && { unit }) },
});

describe("is it so?", () => {
  let texts: Record<string, string>;
  beforeAll(async () => {
    texts = {
      temperature: await said(temperature(five)),
      memory: await said(memory(zero)),
      load: await said(cpu(zero)),
      disk: [
        "/ 10% used (6.5 GB of 60.0 GB, 53.5 GB free) ext4 on /dev/a",
        "/boot 85% used (435 MB of 512 MB, 77.0 MB free) vfat on /dev/b",
      ].join("\n"),
    };
  });
  test.each([
    ["temperature", above(50), true],
    ["temperature", above(51), false],
    ["temperature", above(120, "°F"), true],
    ["temperature", { ...above(51.1, "°C"), is: "below" }, true],
    ["temperature", above(40, "%"), undefined],
    ["memory", above(49, "%"), true],
    ["memory", above(50, "%"), false],
    ["memory", { ...above(49, "%"), share: "free" }, true],
    ["memory", { ...above(51, "%"), share: "free" }, false],
    ["memory", { ...above(1, "GB"), is: "below" }, true],
    ["memory", above(220, "MB"), true],
    ["memory", { ...above(225, "MB"), share: "used" }, false],
    ["memory", above(1, "W"), undefined],
    ["disk", above(80), true],
    ["disk", above(90, "%"), false],
    ["disk", { ...above(10, "%"), share: "free", is: "below" }, false],
    ["disk", { ...above(1, "GB"), is: "below" }, true],
    ["disk", { ...above(6, "GB"), share: "used" }, true],
    ["load", above(1), false],
    ["load", { ...above(1), is: "below" }, true],
    ["load", above(15, "%"), true],
    ["load", above(80), false],
  ] as const)("%s %j", (reading, compare, so) => {
    expect(machineAnswer({ reading, compare }, "vm", texts[reading] ?? "", ENGLISH).so).toBe(so);
  });
});

test.each([en, de, fr, es, it, nl, pl, pt, cs, zh])(
  "in $language no answer has English words of the tools",
  async (data) => {
    const phrases = new Phrases(data);
    const answers = [
      await told("memory", memory(zero), phrases),
      await told("load", cpu(zero), phrases),
      await told("disk", disk(zero), phrases),
      await told("uptime", systemInfo(zero), phrases),
      await told("state", systemInfo(zero), phrases),
      await told("services", systemctl(UNITS), phrases),
      await told("services", systemctl(""), phrases),
      await told("processes", listProcesses(zero), phrases),
    ];
    for (const answer of answers) expect(answer).not.toMatch(/[{}]|undefined|NaN/);
    if (data.language !== "en")
      for (const answer of answers)
        expect(answer).not.toMatch(/\b(?:used|available|busy|average|failed|running|days|with the most)\b/);
  },
);
