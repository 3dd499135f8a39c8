/** The reports that answer calls of hosted devices, in the shape of an agent's. */
import { HOSTED_TYPE, type ReportedValue } from "@edgecall/core/protocol/devices.ts";
import { type Advised, errorFields } from "@edgecall/core/tools/advice.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";

/** The parameter of `read` by which a device that can be asked is asked. */
export const FRESH = "fresh";

export type Outcome = { type: "result" | "error"; payload: Record<string, unknown> };

/** The call that a report answers. */
export type Answered = { id: string; agent: string; route: string | undefined };

export function reportOf({ id, agent, route }: Answered, { type, payload }: Outcome): string {
  return JSON.stringify({
    agent_id: agent,
    agent_type: HOSTED_TYPE,
    report_type: type,
    payload: { ...payload, request_id: id },
    timestamp: Math.floor(Date.now() / 1_000),
    ...(route !== undefined && { route }),
  });
}

/**
 * @property confirmed by the device's own state @property reported what it said of what was to be changed @property corrects it takes the
 * place of a report that the command was confirmed
 */
export type Confirmation = { confirmed?: boolean; reported?: ReportedValue[]; corrects?: true };

/** @param more `tainted`: a stranger's free text is in it */
export function succeeded(
  tool: string,
  result: string,
  more: Confirmation & { tainted?: boolean } = {},
): Outcome {
  const payload = { status: "success", tool, result, exit_code: 0, tainted: false, ...more };
  return { type: "result", payload };
}

export function failed(
  tool: string,
  errorType: ErrorType,
  words: string | Advised,
  tainted = false,
  more: Confirmation = {},
): Outcome {
  const payload = { status: "error", tool, ...errorFields(words), error_type: errorType, tainted, ...more };
  return { type: "result", payload };
}

/** The command may have been carried out. @param text says what is known @param tainted it quotes the publisher */
export function unknown(tool: string, text: string, tainted = false, more: Confirmation = {}): Outcome {
  const { advice } = errorText.outcomeUnknown("");
  return failed(tool, "outcome_unknown", { text, advice }, tainted, more);
}

/** A command other than a call of an action. */
export function unhandled(error: string): Outcome {
  return { type: "error", payload: { error } };
}
