/** The commands `edgecall agent …`: this device's agent, as a program and as a service. */
import type { Command } from "../command.ts";
import { brokerOptions, installOptions, serviceCommands } from "../service/commands.ts";

const ID_OPTION = { id: { value: "ID", about: "its name, for new settings; default: the host's name" } };

export const AGENT_COMMANDS: readonly Command[] = [
  {
    name: "agent install",
    about: "install this device's agent as a service, and start it; existing settings stay",
    options: installOptions(ID_OPTION),
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "agent pair",
    about: "pair this device with a code from the console, and write settings if there are none",
    options: {
      gateway: { value: "URL", about: "the gateway that showed the code" },
      code: { value: "CODE", about: "from 'Add a device' in the console" },
      ...ID_OPTION,
      ...brokerOptions("the console's"),
      into: { value: "DIR", about: "put settings and state there, without a service" },
      "bridge-state": {
        value: "DIR",
        about: "make it the home's bridge too, with its key in this folder",
      },
      "bridge-broker": { value: "URL", about: "… and the address of the broker that it manages" },
      wait: { about: "do not pair: wait until the gateway sees this device" },
    },
    load: async () => (await import("./pair.ts")).pair,
  },
  {
    name: "agent history",
    about: "print what this agent keeps of its [history] readings, as CSV",
    options: {
      from: { value: "DAY", about: "the first day (UTC), as in 2026-11-26" },
      to: { value: "DAY", about: "the last day" },
      delete: { value: "DAY", about: "delete this day, and print nothing" },
      forget: { about: "delete all that was kept until now" },
      state: { value: "FOLDER", about: "the agent's state_dir; default: the service's" },
    },
    load: async () => (await import("./history.ts")).history,
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
        about: "its settings; default: the service's, which need its STATE_DIRECTORY too",
      },
      id: { value: "ID", about: "use this agent_id instead of the one in FILE" },
    },
    load: async () => (await import("./run.ts")).runAgent,
  },
];
