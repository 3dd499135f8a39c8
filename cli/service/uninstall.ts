/** `edgecall agent uninstall` and `edgecall bridge uninstall` remove what `install` made. State is removed only on request. */
import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { besideState, quoted } from "@edgecall/node/written-by.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { must, run } from "./programs.ts";
import { linkCommand } from "./releases/command-link.ts";
import { needRoot } from "./root-only.ts";
import { NODE_DIR, SERVICES, SETTINGS_DIR, type Service } from "./services.ts";
import { stopUpdateUnits, updateUnitFiles } from "./units/update-units.ts";
import { GATEWAY_FILE } from "./updates/gateway-pin.ts";

export type Uninstall = {
  service: Service;
  /** A description of the content of its state folder. */
  stored: string;
  /** Removes further things. @param purge removes stored data too @returns what was removed, for a person */
  also(purge: boolean): Promise<readonly string[]>;
};

export async function uninstallService(
  { service, stored, also }: Uninstall,
  { flag, io }: CommandCall,
): Promise<number> {
  if (flag("purge") && flag("keep")) throw new UsageError("give either --purge or --keep");
  needRoot(service, "uninstall");
  const { unit, places, user } = service;
  const { settings, state } = places;
  // Checked before anything is removed.
  const ofSystemd = [places.unit, places.dropIns, ...updateUnitFiles(service)];
  const hadService = ofSystemd.some((path) => existsSync(path));
  const hadPrograms = existsSync(places.programs);
  const itsOwn = [settings, state].filter((path) => existsSync(path));
  const purge = flag("purge") || (!flag("keep") && (await wantsPurge(service, stored)));
  await stopUpdateUnits(service);
  await run("systemctl", ["disable", "--now", "--quiet", unit]);
  // Jobs of the agent go on when it ends.
  await run("systemctl", ["kill", "--signal=SIGKILL", unit]);
  for (const path of ofSystemd) await rm(path, { recursive: true, force: true });
  await run("systemctl", ["daemon-reload"]);
  await run("systemctl", ["reset-failed", unit]);
  await rm(places.programs, { recursive: true, force: true });
  await rm(places.runtime, { recursive: true, force: true });
  await linkCommand();
  const removesNode = SERVICES.every((each) => !existsSync(each.places.unit)) && existsSync(NODE_DIR);
  if (removesNode) await rm(NODE_DIR, { recursive: true, force: true });
  const gone = [
    ...(hadService ? [`the service ${unit}`] : []),
    ...(await also(purge)),
    ...(hadPrograms ? [places.programs] : []),
    ...(removesNode ? [NODE_DIR] : []),
  ];
  if (!purge) {
    io.err(whatCameOfIt(unit, gone, itsOwn));
    return EXIT.ok;
  }
  await rm(settings, { force: true });
  if (SERVICES.every((each) => !existsSync(each.places.settings))) await rm(GATEWAY_FILE, { force: true });
  // The folder stays if the other service's settings are in it.
  await rmdir(SETTINGS_DIR).catch(() => {});
  await rm(state, { recursive: true, force: true });
  const hadUser = (await run("getent", ["passwd", user])).code === 0;
  if (hadUser) await must("userdel", user);
  io.err(whatCameOfIt(unit, [...gone, ...itsOwn, ...(hadUser ? [`the user ${user}`] : [])], []));
  io.err(describeCopies(besideState(state)));
  return EXIT.ok;
}

/** Describes what was removed and kept. After half an install, things that did not exist are not mentioned. */
function whatCameOfIt(unit: string, removed: readonly string[], left: readonly string[]): string {
  const first =
    removed.length > 0 ? `uninstalled. Removed: ${removed.join(", ")}` : "nothing of it was installed here";
  return `${unit}: ${first}${left.length > 0 ? `. Kept, for another install: ${left.join(" and ")}` : ""}\n`;
}

/** Copies are made so that a home can go back, so no uninstall removes them. @returns empty without any */
export function describeCopies(folders: readonly string[]): string {
  if (folders.length === 0) return "";
  return `Copies of an upgrade stay, with conversations and keys. To delete them too: sudo rm -r ${folders.map(quoted).join(" ")}\n`;
}

/** Asks a person, if there is one. Otherwise nothing is removed that cannot be made again. */
async function wantsPurge({ places: { settings, state } }: Service, stored: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || (!existsSync(state) && !existsSync(settings))) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`Remove ${settings} and ${state} (${stored}) too? [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}
