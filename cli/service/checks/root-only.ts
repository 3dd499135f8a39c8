/** What has to hold before a service is changed. */
import { existsSync } from "node:fs";
import { must, run } from "../programs.ts";
import type { Service } from "../services.ts";

/** @throws in words for a person */
export function needRoot({ name }: Pick<Service, "name">, command: string): void {
  if (process.getuid?.() !== 0) throw new Error(`this needs root: sudo edgecall ${name} ${command}`);
}

export function needInstalled({ name, places }: Service): void {
  if (!existsSync(places.unit))
    throw new Error(`the service is not installed: sudo edgecall ${name} install`);
}

/** @returns the version of the systemd that runs here, e.g. 252. @throws in words when none does */
export async function systemdVersion({ name }: Service): Promise<number> {
  const said = await must("systemctl", "--version").catch(() => "");
  const version = Number(/^systemd (\d+)/.exec(said)?.[1]);
  // In most containers its commands are there, and it does not run: half an install would come of it. This one
  // changes nothing, is done later anyhow, and succeeds in a chroot, where an image is made.
  const runs = await run("systemctl", ["daemon-reload"]).then(({ code }) => code === 0);
  if (!Number.isInteger(version) || !runs) {
    throw new Error(
      `no systemd runs here; run it by hand, or by what starts services here: "edgecall ${name} run"`,
    );
  }
  return version;
}
