/** Converts an environment's errors to faults for the model. */
import { faultResult, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { ExecError, FileError } from "../../env/environment.ts";

/** Runs the work of a tool. A refusal of its environment becomes a fault with the environment's text. */
export async function orFault(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileError || error instanceof ExecError)) throw error;
    return faultResult(
      error.code,
      { text: `Error: ${error.message}`, advice: error instanceof FileError ? error.advice : undefined },
      { cause: error.cause ?? error },
    );
  }
}
