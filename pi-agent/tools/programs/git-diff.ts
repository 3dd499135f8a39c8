import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { orFault } from "../files/file-fault.ts";
import { GIT_LOCK, GIT_TOOL, gitFault, gitText, readGit, revision } from "./git-run.ts";

/** Only git itself makes the diff. A submodule is shown as its commit, since git would start another git in it. */
const PLAIN = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--submodule=short",
  "--ignore-submodules=dirty",
];

export function gitDiff(environment: Environment): Tool {
  return defineTool({
    ...GIT_TOOL,
    name: "git_diff",
    description:
      "Show a diff in the git repository of the workspace: what one commit changed, what is between two (a..b), or, without a commit, what was changed since the last one.",
    input: z.strictObject({
      commit: z.optional(
        revision("A commit, branch or tag, e.g. HEAD~1 or abc123; or a range, e.g. main..HEAD"),
      ),
    }),
    effect: "read",
    idempotent: true,
    taints: true,
    lock: () => GIT_LOCK,
    execute: async ({ commit }, { signal }) =>
      await orFault(async () => {
        const ran = await readGit(environment, [...commandFor(commit), "--"], signal);
        return (
          gitFault(ran) ??
          gitText(ran.stdout.replace(/^\n+/, ""), {
            empty: commit === undefined ? "(no changes since the last commit)" : `(no changes in ${commit})`,
            next: "Read single files, or use a smaller range.",
          })
        );
      }),
  });
}

function commandFor(commit: string | undefined): string[] {
  if (commit === undefined) return ["diff", ...PLAIN, "HEAD"];
  if (commit.includes("..")) return ["diff", ...PLAIN, "--end-of-options", commit];
  // A merge is compared with the branch that it was merged into.
  return ["show", "--format=", "--patch", "--first-parent", "-m", ...PLAIN, "--end-of-options", commit];
}
