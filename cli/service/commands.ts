/** The commands that are the same for both services. */
import type { Command } from "../command.ts";
import type { Service } from "./services.ts";

type Verb = "uninstall" | "update" | "status";

export function serviceCommands(
  service: Service["name"],
  load: Readonly<Record<Verb, Command["load"]>>,
): readonly Command[] {
  return [
    {
      name: `${service} uninstall`,
      about: "take the service away; asks about settings and state",
      options: {
        purge: { about: "those too, unasked" },
        keep: { about: "not those, unasked" },
      },
      load: load.uninstall,
    },
    {
      name: `${service} update`,
      about: "the gateway's version, or another one; it goes back by itself unless it comes online",
      takes: "[FILE|URL]",
      options: {
        sha256: { value: "HEX", about: "what the program must have; needed with a URL" },
        "no-trial": { about: "keep it whether or not it comes online" },
        force: { about: "the gateway's also when it is older than the one in use" },
        unattended: { about: "as its unit calls it: on the service's request, or when its time has come" },
      },
      load: load.update,
    },
    {
      name: `${service} status`,
      about: "service, connection, version, last errors; exit code 0 when it is online",
      options: { json: { about: "for programs" } },
      load: load.status,
    },
  ];
}
