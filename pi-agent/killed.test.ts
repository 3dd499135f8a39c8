/** A real agent process that is killed with SIGKILL during everything that it does, and restarted. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { type House, house } from "./testing/house.ts";
import type { ModelAnswer, ModelRequest } from "./testing/model.ts";

const ROOT = join(import.meta.dirname, "..");
/** The repository's own Node, which strips types, whichever Node runs the tests. */
const OWN_NODE = join(ROOT, "node_modules/.bin/node");
const NODE = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;

let home: House;
let script: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;
let config: string;
const processes: ChildProcess[] = [];

beforeEach(async () => {
  home = await house((request) => script(request));
  config = join(mkdtempSync(join(tmpdir(), "edgecall-agent-")), "agent.toml");
  writeFileSync(
    config,
    `agent_id = "eye"
[mqtt]
url = "mqtt://127.0.0.1:${home.port}"
[llm]
base_url = "${home.baseUrl}"
model = "scripted"
[policy]
append = "allow"
job = "allow"
bash = "allow"
`,
  );
});
afterEach(async () => {
  for (const child of processes.splice(0)) await kill(child);
  await home.stop();
});

async function run(): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: home.marks };
  const adverts = () => home.peer.received.filter(({ kind }) => kind === "tools").length;
  const before = adverts();
  const child = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), "--config", config], { stdio: "ignore", env });
  processes.push(child);
  await until(() => adverts() > before, { within: 15_000, what: "the agent is online" });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

const marks = () => (existsSync(home.marks) ? readFileSync(home.marks, "utf8").trim().split("\n") : []);

test("a prompt ends as unknown with its calls, a job and a call as unknown, and an approval as denied", async () => {
  const asked = Promise.withResolvers<void>();
  script = async ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (messages.some(({ content }) => content === "ask first")) {
      return {
        calls: [{ name: results === 0 ? "memory" : "append", args: results === 0 ? {} : { path: "no" } }],
      };
    }
    if (results === 0) return { calls: [{ name: "append", args: { text: "one" } }] };
    if (results === 1) {
      return { calls: [{ name: "memory", args: {} }] };
    }
    asked.resolve();
    return { calls: [{ name: "append", args: { wait_ms: 60_000 } }] };
  };
  const first = await run();
  const prompt = await home.prompt("do things");
  const call = await home.tool("append", { wait_ms: 60_000 });
  const accepted = await home.result(await home.tool("job", { ms: 60_000 }));
  const approval = await home.tool("append", {}, { tainted: true });
  const waiting = await home.prompt("ask first", { tainted: true });
  const { question_id } = await home.question(approval);
  await home.question(waiting);
  await asked.promise;
  const ledger = join(config, "../eye.state/ledger.jsonl");
  await until(() => readFileSync(ledger, "utf8").split('"t":"inner"').length === 5, {
    what: "the last call",
  });
  expect(marks()).toHaveLength(1);
  await kill(first);

  await run();
  expect(await home.result(prompt)).toMatchObject({
    status: "error",
    error_type: "outcome_unknown",
    calls: [
      { id: marks()[0], name: "append", args: { text: "one" }, status: "success", result: /^appended/ },
      { name: "memory", status: "success" },
      { name: "append", args: { wait_ms: 60_000 }, status: "error", error_type: "outcome_unknown" },
    ].map((record) => ({
      ...record,
      ...(record.result instanceof RegExp && { result: expect.stringMatching(record.result) }),
    })),
  });
  expect(await home.result(call)).toMatchObject({ status: "error", error_type: "outcome_unknown" });
  expect(await home.result(accepted.job as string)).toMatchObject({
    status: "error",
    error_type: "outcome_unknown",
    job_of: accepted.request_id,
    error: expect.stringContaining("The device restarted while this job ran"),
  });
  expect(await home.result(approval)).toMatchObject({
    error_type: "permission_denied",
    error: expect.stringContaining("nothing was run"),
  });
  expect(await home.result(waiting)).toMatchObject({
    error: expect.stringContaining("waited for an answer; nothing but reads was run"),
    calls: [{ name: "memory", status: "success" }],
  });
  expect((await home.answer(question_id, "approve")).error).toBe(`no open question ${question_id}`);
  // The same commands again are recognised: nothing runs, and the results are the same.
  const payload = { tool: "append", parameters: { wait_ms: 0 } };
  await home.peer.command("eye", { command: "tool", payload, request_id: call, n: 1 });
  await until(() => home.peer.reports(call).length >= 2);
  expect(marks()).toHaveLength(1);
}, 40_000);

test("a tool made of tools that is killed between two steps says what was done", async () => {
  const skills = join(config, "../skills/twice");
  mkdirSync(skills, { recursive: true });
  writeFileSync(
    join(skills, "skill.toml"),
    `[[tools]]
name = "twice"
description = "Append twice"
[[tools.steps]]
id = "one"
tool = "append"
[[tools.steps]]
id = "two"
tool = "append"
params = { wait_ms = 60000, text = { "$ref" = "/one/result" } }
`,
  );
  const plain = readFileSync(config, "utf8").replace("[policy]", '[policy]\ntwice = "allow"');
  writeFileSync(config, `${plain}\n[tools]\nskills_path = "${join(config, "../skills")}"\n`);
  const first = await run();
  const id = await home.tool("twice");
  const ledger = join(config, "../eye.state/ledger.jsonl");
  await until(() => readFileSync(ledger, "utf8").split('"t":"inner"').length === 3, {
    what: "the second step",
  });
  expect(marks()).toHaveLength(1);
  await kill(first);

  await run();
  expect(await home.result(id)).toMatchObject({
    status: "error",
    error_type: "outcome_unknown",
    error: expect.stringContaining("The calls in its record: append (done), append (under way)."),
    calls: [
      { name: "append", status: "success" },
      {
        name: "append",
        args: { wait_ms: 60_000, text: `appended ${marks()[0]}` },
        error_type: "outcome_unknown",
      },
    ],
  });
  expect(marks()).toHaveLength(1);
}, 40_000);

test("a program in the background goes on, and its result comes from the next process", {
  tags: ["needs/bubblewrap"],
  timeout: 60_000,
}, async () => {
  const first = await run();
  const command = "echo one; touch begun; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 3";
  const { job } = await home.result(await home.tool("bash", { command, background: true }));
  const other = await home.tool("bash", { command: "touch other; sleep 2; touch survived" });
  const file = (name: string) => join(config, "../eye.state/workspace", name);
  await until(() => existsSync(file("begun")) && existsSync(file("other")), { what: "both run" });
  await kill(first);

  const second = await run();
  await kill(second);
  writeFileSync(file("go"), "");
  await until(() => existsSync(join(config, "../eye.state/jobs", job as string, "exit")));
  await run();
  expect(await home.result(job as string)).toMatchObject({
    status: "error",
    exit_code: 3,
    error: expect.stringContaining("one\ntwo\n\nCommand exited with code 3"),
  });
  expect(await home.result(other)).toMatchObject({ error_type: "outcome_unknown" });
  expect(existsSync(file("survived"))).toBe(false);
});

test("the test tools exist only with their variable, and name what they need", async () => {
  const env = { PATH: process.env.PATH, EDGECALL_TEST_TOOLS: "1" };
  const child = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), "--config", config], { env });
  processes.push(child);
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
  expect(stderr).toContain("EDGECALL_TEST_FILE: missing beside EDGECALL_TEST_TOOLS=1");

  const without = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), "--config", config], {
    env: { PATH: process.env.PATH, EDGECALL_TEST_FILE: home.marks },
  });
  processes.push(without);
  stderr = "";
  without.stderr.on("data", (chunk) => (stderr += chunk));
  await until(() => /policy\.job: no tool of this device has this name/.test(stderr), {
    what: "the warning",
  });
}, 30_000);
