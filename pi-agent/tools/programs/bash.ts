import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type JobWork,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { type Environment, ProgramLost, type Ran, type RunOptions } from "../../env/environment.ts";
import { type JobStart, runJobProgram } from "../../env/job-program.ts";
import {
  type Captured,
  CapturedOutput,
  NO_OUTPUT,
  plainText,
  type SpillOptions,
} from "../../output/captured-output.ts";
import { lostResult } from "../../output/lost-result.ts";
import { CUT_MAX_BYTES, CUT_MAX_LINES, formatSize } from "../../output/text-cut.ts";
import { orFault } from "../files/file-fault.ts";
import { type GuardRules, judgeCommand } from "./exec-guard.ts";
import { inTerminal, problemOfKeys, Typist, typedText } from "./terminal.ts";

export const BASH_TIMEOUT_MS = 30_000;
const BASH_MAX_TIMEOUT_MS = 300_000;
const JOB_MS = 3_600_000;
/** A week: the bound of every job. */
const JOB_MAX_MS = 604_800_000;
const COMMAND_MAX_CHARS = 65_536;
/** Each key may wait 2 s for the program. */
const MAX_KEYS = 100;
const KEY_MAX_CHARS = 1_000;

export type BashOptions = {
  /** Used when the model names none. */
  timeoutMs?: number;
  maxTimeoutMs?: number;
  shell?: string;
  /** Runs before each command in the same shell, to set up the owner's environment. */
  prefix?: string;
  env?: Readonly<Record<string, string>>;
  /** The folder for output that is too long to show. */
  spill?: SpillOptions;
  /** The way to handle a dangerous command: `refuse` does not run it; `ask` reports it to the policy, which asks. */
  guard?: GuardRules & { onDanger: "ask" | "refuse" };
  grants?: RunOptions["grants"];
  /** Returns the folder of a job, which its token names. Without it, a command in the background ends with the agent. */
  jobFolder?: (token: string) => string;
};

export function bash(environment: Environment, options: BashOptions = {}): Tool {
  const { timeoutMs = BASH_TIMEOUT_MS, maxTimeoutMs = BASH_MAX_TIMEOUT_MS, shell = "bash", guard } = options;
  return defineTool({
    name: "bash",
    description: `Run a shell command${whereOf(environment)}. Returns stdout and stderr as they came; at most the last ${CUT_MAX_LINES} lines or ${formatSize(CUT_MAX_BYTES)}. Ends after ${timeoutMs / 1_000} s unless timeout_ms says otherwise (at most ${maxTimeoutMs / 1_000} s). It has no input but keys, and nothing it starts outlives it.${isElsewhere(environment) ? "" : " What takes longer runs with background: true."}${environment.kind === "sandbox" ? ` ${sandboxText(options.grants)}` : ""}`,
    input: z.strictObject({
      command: z
        .string()
        .check(z.minLength(1), z.maxLength(COMMAND_MAX_CHARS), z.describe("The command, as bash takes it")),
      timeout_ms: z
        .optional(z.int().check(z.minimum(1), z.maximum(JOB_MAX_MS)))
        .check(
          z.describe(
            `When to end it, in milliseconds (${timeoutMs}; in the background an hour, at most a week)`,
          ),
        ),
      background: z
        .optional(z.boolean())
        .check(
          z.describe(
            "On this device only: answer at once with a job, and go on. The output comes as a message when it ends",
          ),
        ),
      keys: z
        .optional(
          z
            .array(z.string().check(z.minLength(1), z.maxLength(KEY_MAX_CHARS)))
            .check(z.minLength(1), z.maxLength(MAX_KEYS)),
        )
        .check(
          z.describe(
            'Only for a program that wants a terminal, on this device: what is typed into it, one after another, each when it waits. Text, or a key: ["y", "<enter>"], "<down>", "<escape>", "<f1>", "<ctrl-c>", "<alt-x>"',
          ),
        ),
    }),
    effect: "exec",
    permission: "shell",
    // A command may print a stranger's text: a file, a page, another machine's output.
    taints: true,
    idempotent: false,
    timeoutMs,
    maxTimeoutMs,
    timeoutIn: ({ timeout_ms }) => timeout_ms,
    danger({ command, keys = [] }, caller) {
      if (guard?.onDanger !== "ask") return undefined;
      const judged = judgeCommand(whatRuns(command, keys), guard, caller.channel);
      return judged.verdict === "blocked" ? judged.reason : undefined;
    },
    async execute({ command, keys = [], background = false, timeout_ms }, context): Promise<ToolResult> {
      const problem = background
        ? problemInBackground(keys, environment)
        : (problemWith(keys, environment) ?? problemOfTime(timeout_ms, maxTimeoutMs));
      if (problem !== undefined) {
        const text = `Error: Invalid parameters for 'bash': ${problem}.\nNothing was run.`;
        return faultResult("invalid_params", text);
      }
      if (guard?.onDanger === "refuse") {
        const judged = judgeCommand(whatRuns(command, keys), guard, context.caller.channel);
        if (judged.verdict === "blocked") return refused(judged.reason);
      }
      // One pipe for both, because two pipes lose the order of the lines. On one line, so that line numbers in errors are right.
      const text = `exec 2>&1; ${options.prefix ? `${options.prefix}\n` : ""}${command}`;
      const argv = [shell, "-c", text] as const;
      if (background) {
        const maxMs = timeout_ms ?? JOB_MS;
        return context.job(inBackground({ argv, maxMs }), { maxMs });
      }
      return await orFault(async () => {
        const { ran, captured } = await runShell(environment, argv, keys, options, context);
        return resultOf(ran, captured, environment.name);
      });
    },
    ...(options.jobFolder && environment.exec.detached && { resume: inBackground() }),
  });

  /** @param start absent for a job that an earlier process began */
  function inBackground(start?: JobStart): JobWork {
    return async (signal, update, token) => {
      const next = `The first 16 MB are kept: see the tool jobs (look, with the job ${token} and a first line).`;
      const output = new CapturedOutput(options.jobFolder ? { next } : { spill: options.spill });
      const live = new TextDecoder();
      const following = {
        signal,
        onOutput(chunk: Uint8Array, stream: "stdout" | "stderr") {
          output.add(chunk, stream);
          update(plainText(live.decode(chunk, { stream: true })));
        },
      };
      const place = {
        ...(options.env && { env: options.env }),
        ...(options.grants && { grants: options.grants }),
      };
      return await orFault(async () => {
        try {
          const program = { dir: options.jobFolder?.(token), ...(start && { start }) };
          const ran = await runJobProgram(environment.exec, program, { ...place, ...following });
          return resultOf(ran, await output.end(), environment.name);
        } catch (error) {
          if (!(error instanceof ProgramLost)) throw error;
          return lostResult("bash", error, (await output.end()).text);
        }
      });
    };
  }
}

async function runShell(
  environment: Environment,
  argv: readonly [string, ...string[]],
  keys: readonly string[],
  { env, spill, grants }: BashOptions,
  context: ToolContext,
): Promise<{ ran: Ran; captured: Captured }> {
  const output = new CapturedOutput({ spill });
  const live = new TextDecoder();
  const typist = keys.length > 0 ? new Typist(keys, context.signal) : undefined;
  const ran = await environment.exec.run(typist ? inTerminal(argv) : argv, {
    signal: context.signal,
    ...((env || typist) && { env: { ...(typist && { TERM: "xterm" }), ...env } }),
    ...(typist && { onStdin: (stdin) => void typist.type(stdin) }),
    ...(grants && { grants }),
    onOutput: (chunk, stream) => {
      typist?.hears(chunk);
      output.add(chunk, stream);
      context.update(plainText(live.decode(chunk, { stream: true })));
    },
  });
  return { ran, captured: await output.end() };
}

function resultOf(ran: Ran, { text, total, spill }: Captured, host: string): ToolResult {
  const details = {
    exit_code: ran.exitCode,
    ...(ran.signal && { signal: ran.signal }),
    host,
    output_lines: total.lines,
    output_bytes: total.bytes,
    ...(spill && { full_output: spill.path }),
  };
  // The runner knows whether it was a time-out or a cancel, and says so above the output.
  if (ran.stopped) return textResult(text, details);
  if (ran.exitCode === 0) return textResult(text || NO_OUTPUT, details);
  const [code, words] =
    ran.exitCode === null
      ? (["signal", `Command was killed by ${ran.signal ?? "a signal"}`] as const)
      : (["exit_nonzero", `Command exited with code ${ran.exitCode}`] as const);
  const fault = faultResult(code, words, { details });
  const body = text === "" ? NO_OUTPUT : withoutLastNewlines(text);
  return { ...fault, content: [{ type: "text", text: `${body}\n\n${words}` }] };
}

function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(0, end);
}

/** Typed text may be a command too, so it is judged together with the command. */
function whatRuns(command: string, keys: readonly string[]): string {
  return keys.length > 0 ? `${command}\n${typedText(keys)}` : command;
}

function problemWith(keys: readonly string[], environment: Environment): string | undefined {
  if (keys.length > 0 && isElsewhere(environment))
    return `keys: they can be typed on this device only, not on '${environment.name}'; use a command that asks nothing`;
  return problemOfKeys(keys);
}

function problemInBackground(keys: readonly string[], environment: Environment): string | undefined {
  if (keys.length > 0) return "keys: a command in the background has no terminal; leave one of the two out";
  if (!isElsewhere(environment)) return undefined;
  return `background: it is possible on this device only, not on '${environment.name}'`;
}

function problemOfTime(timeoutMs: number | undefined, most: number): string | undefined {
  if (timeoutMs === undefined || timeoutMs <= most) return undefined;
  return `timeout_ms: at most ${most}, except with background: true`;
}

function refused(reason: string): ToolResult {
  return faultResult("blocked", {
    text: `Error: This command is not run: ${reason}.`,
    advice: "Do not spell it another way. Do it differently, or tell the user what you wanted to run.",
  });
}

function isElsewhere({ kind }: Environment): boolean {
  return kind === "ssh" || kind === "http";
}

function whereOf(environment: Environment): string {
  return isElsewhere(environment)
    ? ` on '${environment.name}' (in ${environment.cwd})`
    : " on this device (in its workspace folder)";
}

function sandboxText(grants: RunOptions["grants"]): string {
  const network = grants?.network ? "There is a network" : "There is no network";
  const devices = grants?.devices?.length ? `the devices ${grants.devices.join(", ")}` : "no device";
  return `It runs in a sandbox: only the workspace can be written, /tmp is empty each time. ${network} and ${devices}.`;
}
