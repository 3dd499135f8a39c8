/** What has to hold before a service is changed. */
import { existsSync } from "node:fs";
import { must } from "./programs.ts";
import type { Service } from "./services.ts";

/** @throws in words for a person */
export function needRoot({ name }: Pick<Service, "name">, command: string): void {
  if (process.getuid?.() !== 0) throw new Error(`this needs root: sudo edgecall ${name} ${command}`);
}

export function needInstalled({ name, places }: Service): void {
  if (!existsSync(places.unit))
    throw new Error(`the service is not installed: sudo edgecall ${name} install`);
}

/** @returns the version of systemd, e.g. 252 */
export async function systemdVersion({ name }: Service): Promise<number> {
  const said = await must("systemctl", "--version").catch(() => "");
  const version = Number(/^systemd (\d+)/.exec(said)?.[1]);
  if (!Number.isInteger(version)) {
    throw new Error(
      `there is no systemd here; run it by hand, or by what starts services here: "edgecall ${name} run"`,
    );
  }
  return version;
}
