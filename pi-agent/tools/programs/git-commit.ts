import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { orFault } from "../files/file-fault.ts";
import { GIT_LOCK, GIT_TOOL, type GitAuthor, gitFault, gitText, runGit } from "./git-run.ts";

const MESSAGE_MAX_CHARS = 10_000;
const PATHS_MAX = 200;
/** The author of commits. The address is nobody's mailbox (RFC 2606). */
const GIT_AUTHOR: GitAuthor = { name: "edgecall agent", email: "agent@edgecall.invalid" };

export function gitCommit(
  environment: Environment,
  { author = GIT_AUTHOR }: { author?: GitAuthor } = {},
): Tool {
  return defineTool({
    ...GIT_TOOL,
    name: "git_commit",
    description:
      "Commit changes in the git repository of the workspace: those of the named files and folders, or, without paths, all of them, new files too.",
    input: z.strictObject({
      message: z
        .string()
        .check(z.minLength(1), z.maxLength(MESSAGE_MAX_CHARS), z.describe("What was changed and why")),
      paths: z
        .optional(
          z
            .array(z.string().check(z.minLength(1), z.maxLength(4_096)))
            .check(z.minLength(1), z.maxLength(PATHS_MAX)),
        )
        .check(z.describe("Files and folders to commit, from the workspace on")),
    }),
    effect: "write",
    idempotent: false,
    lock: () => GIT_LOCK,
    execute: async ({ message, paths }, { signal }) =>
      await orFault(async () => {
        const added = await runGit(environment, ["add", "--all", "--", ...(paths ?? ["."])], signal);
        const fault = gitFault(added);
        if (fault) return fault;
        return await commit(environment, { message, paths, author, signal });
      }),
  });
}

async function commit(
  environment: Environment,
  {
    message,
    paths,
    author,
    signal,
  }: { message: string; paths: string[] | undefined; author: GitAuthor; signal: AbortSignal },
): Promise<ToolResult> {
  const who = [
    "-c",
    `user.name=${author.name}`,
    "-c",
    `user.email=${author.email}`,
    "-c",
    "commit.gpgSign=false",
  ];
  const only = paths ? ["--", ...paths] : [];
  const ran = await runGit(
    environment,
    [...who, "commit", "--file=-", ...only],
    signal,
    Buffer.from(message),
  );
  if (ran.exitCode === 1 && /nothing (?:added )?to commit|no changes added/.test(ran.stdout))
    return faultResult("no_change", {
      text: "Error: There is nothing to commit: no file was changed.",
      advice: "Use git_status to look.",
    });
  return (
    gitFault(ran) ?? gitText(ran.stdout, { empty: "(committed)", next: "Use git_log to see the commit." })
  );
}
