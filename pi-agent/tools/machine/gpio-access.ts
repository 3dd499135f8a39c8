/** Reads the GPIO chips of a device with libgpiod's commands, and finds out what a line is before it is used. */
import { faultResult, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { ExecError, type ExecOps } from "../../env/environment.ts";
import { NoAnswer, PROBE_MS } from "../../env/probe.ts";
import {
  type Chip,
  type Generation,
  generationOf,
  gpioArgv,
  headerChip,
  type Line,
  parseChips,
  parseLines,
  parsePinctrl,
  parseRaspiGpio,
  type Registers,
} from "./gpio-lines.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, runProgram } from "./run-program.ts";

export const CHIP_NAME = /^gpiochip\d{1,3}$/;
/** No known chip has more lines; some x86 PCs come close. */
export const MAX_PIN = 1_023;

export type Gpio = { generation: Generation; chips: Chip[] };
export type Pin = { gpio: Gpio; chip: Chip; line: Line; registers: Registers | undefined; isHeader: boolean };

/** Finds gpiod's generation and the chips. @returns a fault when gpiod or a chip is missing */
export async function openGpio(exec: ExecOps, signal: AbortSignal): Promise<Gpio | ToolResult> {
  let version: Ended;
  try {
    version = await runProgram(exec, ["gpioget", "--version"], { signal });
  } catch (error) {
    if (!(error instanceof ExecError && error.absent)) throw error;
    return faultResult("unavailable", {
      text: "Error: There is no program 'gpioget' here.",
      advice: "Tell the user to install gpiod.",
    });
  }
  if (version.exitCode === null) throw new ExecError("io", "'gpioget' was ended by a signal.");
  const generation = generationOf(version.stdout);
  if (generation === undefined) {
    return faultResult(
      "unavailable",
      `Error: This version of gpiod is not known: ${version.stdout.slice(0, 60)}.`,
    );
  }
  const detected = await runProgram(exec, gpioArgv.chips(), { signal });
  const chips = parseChips(detected.stdout);
  if (chips.length > 0) return { generation, chips };
  if (detected.exitCode !== 0 || detected.stderr !== "") return gpioFault("the GPIO chips", detected);
  return faultResult("unavailable", "Error: This device has no GPIO chip (/dev/gpiochip*).");
}

/** Says why gpio_list, gpio_read and gpio_write cannot work here. @returns undefined when they can. @throws NoAnswer */
export async function gpioMissing(
  exec: ExecOps,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  const opened = await openGpio(exec, AbortSignal.timeout(PROBE_MS)).catch((error: unknown) => {
    throw new NoAnswer(`gpiod did not answer: ${error instanceof Error ? error.message : error}`);
  });
  if ("chips" in opened) return undefined;
  const { code, message = "" } = opened.fault ?? {};
  if (/no program/.test(message)) return "no program 'gpioget': install gpiod";
  if (/no GPIO chip/.test(message)) return "no GPIO chip (/dev/gpiochip*)";
  if (code === "access_denied") return "/dev/gpiochip* may not be opened: add the user to group gpio";
  if (/version of gpiod/.test(message)) return "a version of gpiod that is not known";
  throw new NoAnswer(message);
}

/** @param name the chip that the caller names; absent = the header's chip, or the only chip */
export function chooseChip({ chips }: Gpio, name: string | undefined): Chip | ToolResult {
  const listed = chips.map((chip) => `${chip.name} (${chip.label}, ${chip.lines} lines)`).join(", ");
  if (name !== undefined) {
    return (
      chips.find((chip) => chip.name === name) ??
      faultResult("not_found", `Error: There is no GPIO chip '${name}'. Chips: ${listed}.`)
    );
  }
  const chosen = headerChip(chips) ?? (chips.length === 1 ? chips[0] : undefined);
  return chosen ?? faultResult("invalid_params", `Error: Which chip? Name one with chip. Chips: ${listed}.`);
}

export async function linesOf(
  exec: ExecOps,
  { generation }: Gpio,
  chip: Chip,
  signal: AbortSignal,
): Promise<Line[] | ToolResult> {
  const ended = await runProgram(exec, gpioArgv.lines(generation, chip.name), { signal });
  const lines = parseLines(ended.stdout);
  return lines.length > 0 ? lines : gpioFault(chip.name, ended);
}

/** Returns everything that is known about a pin without changing it. */
export async function lookAt(
  exec: ExecOps,
  { pin, chip: name }: { pin: number; chip?: string | undefined },
  signal: AbortSignal,
): Promise<Pin | ToolResult> {
  const gpio = await openGpio(exec, signal);
  if (!("chips" in gpio)) return gpio;
  const chip = chooseChip(gpio, name);
  if (!("label" in chip)) return chip;
  const lines = await linesOf(exec, gpio, chip, signal);
  if (!Array.isArray(lines)) return lines;
  const line = lines.find((candidate) => candidate.pin === pin);
  if (!line) {
    return faultResult("invalid_params", {
      text: `Error: ${chip.name} has no pin ${pin}; its pins are 0 to ${chip.lines - 1}.`,
      advice: "Use the GPIO number, not the number on the header.",
    });
  }
  const isHeader = chip === headerChip(gpio.chips);
  const registers = isHeader ? await readRegisters(exec, pin, signal) : undefined;
  return { gpio, chip, line, registers, isHeader };
}

/** Reads a pin of the header's chip. @returns undefined when no program can read the registers, or this user may not */
export async function readRegisters(
  exec: ExecOps,
  pin: number,
  signal: AbortSignal,
): Promise<Registers | undefined> {
  const readers = [
    { argv: ["pinctrl", "get", `${pin}`], parse: parsePinctrl },
    { argv: ["raspi-gpio", "get", `${pin}`], parse: parseRaspiGpio },
  ] as const;
  for (const { argv, parse } of readers) {
    try {
      const found = parse((await runProgram(exec, argv, { signal })).stdout);
      if (found) return found;
    } catch (error) {
      // Not installed, so try the next one.
      if (!(error instanceof ExecError)) throw error;
    }
  }
  return undefined;
}

/** Turns the stderr of a gpiod program into a fault. @param what the pin or chip that it was about, such as `GPIO17` */
export function gpioFault(what: string, ended: Pick<Ended, "stderr" | "exitCode">): ToolResult {
  if (/resource busy/i.test(ended.stderr)) {
    return faultResult("unavailable", {
      text: `Error: ${what} is in use by another program or a driver.`,
      advice: "Call gpio_list to see which, and tell the user.",
    });
  }
  if (/permission denied|not permitted/i.test(ended.stderr)) {
    return faultResult("access_denied", {
      text: `Error: This agent's user may not use ${what}.`,
      advice: "Tell the user to add it to the group gpio.",
    });
  }
  if (/no such file|no such device|cannot find/i.test(ended.stderr)) {
    return faultResult("not_found", `Error: ${what} is not there: ${complaint(ended)}.`);
  }
  return faultResult("io", `Error: ${what} could not be used: ${complaint(ended)}.`);
}

/** Returns `GPIO17`, or `pin 3 of gpiochip1` for a pin without a name. */
export function pinName({ chip, line }: Pick<Pin, "chip" | "line">): string {
  if (!line.name) return `pin ${line.pin} of ${chip.name}`;
  return line.name === `GPIO${line.pin}` ? line.name : `pin ${line.pin} of ${chip.name} (${line.name})`;
}

export function levelText(level: 0 | 1): string {
  return level === 1 ? "HIGH (1)" : "LOW (0)";
}
