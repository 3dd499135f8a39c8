import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { DEVICE_READ } from "../reads.ts";
import { duration } from "./figures.ts";
import { readKernel } from "./kernel-files.ts";
import { readThrottling } from "./throttling.ts";

/** @param exec runs vcgencmd where the kernel does not expose the firmware's value */
export function systemInfo({ root, exec }: { root: string; exec?: ExecOps }): Tool {
  return defineTool({
    name: "system_info",
    description:
      "Describe this device: hardware model, operating system version, kernel, hostname, uptime (how long it has been running since the last reboot), power and throttling problems.",
    input: z.strictObject({}),
    ...DEVICE_READ,
    async execute(_input, { signal }) {
      const [model, kernel, hostname, release, uptime, throttling] = await Promise.all([
        modelOf(root),
        readKernel(root, "/proc/sys/kernel/osrelease"),
        readKernel(root, "/proc/sys/kernel/hostname"),
        readKernel(root, "/etc/os-release"),
        readKernel(root, "/proc/uptime"),
        readThrottling({ root, exec }, signal),
      ]);
      const seconds = uptime === undefined ? Number.NaN : Number.parseFloat(uptime);
      const known = {
        model,
        os: release && /^PRETTY_NAME="?([^"\n]*)"?/m.exec(release)?.[1],
        kernel,
        hostname,
        uptime: Number.isFinite(seconds) ? duration(seconds) : undefined,
        throttling,
      };
      const lines = Object.entries(known).filter(([, value]) => value);
      if (lines.length === 0) {
        return faultResult(
          "unavailable",
          "Error: Nothing about this system can be read: looked in /proc, /sys and /etc/os-release.",
        );
      }
      return textResult(lines.map(([key, value]) => `${key}: ${value}`).join("\n"), {
        ...Object.fromEntries(lines),
        ...(Number.isFinite(seconds) && { uptime_sec: Math.floor(seconds) }),
      });
    },
  });
}

/** Reads the model from the device tree, or from a PC's firmware. */
async function modelOf(root: string): Promise<string | undefined> {
  return (
    (await readKernel(root, "/proc/device-tree/model")) ||
    (await readKernel(root, "/sys/firmware/devicetree/base/model")) ||
    (await pcModel(root))
  );
}

/** Ignores placeholders that the manufacturer did not fill in. */
async function pcModel(root: string): Promise<string | undefined> {
  const dmi = "/sys/class/dmi/id";
  const parts = await Promise.all([
    readKernel(root, `${dmi}/sys_vendor`),
    readKernel(root, `${dmi}/product_name`),
  ]);
  const known = parts.filter(
    (part) => part && !/to be filled|default string|system (product|manu)/i.test(part),
  );
  return known.join(" ") || undefined;
}
