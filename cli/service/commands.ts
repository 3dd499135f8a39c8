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
      about: "another version, which goes back by itself unless it comes online",
      takes: "FILE|URL",
      options: {
        sha256: { value: "HEX", about: "what the program must have; needed with a URL" },
        "no-trial": { about: "keep it whether or not it comes online" },
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
