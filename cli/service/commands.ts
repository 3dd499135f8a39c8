/** The commands and options that are the same for both services. */
import type { Command } from "../command.ts";
import type { Service } from "./services.ts";

type Verb = "uninstall" | "update" | "status" | "doctor";

/** @param unless the broker that is taken where none is given */
export function brokerOptions(unless: string): Command["options"] {
  return {
    broker: { value: "URL", about: `for new settings; ${unless} unless given` },
    username: { value: "NAME", about: "the broker's user, for new settings" },
    "password-file": { value: "FILE", about: "… and the file with its password" },
  };
}

/** @param own those for new settings that one service alone has */
export function installOptions(own: Command["options"]): Command["options"] {
  return {
    settings: { value: "FILE", about: "take these settings" },
    ...own,
    ...brokerOptions("mqtt://127.0.0.1:1883"),
    "no-start": { about: "neither start it nor have it started at boot" },
    "auto-update": { about: "look for the gateway's version every night" },
    "no-auto-update": { about: "… or no longer" },
  };
}

/** @param links what its doctor looks at, in that order */
export function serviceCommands(
  service: Service["name"],
  links: string,
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
      options: {
        ...(service === "agent" && {
          config: { value: "FILE", about: "of an agent with these settings that is not the service" },
        }),
        json: { about: "for programs" },
      },
      load: load.status,
    },
    {
      name: `${service} doctor`,
      about: `${links}: what is wrong, and what to do`,
      options: {
        config: { value: "FILE", about: "look at these settings rather than at the service's" },
        json: { about: "for programs" },
      },
      load: load.doctor,
    },
  ];
}
