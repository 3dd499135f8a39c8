import { faultResult, type ToolResult } from "../tools/contract.ts";
import { ProviderError } from "./provider.ts";

/** Converts a ProviderError to a result for the model. @throws every other error */
export function serviceFault(error: unknown): ToolResult {
  if (!(error instanceof ProviderError)) throw error;
  return faultResult(
    error.code,
    {
      text: `Error: ${error.message}.`,
      advice: ADVICE[error.code] ?? "Try again later or explain to the user.",
    },
    { cause: error.cause },
  );
}

const ADVICE: Partial<Record<string, string>> = {
  unavailable: "Explain to the user.",
  no_match: "Try again with another name.",
  invalid_params: "Ask in other or fewer words.",
};
