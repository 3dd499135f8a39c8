/** `edgecall agent uninstall`: takes away everything that `install` made. What the agent kept goes only if asked for. */
import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline/promises";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { type Places, placesBelow, SERVICE, USER } from "./places.ts";
import { must, run } from "./programs.ts";
import { needRoot } from "./root-only.ts";

export async function uninstall({ flag, io }: CommandCall): Promise<number> {
  if (flag("purge") && flag("keep")) throw new UsageError("give either --purge or --keep");
  needRoot("uninstall");
  const places = placesBelow("/");
  const purge = flag("purge") || (!flag("keep") && (await wantsPurge(places)));
  await run("systemctl", ["disable", "--now", "--quiet", SERVICE]);
  await rm(places.unit, { force: true });
  await rm(places.dropIns, { recursive: true, force: true });
  await run("systemctl", ["daemon-reload"]);
  await run("systemctl", ["reset-failed", SERVICE]);
  await rm(places.command, { force: true });
  await rm(places.programs, { recursive: true, force: true });
  await rm(places.runtime, { recursive: true, force: true });
  // Only a folder: the service's own view of /proc ended with it.
  await rmdir(places.proc).catch(() => {});
  if (!purge) {
    io.err(`uninstalled. Kept, for another install: ${dirname(places.settings)} and ${places.state}\n`);
    return EXIT.ok;
  }
  await rm(dirname(places.settings), { recursive: true, force: true });
  await rm(places.state, { recursive: true, force: true });
  if ((await run("getent", ["passwd", USER])).code === 0) await must("userdel", USER);
  io.err("uninstalled, with settings and state\n");
  return EXIT.ok;
}

/** Somebody who can be asked is asked; else nothing that cannot be made again is lost. */
async function wantsPurge({ settings, state }: Places): Promise<boolean> {
  if (process.stdin.isTTY !== true || (!existsSync(state) && !existsSync(settings))) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(
    `Remove ${dirname(settings)} and ${state} (record, files, skills) too? [y/N] `,
  );
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}
