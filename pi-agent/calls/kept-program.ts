/**
 * Stands in for the tool of a job that an earlier process began, when this device does not offer the tool now: its skill was
 * removed, or the sandbox did not answer yet. The program goes on all the same, and its result is needed.
 */
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type JobWork,
  type Tool,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { followDetached } from "../env/detached.ts";
import { ProgramLost } from "../env/environment.ts";
import { CapturedOutput, NO_OUTPUT } from "../output/captured-output.ts";
import { lostResult } from "../output/lost-result.ts";
import { jobFolderIn } from "./job-files.ts";

export function keptProgram(name: string, stateDir: string): Tool & { resume: JobWork } {
  const resume: JobWork = async (signal, update, token) => {
    const output = new CapturedOutput();
    try {
      const { exitCode, stopped } = await followDetached(jobFolderIn(stateDir)(token), {
        signal,
        onOutput(chunk, stream) {
          output.add(chunk, stream);
          update(Buffer.from(chunk).toString());
        },
      });
      const { text } = await output.end();
      const details = { exit_code: exitCode };
      if (stopped || exitCode === 0) return textResult(text || NO_OUTPUT, details);
      const code = exitCode === null ? "signal" : "exit_nonzero";
      return faultResult(code, `Error: '${name}' ended with exit code ${exitCode}.\n${text}`, { details });
    } catch (error) {
      if (!(error instanceof ProgramLost)) throw error;
      return lostResult(name, error, (await output.end()).text);
    }
  };
  const tool = defineTool({
    name,
    description: "",
    input: z.strictObject({}),
    effect: "exec",
    taints: true,
    idempotent: false,
    timeoutMs: 1,
    maxTimeoutMs: 1,
    execute: async () => faultResult("unavailable", `Error: Tool '${name}' is not offered.`),
  });
  return { ...tool, resume };
}
