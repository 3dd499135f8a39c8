/** Names of the tools that stand for one action of one agent. */
import { sha256Hex } from "@edgecall/core/encoding.ts";

/** Of a tool's name, for every client and model that we know of: `[A-Za-z0-9_-]`. */
export const TOOL_NAME_MAX = 64;
const SEPARATOR = "__";
/** 32 bits: two names that are cut alike are told apart, and whoever sees one twice leaves the second out. */
const HASH_DIGITS = 8;

/**
 * `agent__action`; where that is too long, or could be read in two ways, a cut form with a hash of both. Ids of
 * agents and names of actions are `[A-Za-z0-9_-]{1,64}`, so the form is safe.
 */
export async function toolName(agent: string, action: string): Promise<string> {
  const plain = `${agent}${SEPARATOR}${action}`;
  if (plain.length <= TOOL_NAME_MAX && plain.split(SEPARATOR).length === 2 && !plain.includes("___"))
    return plain;
  const hash = await sha256Hex(`${agent}\n${action}`);
  const tail = `-${hash.slice(0, HASH_DIGITS)}`;
  return `${plain.slice(0, TOOL_NAME_MAX - tail.length)}${tail}`;
}
