/** The cost of a call compared with the same work without us: the runner, the sandbox, bash, skills and ssh. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../pi-agent/env/environment.ts";
import { local } from "../../pi-agent/env/local.ts";
import { sandbox, sandboxMissing } from "../../pi-agent/env/sandbox/sandbox.ts";
import { ssh } from "../../pi-agent/env/ssh/ssh.ts";
import { sshArguments } from "../../pi-agent/env/ssh/ssh-arguments.ts";
import { loadSkills } from "../../pi-agent/skills/load-skills.ts";
import { startSshd } from "../../pi-agent/testing/sshd.ts";
import { bash } from "../../pi-agent/tools/programs/bash.ts";
import { caller } from "./calls.ts";
import type { Pair } from "./pairs.ts";
import { plainly } from "./plain.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/skills", import.meta.url));
/** A process takes milliseconds, the runner microseconds. */
const TIMES = { process: 12, function: 5_000 };

const nothing = defineTool({
  name: "nothing",
  description: "Does nothing.",
  input: z.strictObject({ text: z.string(), count: z.optional(z.int()) }),
  effect: "read",
  idempotent: true,
  timeoutMs: 1_000,
  maxTimeoutMs: 1_000,
  execute: async ({ text }) => textResult(text),
});

export type Overheads = { pairs: Pair[]; missing: string[]; close(): Promise<void> };

/** @param dir the parent of the workspace */
export async function overheads(dir: string): Promise<Overheads> {
  const workspace = join(dir, "workspace");
  mkdirSync(workspace, { recursive: true });
  const here = local({ cwd: workspace });
  const pairs = [runnerPair(), execPair(here), bashPair(here)];
  const missing: string[] = [];

  const noSandbox = await sandboxMissing({ workspace });
  if (noSandbox === undefined) {
    const inside = sandbox({ workspace, readable: [realpathSync(EXAMPLES)] });
    pairs.push(execPair(inside), bashPair(inside), ...(await skillPairs(inside)));
  } else missing.push(noSandbox);

  const sshd = await startSshd().catch((error: unknown) => {
    missing.push(`no sshd: ${error instanceof Error ? error.message : String(error)}`);
  });
  const machine = sshd && { name: "far", host: "127.0.0.1", ...sshd, cwd: workspace };
  const far = machine && ssh(machine);
  if (far) pairs.push(...sshPairs(far, [...sshArguments(machine), "--", machine.host]));
  return {
    pairs,
    missing,
    async close() {
      await far?.close();
      await sshd?.close();
    },
  };
}

function runnerPair(): Pair {
  const args = { text: "some words", count: "5" };
  const context = {} as Parameters<Tool["execute"]>[1];
  const call = caller(nothing);
  return {
    what: "runner: an empty tool",
    plainly: "its function",
    times: TIMES.function,
    ours: () => call(args),
    plain: async () => {
      await nothing.execute(args, context);
    },
  };
}

function execPair({ name, exec }: Environment): Pair {
  return {
    what: `exec: true, ${name}`,
    plainly: "spawn of true",
    times: TIMES.process,
    async ours() {
      const { exitCode } = await exec.run(["true"], { signal: AbortSignal.timeout(10_000) });
      if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`);
    },
    plain: () => plainly("true", []),
  };
}

function bashPair(environment: Environment): Pair {
  const call = caller(bash(environment));
  return {
    what: `bash: echo, ${environment.name}`,
    plainly: "spawn of bash -c",
    times: TIMES.process,
    ours: () => call({ command: "echo hello" }),
    plain: () => plainly("bash", ["-c", "echo hello"]),
  };
}

/** @param line the OpenSSH client's command line, which connects again for each call */
function sshPairs(far: Environment, line: readonly string[]): Pair[] {
  const [exec, shell] = [execPair(far), bashPair(far)];
  return [
    { ...exec, what: "exec: true, ssh to this machine", times: 5 },
    {
      ...exec,
      what: "exec: true, ssh to this machine",
      plainly: "ssh HOST true",
      times: 5,
      plain: () => plainly("ssh", [...line, "true"]),
    },
    { ...shell, what: "bash: echo, ssh to this machine", times: 5 },
  ];
}

async function skillPairs(environment: Environment): Promise<Pair[]> {
  const { set } = await loadSkills({
    path: EXAMPLES,
    workspace: environment.cwd,
    environments: { bubblewrap: environment },
    engine: "bubblewrap",
  });
  const pair = (
    language: string,
    program: string,
    args: Record<string, unknown>,
    options: string[],
  ): Pair => {
    const tool = basename(program).slice("dt-".length);
    const found = set.tools.find((one) => one.tool.name === tool);
    if (!found) throw new Error(`no ${tool}: ${JSON.stringify(set.skipped)}`);
    const call = caller(found.tool);
    return {
      what: `skill in ${language}: ${tool}, ${environment.name}`,
      plainly: "spawn of its program",
      times: TIMES.process,
      ours: () => call(args),
      // With the sandbox's PATH, because a developer's own may have a launcher before each interpreter.
      plain: () => plainly("env", ["PATH=/usr/bin:/bin", join(EXAMPLES, program), ...options]),
    };
  };
  const counted = join(environment.cwd, "counted.txt");
  writeFileSync(counted, "one\ntwo\n");
  return [
    pair("Python", "convert-temperature/bin/dt-convert_temperature", { value: 21.5 }, ["--value", "21.5"]),
    pair("sh", "count-lines/bin/dt-count_lines", { path: counted }, ["--path", counted]),
  ];
}
