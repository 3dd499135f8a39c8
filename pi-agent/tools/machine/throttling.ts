/** Reads the Pi firmware's throttling bits: the low 16 bits are the present state, the high 16 "since the start". */
import { ExecError, type ExecOps } from "../../env/environment.ts";
import { listKernel, readKernel, readKernelNumber } from "./kernel-files.ts";
import { runProgram } from "./run-program.ts";

const CAUSES = [
  { bit: 0, words: "under-voltage" },
  { bit: 1, words: "CPU clock capped" },
  { bit: 2, words: "throttled" },
  { bit: 3, words: "soft temperature limit" },
] as const;

/** @param hex as in /sys/devices/platform/soc/soc:firmware/get_throttled, e.g. `50005` */
export function throttlingText(hex: string): string | undefined {
  const bits = Number.parseInt(hex.replace(/^(throttled=)?(0x)?/, ""), 16);
  if (!Number.isFinite(bits)) return undefined;
  const at = (shift: number) =>
    CAUSES.filter(({ bit }) => (bits >>> (bit + shift)) & 1).map(({ words }) => words);
  const now = at(0);
  const before = at(16).filter((words) => !(now as string[]).includes(words));
  const parts = [
    now.length > 0 && `now: ${now.join(", ")}`,
    before.length > 0 && `earlier since the start: ${before.join(", ")}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join("; ") : "none";
}

/**
 * Reads the firmware's file, or asks vcgencmd, or else uses only the voltage sensor.
 * @returns a text, or undefined when this is not a Pi
 */
export async function readThrottling(
  { root, exec }: { root: string; exec?: ExecOps | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const word = (await firmwareWord(root)) ?? (exec && (await vcgencmdWord(exec, signal)));
  return (word === undefined ? undefined : throttlingText(word)) ?? (await voltageAlarm(root));
}

/** `soc/soc:firmware` up to the Pi 4, `soc@107c000000/soc@107c000000:firmware` on a Pi 5. */
async function firmwareWord(root: string): Promise<string | undefined> {
  const platform = "/sys/devices/platform";
  for (const soc of await listKernel(root, platform, /^soc(@[0-9a-f]+)?$/)) {
    for (const firmware of await listKernel(root, `${platform}/${soc}`, /:firmware$/)) {
      const word = await readKernel(root, `${platform}/${soc}/${firmware}/get_throttled`);
      if (word) return word;
    }
  }
  return undefined;
}

async function vcgencmdWord(exec: ExecOps, signal: AbortSignal): Promise<string | undefined> {
  try {
    return /^throttled=\S+/m.exec(
      (await runProgram(exec, ["vcgencmd", "get_throttled"], { signal })).stdout,
    )?.[0];
  } catch (error) {
    if (error instanceof ExecError) return undefined;
    throw error;
  }
}

async function voltageAlarm(root: string): Promise<string | undefined> {
  const hwmon = "/sys/class/hwmon";
  for (const chip of await listKernel(root, hwmon, /^hwmon\d+$/)) {
    if ((await readKernel(root, `${hwmon}/${chip}/name`)) !== "rpi_volt") continue;
    const alarm = await readKernelNumber(root, `${hwmon}/${chip}/in0_lcrit_alarm`);
    if (alarm !== undefined) return alarm > 0 ? "under-voltage since the start" : "no under-voltage";
  }
  return undefined;
}
