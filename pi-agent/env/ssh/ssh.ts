/**
 * Files and programs of another machine, through this machine's OpenSSH client. Nothing here falls back to this machine:
 * without a connection, every operation fails with an error.
 */
import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import { messageOf } from "@edgecall/node/log.ts";
import { cleanEnv, refuseEnv } from "../clean-env.ts";
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
import { runProcess } from "../run-process.ts";
import { shellQuote } from "../shell-quote.ts";
import { FAR_SCRIPT, FarEndFilter } from "./far-script.ts";
import { type SshOptions, sshArguments } from "./ssh-arguments.ts";
import { SshMaster } from "./ssh-master.ts";

/** The longest time that the other machine may take to end everything after a stop. */
const STOP_MS = 5_000;
/** Linux' limit for a single argument; the whole remote command is one. */
const COMMAND_MAX_BYTES = 128 * 1024;
const PROBE_MS = 15_000;

/** @throws ExecError `blocked` for a host, user or path that ssh would interpret differently */
export function ssh(options: SshOptions): Environment {
  const line = sshArguments(options);
  const program = options.program ?? "ssh";
  const master = new SshMaster(program, line, options.host);
  const exec = sshExec(options, program, line, master);
  return {
    name: options.name,
    kind: "ssh",
    cwd: options.cwd,
    exec,
    files: filesByCommand(exec, { cwd: options.cwd, readable: options.readable ?? READABLE_FILES }),
    close: async () => await master.close(),
  };
}

/** @returns what is wrong with the connection and how to repair it; undefined when it works */
export async function sshMissing(options: SshOptions): Promise<string | undefined> {
  let environment: Environment;
  try {
    environment = ssh(options);
  } catch (error) {
    return messageOf(error);
  }
  try {
    await environment.exec.run(["true"], { signal: AbortSignal.timeout(PROBE_MS) });
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await environment.close();
  }
}

function sshExec(options: SshOptions, program: string, line: readonly string[], master: SshMaster): ExecOps {
  return {
    async run(argv, run): Promise<Ran> {
      refuseEnv(run.env);
      if (run.signal.aborted) return { exitCode: null, signal: null, stopped: true };
      const mark = randomUUID();
      const command = farCommand(options, mark, argv, run);
      const control = await master.socket(run.signal);
      return await connect([program, ...line, ...control, "--", options.host, command], mark, {
        ...run,
        program: argv[0],
        machine: `'${options.name}' (${options.user}@${options.host})`,
      });
    },
  };
}

function farCommand(
  { cwd: root }: SshOptions,
  mark: string,
  argv: readonly [string, ...string[]],
  { cwd = ".", env = {}, stdin }: RunOptions,
): string {
  if (argv[0].includes("="))
    throw new ExecError("spawn_failed", `'${argv[0]}' could not be started: its name has a '=' in it.`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = ["sh", "-c", FAR_SCRIPT, "sh", mark, root, posix.resolve(root, cwd)];
  let command: string;
  try {
    command = shellQuote([...words, String(stdin?.length ?? 0), ...variables, ...argv]);
  } catch (error) {
    throw new ExecError("spawn_failed", `'${argv[0]}' could not be started: an argument has a NUL in it.`, {
      cause: error,
    });
  }
  if (Buffer.byteLength(command) >= COMMAND_MAX_BYTES)
    throw new ExecError("spawn_failed", `'${argv[0]}' could not be started: its arguments are too long.`);
  return command;
}

async function connect(
  command: readonly [string, ...string[]],
  mark: string,
  { cwd, stdin, signal, onOutput, program, machine }: RunOptions & { program: string; machine: string },
): Promise<Ran> {
  const over = Promise.withResolvers<void>();
  let errorText = "";
  const filter = new FarEndFilter(
    mark,
    (chunk) => {
      if (errorText.length < 1_000) errorText += Buffer.from(chunk).toString();
      onOutput?.(chunk, "stderr");
    },
    over.resolve,
  );
  const ran = await runProcess(command, {
    cwd: "/",
    env: cleanEnv(),
    signal,
    ...(stdin && { stdin }),
    lifeline: { done: over.promise, stopMs: STOP_MS },
    onOutput: (chunk, stream) => (stream === "stderr" ? filter.add(chunk) : onOutput?.(chunk, stream)),
  });
  if (ran.stopped) return { exitCode: null, signal: filter.end ? "SIGKILL" : null, stopped: true };
  if (filter.end?.end === "exit")
    return toShellExit({ exitCode: filter.end.code, signal: null, stopped: false });
  if (filter.end) throw notStarted(filter.end.end, cwd ?? ".", program);
  throw new ExecError(
    "io",
    `The connection to ${machine} failed or was lost: ${errorText.trim().slice(-300) || "no reason given"}.`,
  );
}
