import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import type { ExecOps } from "../../env/environment.ts";
import { PI_4_CHIPS } from "../../testing/boards/pi-4.ts";
import { PI_5_CHIPS } from "../../testing/boards/pi-5.ts";
import { ZERO_2W_CHIPS } from "../../testing/boards/zero-2w.ts";
import { callTool } from "../../testing/call.ts";
import { failing, programs } from "../../testing/programs/folder.ts";
import { type FakeGpio, fakeGpio } from "../../testing/programs/gpiod.ts";
import { gpioMissing } from "./gpio-access.ts";
import { HeldLines } from "./gpio-held-lines.ts";
import {
  type Chip,
  type Generation,
  generationOf,
  gpioArgv,
  headerChip,
  parseLevel,
  parseLines,
  parsePinctrl,
  parseRaspiGpio,
} from "./gpio-lines.ts";
import { gpioList } from "./gpio-list.ts";
import { gpioRead } from "./gpio-read.ts";
import { type GpioWriteOptions, gpioWrite } from "./gpio-write.ts";

const open: HeldLines[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((held) => held.close()));
});

type Bench = { gpio: FakeGpio; exec: ExecOps; held: HeldLines };

function bench(
  generation: Generation,
  chips: readonly Chip[],
  options?: Parameters<typeof fakeGpio>[2],
): Bench {
  const gpio = fakeGpio(generation, chips, options);
  const exec = programs(gpio.scripts);
  const held = new HeldLines(exec);
  open.push(held);
  return { gpio, exec, held };
}

const read = (at: Bench, args: Record<string, unknown>) => callTool(gpioRead(at), args);
const write = (at: Bench, args: Record<string, unknown>, options: Partial<GpioWriteOptions> = {}) =>
  callTool(gpioWrite({ ...at, ...options }), args);

describe.each([1, 2] as const)("gpiod v%i", (generation) => {
  test("lists the header's pins with their users", async () => {
    const at = bench(generation, ZERO_2W_CHIPS);
    at.gpio.set("gpiochip0", 4, { name: "GPIO4", who: "onewire@0", dir: "output" });
    const { text, result } = await callTool(gpioList(at));
    const lines = text.split("\n");
    expect(lines[0]).toBe("gpiochip0 (pinctrl-bcm2835, 54 lines, the header's):");
    expect(lines).toHaveLength(55);
    expect(lines).toContain("4 GPIO4 output, used by onewire@0");
    expect(lines).toContain("17 GPIO17 input");
    expect(lines).toContain("42 unnamed input");
    expect(result.details?.gpiod).toBe(generation);
  });

  test("the header's chip of a Pi 5 is found by its label; others by name", async () => {
    const at = bench(generation, PI_5_CHIPS);
    at.gpio.set("gpiochip4", 17, { name: "GPIO17", val: 1 });
    expect((await read(at, { pin: 17 })).text).toBe("GPIO17 is HIGH (1): an input.");
    expect((await read(at, { pin: 3, chip: "gpiochip1" })).text).toBe(
      "pin 3 of gpiochip1 is LOW (0): an input.",
    );
    const listed = await callTool(gpioList(at));
    expect(listed.text).toContain("gpiochip4 (pinctrl-rp1, 54 lines, the header's):");
    expect(listed.text).toContain("Other chips: gpiochip0 (gpio-brcmstb@107d508500)");
  });

  test("without a Pi's chip, the caller names one", async () => {
    const at = bench(generation, [
      { name: "gpiochip0", label: "INT34BB:00", lines: 4 },
      { name: "gpiochip1", label: "cp2102n", lines: 4 },
    ]);
    const { text, code } = await read(at, { pin: 1 });
    expect(code).toBe("invalid_params");
    expect(text).toBe(
      "Error: Which chip? Name one with chip. Chips: gpiochip0 (INT34BB:00, 4 lines), gpiochip1 (cp2102n, 4 lines).",
    );
  });

  test("an unknown pin or chip", async () => {
    const at = bench(generation, ZERO_2W_CHIPS);
    const pin = await read(at, { pin: 54 });
    expect(pin.code).toBe("invalid_params");
    expect(pin.text).toContain("gpiochip0 has no pin 54; its pins are 0 to 53.");
    const chip = await read(at, { pin: 1, chip: "gpiochip9" });
    expect(chip.code).toBe("not_found");
    expect(chip.text).toContain("no GPIO chip 'gpiochip9'. Chips: gpiochip0 (pinctrl-bcm2835, 54 lines)");
    for (const wrong of [{ pin: 258.5 }, { pin: -1 }, { pin: 1, chip: "-c" }, { pin: 1, chip: "/dev/mem" }]) {
      expect((await read(at, wrong)).code, JSON.stringify(wrong)).toBe("invalid_params");
    }
  });

  test("a line of another program is neither read nor written", async () => {
    const at = bench(generation, ZERO_2W_CHIPS);
    at.gpio.set("gpiochip0", 8, { name: "GPIO8", who: "spi0 CS0", dir: "output", val: 1 });
    const reading = await read(at, { pin: 8 });
    expect(reading.code).toBe("unavailable");
    expect(reading.text).toContain("GPIO8 is in use by 'spi0 CS0' (an output)");
    const writing = await write(at, { pin: 8, value: 0 });
    expect(writing.code).toBe("unavailable");
    expect(writing.text).toContain("GPIO8 is in use by 'spi0 CS0'. It was not touched.");
    expect(at.gpio.text("gpiochip0", 8)).toContain("val='1'");
  });

  test("a line is held after it was written, can be written again, and is released at the end", async () => {
    const at = bench(generation, PI_4_CHIPS);
    const high = await write(at, { pin: 17, value: 1 });
    expect(high.text).toBe(
      "GPIO17 is now HIGH (1): held as an output; its level cannot be read back here (raspi-utils makes that possible). It was an input before.",
    );
    expect(high.result.details).toMatchObject({ chip: "gpiochip0", pin: 17, value: 1, verified: false });
    const held = generation === 1 ? "gpioset" : "edgecall";
    expect((await callTool(gpioList(at))).text).toContain(`17 GPIO17 output, used by ${held}`);
    expect((await read(at, { pin: 17 })).text).toBe(
      "GPIO17 is HIGH (1): an output that this agent holds; its level was not measured.",
    );
    const low = await write(at, { pin: 17, value: 0 });
    expect(low.text).toMatch(/^GPIO17 is now LOW \(0\)/);
    expect(at.gpio.text("gpiochip0", 17)).toContain("val='0'");
    await at.held.close();
    expect(at.held.get("gpiochip0", 17)).toBeUndefined();
    expect((await callTool(gpioList(at))).text).toContain("17 GPIO17 input\n");
  });

  test("it is read back through the registers, whichever program holds the line", async () => {
    const at = bench(generation, PI_5_CHIPS, { registers: "pinctrl" });
    const { text, result } = await write(at, { pin: 22, value: 1 });
    expect(text).toBe("GPIO22 is now HIGH (1): read back and verified. It was an input before.");
    expect(result.details).toMatchObject({ verified: true });
    expect((await read(at, { pin: 22 })).text).toBe("GPIO22 is HIGH (1): an output.");
  });

  test("a wrong value when reading back is a failure, and the pin is released", async () => {
    const at = bench(generation, ZERO_2W_CHIPS, { registers: "raspi-gpio" });
    at.gpio.set("gpiochip0", 17, { name: "GPIO17", stuck: 0 });
    const { text, code } = await write(at, { pin: 17, value: 1 });
    expect(code).toBe("io");
    expect(text).toContain("GPIO17 was set HIGH (1) and reads back LOW (0)");
    expect(at.held.get("gpiochip0", 17)).toBeUndefined();
    expect((await callTool(gpioList(at))).text).toContain("17 GPIO17 input\n");
  });

  test("a pulse: the pin is released after its time", async () => {
    const at = bench(generation, ZERO_2W_CHIPS);
    const { text } = await write(at, { pin: 5, value: 1, hold_ms: 50 });
    expect(text).toContain(", let go after 50 ms.");
    await until(() => at.held.get("gpiochip0", 5) === undefined);
    expect((await callTool(gpioList(at))).text).toContain("5 GPIO5 input\n");
  });

  test("gpioset's own refusal is reported in words", async () => {
    const gpio = fakeGpio(generation, ZERO_2W_CHIPS);
    const refusal =
      generation === 1
        ? "gpioset: error setting the GPIO line values: Device or resource busy"
        : "gpioset: unable to request lines on chip '/dev/gpiochip0': Device or resource busy";
    const exec = programs({ ...gpio.scripts, gpioset: failing(refusal) });
    const held = new HeldLines(exec);
    const { text, code } = await callTool(gpioWrite({ exec, held }), { pin: 17, value: 1 });
    expect(code).toBe("unavailable");
    expect(text).toContain("GPIO17 is in use by another program or a driver.");
    expect(held.get("gpiochip0", 17)).toBeUndefined();
  });

  test("without the group gpio", async () => {
    const at = bench(generation, ZERO_2W_CHIPS, { denied: true });
    expect(await gpioMissing(at.exec, "linux")).toBe(
      "/dev/gpiochip* may not be opened: add the user to group gpio",
    );
    const { text, code } = await read(at, { pin: 17 });
    expect(code).toBe("access_denied");
    expect(text).toContain("add it to the group gpio");
  });

  test("only allowed pins are written", async () => {
    const at = bench(generation, PI_4_CHIPS);
    for (const blocked of [{ pin: 0 }, { pin: 28 }, { pin: 2, chip: "gpiochip1" }]) {
      const { text, code } = await write(at, { ...blocked, value: 1 });
      expect(code, JSON.stringify(blocked)).toBe("blocked");
      expect(text).toContain("may not be written on this agent");
    }
    expect((await write(at, { pin: 17, value: 1 }, { pins: [27] })).code).toBe("blocked");
    expect((await write(at, { pin: 2, chip: "gpiochip1", value: 1 }, { chips: ["gpiochip1"] })).text).toMatch(
      /^pin 2 of gpiochip1 is now HIGH \(1\)/,
    );
  });

  test("the words that models use for high and low", async () => {
    const at = bench(generation, ZERO_2W_CHIPS);
    expect((await write(at, { pin: 5, value: "HIGH" })).text).toContain("now HIGH (1)");
    expect((await write(at, { pin: 5, value: false })).text).toContain("now LOW (0)");
    expect((await write(at, { pin: 5, value: 2 })).code).toBe("invalid_params");
  });
});

test("v1 does not read an output, because that would make it an input", async () => {
  const at = bench(1, ZERO_2W_CHIPS);
  at.gpio.set("gpiochip0", 17, { name: "GPIO17", dir: "output", val: 1 });
  const { text, code } = await read(at, { pin: 17 });
  expect(code).toBe("unavailable");
  expect(text).toContain("gpiod v1 would turn it into an input to read it, so it was not touched.");
  expect(at.gpio.text("gpiochip0", 17)).toContain("dir='output'");
});

test("v2 reads an output and leaves it one", async () => {
  const at = bench(2, ZERO_2W_CHIPS);
  at.gpio.set("gpiochip0", 17, { name: "GPIO17", dir: "output", val: 1 });
  expect((await read(at, { pin: 17 })).text).toBe("GPIO17 is HIGH (1): an output.");
  expect(at.gpio.text("gpiochip0", 17)).toContain("dir='output'");
});

test("a pin that works for I2C can be read, and not written", async () => {
  const at = bench(2, ZERO_2W_CHIPS, { registers: "pinctrl" });
  at.gpio.set("gpiochip0", 2, { name: "GPIO2", alt: "SDA1", val: 1 });
  expect((await read(at, { pin: 2 })).text).toBe("GPIO2 is HIGH (1): in use as SDA1.");
  const { text, code } = await write(at, { pin: 2, value: 0 });
  expect(code).toBe("unavailable");
  expect(text).toContain("GPIO2 is in use by 'SDA1'. It was not touched.");
  expect(at.gpio.text("gpiochip0", 2)).toContain("alt='SDA1'");
});

test("missing programs are reported in words", async () => {
  expect(await gpioMissing(programs({}), "linux")).toBe("no program 'gpioget': install gpiod");
  expect(await gpioMissing(programs({}), "darwin")).toBe("it is made for linux, and this is darwin");
  expect(await gpioMissing(programs(fakeGpio(2, []).scripts), "linux")).toBe("no GPIO chip (/dev/gpiochip*)");
  expect(await gpioMissing(programs(fakeGpio(2, ZERO_2W_CHIPS).scripts), "linux")).toBeUndefined();
});

describe("parsers", () => {
  test("generations", () => {
    expect(generationOf("gpioget (libgpiod) v1.6.3\nCopyright")).toBe(1);
    expect(generationOf("gpioget (libgpiod) v2.2.1\n")).toBe(2);
    expect(generationOf("BusyBox")).toBeUndefined();
  });

  test("lines of v1 and v2", () => {
    const first = [
      "gpiochip0 - 54 lines:",
      '\tline   0:     "ID_SDA"       unused   input  active-high ',
      '\tline  17:     "GPIO17"    "gpioset"  output  active-high [used]',
      '\tline  18:     "GPIO18"       kernel   input   active-low [used]',
      "\tline  42:      unnamed       unused   input  active-high ",
    ].join("\n");
    expect(parseLines(first)).toEqual([
      { pin: 0, name: "ID_SDA", direction: "input", activeLow: false },
      { pin: 17, name: "GPIO17", direction: "output", consumer: "gpioset", activeLow: false },
      { pin: 18, name: "GPIO18", direction: "input", consumer: "kernel", activeLow: true },
      { pin: 42, direction: "input", activeLow: false },
    ]);
    const second = [
      "gpiochip0 - 54 lines:",
      '\tline   0:\t"ID_SDA"        \tinput',
      '\tline  17:\t"GPIO17"        \toutput drive=open-drain bias=pull-up consumer="my output"',
      "\tline  42:\tunnamed         \tinput active-low",
    ].join("\n");
    expect(parseLines(second)).toEqual([
      { pin: 0, name: "ID_SDA", direction: "input", activeLow: false },
      { pin: 17, name: "GPIO17", direction: "output", consumer: "my output", activeLow: false },
      { pin: 42, direction: "input", activeLow: true },
    ]);
  });

  test("levels", () => {
    expect([parseLevel("1\n"), parseLevel('"17"=active\n'), parseLevel('"GPIO17"=inactive')]).toEqual([
      1, 1, 0,
    ]);
    expect([parseLevel(""), parseLevel("busy"), parseLevel("10")]).toEqual([undefined, undefined, undefined]);
  });

  test("registers", () => {
    expect(parsePinctrl("17: op dh pd | hi // GPIO17 = output\n")).toEqual({ mode: "output", level: 1 });
    expect(parsePinctrl(" 4: no    pd | -- // GPIO4 = none\n")).toEqual({ mode: "off" });
    expect(parsePinctrl(" 2: a3    pu | hi // GPIO2 = SDA1\n")).toEqual({
      mode: "other",
      level: 1,
      function: "SDA1",
    });
    expect(parsePinctrl("Can't open /dev/gpiomem")).toBeUndefined();
    // The seed's example.
    expect(parseRaspiGpio("GPIO 17: level=1 fsel=0 func=INPUT\n")).toEqual({ mode: "input", level: 1 });
    expect(parseRaspiGpio("GPIO 2: level=1 fsel=4 alt=0 func=SDA1 pull=UP\n")).toEqual({
      mode: "other",
      level: 1,
      function: "SDA1",
    });
  });

  test("a Pi's header, whatever its number", () => {
    expect(headerChip(PI_5_CHIPS)?.name).toBe("gpiochip4");
    expect(headerChip(PI_4_CHIPS)?.name).toBe("gpiochip0");
    expect(headerChip([{ name: "gpiochip0", label: "x", lines: 1 }])).toBeUndefined();
  });

  test("command lines", () => {
    expect(gpioArgv.hold(1, "gpiochip0", 17, 1)).toEqual(["gpioset", "--mode=signal", "gpiochip0", "17=1"]);
    expect(gpioArgv.hold(2, "gpiochip0", 17, 1)).toEqual([
      "gpioset",
      "-C",
      "edgecall",
      "-c",
      "gpiochip0",
      "17=1",
    ]);
  });
});
