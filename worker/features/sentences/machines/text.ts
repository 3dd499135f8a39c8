/** What a machine said of itself, in a person's words. Pure. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Comparison, Reading } from "@edgecall/core/sentences/frame.ts";
import { type Figures, figuresIn } from "./figures.ts";

/** What one machine is asked. @property compare the question is whether it is so */
export type MachineAsk = { reading: Reading; compare?: Comparison; which?: true };

/** Of one line. */
const NAMES_MAX = 40;
const LINKS_MAX = 8;
/** Of a core: a load average above it is hardly what a person asks for. */
const AVERAGE_MAX = 4;

/**
 * @param text of the machine's tool
 * @returns the answer, and whether what is compared is so; `so` is undefined where nothing is, or where the figures do not tell
 */
export function machineAnswer(
  { reading, compare }: MachineAsk,
  name: string,
  text: string,
  phrases: Phrases,
): { line: string; so: boolean | undefined } {
  const figures = figuresIn(reading, text);
  const at = { name, reading: phrases.reading(reading) };
  const line = figures
    ? figuresText(figures, reading, name, phrases)
    : `${phrases.say("ownWords", at)}\n${text}`;
  return { line, so: figures && compare && compares(figures, compare) };
}

function figuresText(figures: Figures, reading: Reading, name: string, phrases: Phrases): string {
  const at = { name, reading: phrases.reading(reading) };
  const say = (value: string) =>
    value === "" ? phrases.say("readingUnknown", at) : phrases.say("reading", { ...at, value });
  switch (figures.of) {
    case "disk": {
      const { disks } = figures;
      return disks
        .map(({ path, ...space }) => {
          const disk = disks.length === 1 && path === "/" ? at.reading : `${at.reading} ${path}`;
          return phrases.say("reading", { name, reading: disk, value: spaceText(space, phrases) });
        })
        .join("\n");
    }
    case "memory": {
      const { ram, swap } = figures;
      const swapped = swap && {
        used: amountText(swap.used, phrases),
        total: amountText(swap.total, phrases),
      };
      return say(phrases.parts(spaceText(ram, phrases), swapped ? phrases.say("swapUsed", swapped) : ""));
    }
    case "load": {
      const { percent, cores, average } = figures;
      const values = average.map((one) => phrases.number(one)).join(" / ");
      return say(
        phrases.parts(
          phrases.say("busy", { percent: phrases.figure(percent, "%") }),
          values === "" ? "" : phrases.say("loadAverage", { values }),
          cores === undefined ? "" : phrases.say("cores", { count: cores }),
        ),
      );
    }
    case "temperature": {
      const { sensors } = figures;
      const [only, other] = sensors;
      const value = (celsius: number) => phrases.figure(celsius, "°C");
      const all = sensors.map((one) =>
        one.name === undefined ? value(one.celsius) : `${one.name} ${value(one.celsius)}`,
      );
      return phrases.say("value", {
        name,
        value: only && !other ? value(only.celsius) : phrases.parts(...all),
      });
    }
    case "system":
      return systemText(figures, reading, name, phrases);
    case "services":
      return servicesText(figures, reading, name, phrases);
    case "network":
      return say(addressText(figures, phrases));
    case "log":
      return figures.lines === ""
        ? phrases.say("noEntries", at)
        : `${phrases.say("newestLast", at)}\n${figures.lines}`;
    case "processes":
      return `${phrases.say("busiestFirst", { name, count: figures.count })}\n${figures.lines}`;
    case "picture":
      return say(phrases.parts(figures.camera, `${figures.width}×${figures.height}`));
  }
}

type Of<Kind extends Figures["of"]> = Extract<Figures, { of: Kind }>;
type Space = Of<"memory">["ram"];

function amountText({ number, unit }: Space["used"], phrases: Phrases): string {
  return phrases.figure(number, unit);
}

function spaceText({ percent, used, total, free }: Space, phrases: Phrases): string {
  return phrases.say("usedOf", {
    percent: phrases.figure(percent, "%"),
    used: amountText(used, phrases),
    total: amountText(total, phrases),
    free: amountText(free, phrases),
  });
}

function systemText(
  { model = "", os = "", kernel = "", uptimeMs, now, earlier }: Of<"system">,
  reading: Reading,
  name: string,
  phrases: Phrases,
): string {
  const at = { name, reading: phrases.reading(reading) };
  const uptime = uptimeMs === undefined ? "" : phrases.span(uptimeMs);
  const value = reading === "uptime" ? uptime : phrases.parts(os, kernel);
  if (reading !== "state")
    return value === "" ? phrases.say("readingUnknown", at) : phrases.say("reading", { ...at, value });
  const causes = (of: typeof now) =>
    phrases.list(
      of.map((one) => phrases.value(one)),
      "plain",
    );
  return phrases.say("value", {
    name,
    value: phrases.parts(
      phrases.value("online"),
      model,
      os,
      uptime === "" ? "" : `${phrases.reading("uptime")} ${uptime}`,
      now.length > 0 ? phrases.say("problemNow", { causes: causes(now) }) : "",
      earlier.length > 0 ? phrases.say("problemEarlier", { causes: causes(earlier) }) : "",
    ),
  });
}

function servicesText(
  { failed, running, runningCount }: Of<"services">,
  reading: Reading,
  name: string,
  phrases: Phrases,
): string {
  const names = (of: readonly string[], count: number) =>
    phrases.list(count > Math.min(of.length, NAMES_MAX) ? [...of.slice(0, NAMES_MAX), "…"] : of, "plain");
  const bad =
    failed.length === 0
      ? phrases.say("noServiceFailed", { name })
      : phrases.say("servicesFailed", { name, count: failed.length, names: names(failed, failed.length) });
  if (reading === "failed_services" || runningCount === 0) return bad;
  const good = phrases.say("servicesRun", { name, count: runningCount, names: names(running, runningCount) });
  return `${bad}\n${good}`;
}

/** Addresses by which others reach it: none of its own loop, and those of one link alone only where there is no other. */
function addressText({ links }: Of<"network">, phrases: Phrases): string {
  const isOwn = (one: string) => one.startsWith("127.") || one === "::1";
  const isOfLink = (one: string) => /^(?:fe80:|169\.254\.)/i.test(one);
  const reached = links.flatMap(({ name, addresses, dbm }) => {
    const others = addresses.filter((one) => !isOwn(one));
    const far = others.filter((one) => !isOfLink(one));
    const shown = far.length > 0 ? far : others;
    const signal = dbm === undefined ? "" : ` ${phrases.figure(dbm, "dBm")}`;
    return shown.length > 0 ? { text: `${shown.join(" ")} (${name}${signal})`, far: far.length > 0 } : [];
  });
  const far = reached.filter((one) => one.far);
  return phrases.parts(...(far.length > 0 ? far : reached).slice(0, LINKS_MAX).map(({ text }) => text));
}

/** Of several sensors the warmest counts, and of disks the fullest. @returns undefined: the figures have no such number */
function compares(figures: Figures, compare: Comparison): boolean | undefined {
  const { is, value } = compare;
  const found = numberIn(figures, compare);
  if (found === undefined) return undefined;
  const limit = value.unit === "°F" ? (value.number - 32) / 1.8 : value.number;
  if (is === "above") return found > limit;
  return is === "below" ? found < limit : found === limit;
}

/** In the unit of the comparison. */
function numberIn(figures: Figures, { share, value }: Comparison): number | undefined {
  const { unit } = value;
  const isPercent = unit === undefined || unit === "%";
  switch (figures.of) {
    case "disk": {
      const shares = figures.disks.map((disk) => shareOf(disk, share, unit));
      // The fullest one.
      const isFree = (share ?? (isPercent ? "used" : "free")) === "free";
      const known = shares.filter((one) => one !== undefined);
      if (known.length < shares.length) return undefined;
      return isFree ? Math.min(...known) : Math.max(...known);
    }
    case "memory":
      return shareOf(figures.ram, share, unit);
    case "load": {
      // "Above 1" is the average of a minute, "above 80" how busy it is.
      const isAverage = unit === undefined && value.number <= AVERAGE_MAX * (figures.cores ?? 1);
      if (isAverage) return figures.average[0];
      return isPercent ? figures.percent : undefined;
    }
    case "temperature":
      return unit === undefined || unit.startsWith("°")
        ? Math.max(...figures.sensors.map(({ celsius }) => celsius))
        : undefined;
    case "services":
      return unit === undefined ? figures.failed.length : undefined;
    case "processes":
      return unit === undefined ? figures.count : undefined;
    default:
      return undefined;
  }
}

const BYTES: Readonly<Record<string, number>> = {
  bytes: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  PB: 1e15,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** What is used or free: a share in percent, or so much. Where it was not said, a share is of what is used, and so much of what is free. */
function shareOf(
  { percent, used, free }: Space,
  share: Comparison["share"],
  unit: string | undefined,
): number | undefined {
  if (unit === undefined || unit === "%") return share === "free" ? 100 - percent : percent;
  const amount = share === "used" ? used : free;
  const [of, to] = [BYTES[amount.unit], BYTES[unit]];
  return of === undefined || to === undefined ? undefined : (amount.number * of) / to;
}
