/** The bash cases (test/cases/bash.json), on this machine and in the sandbox. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelTextOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import type { Environment } from "../../env/environment.ts";
import { local } from "../../env/local.ts";
import { sandbox } from "../../env/sandbox/sandbox.ts";
import { type Case, casesOf, expectCase } from "../../testing/cases.ts";
import { type BashOptions, bash } from "./bash.ts";

const CALLER = { principal: "test", role: "admin", channel: "test" };
const PLACES: Record<string, (folder: string) => Environment> = {
  local: (cwd) => local({ cwd }),
  sandbox: (workspace) => sandbox({ workspace }),
};
/** A case without a time limit waits for the default one. */
const SHORT_DEFAULT_MS = 400;
/** A loaded machine is sometimes slow; one fast attempt is enough. */
const ATTEMPTS = 5;

type BashInput = {
  command: string;
  timeout?: number;
  abort?: string;
  shell?: string;
  prefix?: string;
  env?: Record<string, string>;
};

const inPlace = (kind: string) => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-bash-")));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(input: BashInput, options: BashOptions = {}) {
    const { command, timeout, abort, shell, prefix, env } = input;
    const spill = { folder: join(folder, "spill") };
    const made: BashOptions = {
      spill,
      ...(shell && { shell }),
      ...(prefix && { prefix }),
      ...(env && { env }),
      ...options,
    };
    const tool = bash(PLACES[kind]?.(folder) as Environment, made);
    const registry = new ToolRegistry([tool]);
    const stop = new AbortController();
    let shown = "";
    const startedAt = performance.now();
    const { result } = await runTool(
      registry,
      {
        callId: "c1",
        name: "bash",
        args: { command, ...(timeout && { timeout_ms: timeout * 1_000 }) },
        caller: CALLER,
        signal: stop.signal,
        update: (text) => {
          shown += text;
          if (abort) stop.abort();
        },
      },
      { graceMs: 3_000 },
    );
    return {
      result,
      shown,
      text: modelTextOf(result),
      code: result.fault?.code,
      ms: performance.now() - startedAt,
    };
  }

  /** `variants` are names for the same variable. */
  const cases = casesOf("bash").flatMap((one) => {
    const variants = (one as Case & { variants?: string[] }).variants;
    if (!variants) return [one];
    return variants.map((name) => ({
      ...one,
      id: `${one.id}/${name}`,
      input: { ...one.input, env: { [name]: "x" } },
    }));
  });
  test.each(cases.map((one) => [one.id, one] as const))("%s", async (id, one) => {
    const options = id === "bash/default-timeout" ? { timeoutMs: SHORT_DEFAULT_MS } : {};
    const { exitCode, maxMs, textMatches, spill, pidFileDeadWithinMs } = one.expect;
    let ran = await run(one.input as BashInput, options);
    for (let again = 1; again < ATTEMPTS && typeof maxMs === "number" && ran.ms >= maxMs; again += 1)
      ran = await run(one.input as BashInput, options);
    expectCase(one.expect, { ...ran, folder });
    if (exitCode !== undefined) expect(ran.result.details?.exit_code).toBe(exitCode);
    if (typeof maxMs === "number") expect(ran.ms).toBeLessThan(maxMs);
    if (typeof textMatches === "string") expect(ran.text).toMatch(new RegExp(textMatches));
    for (const [path, within] of Object.entries((pidFileDeadWithinMs ?? {}) as Record<string, number>)) {
      // In the sandbox the pid belongs to another namespace, and its processes end with it (contract-programs.test.ts).
      if (kind !== "local") continue;
      const pid = readFileSync(join(folder, path), "utf8").trim();
      await until(() => isDead(pid), { within, what: `${pid} is dead` });
    }
    if (spill) {
      const path = String(ran.result.details?.full_output);
      expect(ran.text).toContain(path);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8").split("\n").length - 1).toBe((spill as { lines: number }).lines);
    }
  });

  test("both streams arrive in the order in which they were written, also live", async () => {
    const { text, shown } = await run({
      command: "for n in 1 2 3 4 5 6 7 8 9; do echo $n; echo e$n >&2; done",
    });
    expect(text).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n}\ne${n}\n`).join(""));
    expect(shown).toBe(text);
  });

  test("output before a time-out is shown below the runner's text", async () => {
    const { text, code } = await run({ command: "echo begun; sleep 60", timeout: 3 });
    expect(code).toBe("timeout");
    expect(text).toBe(
      "Error: Tool 'bash' timed out after 3s. Command: 'echo begun; sleep 60'.\nOutput so far:\nbegun\nTry again with a shorter timeout or explain to the user.",
    );
  });

  test("a failure keeps its output above the text", async () => {
    const { text, result } = await run({ command: "echo why; exit 3" });
    expect(text).toBe("why\n\nCommand exited with code 3");
    expect(result.details).toMatchObject({ exit_code: 3, host: kind });
    expect((await run({ command: "exit 3" })).text).toBe("(no output)\n\nCommand exited with code 3");
  });

  test("a shell's own error keeps its line number", async () => {
    expect((await run({ command: "no-such-command-here" })).text).toContain("line 1: no-such-command-here");
  });
};
describe("in local", () => inPlace("local"));
describe("in sandbox", { tags: ["needs/bubblewrap"] }, () => inPlace("sandbox"));

test("the description states its limits, and what the sandbox allows", () => {
  const tool = bash(sandbox({ workspace: tmpdirOfOwn() }), { grants: { network: true } });
  expect(tool.description).toContain("Ends after 30 s unless timeout_ms says otherwise (at most 300 s)");
  expect(tool.description).toContain("There is a network and no device.");
  expect(tool).toMatchObject({
    timeoutMs: 30_000,
    maxTimeoutMs: 300_000,
    permission: "shell",
    effect: "exec",
  });
});

/** A zombie is dead too, because its parent may be slow to collect it. */
function isDead(pid: string): boolean {
  return !existsSync(`/proc/${pid}`) || /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
}

function tmpdirOfOwn(): string {
  return mkdtempSync(join(tmpdir(), "edgecall-bash-"));
}
