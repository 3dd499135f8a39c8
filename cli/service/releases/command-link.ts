/** The command `/usr/local/bin/edgecall`: a link to the program of an installed service, preferably the agent's. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { linkAtomic } from "@edgecall/node/atomic-write.ts";
import { COMMAND_FILE, SERVICES, type Service } from "../services.ts";

/** Sets the link for what is installed now, or removes it when nothing is. @param file another path only in tests, as the services */
export async function linkCommand(
  file = COMMAND_FILE,
  services: ReadonlyArray<Pick<Service, "places">> = SERVICES,
): Promise<void> {
  const programs = services.map(({ places }) => join(places.programs, "current/edgecall"));
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) {
    await rm(file, { force: true });
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await linkAtomic(program, file);
}
