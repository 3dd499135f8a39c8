import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { orFault } from "../files/file-fault.ts";
import { GIT_LOCK, GIT_TOOL, gitFault, gitText, readGit } from "./git-run.ts";

export function gitBranch(environment: Environment): Tool {
  return defineTool({
    ...GIT_TOOL,
    name: "git_branch",
    description:
      "List the branches of the git repository of the workspace with their last commits; a * marks the one that is checked out.",
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    taints: true,
    lock: () => GIT_LOCK,
    execute: async (_input, { signal }) =>
      await orFault(async () => {
        const ran = await readGit(
          environment,
          ["branch", "--list", "--all", "--verbose", "--no-column"],
          signal,
        );
        const next = "Run 'git branch --list PATTERN' with bash to see others.";
        return gitFault(ran) ?? gitText(ran.stdout, { empty: "(no branches yet)", next });
      }),
  });
}
