/** `edgecall agent …`: the agent of this device, as a program and as a service. */
import type { Command } from "../command.ts";
import { brokerOptions, installOptions, serviceCommands } from "../service/commands.ts";

const ID_OPTION = { id: { value: "ID", about: "its name, for new settings; the host's unless given" } };

export const AGENT_COMMANDS: readonly Command[] = [
  {
    name: "agent install",
    about: "make this device's agent a service, and start it; settings that are there stay",
    options: installOptions(ID_OPTION),
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "agent pair",
    about: "trade a code of the console's for keys, and write settings unless there are some",
    options: {
      gateway: { value: "URL", about: "the gateway that showed the code" },
      code: { value: "CODE", about: "as the console's 'Add a device' shows it" },
      ...ID_OPTION,
      ...brokerOptions("what the console told"),
      into: { value: "DIR", about: "settings and state there, without a service" },
      "bridge-state": {
        value: "DIR",
        about: "make it the home's bridge too: whose key is made and kept there",
      },
      "bridge-broker": { value: "URL", about: "… and where devices reach the broker whose logins it keeps" },
      wait: { about: "paired already: wait until the gateway sees it" },
    },
    load: async () => (await import("./pair.ts")).pair,
  },
  ...serviceCommands("agent", "settings, service, broker, sandbox, tools, model", {
    uninstall: async () => (await import("./uninstall.ts")).uninstall,
    update: async () => (await import("../service/updates/update.ts")).updateAgent,
    status: async () => (await import("./status.ts")).status,
    doctor: async () => (await import("./doctor.ts")).doctor,
  }),
  {
    name: "agent run",
    about: "run the agent in the foreground",
    options: {
      config: {
        value: "FILE",
        about: "its settings; the service's unless given, which want its STATE_DIRECTORY too",
      },
      id: { value: "ID", about: "use this agent_id instead of the one in FILE" },
    },
    load: async () => (await import("./run.ts")).runAgent,
  },
];
