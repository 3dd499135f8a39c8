/**
 * Runs git for the git tools. A repository can run programs (hooks, filters, a file system monitor). Reads must not start
 * any, so they work on a copy of git's folder with our own settings (git-read.ts). A commit does run them, so git runs where
 * it can reach nothing of this device (see `gitMissing`). User and system settings, pager and prompt are off, and no
 * argument can become an option.
 */
import { z } from "@edgecall/core/protocol/parse.ts";
import { faultResult, type Tool, type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { lookFor, NoAnswer } from "../../env/probe.ts";
import { plainText } from "../../output/captured-output.ts";
import { CUT_MAX_BYTES, cutNotice, NOTICE_BYTES, truncateHead, withNotice } from "../../output/text-cut.ts";
import { READ_SCRIPT } from "./git-read.ts";

export type GitAuthor = { name: string; email: string };

/** Fields that all git tools share. */
export const GIT_TOOL = {
  permission: "git",
  timeoutMs: 60_000,
  maxTimeoutMs: 300_000,
} as const satisfies Partial<Tool>;
/** Two git commands at once would fail at the repository's own lock. */
export const GIT_LOCK = "git";

/** Most bytes of output that are kept; the rest is only counted. */
const HELD_BYTES = 1024 * 1024;

/** Set through the program `env`, because our own environment refuses these variables. */
const SETTINGS = [
  "GIT_CONFIG_NOSYSTEM=1",
  "GIT_CONFIG_GLOBAL=/dev/null",
  "GIT_TERMINAL_PROMPT=0",
  "GIT_OPTIONAL_LOCKS=0",
  "GIT_PAGER=cat",
  "GIT_EDITOR=true",
];
/** Also accepts a repository of another user: the sandbox protects, not the owner. */
const OPTIONS = ["--no-pager", "--literal-pathspecs", "-c", "safe.directory=*", "-c", "color.ui=never"];

/** Missing objects are not fetched, because a repository chooses the transport program. */
const READ_SETTINGS = [
  "GIT_ALLOW_PROTOCOL=none",
  "GIT_NO_LAZY_FETCH=1",
  "GIT_SSH_COMMAND=false",
  "GIT_ASKPASS=false",
  "GIT_ATTR_NOSYSTEM=1",
];
/** Uses only the workspace's own repository, not a folder that looks like a bare one. */
const OWN_REPOSITORY = ["GIT_DIR=.git", "GIT_WORK_TREE=."];

export type GitRan = { exitCode: number | null; stdout: string; stderr: string; stopped: boolean };

/** @returns why the git tools are not offered; undefined when they are @throws NoAnswer */
export async function gitMissing(environment: Environment): Promise<string | undefined> {
  if (environment.kind === "local")
    return 'git runs programs out of the repository and is only offered in a sandbox: set sandboxing = "bubblewrap"';
  const git = await lookFor(environment.exec, ["env", ...SETTINGS, "git", "--version"]);
  if (!git) return "no git: install git";
  if (git.exitCode === 0) return undefined;
  throw new NoAnswer(`git does not tell its version: exit code ${git.exitCode}`);
}

/** Runs git for a change, with the repository's own settings, hooks and filters. @throws ExecError */
export async function runGit(
  environment: Pick<Environment, "exec" | "cwd">,
  args: readonly string[],
  signal: AbortSignal,
  stdin?: Uint8Array,
): Promise<GitRan> {
  return await run(environment, [...OWN_REPOSITORY, "git", ...OPTIONS, ...args], signal, stdin);
}

/** Runs git for a read, without any setting of the repository that could name a program. @throws ExecError */
export async function readGit(
  environment: Pick<Environment, "exec" | "cwd">,
  args: readonly string[],
  signal: AbortSignal,
): Promise<GitRan> {
  return await run(
    environment,
    [...READ_SETTINGS, "sh", "-c", READ_SCRIPT, "git", ...OPTIONS, ...args],
    signal,
  );
}

async function run(
  environment: Pick<Environment, "exec">,
  words: readonly string[],
  signal: AbortSignal,
  stdin?: Uint8Array,
): Promise<GitRan> {
  const held = { stdout: new Held(), stderr: new Held() };
  const ran = await environment.exec.run(["env", ...SETTINGS, ...words], {
    signal,
    ...(stdin && { stdin }),
    onOutput: (chunk, stream) => held[stream].add(chunk),
  });
  return {
    exitCode: ran.exitCode,
    stdout: held.stdout.text(),
    stderr: held.stderr.text(),
    stopped: ran.stopped,
  };
}

/** Returns a fault when git failed; undefined when it succeeded. */
export function gitFault(ran: GitRan): ToolResult | undefined {
  // The runner makes the text.
  if (ran.stopped) return textResult("");
  if (ran.exitCode === 0) return undefined;
  const output = plainText(ran.stderr || ran.stdout).trim();
  if (/not a git repository/.test(output))
    return faultResult("not_found", {
      text: "Error: The workspace is not a git repository.",
      advice: "Run 'git init' with bash, or tell the user.",
    });
  if (/unknown revision|bad revision|bad object|ambiguous argument/.test(output))
    return faultResult("not_found", {
      text: "Error: There is no such commit.",
      advice: "Use git_log to see which there are.",
    });
  return faultResult(
    "exit_nonzero",
    `Error: git failed: ${output.slice(-2_000) || `exit code ${ran.exitCode}`}`,
  );
}

/** @param next a sentence on what to do when the text was cut */
export function gitText(stdout: string, { empty, next }: { empty: string; next: string }): ToolResult {
  const cut = truncateHead(plainText(stdout), { maxBytes: CUT_MAX_BYTES - NOTICE_BYTES });
  if (cut.total.bytes === 0) return textResult(empty);
  if (cut.by === null) return textResult(cut.content);
  const limitBytes = cut.by === "bytes" ? CUT_MAX_BYTES : undefined;
  const notice = cutNotice({
    what: "lines",
    first: 1,
    last: cut.shown.lines,
    of: cut.total.lines,
    limitBytes,
    next,
  });
  return textResult(withNotice(cut.content, notice));
}

/** Schema of a commit, branch, tag or range. A leading `-` is refused, since it would be an option. */
export function revision(what: string) {
  return z
    .string()
    .check(z.maxLength(200), z.regex(/^[A-Za-z0-9_@][A-Za-z0-9_./@{}^~+-]*$/), z.describe(what));
}

class Held {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(chunk: Uint8Array): void {
    if (this.#bytes < HELD_BYTES) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
