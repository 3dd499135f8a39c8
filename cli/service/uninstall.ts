/** `edgecall agent uninstall` and the bridge's: takes away what `install` made. What the service kept goes only if asked for. */
import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { linkCommand } from "./command-link.ts";
import { GATEWAY_FILE } from "./gateway-pin.ts";
import { must, run } from "./programs.ts";
import { needRoot } from "./root-only.ts";
import { NODE_DIR, SERVICES, SETTINGS_DIR, type Service } from "./services.ts";
import { stopUpdateUnits, updateUnitFiles } from "./update-units.ts";

export type Uninstall = {
  service: Service;
  /** In words: what it keeps in its state folder. */
  kept: string;
  /** What it has besides. @param purge what was kept, too */
  also(purge: boolean): Promise<void>;
};

export async function uninstallService(
  { service, kept, also }: Uninstall,
  { flag, io }: CommandCall,
): Promise<number> {
  if (flag("purge") && flag("keep")) throw new UsageError("give either --purge or --keep");
  needRoot(service, "uninstall");
  const { unit, places, user } = service;
  const { settings, state } = places;
  const purge = flag("purge") || (!flag("keep") && (await wantsPurge(service, kept)));
  await stopUpdateUnits(service);
  await run("systemctl", ["disable", "--now", "--quiet", unit]);
  for (const path of [places.unit, places.dropIns, ...updateUnitFiles(service)])
    await rm(path, { recursive: true, force: true });
  await run("systemctl", ["daemon-reload"]);
  await run("systemctl", ["reset-failed", unit]);
  await rm(places.programs, { recursive: true, force: true });
  await rm(places.runtime, { recursive: true, force: true });
  await linkCommand();
  if (SERVICES.every((each) => !existsSync(each.places.unit)))
    await rm(NODE_DIR, { recursive: true, force: true });
  await also(purge);
  if (!purge) {
    io.err(`uninstalled. Kept, for another install: ${settings} and ${state}\n`);
    return EXIT.ok;
  }
  await rm(settings, { force: true });
  if (SERVICES.every((each) => !existsSync(each.places.settings))) await rm(GATEWAY_FILE, { force: true });
  // Unless the other's settings are in it.
  await rmdir(SETTINGS_DIR).catch(() => {});
  await rm(state, { recursive: true, force: true });
  if ((await run("getent", ["passwd", user])).code === 0) await must("userdel", user);
  io.err("uninstalled, with settings and state\n");
  return EXIT.ok;
}

/** Somebody who can be asked is asked; else nothing that cannot be made again is lost. */
async function wantsPurge({ places: { settings, state } }: Service, kept: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || (!existsSync(state) && !existsSync(settings))) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`Remove ${settings} and ${state} (${kept}) too? [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}
