/** `edgecall bridge …`: this home's bridge, as a program and as a service. */
import type { Command } from "../command.ts";
import { installOptions, serviceCommands } from "../service/commands.ts";

export const BRIDGE_COMMANDS: readonly Command[] = [
  {
    name: "bridge install",
    about: "make this home's bridge a service, and start it; settings that are there stay",
    options: installOptions({
      gateway: { value: "URL", about: "for new settings; where it was paired unless given" },
      "token-file": { value: "FILE", about: "the file with the bridge's token, where no code paired it" },
      "own-broker": { about: "at the broker that 'bridge broker' made, whose logins it keeps" },
    }),
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "bridge broker",
    about: "make this machine the home's broker: Mosquitto, with a login for each device",
    options: {
      address: {
        value: "HOST",
        about: "how other devices reach this machine; its IPv4 address unless given",
      },
    },
    load: async () => (await import("./broker.ts")).broker,
  },
  {
    name: "bridge login",
    about: "a login at that broker, for what does not join by a code; again, a new password",
    takes: "NAME",
    options: { remove: { about: "it may no longer log in" } },
    load: async () => (await import("./login.ts")).login,
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
