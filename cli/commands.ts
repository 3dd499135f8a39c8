/** Every command of `edgecall`. A folder each: agent/ is what runs on a device, as root mostly. */
import { AGENT_COMMANDS } from "./agent/commands.ts";
import type { Command } from "./command.ts";

export const COMMANDS: readonly Command[] = [...AGENT_COMMANDS];
