/** The tool `jobs`: shows and ends the jobs of this device, also those that an earlier process of the agent began. */

import { z } from "@edgecall/core/protocol/parse.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import type { JobList, JobView } from "../../calls/jobs.ts";
import { NO_OUTPUT, plainText } from "../../output/captured-output.ts";

const LAST_LINES = 50;
/** From a first line on, more is shown. */
const LINES = 500;
const LISTED = 30;

/** @param state has the jobs at each call; none outside of an agent */
export function jobs(state: { readonly jobs?: JobList }): Tool {
  return defineTool({
    name: "jobs",
    description: `The jobs of this device: programs that go on after their call was answered. list: all, also those that ended in the last days. look: the last ${LAST_LINES} lines that a job printed, or ${LINES} from a line on. cancel: end one.`,
    input: z.strictObject({
      action: z.optional(z.enum(["list", "look", "cancel"])).check(z.describe("list; with a job, look")),
      job: z.optional(z.string().check(z.maxLength(64))).check(z.describe("The job's token")),
      offset: z.optional(z.int().check(z.minimum(1))).check(z.describe("The first line to look at, from 1")),
    }),
    effect: "exec",
    effectIn: ({ action }) => (action === "cancel" ? "exec" : "read"),
    permission: "session",
    // A program's output may be a stranger's text.
    taints: true,
    taintsIn: (input) => actionOf(input) === "look",
    idempotent: true,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute(input, { caller }): Promise<ToolResult> {
      const action = actionOf(input);
      const { job: token, offset } = input;
      const all = state.jobs;
      if (action === "list") return listed((await all?.list()) ?? [], caller);
      if (token === undefined)
        return wrong(`job: missing; '${action}' needs a job's token, which 'list' shows`);
      const job = await all?.get(token);
      if (!all || !job || !maySee(job, caller))
        return faultResult("not_found", {
          text: `Error: There is no job '${token}' on this device.`,
          advice: "The action 'list' shows them. Jobs that ended are forgotten after seven days.",
        });
      return action === "cancel" ? cancelled(job, all) : await look(job, all, offset);
    },
  });
}

function actionOf({ action, job }: { action?: Action | undefined; job?: string | undefined }): Action {
  return action ?? (job === undefined ? "list" : "look");
}

type Action = "list" | "look" | "cancel";

/** A guest sees and ends only what it began itself. */
function maySee({ caller: began }: JobView, { principal, role }: ToolContext["caller"]): boolean {
  return role !== "guest" || began.principal === principal;
}

function listed(all: readonly JobView[], caller: ToolContext["caller"]): ToolResult {
  const seen = all.filter((job) => maySee(job, caller));
  if (seen.length === 0) return textResult("No jobs.");
  const more = seen.length > LISTED ? `\n… and ${seen.length - LISTED} older ones.` : "";
  const rows = seen.slice(0, LISTED).map((job) => `${job.token} ${job.tool}: ${stateOf(job)}`);
  return textResult(rows.join("\n") + more);
}

function stateOf({ since, ended, running }: JobView): string {
  const began = `since ${timeOf(since)}`;
  if (!ended) return running ? `running ${began}` : `lost; it ran ${began}`;
  const code = typeof ended.exitCode === "number" ? `, exit code ${ended.exitCode}` : "";
  return `${ended.status === "success" ? "done" : "failed"} at ${timeOf(ended.at)}${code}; it ran ${began}`;
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

async function look(job: JobView, all: JobList, offset: number | undefined): Promise<ToolResult> {
  const output = await all.output(job.token, offset === undefined ? LAST_LINES : LINES, offset);
  const head = `Job ${job.token} (${job.tool}): ${stateOf(job)}.`;
  if (!output || (output.total === 0 && output.stderr === "")) return textResult(`${head}\n${NO_OUTPUT}`);
  const { text, first, last, total, stderr } = output;
  const which = last < first ? `It has ${counted(total, "line")}.` : `Lines ${first} to ${last} of ${total}:`;
  const errors = stderr === "" ? "" : `\nThe end of stderr:\n${plainText(stderr)}`;
  return textResult(`${head} ${which}\n${plainText(text)}${errors}`);
}

function cancelled({ token, tool }: JobView, all: JobList): ToolResult {
  return all.cancel(token)
    ? textResult(`Job ${token} (${tool}) is being ended. Its result comes as a message.`)
    : faultResult("no_change", `Error: Job ${token} (${tool}) has ended already.`);
}

function wrong(problem: string): ToolResult {
  return faultResult("invalid_params", `Error: Invalid parameters for 'jobs': ${problem}.`);
}
