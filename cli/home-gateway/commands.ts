/** The commands `edgecall gateway …`: a gateway on a machine at home, without Cloudflare. */
import type { Command } from "../command.ts";

export const HOME_GATEWAY_COMMANDS: readonly Command[] = [
  {
    name: "gateway install",
    about:
      "make this machine the home's gateway, and its first device; again: upgrade. Settings and data stay",
    options: {
      settings: { value: "FILE", about: "use these settings" },
      host: { value: "IP", about: "for new settings: answer the network too; 0.0.0.0: at every address" },
      port: { value: "PORT", about: "for new settings; default: 8787" },
      "model-url": {
        value: "URL",
        about: "for new settings: an OpenAI-compatible endpoint, or Anthropic's, up to and with /v1",
      },
      "model-api": {
        value: "API",
        about: "… openai or anthropic, where the address does not tell: the form of its requests",
      },
      model: { value: "NAME", about: "for new settings: the model there" },
      "model-key-file": { value: "FILE", about: "… and the file with its key" },
      broker: { value: "URL", about: "the home's broker; default: a Mosquitto that is made here" },
      alone: { about: "only the gateway: no agent, bridge and broker on this machine" },
      "no-start": { about: "do not start it, now or at boot" },
      "dry-run": { about: "say what would be done, and change nothing" },
    },
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "gateway uninstall",
    about: "remove the gateway; asks about settings and state",
    options: {
      purge: { about: "remove them too, without asking" },
      keep: { about: "keep them, without asking" },
    },
    load: async () => (await import("./uninstall.ts")).uninstall,
  },
  {
    name: "gateway status",
    about: "service, version, addresses, Telegram's bots, last errors; exit code 0 when it answers",
    options: { json: { about: "for programs" } },
    load: async () => (await import("./checks.ts")).status,
  },
  {
    name: "gateway doctor",
    about: "settings, service, gateway, model, telegram: what is wrong, and what to do",
    options: { json: { about: "for programs" } },
    load: async () => (await import("./checks.ts")).doctor,
  },
  {
    name: "gateway run",
    about: "run an installed gateway in the foreground; its settings come from the environment",
    options: {},
    load: async () => (await import("./run.ts")).runGateway,
  },
];
