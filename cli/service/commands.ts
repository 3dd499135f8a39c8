/** The commands and options that are the same for both services. */
import type { Command } from "../command.ts";
import type { Service } from "./services.ts";

type Verb = "uninstall" | "update" | "status" | "doctor";

/** @param unless the default broker */
export function brokerOptions(unless: string): Command["options"] {
  return {
    broker: { value: "URL", about: `for new settings; default: ${unless}` },
    username: { value: "NAME", about: "the broker's user, for new settings" },
    "password-file": { value: "FILE", about: "… and the file with its password" },
  };
}

/** @param own options for new settings that only this service has */
export function installOptions(own: Command["options"]): Command["options"] {
  return {
    settings: { value: "FILE", about: "use these settings" },
    ...own,
    ...brokerOptions("mqtt://127.0.0.1:1883"),
    "no-start": { about: "do not start it, now or at boot" },
    "auto-update": { about: "look for the gateway's version every night" },
    "no-auto-update": { about: "stop looking for it" },
  };
}

/** @param links the links that its doctor checks, in that order */
export function serviceCommands(
  service: Service["name"],
  links: string,
  load: Readonly<Record<Verb, Command["load"]>>,
): readonly Command[] {
  return [
    {
      name: `${service} uninstall`,
      about: "remove the service; asks about settings and state",
      options: {
        purge: { about: "remove them too, without asking" },
        keep: { about: "keep them, without asking" },
      },
      load: load.uninstall,
    },
    {
      name: `${service} update`,
      about: "install the gateway's version, or another one; goes back by itself unless it comes online",
      takes: "[FILE|URL]",
      options: {
        sha256: { value: "HEX", about: "the program's checksum; required with a URL" },
        "no-trial": { about: "keep it even if it does not come online" },
        force: { about: "install the gateway's version even if it is older than the one in use" },
        unattended: { about: "for the update unit: on the service's request, or when the timer runs" },
      },
      load: load.update,
    },
    {
      name: `${service} status`,
      about: "service, connection, version, last errors; exit code 0 when it is online",
      options: {
        ...(service === "agent" && {
          config: { value: "FILE", about: "show an agent with these settings that is not the service" },
        }),
        json: { about: "for programs" },
      },
      load: load.status,
    },
    {
      name: `${service} doctor`,
      about: `${links}: what is wrong, and what to do`,
      options: {
        config: { value: "FILE", about: "check these settings instead of the service's" },
        json: { about: "for programs" },
      },
      load: load.doctor,
    },
  ];
}
