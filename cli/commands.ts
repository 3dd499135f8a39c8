/** Every command of `edgecall`. gateway/ is what a person does from anywhere, agent/ and bridge/ what runs at home. */
import { AGENT_COMMANDS } from "./agent/commands.ts";
import { BRIDGE_COMMANDS } from "./bridge/commands.ts";
import type { Command } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway/commands.ts";

/** It stands here since it is made from the whole table. */
const COMPLETION: Command = {
  name: "completion",
  about: "a script that lets the shell complete all this",
  takes: "bash|zsh|fish",
  options: {},
  load: async () => (await import("./gateway/completion.ts")).completionOf(COMMANDS),
};

export const COMMANDS: readonly Command[] = [
  ...GATEWAY_COMMANDS,
  COMPLETION,
  ...AGENT_COMMANDS,
  ...BRIDGE_COMMANDS,
];
