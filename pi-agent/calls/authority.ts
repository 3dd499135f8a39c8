/**
 * Decides which callers may change this agent. A command without a caller comes from an orchestrator on the LAN, such as
 * EvoClaw's. The broker controls access there.
 */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";

/** @returns why the caller may not, in words; undefined: it may */
export function notForGuests({ caller, command }: Command): string | undefined {
  return caller?.role === "guest"
    ? `${command} is not allowed for '${caller.principal}': a guest changes nothing about this agent. Ask its owner.`
    : undefined;
}

/** @returns why the caller may not, in words; undefined: it may */
export function onlyForOwners({ caller, command }: Command): string | undefined {
  return caller !== undefined && caller.role !== "owner"
    ? `${command} is not allowed for '${caller.principal}' (${caller.role}): only the owner may. Ask the owner.`
    : undefined;
}
