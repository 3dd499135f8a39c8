/** Every command of `edgecall`. gateway/ is what a person does from anywhere, agent/ what runs on a device. */
import { AGENT_COMMANDS } from "./agent/commands.ts";
import type { Command } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway/commands.ts";

export const COMMANDS: readonly Command[] = [...GATEWAY_COMMANDS, ...AGENT_COMMANDS];
