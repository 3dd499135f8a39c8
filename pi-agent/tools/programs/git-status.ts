import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { orFault } from "../files/file-fault.ts";
import { GIT_LOCK, GIT_TOOL, gitFault, gitText, readGit } from "./git-run.ts";

export function gitStatus(environment: Environment): Tool {
  return defineTool({
    ...GIT_TOOL,
    name: "git_status",
    description:
      "Show the git repository of the workspace: its branch, and what was changed, staged or is new, one file a line as `git status --short` has it.",
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    taints: true,
    lock: () => GIT_LOCK,
    execute: async (_input, { signal }) =>
      await orFault(async () => {
        const ran = await readGit(
          environment,
          ["status", "--short", "--branch", "--ignore-submodules=dirty"],
          signal,
        );
        const fault = gitFault(ran);
        if (fault) return fault;
        const clean = ran.stdout.split("\n").length <= 2;
        return gitText(clean ? `${ran.stdout}(nothing was changed since the last commit)` : ran.stdout, {
          empty: "(nothing)",
          next: "Run 'git status' on a folder with bash to see the rest.",
        });
      }),
  });
}
