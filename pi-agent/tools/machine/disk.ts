import { statfs } from "node:fs/promises";
import { join, normalize } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { bytes } from "./figures.ts";
import { readKernel } from "./kernel-files.ts";
import { type Mount, mountOf, realMounts } from "./mounts.ts";

type DiskUse = {
  path: string;
  device: string;
  type: string;
  total_bytes: number;
  used_bytes: number;
  free_bytes: number;
  used_percent: number;
};

export function disk({ root }: { root: string }): Tool {
  return defineTool({
    name: "disk",
    description:
      "Read this device's disk usage: how full the SD card, SSD or storage is in percent, used space and free space left, for each file system or the one that holds a path.",
    input: z.strictObject({
      path: z
        .optional(z.string().check(z.regex(/^\//), z.maxLength(4_096)))
        .check(z.describe("Only the file system that holds this absolute path")),
    }),
    ...DEVICE_READ,
    async execute({ path }): Promise<ToolResult> {
      const text = await readKernel(root, "/proc/self/mounts");
      const mounts = realMounts(text ?? "");
      if (path !== undefined) return await oneDisk(root, normalize(path), mounts);
      const uses = (await Promise.all(mounts.map((mount) => useOf(root, mount)))).flat();
      if (uses.length === 0) {
        return faultResult("unavailable", {
          text: "Error: No disk could be read: looked for file systems on devices in /proc/self/mounts.",
          advice: "Tell the user that the disk usage is not known.",
        });
      }
      return textResult(uses.map(lineOf).join("\n"), { disks: uses });
    },
  });
}

async function oneDisk(root: string, path: string, mounts: readonly Mount[]): Promise<ToolResult> {
  const mount = mountOf(mounts, path) ?? { device: "unknown device", path, type: "unknown" };
  try {
    const use = await statDisk(root, { ...mount, path });
    const where = mount.path === path ? "" : ` (mounted at ${mount.path})`;
    return textResult(`${lineOf(use)}${where}`, { disks: [use] });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return faultResult("not_found", `Error: There is no '${path}' on this device.`, { cause: error });
    }
    return faultResult("io", `Error: The disk of '${path}' cannot be read (${code}).`, { cause: error });
  }
}

async function useOf(root: string, mount: Mount): Promise<DiskUse[]> {
  try {
    const use = await statDisk(root, mount);
    return use.total_bytes > 0 ? [use] : [];
  } catch {
    // It was unmounted between the two reads, or may not be read.
    return [];
  }
}

async function statDisk(root: string, { path, device, type }: Mount): Promise<DiskUse> {
  const stats = await statfs(join(root, path));
  const used = (stats.blocks - stats.bfree) * stats.bsize;
  const free = stats.bavail * stats.bsize;
  return {
    path,
    device,
    type,
    total_bytes: stats.blocks * stats.bsize,
    used_bytes: used,
    free_bytes: free,
    used_percent: usedPercent(used, free),
  };
}

/** Like df: the share of the space for users (without blocks reserved for root), rounded up. */
export function usedPercent(used: number, free: number): number {
  return used + free === 0 ? 0 : Math.ceil((used * 100) / (used + free));
}

function lineOf(use: DiskUse): string {
  return `${use.path} ${use.used_percent}% used (${bytes(use.used_bytes)} of ${bytes(use.total_bytes)}, ${bytes(use.free_bytes)} free) ${use.type} on ${use.device}`;
}
