import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";

/**
 * Reads the wall clock if it can be trusted: by the settings, after systemd synchronised it, or with a clock chip.
 * @returns epoch ms; undefined when the clock cannot be trusted
 */
export function wallClock(settings: Pick<Settings, "clock" | "root">): number | undefined {
  if (settings.clock === "unsynced") return undefined;
  const trusted =
    settings.clock === "synced" ||
    existsSync(join(settings.root, "/run/systemd/timesync/synchronized")) ||
    existsSync(join(settings.root, "/sys/class/rtc/rtc0"));
  return trusted ? Date.now() : undefined;
}
