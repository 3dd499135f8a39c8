/**
 * Who may change this agent. A command that names nobody comes from the LAN's own orchestrator, as EvoClaw's do:
 * who may publish there is the broker's matter.
 */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";

/** @returns why not, in words */
export function notForGuests({ caller, command }: Command): string | undefined {
  return caller?.role === "guest"
    ? `${command} is not allowed for '${caller.principal}': a guest changes nothing about this agent. Ask its owner.`
    : undefined;
}

/** @returns why not, in words */
export function onlyForOwners({ caller, command }: Command): string | undefined {
  return caller !== undefined && caller.role !== "owner"
    ? `${command} is not allowed for '${caller.principal}' (${caller.role}): only the owner may. Ask the owner.`
    : undefined;
}
