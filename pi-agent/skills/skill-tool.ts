/** Makes a Tool from a skill.toml: it runs the program in an environment. */
import { cutText } from "@edgecall/core/text/cut.ts";
import {
  defineTool,
  type Effect,
  faultResult,
  type JobWork,
  type Permission,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { type Environment, ExecError, ProgramLost, type Ran, type RunOptions } from "../env/environment.ts";
import { type JobStart, runJobProgram } from "../env/job-program.ts";
import { NO_OUTPUT } from "../output/captured-output.ts";
import { lostResult } from "../output/lost-result.ts";
import { argumentProblem, argumentsOf } from "./arguments.ts";
import { ProgramOutput } from "./program-output.ts";
import { BACKGROUND, type ToolDefinition, type Value } from "./skill-file.ts";
import { inputOf } from "./tool-schema.ts";

/** The longest time-out that a caller may ask for, unless the skill names a longer one. */
const MAX_TIMEOUT_MS = 60_000;
/** Characters of a program's own error text. */
const STATED_CHARS = 2_000;
/** EvoClaw's exit code of a program that was killed. */
const KILLED = -1;
/** The variable that tells a program the folder of the skill's files. */
const FOLDER_VARIABLE = "SKILL_DIR";

/** Gravest first: the permission that names the tool's effect, and the policy's rule. */
const EFFECTS: ReadonlyArray<readonly [Permission, Effect]> = [
  ["shell", "exec"],
  ["git", "exec"],
  ["system", "exec"],
  ["device", "device"],
  ["network", "network"],
  ["file_write", "write"],
  ["session", "write"],
  ["file_read", "read"],
];

export type SkillProgram = {
  definition: ToolDefinition;
  /** Absolute path of the program. */
  program: string;
  /** Absolute path of the skill's folder. */
  folder: string;
  environment: Environment;
  /** The agent's permissions; undefined = all. */
  held: readonly Permission[] | undefined;
  /** Returns the folder of a job, which its token names. Without it, jobs end with the agent. */
  jobFolder?: ((token: string) => string) | undefined;
};

export function skillTool({ definition, program, folder, environment, held, jobFolder }: SkillProgram): Tool {
  const { name, description, parameters, permissions, timeoutMs, jobMs, jobOptional, idempotent, events } =
    definition;
  const { effect, permission } = gravest(permissions);
  const grants = grantsOf(definition, held);
  const goesOn = environment.exec.detached !== undefined && jobFolder !== undefined;
  return defineTool({
    name,
    description,
    input: inputOf(parameters, jobOptional),
    effect,
    ...(permission !== undefined && { permission }),
    ...(permissions && { permissions }),
    idempotent,
    ...(events.length > 0 && { events }),
    taints: taints(permissions),
    timeoutMs,
    maxTimeoutMs: Math.max(timeoutMs, MAX_TIMEOUT_MS),
    // A bus or file allows one user at a time. Tools that only read, ask or compute may overlap.
    ...((effect === "device" || effect === "write") && { lock: () => `skill:${definition.skill}` }),
    async execute(input, { signal, update, job }): Promise<ToolResult> {
      const { [BACKGROUND]: background, ...own } = input as Record<string, Value | undefined>;
      const args = argumentsOf(name, jobOptional ? own : (input as Record<string, Value | undefined>));
      const problem = argumentProblem(args);
      if (problem !== undefined) {
        return faultResult("invalid_params", `Error: Invalid parameters for '${name}': ${problem}.`);
      }
      if (jobMs === undefined || (jobOptional && background !== true))
        return await run((options) => environment.exec.run([program, ...args], options), signal, update);
      return job(asJob({ argv: [program, ...args], maxMs: jobMs }), { maxMs: jobMs });
    },
    ...(jobMs !== undefined && goesOn && { resume: asJob() }),
  });

  /** @param start absent for a job that an earlier process began */
  function asJob(start?: JobStart): JobWork {
    return (signal, update, token) => {
      const ofJob = { dir: jobFolder?.(token), ...(start && { start }) };
      return run((options) => runJobProgram(environment.exec, ofJob, options), signal, update);
    };
  }

  async function run(
    start: (options: RunOptions) => Promise<Ran>,
    signal: AbortSignal,
    update: ToolContext["update"],
  ): Promise<ToolResult> {
    const output = new ProgramOutput();
    try {
      const ran = await start({
        env: { [FOLDER_VARIABLE]: folder },
        signal,
        grants,
        onOutput: streamed(output, update),
      });
      return resultOf(name, ran, output);
    } catch (error) {
      if (error instanceof ProgramLost) return lostResult(name, error, output.stdout() + output.stderr());
      if (!(error instanceof ExecError)) throw error;
      return faultResult(
        error.code,
        {
          text: `Error: Tool '${name}' could not be started: ${error.message}`,
          advice: "Tell the user that its skill needs a look.",
        },
        { cause: error, details: { exit_code: KILLED } },
      );
    }
  }
}

/** A tool that does not state its permissions is treated as one that may do anything. */
function gravest(permissions: readonly Permission[] | undefined): {
  effect: Effect;
  permission?: Permission;
} {
  if (!permissions) return { effect: "exec" };
  const found = EFFECTS.find(([permission]) => permissions.includes(permission));
  return found ? { permission: found[0], effect: found[1] } : { effect: "read" };
}

/** Grants only what the tool asks for and the agent holds. */
function grantsOf({ permissions, devices }: ToolDefinition, held: readonly Permission[] | undefined) {
  const has = (permission: Permission) =>
    permissions?.includes(permission) === true && (held === undefined || held.includes(permission));
  return { network: has("network"), devices: has("device") ? devices : [] };
}

/** A sensor's figures are the device's own text; files, the web and programs may repeat a stranger's. */
function taints(permissions: readonly Permission[] | undefined): boolean {
  return permissions?.some((one) => one !== "device" && one !== "session") ?? true;
}

function streamed(output: ProgramOutput, update: ToolContext["update"]) {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return (chunk: Uint8Array, stream: "stdout" | "stderr") => {
    output.add(chunk, stream);
    update(decoders[stream].decode(chunk, { stream: true }));
  };
}

function resultOf(name: string, ran: Ran, output: ProgramOutput): ToolResult {
  const stdout = output.stdout();
  const stderr = output.stderr();
  const json = output.json();
  const details = { exit_code: ran.exitCode ?? KILLED, stderr, ...(json && { data: json }) };
  // The runner says why it was stopped and shows this text below.
  if (ran.stopped) return textResult([stdout, stderr].filter(Boolean).join("\n"), details);
  if (ran.exitCode === null) {
    return faultResult("signal", failure(`was killed by ${ran.signal ?? "a signal"}`), { details });
  }
  if (ran.exitCode !== 0) {
    return faultResult("exit_nonzero", failure(`ended with exit code ${ran.exitCode}`), { details });
  }
  const refused = json && failureOf(json);
  if (refused !== undefined) return faultResult("tool_failed", failure(`said: ${refused}`, ""), { details });
  return textResult(stdout.trim() === "" ? NO_OUTPUT : stdout, details);

  function failure(what: string, text = stdout): string {
    const parts = [`Error: Tool '${name}' ${what}.`, stderr, text];
    return parts
      .map((part) => part.trim())
      .filter(Boolean)
      .join("\n");
  }
}

/** Finds a failure in JSON, because EvoClaw's programs exit with 0 even then. */
function failureOf(json: Record<string, unknown>): string | undefined {
  if (json.status !== "error" && json.success !== false) return undefined;
  const words = [json.error, json.message].find((it) => typeof it === "string" && it !== "");
  return typeof words === "string" ? cutText(words, STATED_CHARS) : "it failed, and did not say why";
}
