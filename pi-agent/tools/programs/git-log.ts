import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { orFault } from "../files/file-fault.ts";
import { GIT_LOCK, GIT_TOOL, gitFault, gitText, readGit } from "./git-run.ts";

const LOG_COUNT = 10;
const LOG_MAX_COUNT = 500;

export function gitLog(environment: Environment): Tool {
  return defineTool({
    ...GIT_TOOL,
    name: "git_log",
    description: `Show the last commits of the git repository of the workspace, newest first: ${LOG_COUNT}, or max_count (at most ${LOG_MAX_COUNT}).`,
    input: z.strictObject({
      max_count: z
        .optional(z.int().check(z.minimum(1), z.maximum(LOG_MAX_COUNT)))
        .check(z.describe(`How many commits (${LOG_COUNT})`)),
    }),
    effect: "read",
    idempotent: true,
    taints: true,
    lock: () => GIT_LOCK,
    execute: async ({ max_count = LOG_COUNT }, { signal }) =>
      await orFault(async () => {
        const args = [
          "log",
          `--max-count=${max_count}`,
          "--decorate=short",
          "--date=iso",
          "--no-show-signature",
        ];
        const ran = await readGit(environment, [...args, "--"], signal);
        if (/does not have any commits yet/.test(ran.stderr)) return gitText("", EMPTY);
        return gitFault(ran) ?? gitText(ran.stdout, EMPTY);
      }),
  });
}

const EMPTY = { empty: "(no commits yet)", next: "Use a smaller max_count." };
