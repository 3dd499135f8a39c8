import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { listKernel, readKernel } from "./kernel-files.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, programThere, runProgram } from "./run-program.ts";

/** The bus on the header's pins 3 and 5 on every Pi but the first. */
const DEFAULT_BUS = 1;
const MAX_BUS = 255;
const I2C_DEV = "/sys/class/i2c-dev";

export function i2cDetect({ exec, root }: { exec: ExecOps; root: string }): Tool {
  return defineTool({
    name: "i2c_detect",
    description: `Scan an I2C bus of this device for connected chips (sensors, displays, ADCs): which addresses answer. Bus ${DEFAULT_BUS} is the one on a Raspberry Pi's header.`,
    input: z.strictObject({
      bus: z
        ._default(z.int().check(z.minimum(0), z.maximum(MAX_BUS)), DEFAULT_BUS)
        .check(z.describe("Number of the bus: 1 for /dev/i2c-1")),
    }),
    // Probing every address writes to some chips, as i2cdetect itself warns.
    effect: "device",
    permission: "device",
    idempotent: true,
    lock: ({ bus }) => `i2c ${bus}`,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ bus }, { signal }) {
      const ended = await runProgram(exec, ["i2cdetect", "-y", `${bus}`], { signal });
      const found = i2cTable(ended.stdout);
      if (ended.exitCode !== 0 || !found) return await refusal(root, bus, ended);
      const { free, driven } = found;
      const parts = [
        free.length > 0 && `${free.length === 1 ? "address" : "addresses"} ${free.join(", ")}`,
        driven.length > 0 && `${driven.join(", ")} (in use by a kernel driver)`,
      ].filter(Boolean);
      return textResult(
        parts.length > 0
          ? `I2C bus ${bus}: ${free.length + driven.length} answered: ${parts.join("; ")}`
          : `I2C bus ${bus}: no chip answered. Check the wiring and the power of what should be there.`,
        { bus, addresses: free, driver_addresses: driven },
      );
    },
  });
}

export async function i2cDetectMissing(
  { exec, root }: { exec: ExecOps; root: string },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  if (!(await programThere(exec, ["i2cdetect", "-V"]))) return "no program 'i2cdetect': install i2c-tools";
  if ((await buses(root)).length === 0) {
    return "no I2C bus (/dev/i2c-*): switch it on with 'raspi-config nonint do_i2c 0', or 'modprobe i2c-dev'";
  }
  return undefined;
}

/**
 * Parses i2cdetect's table: `--` is a free address, `UU` one used by a driver, anything else the address of a device.
 * Addresses that were not probed are blank, so columns matter.
 */
export function i2cTable(text: string): { free: string[]; driven: string[] } | undefined {
  const free: string[] = [];
  const driven: string[] = [];
  let rows = 0;
  for (const line of text.split("\n")) {
    const row = /^([0-7]0): ?(.*)$/.exec(line);
    if (!row) continue;
    rows += 1;
    const base = Number.parseInt(row[1] ?? "", 16);
    for (let column = 0; column < 16; column += 1) {
      const cell = (row[2] ?? "").slice(column * 3, column * 3 + 2);
      const address = `0x${(base + column).toString(16).padStart(2, "0")}`;
      if (cell === "UU") driven.push(address);
      else if (/^[0-9a-f]{2}$/.test(cell)) free.push(address);
    }
  }
  return rows === 0 ? undefined : { free, driven };
}

async function buses(root: string): Promise<string[]> {
  return await Promise.all(
    (await listKernel(root, I2C_DEV, /^i2c-\d+$/)).map(async (folder) => {
      const name = await readKernel(root, `${I2C_DEV}/${folder}/name`);
      return `${folder.slice("i2c-".length)}${name ? ` (${name})` : ""}`;
    }),
  );
}

async function refusal(root: string, bus: number, ended: Ended) {
  if (/Permission denied/i.test(ended.stderr)) {
    return faultResult("access_denied", {
      text: `Error: This agent's user may not open /dev/i2c-${bus}.`,
      advice: "Tell the user to add it to the group i2c.",
    });
  }
  if (/No such file|out of range|does not match any/i.test(ended.stderr)) {
    const there = await buses(root);
    return faultResult(
      "not_found",
      `Error: There is no I2C bus ${bus}. Buses: ${there.join(", ") || "none; I2C is switched off"}.`,
    );
  }
  return faultResult("io", `Error: I2C bus ${bus} could not be scanned: ${complaint(ended)}.`);
}
