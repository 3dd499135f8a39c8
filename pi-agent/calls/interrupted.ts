/** The reply for a command that an earlier process of this agent began and did not end. Pure. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { errorFields, forPerson } from "@edgecall/core/tools/advice.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { type Reply, succeeded } from "../link/reports.ts";
import type { InnerCall, LedgerEntry } from "./ledger-lines.ts";

type Failure = { error: string; advice: string; error_type: string };

export type BegunJob = { job: string; tool: string };

type Interrupted = Pick<LedgerEntry, "command" | "tool" | "asking" | "inner" | "jobOf">;

/** The number of last calls that the text names. */
const NAMED_CALLS = 10;

/**
 * The outcome is unknown, unless the record shows that nothing that acts had begun.
 * @param jobs that it began: their results count only if the call's own result names them
 */
export function replyOfInterrupted(entry: Interrupted, jobs: readonly BegunJob[] = []): Reply {
  const tool = entry.tool ?? entry.command;
  const calls = entry.inner?.map(recordOf);
  const payload = entry.asking > 0 && !hasActed(entry) ? notApproved(entry, tool) : unknown(entry, tool);
  return succeeded({
    status: "error",
    tool,
    ...payload,
    elapsed_ms: 0,
    ...(calls && { calls }),
    ...(jobs.length > 0 && { jobs: [...jobs] }),
    ...(entry.jobOf !== undefined && { job_of: entry.jobOf }),
  });
}

/** True if something ran before the approval was asked for. A prompt may have made several calls. */
function hasActed({ inner }: Interrupted): boolean {
  return inner?.some((call) => !call.read) ?? false;
}

function notApproved(entry: Interrupted, tool: string): Failure {
  const run = entry.inner ? "nothing but reads was run" : "nothing was run";
  const why = `cancelled: the device restarted while it waited for an answer; ${run}`;
  return entry.command === "prompt"
    ? { ...errorFields(`Error: The prompt was not answered: ${why}.`), error_type: "execution_failed" }
    : {
        ...errorFields({
          text: `Error: Permission denied for tool '${tool}': ${why}.`,
          advice: "Ask the user before you try again.",
        }),
        error_type: "permission_denied",
      };
}

function unknown(entry: Interrupted, tool: string): Failure {
  const what = entry.jobOf === undefined ? "this" : "this job";
  const record = entry.inner?.length ? `\nThe calls in its record: ${describeCalls(entry.inner)}.` : "";
  const { text, advice } = errorText.outcomeUnknown(`'${tool}'`);
  return {
    ...errorFields({
      text: `${text}\nThe device restarted while ${what} ran; it may or may not have taken effect.${record}`,
      advice,
    }),
    error_type: "outcome_unknown",
  };
}

/** Names the calls for the model, which does not see `calls`. So it knows which are done and which to check. */
function describeCalls(inner: readonly InnerCall[]): string {
  const state = ({ done }: InnerCall) => (done ? (done.ok ? "done" : "failed") : "under way");
  const named = inner.slice(-NAMED_CALLS).map((call) => `${call.tool} (${state(call)})`);
  return `${inner.length > NAMED_CALLS ? "…, " : ""}${named.join(", ")}`;
}

function recordOf({ call, tool, read, args, done }: InnerCall): CallRecord {
  const common = { id: call, name: tool, ...(args && { args }) };
  if (done) {
    return {
      ...common,
      status: done.ok ? "success" : "error",
      ...(done.ok ? { result: done.text } : { error: done.text }),
      elapsed_ms: done.ms,
    };
  }
  return {
    ...common,
    status: "error",
    error_type: read ? "execution_failed" : "outcome_unknown",
    error: read ? "The device restarted while this ran." : forPerson(errorText.outcomeUnknown(`'${tool}'`)),
  };
}
