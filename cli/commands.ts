/**
 * Every command of `edgecall`. Those of gateway/ work from anywhere; those of agent/, bridge/ and home-gateway/ are for machines at home, and
 * those of stack/ start a gateway.
 */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { AGENT_COMMANDS } from "./agent/commands.ts";
import { BRIDGE_COMMANDS } from "./bridge/commands.ts";
import { type Command, EXIT } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway/commands.ts";
import { HOME_GATEWAY_COMMANDS } from "./home-gateway/commands.ts";
import { STACK_COMMANDS } from "./stack/commands.ts";

/** This command is here because it needs the whole table. */
const COMPLETION: Command = {
  name: "completion",
  about: "print a script that makes the shell complete these commands",
  takes: "bash|zsh|fish",
  options: {},
  load: async () => (await import("./gateway/completion.ts")).completionOf(COMMANDS),
};

const SHOW_VERSION: Command = {
  name: "version",
  about: "print the version",
  options: {},
  load:
    async () =>
    async ({ io }) => {
      io.out(`edgecall ${VERSION}\n`);
      return EXIT.ok;
    },
};

export const COMMANDS: readonly Command[] = [
  ...STACK_COMMANDS,
  ...GATEWAY_COMMANDS,
  COMPLETION,
  ...AGENT_COMMANDS,
  ...BRIDGE_COMMANDS,
  ...HOME_GATEWAY_COMMANDS,
  SHOW_VERSION,
];
