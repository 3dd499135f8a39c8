import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { memoryBytes, percent } from "./figures.ts";
import { kilobytesOf, readKernel } from "./kernel-files.ts";

export function memory({ root }: { root: string }): Tool {
  return defineTool({
    name: "memory",
    description:
      "Read this device's memory (RAM) and swap: how much is used, how much is free or available, and the total.",
    input: z.strictObject({}),
    ...DEVICE_READ,
    async execute() {
      const text = (await readKernel(root, "/proc/meminfo")) ?? "";
      const total = bytesOf(text, "MemTotal");
      const available = bytesOf(text, "MemAvailable") ?? bytesOf(text, "MemFree");
      if (total === undefined || available === undefined) {
        return faultResult("unavailable", {
          text: "Error: The memory cannot be read: /proc/meminfo is not there or has no MemTotal.",
          advice: "Tell the user that it is not known.",
        });
      }
      const used = total - available;
      const swapTotal = bytesOf(text, "SwapTotal") ?? 0;
      const swapUsed = swapTotal - (bytesOf(text, "SwapFree") ?? 0);
      const ram = `RAM ${percent(used, total).toFixed(0)}% used (${memoryBytes(used)} of ${memoryBytes(total)}, ${memoryBytes(available)} available)`;
      const swap =
        swapTotal === 0 ? "no swap" : `swap ${memoryBytes(swapUsed)} of ${memoryBytes(swapTotal)} used`;
      return textResult(`${ram}; ${swap}`, {
        total_bytes: total,
        used_bytes: used,
        available_bytes: available,
        swap_total_bytes: swapTotal,
        swap_used_bytes: swapUsed,
      });
    },
  });
}

function bytesOf(text: string, key: string): number | undefined {
  const kilobytes = kilobytesOf(text, key);
  return kilobytes === undefined ? undefined : kilobytes * 1_024;
}
