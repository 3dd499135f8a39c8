/**
 * What the tools of machines say, as figures: the texts of our agent's tools (pi-agent/tools/machine), and the objects of EvoClaw's
 * edge agent. Pure.
 */
import { isObject } from "@edgecall/core/protocol/is-object.ts";
import type { Reading } from "@edgecall/core/sentences/frame.ts";
import { HOUR_MS, MINUTE_MS } from "@edgecall/core/time/zone.ts";

type Amount = { number: number; unit: string };
type Space = { percent: number; used: Amount; total: Amount; free: Amount };
type Cause = "under_voltage" | "clock_capped" | "throttled" | "heat_limit";

export type Figures =
  | { of: "disk"; disks: Array<Space & { path: string }> }
  | { of: "memory"; ram: Space; swap?: { used: Amount; total: Amount } }
  | { of: "load"; percent: number; cores?: number; average: number[] }
  | { of: "temperature"; sensors: Array<{ name?: string; celsius: number }> }
  | {
      of: "system";
      model?: string;
      os?: string;
      kernel?: string;
      uptimeMs?: number;
      /** Of its power and heat. */
      now: Cause[];
      earlier: Cause[];
    }
  | { of: "services"; failed: string[]; running: string[]; runningCount: number }
  | { of: "network"; links: Array<{ name: string; addresses: string[]; dbm?: number }> }
  /** `lines`: as the tool wrote them. */
  | { of: "log"; lines: string }
  | { of: "processes"; count: number; lines: string }
  | { of: "picture"; camera: string; width: number; height: number };

/** @returns undefined: the text is of another form, as that of another program's tool */
export function figuresIn(reading: Reading, text: string): Figures | undefined {
  const read = READERS[reading];
  return read && (read.object(objectIn(text)) ?? read.text(text.trimEnd()));
}

type Fields = Readonly<Record<string, unknown>>;
type Reader = { text(text: string): Figures | undefined; object(fields: Fields): Figures | undefined };

function objectIn(text: string): Fields {
  if (!text.startsWith("{")) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

const FIGURE = String.raw`(-?[\d.]+) ([A-Za-z]+)`;
const DISK = new RegExp(String.raw`^(/.*?) (\d+)% used \(${FIGURE} of ${FIGURE}, ${FIGURE} free\)`);
const RAM = new RegExp(
  String.raw`^RAM (\d+)% used \(${FIGURE} of ${FIGURE}, ${FIGURE} available\)(?:; swap ${FIGURE} of ${FIGURE} used)?`,
);
const CPU =
  /^CPU (\d+)% busy \(.*?(\d+) cores?\)(?:; load average ([\d.]+), ([\d.]+), ([\d.]+) \(1, 5, 15 min\))?/;
const SENSOR = /^(.+): (-?[\d.]+) °C$/;
const LINK = /^(\S+?): (.*?)received .* sent /;
const PICTURE = /^Picture of camera \S+ \((.*)\), (\d+)x(\d+)/;

const noObject = () => undefined;
const system: Reader = { text: systemOf, object: systemOfObject };
const services: Reader = { text: servicesOf, object: noObject };
const log: Reader = {
  text: (text) => ({ of: "log", lines: /^No entries\b/.test(text) ? "" : text }),
  object: noObject,
};

const READERS: Readonly<Partial<Record<Reading, Reader>>> = {
  disk: {
    text(text) {
      const disks = everyLine(text, DISK, ([path = "", ...space]) => ({ path, ...spaceOf(space) }));
      return disks && { of: "disk", disks };
    },
    object(fields) {
      const space = spaceOfObject(fields, "gb", "GiB");
      return space && { of: "disk", disks: [{ path: textOf(fields.mount_point) ?? "/", ...space }] };
    },
  },
  memory: {
    text(text) {
      const [, ...found] = RAM.exec(text) ?? [];
      if (found.length === 0) return undefined;
      const [used, total] = [amount(found[7], found[8]), amount(found[9], found[10])];
      return { of: "memory", ram: spaceOf(found), ...(used && total && { swap: { used, total } }) };
    },
    object(fields) {
      const ram = spaceOfObject(fields, "mb", "MiB");
      return ram && { of: "memory", ram };
    },
  },
  load: {
    text(text) {
      const [all, percent, cores, ...average] = CPU.exec(text) ?? [];
      if (all === undefined) return undefined;
      const known = average.filter((one) => one !== undefined).map(Number);
      return { of: "load", percent: Number(percent), cores: Number(cores), average: known };
    },
    object({ cpu_usage_percent: percent }) {
      return typeof percent === "number" ? { of: "load", percent, average: [] } : undefined;
    },
  },
  temperature: {
    text(text) {
      const sensors = everyLine(text, SENSOR, ([name = "", celsius]) => ({ name, celsius: Number(celsius) }));
      return sensors && { of: "temperature", sensors };
    },
    object({ temperature_c: celsius }) {
      return typeof celsius === "number" ? { of: "temperature", sensors: [{ celsius }] } : undefined;
    },
  },
  uptime: system,
  version: system,
  state: system,
  services,
  failed_services: services,
  log,
  log_errors: log,
  address: {
    text(text) {
      const links = everyLine(text, LINK, ([name = "", said = ""]) => linkOf(name, said));
      return links && { of: "network", links };
    },
    object({ interfaces }) {
      return Array.isArray(interfaces) ? { of: "network", links: interfaces.flatMap(ipLink) } : undefined;
    },
  },
  processes: {
    text(text) {
      const [head = "", ...lines] = text.split("\n");
      const count = Number(/^(\d+) processes;/.exec(head)?.[1]);
      return Number.isFinite(count) ? { of: "processes", count, lines: lines.join("\n") } : undefined;
    },
    object: noObject,
  },
  picture: {
    text(text) {
      const [all, camera = "", width, height] = PICTURE.exec(text) ?? [];
      if (all === undefined) return undefined;
      return { of: "picture", camera, width: Number(width), height: Number(height) };
    },
    object: noObject,
  },
};

/** @returns undefined: a line is of another form */
function everyLine<One>(
  text: string,
  form: RegExp,
  make: (groups: Array<string | undefined>) => One,
): One[] | undefined {
  const found = text.split("\n").map((line) => form.exec(line));
  return found.every((match) => match !== null) ? found.map(([, ...groups]) => make(groups)) : undefined;
}

function amount(number: string | undefined, unit: string | undefined): Amount | undefined {
  return number === undefined || unit === undefined ? undefined : { number: Number(number), unit };
}

/** @param found percent, then numbers and units of what is used, of all and of what is free */
function spaceOf([percent, ...found]: ReadonlyArray<string | undefined>): Space {
  const at = (index: number) => amount(found[index], found[index + 1]) ?? { number: 0, unit: "" };
  return { percent: Number(percent), used: at(0), total: at(2), free: at(4) };
}

function spaceOfObject(fields: Fields, suffix: string, unit: string): Space | undefined {
  const [percent, used, total, free] = [
    fields.usage_percent,
    fields[`used_${suffix}`],
    fields[`total_${suffix}`],
    fields[`available_${suffix}`],
  ];
  if (![percent, used, total, free].every((one) => typeof one === "number")) return undefined;
  const of = (number: unknown): Amount => ({ number: Number(number), unit });
  return { percent: Number(percent), used: of(used), total: of(total), free: of(free) };
}

function systemOf(text: string): Figures | undefined {
  const fields = everyLine(text, /^(\w+): (.*)$/, ([key = "", value = ""]) => [key, value] as const);
  if (!fields) return undefined;
  const { model, os, kernel, uptime = "", throttling = "" } = Object.fromEntries(fields);
  const uptimeMs = spanIn(uptime);
  const [now = "", earlier = ""] = throttling.startsWith("now: ")
    ? throttling.slice(5).split("; ")
    : ["", throttling];
  return {
    of: "system",
    ...(model !== undefined && { model }),
    ...(os !== undefined && { os }),
    ...(kernel !== undefined && { kernel }),
    ...(uptimeMs !== undefined && { uptimeMs }),
    now: causesIn(now),
    earlier: causesIn(earlier),
  };
}

function systemOfObject({ model, kernel, uptime, hostname }: Fields): Figures | undefined {
  if (hostname === undefined) return undefined;
  const seconds = isObject(uptime) ? uptime.seconds : undefined;
  const known = (value: unknown) => (value === "unknown" ? undefined : textOf(value));
  const [of, by] = [known(model), known(kernel)];
  return {
    of: "system",
    ...(of !== undefined && { model: of }),
    ...(by !== undefined && { kernel: by }),
    ...(typeof seconds === "number" && { uptimeMs: seconds * 1_000 }),
    now: [],
    earlier: [],
  };
}

const SPANS = { day: 24 * HOUR_MS, days: 24 * HOUR_MS, h: HOUR_MS, min: MINUTE_MS, s: 1_000 } as const;

/** "3 days 4 h 5 min" */
function spanIn(text: string): number | undefined {
  if (!/^(?:\d+ (?:days?|h|min|s) ?)+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+) (days?|h|min|s)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * SPANS[unit as keyof typeof SPANS], 0);
}

const CAUSES: ReadonlyArray<readonly [words: string, cause: Cause]> = [
  ["under-voltage", "under_voltage"],
  ["CPU clock capped", "clock_capped"],
  ["throttled", "throttled"],
  ["soft temperature limit", "heat_limit"],
];

function causesIn(text: string): Cause[] {
  return text.startsWith("no ")
    ? []
    : CAUSES.flatMap(([words, cause]) => (text.includes(words) ? cause : []));
}

function servicesOf(text: string): Figures | undefined {
  const lines = text.split("\n");
  const head = lines[0] ?? "";
  const count = head === "No service has failed." ? 0 : Number(/^(\d+) failed:$/.exec(head)?.[1]);
  const [, running, names = ""] = /^(\d+) running:(?: (.*?))?(?: \[.*\])?$/.exec(lines.at(-1) ?? "") ?? [];
  if (!Number.isFinite(count) || running === undefined || lines.length !== count + 2) return undefined;
  const failed = lines.slice(1, -1).map((line) => line.replace(/(?:\.service)?: .*$|:$/, ""));
  return {
    of: "services",
    failed,
    running: names.split(", ").filter(Boolean),
    runningCount: Number(running),
  };
}

/** @param said "up 192.168.1.5, fe80::1 Wi-Fi signal -52 dBm " */
function linkOf(name: string, said: string): { name: string; addresses: string[]; dbm?: number } {
  const signal = /Wi-Fi signal (-?[\d.]+) dBm/.exec(said)?.[1];
  return {
    name,
    addresses: said.split(/[\s,]+/).filter(isAddress),
    ...(signal !== undefined && { dbm: Number(signal) }),
  };
}

/** As `ip -j addr` has it. */
function ipLink(link: unknown): Array<{ name: string; addresses: string[] }> {
  if (!isObject(link) || typeof link.ifname !== "string" || !Array.isArray(link.addr_info)) return [];
  const addresses = link.addr_info.flatMap((one: unknown) => (isObject(one) && textOf(one.local)) || []);
  return [{ name: link.ifname, addresses: addresses.filter(isAddress) }];
}

function isAddress(word: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$|^[\da-f:]*:[\da-f:.]+$/i.test(word);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
