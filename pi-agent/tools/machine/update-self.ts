import { z } from "@edgecall/core/protocol/parse.ts";
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import {
  defineTool,
  faultResult,
  type JobWork,
  sharedResult,
  type Tool,
} from "@edgecall/core/tools/contract.ts";
import { UPDATE_WITHIN_MS, type UpdateFiles, updated } from "@edgecall/node/systemd/update.ts";

/** The reason why an agent does not offer the tool. */
export const NO_UPDATES =
  "only an agent that is a service can: sudo edgecall agent install (again, if it is older than this)";

/**
 * The agent only requests an update. A unit of root sees the request, takes nothing else from it, and downloads the program
 * from the gateway that this device is paired with.
 */
export function updateSelf(files: UpdateFiles): Tool {
  const work =
    (again: boolean): JobWork =>
    async (signal, _update, token) => {
      const { ok, text } = await updated(token, files, { signal, again });
      return ok ? sharedResult(text) : faultResult("tool_failed", `Error: The update failed: ${text}`);
    };
  return defineTool({
    name: UPDATE_ACTION,
    description:
      "Update this agent's own program to the version that its gateway has. The agent is started anew, which takes a minute or two; a version that does not come online goes back by itself.",
    input: z.strictObject({}),
    effect: "exec",
    permission: "system",
    idempotent: false,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute(_input, { job }) {
      if ((await files.request()) !== undefined)
        return faultResult("unavailable", {
          text: "Error: An update is under way already.",
          advice: "Tell the user to wait for it.",
        });
      return job(work(false), { maxMs: UPDATE_WITHIN_MS * 2 });
    },
    resume: work(true),
  });
}
