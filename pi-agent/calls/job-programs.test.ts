/** Jobs whose programs go on when the agent ends: of bash and of skills, followed by the next agent. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { local } from "../env/local.ts";
import { startOf } from "../env/process-tree.ts";
import { loadSkills } from "../skills/load-skills.ts";
import { simpleToolbox } from "../testing/home.ts";
import { type House, house, rules } from "../testing/house.ts";
import { oneTool, skillFolder } from "../testing/skill-folder.ts";
import type { ToolboxState } from "../toolbox/places.ts";
import { bash } from "../tools/programs/bash.ts";
import { jobs } from "../tools/programs/jobs.ts";
import { JobFiles, jobFolderIn } from "./job-files.ts";

let home: House;
let folder: string;
let stateDir: string;
let ws: string;
beforeEach(async () => {
  home = await house();
  folder = mkdtempSync(join(tmpdir(), "edgecall-jobs-"));
  stateDir = join(folder, "eye.state");
  ws = join(folder, "ws");
  mkdirSync(ws);
});
afterEach(async () => await home.stop());

const policy = rules({ bash: "allow", jobs: "allow", probe: "allow" });

async function start({ tools, without = false }: { tools?: Tool[]; without?: boolean } = {}) {
  const shell = bash(local({ cwd: ws }), { jobFolder: jobFolderIn(stateDir) });
  return await home.start({
    policy,
    folder,
    toolbox: async (settings, state: ToolboxState, more = [], ...rest) =>
      await simpleToolbox(
        settings,
        state,
        [...more, ...(without ? [] : [shell]), ...(tools ?? []), jobs(state)],
        ...(rest as []),
      ),
  });
}

async function begin(command: string, more: Record<string, unknown> = {}): Promise<string> {
  const accepted = await home.result(await home.tool("bash", { command, background: true, ...more }));
  expect(accepted).toMatchObject({ status: "accepted", tool: "bash" });
  return accepted.job as string;
}
const look = async (parameters: Record<string, unknown>, more?: Record<string, unknown>) =>
  await home.result(await home.tool("jobs", parameters, more));
const file = (name: string) => join(ws, name);
const there = async (name: string) => await until(() => existsSync(file(name)), { what: name });
const jobFile = (token: string, name: string) => join(stateDir, "jobs", token, name);
const supervisorOf = (token: string) =>
  (JSON.parse(readFileSync(jobFile(token, "program.json"), "utf8")) as { pid: number }).pid;

test("answered at once; looked at while it runs; the result is a report of its own", async () => {
  await start();
  const token = await begin(
    "for i in $(seq 1 60); do echo line $i; done; touch begun; while [ ! -e go ]; do sleep 0.05; done; exit 4",
  );
  await there("begun");
  const shown = await until(async () => {
    const { result } = await look({ job: token });
    return String(result).includes("line 60") && String(result);
  });
  expect(shown).toContain(`Job ${token} (bash): running since `);
  expect(shown).toContain("Lines 11 to 60 of 60:\nline 11\n");
  expect((await look({ job: token, offset: 3 })).result).toContain("Lines 3 to 60 of 60:\nline 3\n");
  expect((await look({})).result).toMatch(new RegExp(`^${token} bash: running since \\S+Z$`));
  writeFileSync(file("go"), "");
  expect(await home.result(token)).toMatchObject({
    status: "error",
    exit_code: 4,
    tainted: true,
    error: expect.stringContaining("line 60\n\nCommand exited with code 4"),
  });
  expect((await look({})).result).toMatch(/bash: failed at \S+Z, exit code 4; it ran since/);
  expect((await look({ job: token })).result).toContain("line 60");
  expect((await look({ job: token, action: "cancel" })).error).toContain("has ended already");
});

test("it goes on when the agent ends, and the next agent has its result", async () => {
  const first = await start();
  const token = await begin("echo one; touch begun; while [ ! -e go ]; do sleep 0.05; done; echo two");
  await there("begun");
  await first.stop();
  expect(startOf(supervisorOf(token))).toBeDefined();
  expect(home.peer.reports(token)).toEqual([]);
  const second = await start();
  expect((await look({ job: token })).result).toContain("running since");
  writeFileSync(file("go"), "");
  expect(await home.result(token)).toMatchObject({
    status: "success",
    result: "one\ntwo\n",
    job_of: expect.any(String),
  });
  expect(startOf(supervisorOf(token))).toBeUndefined();
  await second.stop();
  await start();
  await home.result(await home.send("ping"));
  expect((await look({ job: token })).result).toContain("done at");
});

test("its end while no agent runs is not lost, even if its tool is gone", async () => {
  const first = await start();
  const token = await begin("touch begun; while [ ! -e go ]; do sleep 0.05; done; echo late; exit 7");
  await there("begun");
  await first.stop();
  writeFileSync(file("go"), "");
  await until(() => existsSync(jobFile(token, "exit")));
  await start({ without: true });
  expect(await home.result(token)).toMatchObject({
    status: "error",
    exit_code: 7,
    tainted: true,
    error: expect.stringContaining("late"),
  });
});

test("cancelled after a restart, by the tool, it ends with all that it started", async () => {
  const first = await start();
  const token = await begin("sleep 60 & echo $! > inner; touch begun; wait");
  await there("begun");
  await first.stop();
  await start();
  expect((await look({ job: token, action: "cancel" })).result).toContain("is being ended");
  expect(await home.result(token)).toMatchObject({
    status: "error",
    error: expect.stringContaining("cancelled"),
  });
  expect(startOf(Number(readFileSync(file("inner"), "utf8")))).toBeUndefined();
});

test("its own time holds over a restart", async () => {
  const first = await start();
  const token = await begin("touch begun; sleep 60", { timeout_ms: 1_500 });
  await there("begun");
  await first.stop();
  await start();
  expect(await home.result(token)).toMatchObject({ status: "error", error_type: "timeout" });
  expect(startOf(supervisorOf(token))).toBeUndefined();
});

test("after a restart of the device its outcome is unknown, with its output; another process of its id lives on", async () => {
  const first = await start();
  const token = await begin("echo said; touch begun; while [ ! -e go ]; do sleep 0.05; done");
  await there("begun");
  await first.stop();
  const record = JSON.parse(readFileSync(jobFile(token, "program.json"), "utf8"));
  writeFileSync(jobFile(token, "program.json"), JSON.stringify({ ...record, boot: "an earlier one" }));
  await start();
  expect(await home.result(token)).toMatchObject({
    status: "error",
    error_type: "outcome_unknown",
    error: expect.stringContaining("Output so far:\nsaid"),
  });
  expect(startOf(record.pid)).toBeDefined();
  writeFileSync(file("go"), "");
  await until(() => startOf(record.pid) === undefined);
});

test("a bash that is no job does not outlive the agent", async () => {
  const agent = await start();
  void home.tool("bash", { command: "echo $$ > pid; touch begun; sleep 60" });
  await there("begun");
  await agent.stop();
  expect(startOf(Number(readFileSync(file("pid"), "utf8")))).toBeUndefined();
});

test("a guest sees and ends only its own jobs", async () => {
  await start();
  const caller = (principal: string, role: string) => ({ caller: { principal, role, channel: "test" } });
  const accepted = await home.result(
    await home.tool("bash", { command: "sleep 60", background: true }, caller("ada", "guest")),
  );
  const token = accepted.job as string;
  expect((await look({}, caller("ada", "guest"))).result).toContain(token);
  expect((await look({}, caller("eve", "guest"))).result).toBe("No jobs.");
  for (const action of ["look", "cancel"])
    expect((await look({ job: token, action }, caller("eve", "guest"))).error).toContain("There is no job");
  expect((await look({ job: token, action: "cancel" }, caller("bob", "owner"))).result).toContain(
    "being ended",
  );
  await home.result(token);
});

test("what is not possible in the background is told, and nothing runs", async () => {
  await start();
  const refused = async (parameters: Record<string, unknown>) =>
    (await home.result(await home.tool("bash", { command: "touch ran", ...parameters }))).error;
  expect(await refused({ background: true, keys: ["y"] })).toContain("has no terminal");
  expect(await refused({ timeout_ms: 300_001 })).toContain("at most 300000, except with background: true");
  for (const kind of ["ssh", "http"] as const) {
    const { execute } = bash({ ...local({ cwd: ws }), kind, name: "gpu" }, {});
    const result = await execute({ command: "touch ran", background: true }, {} as never);
    expect(result.fault?.message, kind).toContain("on this device only, not on 'gpu'");
  }
  expect(existsSync(file("ran"))).toBe(false);
});

test("a skill's job goes on as well; with job_optional the caller chooses", async () => {
  const options = skillFolder({
    "probe/skill.toml": oneTool(
      "probe",
      'job_timeout_s = 60\njob_optional = true\n[tools.parameters.properties.say]\ntype = "string"',
    ),
    "probe/bin/dt-probe":
      '#!/bin/sh\ntouch begun\nwhile [ ! -e go ]; do sleep 0.05; done\necho "{\\"args\\":\\"$*\\"}"; echo warned >&2\n',
  });
  ws = options.workspace;
  const { set } = await loadSkills({ ...options, jobFolder: jobFolderIn(stateDir) });
  expect(set.skipped).toEqual([]);
  const tools = set.tools.map(({ tool }) => tool);
  const first = await start({ tools });
  const accepted = await home.result(await home.tool("probe", { say: "x", background: true }));
  expect(accepted.status).toBe("accepted");
  await there("begun");
  await first.stop();
  writeFileSync(file("go"), "");
  await start({ tools });
  expect(await home.result(accepted.job as string)).toMatchObject({
    status: "success",
    result: '{"args":"--say x"}\n',
    stderr: "warned\n",
  });
  expect((await look({ job: accepted.job })).result).toContain("The end of stderr:\nwarned");
  expect(await home.result(await home.tool("probe", { say: "y" }))).toMatchObject({
    status: "success",
    result: '{"args":"--say y"}\n',
  });
});

test("files of ended jobs are bounded in number, size and age; running ones stay", async () => {
  let now = Date.now();
  const files = new JobFiles(stateDir, () => now);
  const caller = { principal: "p", role: "owner", channel: "c" };
  const made = async (text = "x") => {
    const token = crypto.randomUUID();
    await files.begin(token, { of: "call", tool: "t", caller, maxMs: 1_000 });
    now += 1_000;
    await files.end(token, { status: "success", text });
    return token;
  };
  const names = () => readdirSync(join(stateDir, "jobs"));
  const running = crypto.randomUUID();
  await files.begin(running, { of: "call", tool: "t", caller, maxMs: 1_000 });
  const all: string[] = [];
  for (let n = 0; n < 66; n += 1) all.push(await made());
  await files.prune(new Set([running]));
  expect(names().sort()).toEqual([running, ...all.slice(2)].sort());
  const large = await made("x".repeat(65 * 1024 ** 2));
  const last = await made();
  await files.prune(new Set([running]));
  expect(names().sort()).toEqual([running, last].sort());
  expect(names()).not.toContain(large);
  now += 8 * 24 * 3_600_000;
  await files.prune(new Set([running]));
  expect(names()).toEqual([running]);
});
