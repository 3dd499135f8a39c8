import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { readCpuTime, SAMPLE_MS, sampled } from "./cpu-time.ts";
import { percent } from "./figures.ts";
import { readKernel, readKernelNumber } from "./kernel-files.ts";

export function cpu({ root }: { root: string }): Tool {
  return defineTool({
    name: "cpu",
    description:
      "Read this device's CPU (processor) usage right now: how busy it is in percent, its load average over 1, 5 and 15 minutes, number of cores and clock speed in MHz.",
    input: z.strictObject({}),
    ...DEVICE_READ,
    async execute(_input, { signal }) {
      const [before, after] = await sampled(() => readCpuTime(root), signal);
      if (!before || !after) {
        return faultResult("unavailable", {
          text: "Error: The CPU's usage cannot be read: /proc/stat is not there or not readable.",
          advice: "Tell the user that it is not known.",
        });
      }
      const elapsed = after.total - before.total;
      // If the clock did not move (a coarse or recorded one), only the average since the start is known.
      const usage =
        elapsed > 0 ? percent(after.busy - before.busy, elapsed) : percent(after.busy, after.total);
      const over = elapsed > 0 ? `over ${SAMPLE_MS} ms` : "on average since the start";
      const load = loadOf(await readKernel(root, "/proc/loadavg"));
      const mhz = await clockOf(root);
      const cores = `${after.cores} ${after.cores === 1 ? "core" : "cores"}`;
      return textResult(
        [
          `CPU ${usage.toFixed(0)}% busy (${over}, ${cores})`,
          load && `load average ${load.join(", ")} (1, 5, 15 min)`,
          mhz && `clock ${mhz.now} MHz${mhz.max ? ` of ${mhz.max} MHz` : ""}`,
        ]
          .filter(Boolean)
          .join("; "),
        {
          usage_percent: Number(usage.toFixed(1)),
          cores: after.cores,
          // A rule watches single values: a list has none.
          ...(load && { load: load.map(Number), ...averagesOf(load) }),
          ...(mhz && { mhz: mhz.now }),
        },
      );
    },
  });
}

function loadOf(text: string | undefined): string[] | undefined {
  const parts = text?.split(/\s+/).slice(0, 3);
  return parts?.length === 3 ? parts : undefined;
}

function averagesOf([one, five, fifteen]: readonly string[]): Record<string, number> {
  return { load_1: Number(one), load_5: Number(five), load_15: Number(fifteen) };
}

async function clockOf(root: string): Promise<{ now: number; max: number | undefined } | undefined> {
  const folder = "/sys/devices/system/cpu/cpu0/cpufreq";
  const now = await readKernelNumber(root, `${folder}/scaling_cur_freq`);
  if (now === undefined) return undefined;
  const max = await readKernelNumber(root, `${folder}/cpuinfo_max_freq`);
  return { now: Math.round(now / 1_000), max: max === undefined ? undefined : Math.round(max / 1_000) };
}
