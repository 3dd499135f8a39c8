import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { DEVICE_READ } from "../reads.ts";
import { CHIP_NAME, gpioFault, levelText, lookAt, MAX_PIN, type Pin, pinName } from "./gpio-access.ts";
import type { HeldLines } from "./gpio-held-lines.ts";
import { gpioArgv, type Level, parseLevel } from "./gpio-lines.ts";
import { runProgram } from "./run-program.ts";

/**
 * Reads a pin without changing it. It uses the registers when a program for them is installed, otherwise gpioget, except
 * where gpioget would turn an output into an input, as gpiod v1 does.
 */
export function gpioRead({ exec, held }: { exec: ExecOps; held: HeldLines }): Tool {
  return defineTool({
    name: "gpio_read",
    description:
      "Read a GPIO pin of this device: whether it is high (1) or low (0), and whether it is an input or an output. Pins are GPIO numbers (17 for GPIO17), not positions on the header.",
    input: z.strictObject({
      pin: z.int().check(z.minimum(0), z.maximum(MAX_PIN), z.describe("GPIO number: 17 for GPIO17")),
      chip: z
        .optional(z.string().check(z.regex(CHIP_NAME)))
        .check(z.describe("Another chip than the header's: gpiochip1")),
    }),
    ...DEVICE_READ,
    // The key leaves out the chip, because naming it is optional for the same pin.
    lock: ({ pin }) => `gpio ${pin}`,
    async execute(input, { signal }) {
      const pin = await lookAt(exec, input, signal);
      if (!("line" in pin)) return pin;
      const { registers, chip, line } = pin;
      if (registers?.level !== undefined) {
        const role = registers.mode === "other" ? `in use as ${registers.function}` : `an ${registers.mode}`;
        return reading(pin, registers.level, role, "registers");
      }
      const driven = held.get(chip.name, line.pin);
      if (driven !== undefined) {
        return reading(pin, driven, "an output that this agent holds; its level was not measured", "held");
      }
      return refusal(pin) ?? (await byGpioget(exec, pin, signal));
    },
  });
}

async function byGpioget(exec: ExecOps, pin: Pin, signal: AbortSignal): Promise<ToolResult> {
  const argv = gpioArgv.read(pin.gpio.generation, pin.chip.name, pin.line.pin);
  const ended = await runProgram(exec, argv, { signal });
  const level = ended.exitCode === 0 ? parseLevel(ended.stdout) : undefined;
  if (level === undefined) return gpioFault(pinName(pin), ended);
  return reading(pin, level, `an ${pin.line.direction}`, "gpioget");
}

function refusal(pin: Pin): ToolResult | undefined {
  const { line, gpio } = pin;
  if (line.consumer !== undefined) {
    return faultResult("unavailable", {
      text: `Error: ${pinName(pin)} is in use by '${line.consumer}' (an ${line.direction}), and cannot be read while it is.`,
      advice: "Tell the user.",
    });
  }
  if (line.direction === "output" && gpio.generation === 1) {
    return faultResult("unavailable", {
      text: `Error: ${pinName(pin)} is an output. gpiod v1 would turn it into an input to read it, so it was not touched.`,
      advice: "Tell the user that installing raspi-utils (pinctrl) or raspi-gpio makes outputs readable.",
    });
  }
  return undefined;
}

function reading(pin: Pin, level: Level, role: string, source: string): ToolResult {
  const { chip, line, registers } = pin;
  const direction = registers === undefined ? line.direction : registers.mode;
  return textResult(`${pinName(pin)} is ${levelText(level)}: ${role}.`, {
    chip: chip.name,
    pin: line.pin,
    value: level,
    direction,
    source,
  });
}
