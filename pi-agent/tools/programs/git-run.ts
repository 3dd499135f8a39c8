/**
 * git for the git tools. A repository runs programs (hooks, filters, a file system monitor). What only looks must not
 * start any: it works on a copy of git's folder whose settings are ours (git-read.ts). A commit runs them, so git runs
 * where nothing of this device can be reached: see `gitMissing`. Nothing of the user's or the system's own settings
 * counts, no pager, no prompt, and no argument is taken for an option.
 */
import { z } from "@edgecall/core/protocol/parse.ts";
import { faultResult, type Tool, type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { lookFor, NoAnswer } from "../../env/probe.ts";
import { CUT_MAX_BYTES, cutNotice, NOTICE_BYTES, truncateHead, withNotice } from "../files/text-cut.ts";
import { plainText } from "./captured-output.ts";
import { READ_SCRIPT } from "./git-read.ts";

export type GitAuthor = { name: string; email: string };

/** What all git tools have. */
export const GIT_TOOL = {
  permission: "git",
  timeoutMs: 60_000,
  maxTimeoutMs: 300_000,
} as const satisfies Partial<Tool>;
/** Two at once in one repository fail at its lock. */
export const GIT_LOCK = "git";

/** A diff may be of any size; more than this is counted, but not kept. */
const HELD_BYTES = 1024 * 1024;

/** Set by `env` rather than by ours, which refuses them to everybody. */
const SETTINGS = [
  "GIT_CONFIG_NOSYSTEM=1",
  "GIT_CONFIG_GLOBAL=/dev/null",
  "GIT_TERMINAL_PROMPT=0",
  "GIT_OPTIONAL_LOCKS=0",
  "GIT_PAGER=cat",
  "GIT_EDITOR=true",
];
/** A repository that another user made is one all the same: the sandbox is what protects, not its owner. */
const OPTIONS = ["--no-pager", "--literal-pathspecs", "-c", "safe.directory=*", "-c", "color.ui=never"];

/** No network: what a repository is missing is not fetched, since a transport is a program of its choice. */
const READ_SETTINGS = [
  "GIT_ALLOW_PROTOCOL=none",
  "GIT_NO_LAZY_FETCH=1",
  "GIT_SSH_COMMAND=false",
  "GIT_ASKPASS=false",
  "GIT_ATTR_NOSYSTEM=1",
];
/** The repository of the workspace itself: a folder that only looks like one (a bare repository) is none. */
const OWN_REPOSITORY = ["GIT_DIR=.git", "GIT_WORK_TREE=."];

export type GitRan = { exitCode: number | null; stdout: string; stderr: string; stopped: boolean };

/** @returns why the git tools are not offered; undefined when they can be @throws NoAnswer */
export async function gitMissing(environment: Environment): Promise<string | undefined> {
  if (environment.kind === "local")
    return 'git runs programs out of the repository and is only offered in a sandbox: set sandboxing = "bubblewrap"';
  const git = await lookFor(environment.exec, ["env", ...SETTINGS, "git", "--version"]);
  if (!git) return "no git: install git";
  if (git.exitCode === 0) return undefined;
  throw new NoAnswer(`git does not tell its version: exit code ${git.exitCode}`);
}

/**
 * Runs git so that it changes something: with the repository's own settings, hooks and filters.
 * @throws ExecError
 */
export async function runGit(
  environment: Pick<Environment, "exec" | "cwd">,
  args: readonly string[],
  signal: AbortSignal,
  stdin?: Uint8Array,
): Promise<GitRan> {
  return await run(environment, [...OWN_REPOSITORY, "git", ...OPTIONS, ...args], signal, stdin);
}

/**
 * Runs git so that it only looks: no setting of the repository counts that could name a program.
 * @throws ExecError
 */
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

/** A fault for a git that failed, in words; undefined when it did not. */
export function gitFault(ran: GitRan): ToolResult | undefined {
  // The runner has the words for it.
  if (ran.stopped) return textResult("");
  if (ran.exitCode === 0) return undefined;
  const said = plainText(ran.stderr || ran.stdout).trim();
  if (/not a git repository/.test(said))
    return faultResult("not_found", {
      text: "Error: The workspace is not a git repository.",
      advice: "Run 'git init' with bash, or tell the user.",
    });
  if (/unknown revision|bad revision|bad object|ambiguous argument/.test(said))
    return faultResult("not_found", {
      text: "Error: There is no such commit.",
      advice: "Use git_log to see which there are.",
    });
  return faultResult(
    "exit_nonzero",
    `Error: git failed: ${said.slice(-2_000) || `exit code ${ran.exitCode}`}`,
  );
}

/** @param next what to do when not all of it is shown: a sentence */
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

/** A commit, branch, tag or range. What begins with `-` would be an option. */
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
