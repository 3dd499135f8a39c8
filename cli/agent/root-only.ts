/** What has to hold before the service is changed. */
import { existsSync } from "node:fs";
import type { Places } from "./places.ts";
import { must } from "./programs.ts";

/** @throws in words for a person */
export function needRoot(command: string): void {
  if (process.getuid?.() !== 0) throw new Error(`this needs root: sudo edgecall agent ${command}`);
}

export function needInstalled({ unit }: Places): void {
  if (!existsSync(unit)) throw new Error("the service is not installed: sudo edgecall agent install");
}

/** @returns the version of systemd, e.g. 252 */
export async function systemdVersion(): Promise<number> {
  const said = await must("systemctl", "--version").catch(() => "");
  const version = Number(/^systemd (\d+)/.exec(said)?.[1]);
  if (!Number.isInteger(version)) {
    throw new Error(
      'there is no systemd here; run it by hand, or by what starts services here: "edgecall agent run"',
    );
  }
  return version;
}
