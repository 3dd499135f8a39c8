/** Whose call it is, as a command names its caller. Home and device read it by the same rule. */
import type { Caller } from "../protocol/mqtt.ts";
import type { Who } from "./permission.ts";

/** Channels by which programs call, whatever token they have, and callers who give no name. */
const PROGRAMS: readonly string[] = ["mcp", "gateway", "mqtt"];

/** @returns undefined: no person of the home, but a program, an agent, another home, a rule or the gateway itself */
export function personOf({
  principal,
  channel,
}: Pick<Caller, "principal" | "channel">): Extract<Who, { person: string }> | undefined {
  return PROGRAMS.includes(channel) || /^(?:agent|home|rule):/.test(principal)
    ? undefined
    : { person: principal };
}
