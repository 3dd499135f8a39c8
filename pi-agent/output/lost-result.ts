/** The results of jobs whose programs may outlive the agent. */
import { faultResult, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { ProgramLost } from "../env/environment.ts";

/** @param output what the program printed, as far as it is kept */
export function lostResult(tool: string, lost: ProgramLost, output: string): ToolResult {
  const { text, advice } = errorText.outcomeUnknown(`'${tool}'`);
  const why = `Its program was lost while this job ran: ${lost.message}. It may or may not have taken effect.`;
  const printed = output === "" ? "" : `\nOutput so far:\n${output}`;
  return faultResult("outcome_unknown", { text: `${text}\n${why}${printed}`, advice }, { cause: lost });
}
