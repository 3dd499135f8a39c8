import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import {
  CHIP_NAME,
  gpioFault,
  levelText,
  linesOf,
  lookAt,
  MAX_PIN,
  type Pin,
  pinName,
  readRegisters,
} from "./gpio-access.ts";
import type { HeldLines } from "./gpio-held-lines.ts";
import { consumerOf, type Level } from "./gpio-lines.ts";

/** GPIO 2 to 27 are on the header. 0 and 1 read the identity chip, and higher ones control the board itself. */
const HEADER_PINS: readonly number[] = Array.from({ length: 26 }, (_, index) => index + 2);
const MAX_HOLD_MS = 3_600_000;

export type GpioWriteOptions = {
  exec: ExecOps;
  held: HeldLines;
  /** Pins of the header's chip that may be written. */
  pins?: readonly number[];
  /** Names of further chips (expanders) whose pins may all be written. */
  chips?: readonly string[];
};

export function gpioWrite({ exec, held, pins = HEADER_PINS, chips = [] }: GpioWriteOptions): Tool {
  return defineTool({
    name: "gpio_write",
    description:
      "Set a GPIO pin of this device high (1) or low (0), to switch what is wired to it: a relay, an LED, a pump. The pin becomes an output and is held until it is written again, hold_ms is over or the agent stops. Pins are GPIO numbers (17 for GPIO17).",
    input: z.strictObject({
      pin: z.int().check(z.minimum(0), z.maximum(MAX_PIN), z.describe("GPIO number: 17 for GPIO17")),
      value: z.union([z.literal(0), z.literal(1)]).check(z.describe("1 for high, 0 for low")),
      chip: z
        .optional(z.string().check(z.regex(CHIP_NAME)))
        .check(z.describe("Another chip than the header's: gpiochip1")),
      hold_ms: z
        .optional(z.int().check(z.minimum(10), z.maximum(MAX_HOLD_MS)))
        .check(z.describe("Let go of the pin after so many milliseconds: a pulse")),
    }),
    effect: "device",
    permission: "device",
    // Not idempotent: a second pulse would open the gate again.
    idempotent: false,
    // The key leaves out the chip, because naming it is optional for the same pin.
    lock: ({ pin }) => `gpio ${pin}`,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    prepare: (raw) => ({ ...raw, ...(raw.value !== undefined && { value: levelOf(raw.value) }) }),
    async execute({ pin: number, value, chip, hold_ms }, { signal }) {
      const pin = await lookAt(exec, { pin: number, chip }, signal);
      if (!("line" in pin)) return pin;
      const refused = notAllowed(pin, pins, chips) ?? inUse(pin, held);
      if (refused) return refused;
      const failed = await drive(exec, held, pin, value, signal);
      if (failed) return failed;
      const measured = pin.isHeader ? (await readRegisters(exec, pin.line.pin, signal))?.level : undefined;
      if (measured !== undefined && measured !== value) {
        // Two outputs that drive against each other heat up.
        await held.release(pin.chip.name, pin.line.pin);
        return faultResult("io", {
          text: `Error: ${pinName(pin)} was set ${levelText(value)} and reads back ${levelText(measured)}: something else drives it, or it is shorted. The pin was let go.`,
          advice: "Tell the user to check the wiring.",
        });
      }
      if (hold_ms !== undefined) held.releaseAfter(pin.chip.name, pin.line.pin, hold_ms);
      return done(pin, value, measured !== undefined, hold_ms);
    },
  });
}

/** @returns a fault when the line could not be requested; nothing is held then */
async function drive(
  exec: ExecOps,
  held: HeldLines,
  { gpio, chip, line, ...pin }: Pin,
  value: Level,
  signal: AbortSignal,
): Promise<ToolResult | undefined> {
  const holder = consumerOf(gpio.generation);
  const isDriven = async () => {
    const lines = await linesOf(exec, gpio, chip, signal);
    const now = Array.isArray(lines) ? lines.find((candidate) => candidate.pin === line.pin) : undefined;
    return now?.direction === "output" && now.consumer === holder;
  };
  const target = { generation: gpio.generation, chip: chip.name, pin: line.pin, value };
  const outcome = await held.hold(target, isDriven, signal);
  if (outcome.held) return undefined;
  const name = pinName({ chip, line, ...pin });
  if (outcome.stderr.trim() !== "") return gpioFault(name, { stderr: outcome.stderr, exitCode: 1 });
  return faultResult("io", `Error: ${name} was not set: gpioset did not get hold of it.`);
}

function done(pin: Pin, value: Level, verified: boolean, holdMs: number | undefined): ToolResult {
  const proof = verified
    ? "read back and verified"
    : "held as an output; its level cannot be read back here (raspi-utils makes that possible)";
  const until = holdMs === undefined ? "" : `, let go after ${holdMs} ms`;
  const before = pin.line.direction === "input" ? " It was an input before." : "";
  return textResult(`${pinName(pin)} is now ${levelText(value)}: ${proof}${until}.${before}`, {
    chip: pin.chip.name,
    pin: pin.line.pin,
    value,
    verified,
    ...(holdMs !== undefined && { hold_ms: holdMs }),
  });
}

function notAllowed(pin: Pin, pins: readonly number[], chips: readonly string[]): ToolResult | undefined {
  if (chips.includes(pin.chip.name) || (pin.isHeader && pins.includes(pin.line.pin))) return undefined;
  return faultResult("blocked", {
    text: `Error: ${pinName(pin)} may not be written on this agent.`,
    advice: "Do not try another pin. Tell the user that its owner can allow it in the agent's settings.",
  });
}

function inUse(pin: Pin, held: HeldLines): ToolResult | undefined {
  if (held.get(pin.chip.name, pin.line.pin) !== undefined) return undefined;
  const user = pin.line.consumer ?? (pin.registers?.mode === "other" ? pin.registers.function : undefined);
  if (user === undefined) return undefined;
  return faultResult("unavailable", {
    text: `Error: ${pinName(pin)} is in use by '${user}'. It was not touched.`,
    advice: "Tell the user; another pin may be what was meant.",
  });
}

/** Accepts the words that models write for high and low. */
function levelOf(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return value;
  const word = value.trim().toLowerCase();
  if (["1", "high", "on", "true"].includes(word)) return 1;
  return ["0", "low", "off", "false"].includes(word) ? 0 : value;
}
