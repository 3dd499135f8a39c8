/** `edgecall agent …`: the agent of this device, as a program and as a service. */
import type { Command } from "../command.ts";

export const AGENT_COMMANDS: readonly Command[] = [
  {
    name: "agent run",
    about: "run the agent in the foreground",
    options: {
      config: { value: "FILE", about: "its settings; /etc/edgecall/agent.toml unless given" },
      id: { value: "ID", about: "use this agent_id instead of the one in FILE" },
    },
    load: async () => (await import("./run.ts")).runAgent,
  },
];
