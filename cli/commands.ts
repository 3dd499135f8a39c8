/** Every command of `edgecall`. gateway/ is what a person does from anywhere, agent/ and bridge/ what runs at home. */
import { AGENT_COMMANDS } from "./agent/commands.ts";
import { BRIDGE_COMMANDS } from "./bridge/commands.ts";
import type { Command } from "./command.ts";
import { GATEWAY_COMMANDS } from "./gateway/commands.ts";

export const COMMANDS: readonly Command[] = [...GATEWAY_COMMANDS, ...AGENT_COMMANDS, ...BRIDGE_COMMANDS];
