/** Names of the tools that stand for one action of one agent. */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import { isLent } from "../../kernel/api/agent-ids.ts";

/** Characters of a tool's name that every known client and model accepts; all of them are `[A-Za-z0-9_-]`. */
export const TOOL_NAME_MAX = 64;
/** Between agent and action; the names of the steady tools do not have it. */
export const SEPARATOR = "__";
/** 32 bits distinguish names with the same beginning. Of two equal names the second is left out. */
const HASH_DIGITS = 8;

/**
 * `agent__action`. When that is too long or ambiguous, it is cut and gets a hash of both. Ids of agents and names of actions are
 * `[A-Za-z0-9_-]{1,64}`, so every client accepts the result. The slash in the id of a lent agent becomes a `-`, and its tools always have the hash.
 */
export async function toolName(agent: string, action: string): Promise<string> {
  const plain = `${agent.replace("/", "-")}${SEPARATOR}${action}`;
  if (
    !isLent(agent) &&
    plain.length <= TOOL_NAME_MAX &&
    plain.split(SEPARATOR).length === 2 &&
    !plain.includes("___")
  )
    return plain;
  const hash = await sha256Hex(`${agent}\n${action}`);
  const tail = `-${hash.slice(0, HASH_DIGITS)}`;
  return `${plain.slice(0, TOOL_NAME_MAX - tail.length)}${tail}`;
}
