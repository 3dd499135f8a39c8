import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";

/**
 * The wall clock, when it can be trusted: set so, synchronised by systemd, or kept by a clock chip.
 * @returns epoch ms, or undefined
 */
export function wallClock(settings: Pick<Settings, "clock" | "root">): number | undefined {
  if (settings.clock === "unsynced") return undefined;
  const trusted =
    settings.clock === "synced" ||
    existsSync(join(settings.root, "/run/systemd/timesync/synchronized")) ||
    existsSync(join(settings.root, "/sys/class/rtc/rtc0"));
  return trusted ? Date.now() : undefined;
}
