/** Every command of `edgecall`. Those of gateway/ work from anywhere; those of agent/, bridge/ and home-gateway/ are for machines at home. */
import { AGENT_COMMANDS } from "./agent/commands.ts";
import { BRIDGE_COMMANDS } from "./bridge/commands.ts";
import type { Command } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway/commands.ts";
import { HOME_GATEWAY_COMMANDS } from "./home-gateway/commands.ts";

/** This command is here because it needs the whole table. */
const COMPLETION: Command = {
  name: "completion",
  about: "print a script that makes the shell complete these commands",
  takes: "bash|zsh|fish",
  options: {},
  load: async () => (await import("./gateway/completion.ts")).completionOf(COMMANDS),
};

export const COMMANDS: readonly Command[] = [
  ...GATEWAY_COMMANDS,
  COMPLETION,
  ...AGENT_COMMANDS,
  ...BRIDGE_COMMANDS,
  ...HOME_GATEWAY_COMMANDS,
];
