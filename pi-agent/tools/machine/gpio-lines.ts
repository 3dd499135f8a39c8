/**
 * The commands of libgpiod's tools. The two generations share little but their names: v1 (1.6, Raspberry Pi OS bookworm) and
 * v2 (2.2, trixie). Pure functions; gpio-access.ts runs the commands.
 */

export type Generation = 1 | 2;
export type Level = 0 | 1;
export type Chip = { name: string; label: string; lines: number };
export type Line = {
  pin: number;
  /** The board's name: `GPIO17`, `ID_SDA`; absent when it has none. */
  name?: string;
  direction: "input" | "output";
  /** The program that holds it; absent when it is free. */
  consumer?: string;
  activeLow: boolean;
};

const CONSUMER = "edgecall";

/** Returns the name under which gpioinfo shows lines that this agent holds; v1 has no option for it. */
export function consumerOf(generation: Generation): string {
  return generation === 1 ? "gpioset" : CONSUMER;
}

/** Reads the first line of `gpioget --version`: `gpioget (libgpiod) v1.6.3`. */
export function generationOf(version: string): Generation | undefined {
  const major = Number(/\(libgpiod\) v?(\d+)\./.exec(version)?.[1]);
  if (major === 1) return 1;
  return major >= 2 ? 2 : undefined;
}

export const gpioArgv = {
  chips: (): [string, ...string[]] => ["gpiodetect"],
  lines: (generation: Generation, chip: string): [string, ...string[]] =>
    generation === 1 ? ["gpioinfo", chip] : ["gpioinfo", "-c", chip],
  /** v1 always turns the line into an input first; v2 has an option against it. */
  read: (generation: Generation, chip: string, pin: number): [string, ...string[]] =>
    generation === 1
      ? ["gpioget", chip, `${pin}`]
      : ["gpioget", "--as-is", "--numeric", "-C", CONSUMER, "-c", chip, `${pin}`],
  /** Runs until it is stopped; the line's state is undefined afterwards. */
  hold: (generation: Generation, chip: string, pin: number, value: Level): [string, ...string[]] =>
    generation === 1
      ? ["gpioset", "--mode=signal", chip, `${pin}=${value}`]
      : ["gpioset", "-C", CONSUMER, "-c", chip, `${pin}=${value}`],
};

/** `gpiochip0 [pinctrl-bcm2711] (58 lines)` */
export function parseChips(text: string): Chip[] {
  return [...text.matchAll(/^(\S+) \[([^\]]*)\] \((\d+) lines?\)/gm)].map(([, name, label, lines]) => ({
    name: name ?? "",
    label: label ?? "",
    lines: Number(lines),
  }));
}

/**
 * v1: `line  17:     "GPIO17"    "gpioset"  output  active-high [used]`, with `unused` for a free line;
 * v2: `line  17:	"GPIO17"        	output consumer="edgecall"`.
 */
export function parseLines(text: string): Line[] {
  return text.split("\n").flatMap((row) => {
    const found = /^\s*line\s+(\d+):\s+(?:unnamed|"([^"]*)")\s+(.*)$/.exec(row);
    if (!found) return [];
    const [, pin, name, rest = ""] = found;
    const consumer = /consumer="?([^"]*)"?/.exec(rest)?.[1] ?? firstGenerationConsumer(rest);
    const words = rest.replace(/"[^"]*"/g, "").split(/\s+/);
    return [
      {
        pin: Number(pin),
        ...(name && { name }),
        direction: words.includes("output") ? ("output" as const) : ("input" as const),
        ...(consumer !== undefined && { consumer: consumer || "a program without a name" }),
        activeLow: words.includes("active-low"),
      },
    ];
  });
}

function firstGenerationConsumer(rest: string): string | undefined {
  if (!rest.includes("[used")) return undefined;
  return /^(?:"([^"]*)"|(\S+))/.exec(rest)?.slice(1).find(Boolean) ?? "";
}

/** v1 and v2 with --numeric: `1`; v2 without: `"17"=active`. */
export function parseLevel(text: string): Level | undefined {
  const found = /(?:^|=)(0|1|active|inactive)\s*$/.exec(text.trim())?.[1];
  if (found === undefined) return undefined;
  return found === "1" || found === "active" ? 1 : 0;
}

/** Labels of the chip behind a Raspberry Pi's 40 pins: Pi 5; Pi 4; all older ones. */
const HEADER_LABELS = ["pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835"];

/** Finds the chip by its label: on a Pi 5 its number is 4 or 0, depending on the kernel. */
export function headerChip(chips: readonly Chip[]): Chip | undefined {
  for (const label of HEADER_LABELS) {
    const found = chips.find((chip) => chip.label === label);
    if (found) return found;
  }
  return undefined;
}

/** The pin controller's registers. Reading them changes nothing, whichever program holds the line. */
export type Registers = {
  /** Absent when the pin is switched off (Pi 5). */
  level?: Level;
  mode: "input" | "output" | "off" | "other";
  /** For mode `other`, the function that uses the pin: `SDA1`, `TXD0`. */
  function?: string;
};

/** ` 17: op dh pd | hi // GPIO17 = output`, `  2: a3    pu | hi // GPIO2 = SDA1`, ` 4: no    pd | -- // GPIO4 = none`. */
export function parsePinctrl(text: string): Registers | undefined {
  const found = /^\s*\d+:\s+(\S+)\s.*\|\s*(hi|lo|--)\s*\/\/\s*(.*)$/m.exec(text);
  if (!found) return undefined;
  const [, code = "", level, described = ""] = found;
  const mode = code === "ip" ? "input" : code === "op" ? "output" : code === "no" ? "off" : "other";
  return {
    mode,
    ...(level !== "--" && { level: level === "hi" ? 1 : 0 }),
    ...(mode === "other" && { function: described.split("=").at(-1)?.trim() || code }),
  };
}

/** `GPIO 17: level=1 fsel=1 func=OUTPUT pull=NONE`, `GPIO 2: level=1 fsel=4 alt=0 func=SDA1 pull=UP`. */
export function parseRaspiGpio(text: string): Registers | undefined {
  const found = /^\s*GPIO \d+: level=([01])\b.*\bfunc=(\S+)/m.exec(text);
  if (!found) return undefined;
  const [, level, name = ""] = found;
  const mode = name === "INPUT" ? "input" : name === "OUTPUT" ? "output" : "other";
  return { mode, level: level === "1" ? 1 : 0, ...(mode === "other" && { function: name }) };
}
