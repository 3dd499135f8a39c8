/** The commands `edgecall bridge …`: this home's bridge, as a program and as a service. */
import type { Command } from "../command.ts";
import { installOptions, serviceCommands } from "../service/commands.ts";

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: "bridge install",
    about: "install this home's bridge as a service, and start it; existing settings stay",
    options: installOptions({
      gateway: { value: "URL", about: "for new settings; default: the gateway that it was paired with" },
      "token-file": {
        value: "FILE",
        about: "the file with the bridge's token, if it was not paired by a code",
      },
      "own-broker": { about: "use the broker that 'bridge broker' made, and manage its logins" },
    }),
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "bridge broker",
    about: "make this machine the home's broker: Mosquitto, with a login for each device",
    options: {
      address: {
        value: "HOST",
        about: "this machine's address for other devices; default: its IPv4 address",
      },
    },
    load: async () => (await import("./broker.ts")).broker,
  },
  {
    name: "bridge login",
    about: "add a login at that broker for a program that is not paired; again: a new password",
    takes: "NAME",
    options: { remove: { about: "remove the login" } },
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "bridge history",
    about: "print what the bridge keeps of its devices, as CSV",
    options: {
      device: { value: "ID", about: "of this device alone" },
      from: { value: "DAY", about: "the first day (UTC), as in 2026-11-26" },
      to: { value: "DAY", about: "the last day" },
      delete: { value: "DAY", about: "delete this day, and print nothing" },
      forget: { value: "ID", about: "delete what was kept of this device until now" },
      state: { value: "FOLDER", about: "the bridge's folder (BRIDGE_STATE); default: the service's" },
    },
    load: async () => (await import("./history.ts")).history,
  },
  ...serviceCommands("bridge", "settings, service, gateway, broker", {
    uninstall: async () => (await import("./uninstall.ts")).uninstall,
    update: async () => (await import("../service/updates/update.ts")).updateBridge,
    status: async () => (await import("../service/checks/status.ts")).bridgeStatus,
    doctor: async () => (await import("./doctor.ts")).doctor,
  }),
  {
    name: "bridge run",
    about: "run the bridge in the foreground; its settings come from the environment",
    options: {},
    load: async () => (await import("./run.ts")).runBridge,
  },
];
