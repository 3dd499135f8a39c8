/** The skills in examples/: with real programs, outside of a sandbox and in one. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Environment } from "../env/environment.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { callTool } from "../testing/call.ts";
import { Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { localEnvironment, oneTool, skillFolder } from "../testing/skill-folder.ts";
import { openToolbox } from "../toolbox/toolbox.ts";
import { loadSkills, type SkillSet } from "./load-skills.ts";
import { readGuide } from "./skill-guide.ts";

const EXAMPLES = realpathSync(join(import.meta.dirname, "../../examples/skills"));
const home = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-examples-")));
const workspace = join(home, "workspace");
mkdirSync(workspace);
writeFileSync(join(workspace, "three.txt"), "one\ntwo\nthree\n");

const places: Array<["none" | "bubblewrap", () => Environment]> = [
  ["none", () => localEnvironment(workspace)],
  ["bubblewrap", () => sandbox({ workspace, readable: [EXAMPLES] })],
];

function toolOf(set: SkillSet, name: string): Tool {
  const found = set.tools.find(({ tool }) => tool.name === name);
  if (!found) throw new Error(`no ${name}: ${JSON.stringify(set.skipped)}`);
  return found.tool;
}

for (const [engine, environment] of places) {
  test(`the examples, engine ${engine}`, {
    tags: ["needs/python3", ...(engine === "none" ? [] : ["needs/bubblewrap"])],
  }, async () => {
    const environments = { [engine]: environment() };
    const { set } = await loadSkills({ path: EXAMPLES, workspace, environments, engine });
    expect(set.skipped).toEqual([]);
    const programs = set.tools.filter(({ bind }) => bind === undefined);
    expect(set.tools.filter(({ bind }) => bind).map(({ tool }) => tool.name)).toEqual([
      "disk_note",
      "log_watch",
    ]);
    expect(programs.map(({ tool, metadata }) => [tool.name, tool.effect, metadata.sandbox])).toEqual([
      ["convert_temperature", "read", engine !== "none"],
      ["count_lines", "read", engine !== "none"],
      ["measure_load", "read", engine !== "none"],
      ["tank_level", "read", engine !== "none"],
      ["tank_watch", "read", engine !== "none"],
    ]);
    expect(set.guides.map(({ name }) => name)).toEqual(["morning-report"]);

    const convert = toolOf(set, "convert_temperature");
    expect((await callTool(convert, { value: 21.5 })).result).toMatchObject({
      content: [{ type: "text", text: '{"value": 70.7, "unit": "fahrenheit"}\n' }],
      details: { exit_code: 0, data: { value: 70.7, unit: "fahrenheit" } },
    });
    expect((await callTool(convert, { value: -40, to: "celsius" })).result.details?.data).toEqual({
      value: -40,
      unit: "celsius",
    });
    expect(await callTool(convert, { value: 1, to: "kelvin" })).toMatchObject({ code: "invalid_params" });

    writeFileSync(join(workspace, "tank.txt"), "50\n34.5\n");
    const level = await callTool(toolOf(set, "tank_level"), {});
    expect(level.result.details?.data).toEqual({ value: 34.5, unit: "%" });
    expect(toolOf(set, "tank_watch").events).toEqual(["tank_low", "tank_filled"]);

    const count = toolOf(set, "count_lines");
    expect((await callTool(count, { path: "three.txt" })).text.trim()).toBe("3");
    expect(await callTool(count, { path: "none.txt" })).toMatchObject({
      code: "exit_nonzero",
      text: "Error: Tool 'count_lines' ended with exit code 1.\nthere is no file 'none.txt'",
    });
  });
}

test("a skill in the sandbox cannot change itself, or see the host or the network", {
  tags: ["needs/bubblewrap"],
}, async () => {
  const options = skillFolder({
    "probe/skill.toml": oneTool("probe", "permissions = []"),
    "probe/bin/dt-probe": `#!/bin/sh
(echo x >> "$SKILL_DIR/skill.toml") 2>/dev/null && echo changed itself
cat /etc/shadow 2>/dev/null && echo saw shadow
ls /sys/class/net 2>/dev/null | grep -v lo
(exec 3<>/dev/tcp/127.0.0.1/1) 2>/dev/null
[ "$(grep -c : /proc/net/dev)" -le 1 ] || echo saw the network
echo x > written && echo done
`,
  });
  const environments = { bubblewrap: sandbox({ workspace: options.workspace, readable: [options.path] }) };
  const { set } = await loadSkills({ ...options, environments, engine: "bubblewrap" });
  expect((await callTool(toolOf(set, "probe"))).text).toBe("done\n");
});

test("docs/guides/skill.md shows the examples unchanged", () => {
  const docs = readFileSync(join(EXAMPLES, "../../docs/guides/skill.md"), "utf8");
  expect(docs).toContain(readFileSync(join(EXAMPLES, "count-lines/bin/dt-count_lines"), "utf8"));
  const note = readFileSync(join(EXAMPLES, "disk-note/skill.toml"), "utf8");
  expect(docs).toContain(
    note.slice(note.indexOf("[[tools.steps]]"), note.indexOf("[tools.metadata]")).trim(),
  );
  const guide = readGuide(readFileSync(join(EXAMPLES, "morning-report/SKILL.md"), "utf8"), "/");
  if (typeof guide === "string") throw new Error(guide);
  expect(docs).toContain(`name: ${guide.name}\ndescription: ${guide.description}\n---\n`);
  expect(docs).toContain(guide.instructions);
});

test("D12 a skill begins a job: its call is answered at once, and its output comes later as the job's result", async () => {
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const settings = testSettings(broker.port);
  const tools = { ...settings.tools, skillsPath: EXAMPLES, sandbox: "none" as const, browser: undefined };
  const agent = await readyAgent({ ...settings, tools }, { log: () => {}, toolbox: openToolbox });
  try {
    const command = { command: "tool", payload: { tool: "measure_load", parameters: { minutes: 0.03 } } };
    const { payload } = await peer.ask("eye", { ...command, request_id: "load" });
    expect(payload).toMatchObject({ status: "accepted", tool: "measure_load", job: expect.any(String) });
    const late = await until(() => peer.reports(String(payload.job))[0], { what: "the job's result" });
    expect(late.payload).toMatchObject({
      status: "success",
      tool: "measure_load",
      job_of: "load",
      result: expect.stringMatching(/^load over 1 s: least \d+\.\d+, mean \d+\.\d+, most \d+\.\d+\n$/),
      exit_code: 0,
    });
    // A wrong argument is reported at once, and begins nothing.
    const wrong = { command: "tool", payload: { tool: "measure_load", parameters: {} }, request_id: "wrong" };
    expect((await peer.ask("eye", wrong)).payload).toMatchObject({ error_type: "invalid_params" });
  } finally {
    await agent.stop();
    await peer.stop();
    await broker.stop();
  }
});

test("a sensor that watches itself: its level is a reading, and its job says events that a rule waits for", async () => {
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const settings = testSettings(broker.port);
  const { workspace } = settings.tools;
  const tools = { ...settings.tools, skillsPath: EXAMPLES, sandbox: "none" as const, browser: undefined };
  const agent = await readyAgent({ ...settings, tools }, { log: () => {}, toolbox: openToolbox });
  const tank = (level: number) => writeFileSync(join(workspace, "tank.txt"), `${level}\n`);
  try {
    tank(50);
    const listed = await peer.ask("eye", {
      command: "readings",
      payload: { reading: "tank_level" },
      request_id: "list",
    });
    expect(listed.payload.readings).toMatchObject([
      { name: "tank_level", type: "number", unit: "%", now: { value: 50 } },
    ]);
    const job = {
      command: "tool",
      payload: { tool: "tank_watch", parameters: { minutes: 1 } },
      request_id: "job",
    };
    expect((await peer.ask("eye", job)).payload).toMatchObject({ status: "accepted" });
    const level = { reading: "tank_level", type: "number", is: "below", value: 20, unit: "%", hysteresis: 1 };
    const event = { reading: "tank_low", type: "text", is: "happens", hysteresis: 0 };
    const set = [level, event].map((one, n) => ({
      check_s: 10,
      condition: {
        ...{ id: `w-000${n}`, version: 1, repeat: "each_time", tell_own: false },
        ...{ hold_ms: 0, clear_hold_ms: 0, ...one },
      },
    }));
    const answer = await peer.ask("eye", { command: "watch_set", payload: { set }, request_id: "set" });
    expect(answer.payload).toMatchObject({ rules: { "w-0000": 1, "w-0001": 1 }, refused: [] });
    tank(12);
    const change = (id: string) =>
      until(() => peer.events(id, "event")[0]?.payload.change, { within: 30_000 });
    expect(await change("w-0001:1")).toMatchObject({ state: "firing", value: "12", count: 1 });
    expect(await change("w-0000:1")).toMatchObject({ state: "firing", value: 12, unit: "%" });
  } finally {
    await agent.stop();
    await peer.stop();
    await broker.stop();
  }
}, 60_000);

test("tools made of tools: one writes what another found, and one asks when the log cannot be read", {
  tags: ["needs/ripgrep"],
}, async () => {
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const settings = testSettings(broker.port);
  const { workspace } = settings.tools;
  const tools = { ...settings.tools, skillsPath: EXAMPLES, sandbox: "none" as const, browser: undefined };
  const policy = new Map([["disk_note", "allow" as const]]);
  const agent = await readyAgent({ ...settings, tools, policy }, { log: () => {}, toolbox: openToolbox });
  const call = async (tool: string, parameters: object) =>
    (
      await peer.ask("eye", {
        command: "tool",
        payload: { tool, parameters },
        request_id: crypto.randomUUID(),
      })
    ).payload;
  try {
    expect(await call("disk_note", { path: "notes/disk.txt" })).toMatchObject({
      status: "success",
      result: expect.stringMatching(/^Created notes\/disk\.txt/),
      calls: [{ name: "disk" }, { name: "write" }],
    });
    expect(readFileSync(join(workspace, "notes/disk.txt"), "utf8")).toMatch(/%/);

    writeFileSync(join(workspace, "app.log"), "started\nerror: no disk\n");
    expect(await call("log_watch", { path: "app.log", pattern: "error" })).toMatchObject({
      status: "success",
      result: expect.stringContaining("app.log:2: error: no disk"),
      tainted: true,
    });

    const asked = crypto.randomUUID();
    const payload = { tool: "log_watch", parameters: { path: "gone.log", pattern: "error" } };
    await peer.command("eye", { command: "tool", payload, request_id: asked });
    const question = await until(() => peer.events(asked, "question")[0], { what: "the question" });
    const { question_id } = question.payload as { question_id: string };
    await peer.ask("eye", {
      command: "answer",
      payload: { question_id, answer: "app.log" },
      request_id: crypto.randomUUID(),
    });
    const report = await until(() => peer.reports(asked)[0], { what: "the report" });
    expect(report.payload).toMatchObject({
      status: "success",
      result: expect.stringMatching(
        /^Step 1 of 3 \('log': read\) failed: [\s\S]*The user answered: app\.log$/,
      ),
    });
  } finally {
    await agent.stop();
    await peer.stop();
    await broker.stop();
  }
});
