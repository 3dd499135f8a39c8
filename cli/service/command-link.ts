/** `/usr/local/bin/edgecall`: a link to the program of a service that is installed, the agent's if it is there. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { COMMAND_FILE, SERVICES } from "./services.ts";

/** Makes it right for what is installed now; takes it away when nothing is. */
export async function linkCommand(): Promise<void> {
  const programs = SERVICES.map(({ places }) => join(places.programs, "current/edgecall"));
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) {
    await rm(COMMAND_FILE, { force: true });
    return;
  }
  await mkdir(dirname(COMMAND_FILE), { recursive: true });
  await symlink(program, `${COMMAND_FILE}.next`);
  await rename(`${COMMAND_FILE}.next`, COMMAND_FILE);
}
