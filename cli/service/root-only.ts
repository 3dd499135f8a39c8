/** Checks before a service is changed. */
import { existsSync } from "node:fs";
import { must, run } from "./programs.ts";
import type { Service } from "./services.ts";

/** @throws with a text for a person when this is not root */
export function needRoot({ name }: Pick<Service, "name">, command: string): void {
  if (process.getuid?.() !== 0) throw new Error(`this needs root: sudo edgecall ${name} ${command}`);
}

export function needInstalled({ name, places }: Service): void {
  if (!existsSync(places.unit))
    throw new Error(`the service is not installed: sudo edgecall ${name} install`);
}

/** @returns the version of the running systemd, for instance 252 @throws with a text for a person when none runs */
export async function systemdVersion({ name }: Service): Promise<number> {
  const output = await must("systemctl", "--version").catch(() => "");
  const version = Number(/^systemd (\d+)/.exec(output)?.[1]);
  // In most containers systemd's commands exist but it does not run, which would leave half an install. This command
  // changes nothing, runs later anyway, and succeeds in a chroot, where an image is made.
  const runs = await run("systemctl", ["daemon-reload"]).then(({ code }) => code === 0);
  if (!Number.isInteger(version) || !runs) {
    throw new Error(
      `no systemd runs here; run it by hand, or by what starts services here: "edgecall ${name} run"`,
    );
  }
  return version;
}
