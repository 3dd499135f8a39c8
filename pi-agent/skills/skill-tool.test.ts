import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool, ToolResult } from "@edgecall/core/tools/contract.ts";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Environment, RunOptions } from "../env/environment.ts";
import { callTool } from "../testing/call.ts";
import { oneTool, skillFolder } from "../testing/skill-folder.ts";
import { loadSkills, type SkillsOptions } from "./load-skills.ts";
import { STDERR_SHOWN_BYTES, STDOUT_KEPT_BYTES } from "./program-output.ts";

/** Makes a skill's tool `probe` with this program. */
async function probe(program: string, more = "", options: Partial<SkillsOptions> = {}): Promise<Tool> {
  const folder = skillFolder({ "probe/skill.toml": oneTool("probe", more), "probe/bin/dt-probe": program });
  const { set } = await loadSkills({ ...folder, ...options });
  const tool = set.tools[0]?.tool;
  if (!tool) throw new Error(JSON.stringify(set.skipped));
  return tool;
}

const shell = (lines: string) => `#!/bin/sh\n${lines}\n`;
const PARAMETERS = `
[tools.parameters]
required = ["text"]
[tools.parameters.properties.text]
type = "string"
[tools.parameters.properties.count]
type = "integer"
default = 2
[tools.parameters.properties.loud]
type = "boolean"`;

test("stdout is the result; arguments come in the file's order, including defaults", async () => {
  const tool = await probe(shell('printf "<%s>" "$@"; echo warned >&2'), PARAMETERS);
  const { text, result } = await callTool(tool, { loud: true, text: "$(id) ; 'x'" });
  expect(text).toBe("<--text><$(id) ; 'x'><--count><2><--loud><true>");
  expect(result.details).toEqual({ exit_code: 0, stderr: "warned\n" });
});

test("arguments are checked before anything is run", async () => {
  const tool = await probe(shell("echo ran"), PARAMETERS);
  expect(await callTool(tool, {})).toMatchObject({
    code: "invalid_params",
    text: expect.stringContaining("missing 'text'"),
  });
  expect(await callTool(tool, { text: "a", other: 1 })).toMatchObject({ code: "invalid_params" });
  expect(await callTool(tool, { text: "a", count: 1.5 })).toMatchObject({ code: "invalid_params" });
  expect(await callTool(tool, { text: "a\0b" })).toMatchObject({
    code: "invalid_params",
    text: "Error: Invalid parameters for 'probe': an argument has a NUL character in it.",
  });
  expect(await callTool(tool, { text: "x".repeat(200_000) })).toMatchObject({ code: "invalid_params" });
});

test("it starts in the workspace, knows its own folder and none of the agent's secrets", async () => {
  const folder = skillFolder({
    "probe/skill.toml": oneTool("probe"),
    "probe/bin/dt-probe": shell('pwd; echo "$SKILL_DIR"; env | grep -c EDGECALL_TEST_SECRET'),
  });
  process.env.EDGECALL_TEST_SECRET = "s3cret";
  try {
    const { set } = await loadSkills(folder);
    const { result } = await callTool(set.tools[0]?.tool as Tool);
    expect(textOf(result)).toContain(`${folder.workspace}\n${folder.path}/probe\n0`);
  } finally {
    delete process.env.EDGECALL_TEST_SECRET;
  }
});

test("a failure: exit code, stderr and stdout", async () => {
  const tool = await probe(shell("echo half done; echo no paper >&2; exit 3"));
  const { text, code, result } = await callTool(tool);
  expect(code).toBe("exit_nonzero");
  expect(text).toBe("Error: Tool 'probe' ended with exit code 3.\nno paper\nhalf done");
  expect(result.details).toEqual({ exit_code: 3, stderr: "no paper\n" });
});

test("a killed program has the exit code -1", async () => {
  const { text, code, result } = await callTool(await probe(shell("echo begun; kill -9 $$")));
  expect(code).toBe("signal");
  expect(text).toBe("Error: Tool 'probe' was killed by SIGKILL.\nbegun");
  expect(result.details).toMatchObject({ exit_code: -1 });
});

test("at its time-out it is killed with all its processes, and its output is kept", async () => {
  const folder = skillFolder({
    "probe/skill.toml": oneTool("probe", "timeout_ms = 2000"),
    "probe/bin/dt-probe": shell("echo $$ > pid; sleep 60 & echo $! > child; echo begun; wait"),
  });
  const { set } = await loadSkills(folder);
  const { text, code, result } = await callTool(set.tools[0]?.tool as Tool);
  expect(code).toBe("timeout");
  expect(text).toBe(
    "Error: Tool 'probe' timed out after 2s.\nOutput so far:\nbegun\nTry again with a shorter timeout or explain to the user.",
  );
  expect(result.details).toMatchObject({ exit_code: -1 });
  for (const name of ["pid", "child"]) {
    const pid = readFileSync(join(folder.workspace, name), "utf8").trim();
    await until(
      () => !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")),
      {
        what: `${name} is dead`,
      },
    );
  }
});

test.each([
  ['{"status":"error","error":"no such coin"}', "no such coin"],
  ['{"success":false,"message":"no sensor"}', "no sensor"],
  ['{"success":false}', "it failed, and did not say why"],
])("JSON that reports a failure is one, whatever the exit code: %s", async (json, words) => {
  const { text, code } = await callTool(await probe(shell(`echo '${json}'`)));
  expect(code).toBe("tool_failed");
  expect(text).toBe(`Error: Tool 'probe' said: ${words}`.replace(/$/, "."));
});

test("JSON of a success is also in details", async () => {
  const { text, result } = await callTool(await probe(shell(`echo '{"status":"success","value":21.5}'`)));
  expect(text).toBe('{"status":"success","value":21.5}\n');
  expect(result.details?.data).toEqual({ status: "success", value: 21.5 });
});

test("endless output is cut, counted and bounded", async () => {
  const { text, result } = await callTool(
    await probe(shell("yes 0123456789 | head -c 3000000; yes warn | head -c 100000 >&2")),
  );
  expect(result.fault).toBeUndefined();
  expect(Buffer.byteLength(text)).toBeLessThan(50 * 1024);
  expect(text).toMatch(/\n\n\[Showing lines 1-2000 of more\. Ask this tool for less at once\.\]$/);
  expect(Buffer.byteLength(String(result.details?.stderr))).toBeLessThanOrEqual(STDERR_SHOWN_BYTES);
});

test("one line without end", async () => {
  const { text } = await callTool(
    await probe(shell(`head -c ${2 * STDOUT_KEPT_BYTES} /dev/zero | tr '\\0' x`)),
  );
  expect(Buffer.byteLength(text)).toBeLessThan(50 * 1024);
  expect(text).toContain("Ask this tool for less at once.");
});

test("no output, and colours", async () => {
  expect((await callTool(await probe(shell("exit 0")))).text).toBe("(no output)");
  expect((await callTool(await probe(shell("printf '\\033[31mred\\033[0m\\r\\n'")))).text).toBe("red\n");
});

test("bytes that are no text are replaced", async () => {
  expect((await callTool(await probe(shell("printf 'a\\377b'")))).text).toBe("a\ufffdb");
});

test("a program that cannot be started is reported as that", async () => {
  const { text, code } = await callTool(await probe("#!/no/such/interpreter\n"));
  expect(code).toBe("spawn_failed");
  expect(text).toMatch(
    /^Error: Tool 'probe' could not be started: .*\nTell the user that its skill needs a look\.$/,
  );
});

test("output is sent to the watching person while it is produced", async () => {
  const folder = skillFolder({
    "probe/skill.toml": oneTool("probe"),
    "probe/bin/dt-probe": shell("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"),
  });
  const { set } = await loadSkills(folder);
  const tool = set.tools[0]?.tool as Tool;
  const heard: string[] = [];
  const caller = { principal: "test", role: "owner", channel: "test" };
  const running = runTool(new ToolRegistry([tool]), {
    callId: "c",
    name: "probe",
    args: {},
    caller,
    update: (it) => heard.push(it),
  });
  await until(() => heard.includes("one\n"));
  expect(heard).not.toContain("two\n");
  writeFileSync(join(folder.workspace, "go"), "");
  expect(textOf((await running).result)).toBe("one\ntwo\n");
});

test.each([
  // The tool's wish, the agent's permissions, and the result.
  ['permissions = ["network"]', undefined, { network: true, devices: [] }],
  [
    'permissions = ["network", "device"]\ndevices = ["/dev/i2c-1"]',
    ["network"],
    { network: true, devices: [] },
  ],
  [
    'permissions = ["network", "device"]\ndevices = ["/dev/i2c-1"]',
    ["device"],
    { network: false, devices: ["/dev/i2c-1"] },
  ],
  ['permissions = ["file_read"]\ndevices = ["/dev/i2c-1"]', undefined, { network: false, devices: [] }],
] as const)("grants: %s for %j", async (line, held, grants) => {
  const asked: RunOptions["grants"][] = [];
  const recording: Environment = {
    ...skillFolder().environments.none,
    exec: {
      async run(_argv: unknown, options: RunOptions) {
        asked.push(options.grants);
        return { exitCode: 0, signal: null, stopped: false };
      },
    },
  } as Environment;
  const tool = await probe(shell(""), line, { environments: { none: recording }, held: held && [...held] });
  const result: ToolResult = (await callTool(tool)).result;
  expect(result.fault).toBeUndefined();
  expect(asked).toEqual([grants]);
});
