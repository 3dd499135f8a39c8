/** Files and programs in a sandbox on this machine. Each call gets a fresh sandbox, and nothing outlives it. */

import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { posix } from "node:path";
import { cutText } from "@edgecall/core/text/cut.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { refuseEnv } from "../clean-env.ts";
import { followDetached, isDetachable, startDetached } from "../detached.ts";
import {
  type Environment,
  ExecError,
  type ExecOps,
  notStarted,
  type Ran,
  type RunOptions,
} from "../environment.ts";
import { toShellExit } from "../exit-status.ts";
import { filesByCommand } from "../files-by-command.ts";
import { READABLE_FILES } from "../path-guard.ts";
import { lookFor, NoAnswer } from "../probe.ts";
import { processGroupLimit } from "../process-group-limit.ts";
import { runProcess } from "../run-process.ts";
import { KINDS, type SandboxKind } from "./sandbox-kinds.ts";
import { type Entered, SANDBOX_LIMITS, type SandboxLimits, type SandboxProfile } from "./sandbox-profile.ts";
import type { Start } from "./start.ts";

export type SandboxOptions = {
  /** The only writable folder; it has the same path in the sandbox. */
  workspace: string;
  /** Further files and folders that may be read; absent = READABLE_FILES. */
  readable?: readonly string[];
  limits?: Partial<SandboxLimits>;
  /** Absent = bubblewrap. */
  kind?: SandboxKind;
  /** The kind's program, if it is not in PATH. */
  program?: string;
  /** The folder for a kind's data between calls; only podman needs it. */
  stateDir?: string;
};

/**
 * Tries the sandbox with a real call.
 * @returns what is missing and how to install it; undefined when it works
 * @throws NoAnswer when it is installed but does not start
 */
export async function trySandbox(options: SandboxOptions): Promise<string | undefined> {
  const kind = options.kind ?? "bubblewrap";
  const { howToGetIt, begin } = KINDS[kind];
  const doesNotStart = (why: string) => `the sandbox does not start (${cutText(why, 300)}): ${howToGetIt}`;
  await begin?.(options.program);
  const tried = await lookFor(sandbox(options).exec, ["true"]).catch((error: unknown) => {
    throw new NoAnswer(doesNotStart(messageOf(error)));
  });
  if (!tried) return doesNotStart(`there is no ${kind}`);
  if (tried.exitCode === 0) return undefined;
  throw new NoAnswer(doesNotStart(tried.output || `exit code ${tried.exitCode}`));
}

/** The same for a single check: also returns problems that may pass. */
export async function sandboxMissing(options: SandboxOptions): Promise<string | undefined> {
  return await trySandbox(options).catch((error: Error) => error.message);
}

/** @throws ExecError when the workspace does not exist */
export function sandbox(options: SandboxOptions): Environment {
  const profile = profileOf(options);
  const exec = sandboxExec(profile, options);
  return {
    name: "sandbox",
    kind: "sandbox",
    cwd: profile.workspace,
    exec,
    files: filesByCommand(exec, { cwd: profile.workspace, readable: profile.readable }),
    close: async () => {},
  };
}

function sandboxExec(
  profile: SandboxProfile,
  { kind = "bubblewrap", program = KINDS[kind].program, stateDir }: SandboxOptions,
): ExecOps {
  const starting = async (argv: readonly [string, ...string[]], options: CommandOptions) => {
    refuseEnv(options.env);
    const cwd = posix.resolve(profile.workspace, options.cwd ?? ".");
    for (const device of options.grants?.devices ?? []) await mustBeThere(device);
    const run = { argv, cwd, ...(options.grants && { grants: options.grants }) };
    const start = await KINDS[kind].start(profile, run, { program, env: options.env ?? {}, stateDir });
    const limit = await processGroupLimit(profile.limits.processes);
    const command = [...limit.prefix, ...(start.prefix ?? []), program, ...start.args] as [
      string,
      ...string[],
    ];
    return { start, limit, command };
  };
  const run: ExecOps["run"] = async (argv, options) => {
    const { start, limit, command } = await starting(argv, options);
    try {
      return await enter(command, options, { program: argv[0], start });
    } finally {
      await limit.release();
    }
  };
  // firejail needs a further descriptor, and podman's containers are nobody's child process.
  if (kind !== "bubblewrap" || !isDetachable()) return { run };
  return {
    run,
    detached: {
      async start(argv, { dir, endAfterMs, ...options }) {
        const { start, limit, command } = await starting(argv, options);
        const host = { argv: command, cwd: "/", env: start.env, endAfterMs };
        try {
          await startDetached(dir, { ...host, ...(limit.group && { group: limit.group }) });
        } catch (error) {
          await limit.release();
          throw error;
        }
      },
      async follow(dir, options) {
        let errorText = "";
        const { entered, ...ran } = await followDetached(dir, {
          ...options,
          onOutput(chunk, stream) {
            if (errorText.length < 1_000) errorText += Buffer.from(chunk).toString();
            options.onOutput?.(chunk, stream);
          },
        });
        if (ran.stopped || entered === "ready") return ran;
        // Its arguments are not stored, so the text names neither the program nor the folder.
        const words = { cwd: "of this job", program: "the program", errorText };
        throw notEntered(entered as Exclude<Entered, "ready"> | "", ran, words);
      },
    },
  };
}

type CommandOptions = Pick<RunOptions, "cwd" | "env" | "grants">;

async function enter(
  command: readonly [string, ...string[]],
  { cwd, stdin, onStdin, signal, onOutput, onStarted }: RunOptions,
  { program, start }: { program: string; start: Start },
): Promise<Ran> {
  let status = "";
  let errorText = "";
  const ran = await runProcess(command, {
    // The host's root folder always exists, even if the workspace is removed, and is no secret.
    cwd: "/",
    env: start.env,
    signal,
    ...(start.script !== undefined && { script: start.script }),
    ...(stdin && { stdin }),
    ...(onStdin && { onStdin }),
    ...(onStarted && { onStarted }),
    onStatus: (chunk) => {
      status += Buffer.from(chunk).toString();
    },
    onOutput: (chunk, stream) => {
      if (status === "" && errorText.length < 1_000) errorText += Buffer.from(chunk).toString();
      onOutput?.(chunk, stream);
    },
  });
  if (ran.stopped || ran.exitCode === null || status.trim() !== "ready") await start.clear?.();
  if (ran.stopped) return ran;
  const entered = status.trim() as Entered | "";
  if (entered === "ready") return toShellExit(ran);
  throw notEntered(entered, ran, { cwd: cwd ?? ".", program, errorText });
}

function notEntered(
  entered: Exclude<Entered, "ready"> | "",
  { exitCode }: Ran,
  { cwd, program, errorText }: { cwd: string; program: string; errorText: string },
): ExecError {
  if (entered === "no-cwd" || entered === "outside" || entered === "no-program")
    return notStarted(entered, cwd, program);
  const why = entered === "" ? errorText.trim() || "no reason given" : leftOpen(entered);
  // A shell starts bwrap.
  return new ExecError("spawn_failed", `The sandbox did not start: ${why}.`, { absent: exitCode === 127 });
}

function leftOpen(entered: `open ${string}`): string {
  const path = entered.slice("open ".length);
  const why =
    path === "/"
      ? "it cannot keep root from writing to the system's folders; run the agent as an ordinary user"
      : `it leaves '${path}' open`;
  return `${why}, so nothing was run`;
}

async function mustBeThere(device: string): Promise<void> {
  try {
    await access(device, constants.F_OK);
  } catch (error) {
    throw new ExecError("blocked", `The device '${device}' is not there.`, { cause: error });
  }
}

function profileOf({ workspace, readable = READABLE_FILES, limits }: SandboxOptions): SandboxProfile {
  let real: string;
  try {
    real = realpathSync(workspace);
  } catch (error) {
    throw new ExecError("cwd_missing", `The workspace '${workspace}' is not there.`, { cause: error });
  }
  return {
    workspace: real,
    readable,
    system: systemFolders(),
    limits: { ...SANDBOX_LIMITS, ...limits },
    prlimit: isThere("/usr/bin/prlimit"),
  };
}

/** Returns the system folders: links into /usr on current systems, real folders on older ones. */
export function systemFolders(): Map<string, string | undefined> {
  const folders = new Map<string, string | undefined>();
  for (const path of ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]) {
    if (!isThere(path)) continue;
    folders.set(path, lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined);
  }
  return folders;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
