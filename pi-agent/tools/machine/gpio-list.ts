import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { DEVICE_READ } from "../reads.ts";
import { CHIP_NAME, chooseChip, linesOf, openGpio } from "./gpio-access.ts";
import { headerChip, type Line } from "./gpio-lines.ts";

/** The header's chip has 54 or 58 lines, so all of them are shown. */
const MAX_SHOWN = 64;

export function gpioList({ exec }: { exec: ExecOps }): Tool {
  return defineTool({
    name: "gpio_list",
    description: `List this device's GPIO pins: their names, whether each is an input or an output, and which are in use by what. At most ${MAX_SHOWN} lines.`,
    input: z.strictObject({
      chip: z
        .optional(z.string().check(z.regex(CHIP_NAME)))
        .check(z.describe("Another chip than the header's: gpiochip1")),
      first: z
        ._default(z.int().check(z.minimum(0), z.maximum(4_096)), 0)
        .check(z.describe("First pin to list, to see more of a large chip")),
    }),
    ...DEVICE_READ,
    async execute({ chip: name, first }, { signal }) {
      const gpio = await openGpio(exec, signal);
      if (!("chips" in gpio)) return gpio;
      const chip = chooseChip(gpio, name);
      if (!("label" in chip)) return chip;
      const lines = await linesOf(exec, gpio, chip, signal);
      if (!Array.isArray(lines)) return lines;
      const wanted = lines.filter(({ pin }) => pin >= first);
      const shown = wanted.slice(0, MAX_SHOWN);
      const last = shown.at(-1)?.pin ?? first;
      const others = gpio.chips
        .filter((other) => other !== chip)
        .map((other) => `${other.name} (${other.label})`);
      return textResult(
        [
          `${chip.name} (${chip.label}, ${chip.lines} lines${chip === headerChip(gpio.chips) ? ", the header's" : ""}):`,
          ...shown.map(textOf),
          wanted.length > shown.length
            ? `[${wanted.length - shown.length} more. Use first=${last + 1} to continue.]`
            : "",
          others.length > 0 ? `Other chips: ${others.join(", ")}. Use chip to list one.` : "",
        ]
          .filter(Boolean)
          .join("\n"),
        { gpiod: gpio.generation, chips: gpio.chips, lines: shown },
      );
    },
  });
}

function textOf({ pin, name, direction, consumer, activeLow }: Line): string {
  return `${pin} ${name ?? "unnamed"} ${direction}${activeLow ? ", active low" : ""}${consumer === undefined ? "" : `, used by ${consumer}`}`;
}
