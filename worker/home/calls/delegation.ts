/** Calls that an agent asks for in the middle of its own call. */
import type { SettledOutcome } from "../../api/calls.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "./ledger.ts";

/** Sends the outcome to the agent that asked. @returns true: the agent asks again until it has it */
export async function answerAgent(
  _home: HomeContext,
  _call: LedgerCall,
  _outcome: SettledOutcome,
): Promise<boolean> {
  return true;
}
