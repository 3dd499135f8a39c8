import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { Skills } from "../skills/skills.ts";
import { genome } from "../testing/genome.ts";
import { type Served, serve } from "../testing/served.ts";
import { oneTool, put, skillFolder } from "../testing/skill-folder.ts";

type Fields = Record<string, unknown>;

const says = (words: string) => `#!/bin/sh\necho ${words}\n`;
const permitted = 'permissions = ["file_read"]\ntimeout_ms = 7000';

let served: Served;
let skills: Skills;
let folder: string;
beforeAll(async () => {
  served = await serve();
  const options = skillFolder({
    "old/skill.toml": oneTool("fetch_words", permitted, "1.0.0"),
    "old/bin/dt-fetch_words": says("old"),
    "new/skill.toml": oneTool("fetch_words", permitted, "2.0.0"),
    "new/bin/dt-fetch_words": says("new"),
    "own/skill.toml": oneTool("cpu"),
    "own/bin/dt-cpu": says("cpu"),
    "guide/SKILL.md": "---\nname: tidy\ndescription: How to tidy up\n---\nPut it away.",
  });
  folder = options.path;
  skills = await Skills.open(options);
  await served.start({ agentId: "skilled" }, { skills });
});
afterAll(async () => await served.stop());

const say = async (command: string, payload: Fields = {}): Promise<Fields> =>
  (await served.peer.ask("skilled", { command, payload, request_id: served.nextId() })).payload;
const call = (tool: string) => say("tool", { tool, parameters: {} });
const toolNamed = async (name: string) =>
  ((await say("tools_list")).tools as Fields[]).find((tool) => tool.name === name);
const unavailable = async () => (await say("tools_list")).unavailable as Array<{ name: string; why: string }>;
const advert = () =>
  served.peer.received
    .filter(({ topic, kind }) => kind === "tools" && topic.includes("/skilled/"))
    .map(({ payload }) => (payload.tools as Fields[]).map(({ name }) => name))
    .at(-1);

test("ping", async () => {
  expect(await say("ping")).toEqual({ pong: true, request_id: served.lastId() });
});

test("tools_list: every tool with its schema and EvoClaw's block, and the reasons for missing ones", async () => {
  const list = await say("tools_list");
  const tools = list.tools as Fields[];
  expect(list.count).toBe(tools.length);
  expect(tools.find(({ name }) => name === "counted")).toEqual({
    name: "counted",
    description: "A probe named counted.",
    parameters: expect.objectContaining({ type: "object" }),
    evoclaw: {
      binary: "built-in",
      timeout_ms: expect.any(Number),
      sandbox: false,
      permissions: [],
      version: VERSION,
      skill: "edgecall",
    },
  });
  expect(tools.find(({ name }) => name === "fetch_words")).toEqual({
    name: "fetch_words",
    description: "Does fetch_words",
    parameters: expect.objectContaining({ type: "object" }),
    evoclaw: {
      binary: expect.stringContaining("dt-fetch_words"),
      timeout_ms: 7_000,
      sandbox: false,
      permissions: ["file_read"],
      version: "2.0.0",
      skill: "new",
    },
  });
  expect(tools.find(({ name }) => name === "cpu")).toMatchObject({ evoclaw: { skill: "edgecall" } });
  expect(list.unavailable).toContainEqual({
    name: "cpu",
    why: "skill 'own': the agent has a 'cpu' of its own",
  });
});

test("get_metrics: EvoClaw's figures, those of each tool, and the version of the genome", async () => {
  await served.tool("counted");
  await served.tool("counted", { wrong: 1 });
  const { payload } = await served.ask("get_metrics");
  expect(payload).toEqual({
    agent_metrics: {
      uptime_sec: expect.any(Number),
      actions_total: 2,
      actions_success: 1,
      actions_failed: 1,
      memory_bytes: expect.any(Number),
      custom: {},
    },
    evolution_metrics: expect.objectContaining({ win_rate: 50, total_trades: 2, total_pnl: 0 }),
    fitness_score: expect.any(Number),
    basis: "tools",
    tools: {
      counted: {
        calls: 2,
        success: 1,
        error: 1,
        timeout: 0,
        avg_latency_ms: expect.any(Number),
        last_error: expect.stringContaining("Invalid parameters for 'counted'"),
        last_error_time: expect.stringMatching(/Z$/),
      },
    },
    profile_version: 0,
    request_id: served.lastId(),
  });
});

test("skill: the list and single skills, in EvoClaw's fields and ours; errors in EvoClaw's words", async () => {
  const { skills: rows, count } = await say("skill", { action: "list" });
  expect(count).toBe(4);
  expect((rows as Fields[]).map(({ name, enabled }) => [name, enabled])).toEqual([
    ["new", true],
    ["old", true],
    ["own", false],
    ["tidy", true],
  ]);
  expect(await say("skill", { action: "status", skill: "new" })).toMatchObject({
    status: "success",
    skill: {
      name: "new",
      enabled: true,
      capabilities: ["fetch_words"],
      tick_interval_secs: 0,
      last_tick: null,
      version: "2.0.0",
    },
  });
  expect(await say("skill", { action: "status", skill: "old" })).toMatchObject({
    skill: { capabilities: ["fetch_words@1.0.0"] },
  });
  expect((await say("skill", { action: "status", skill: "no" })).error).toBe("skill 'no' not found");
  expect((await say("skill", { action: "status" })).error).toBe("missing skill name");
  expect(await say("skill", { action: "dance" })).toMatchObject({
    status: "error",
    error: "unknown skill action: dance",
  });
  expect(await say("skill")).toMatchObject({ status: "error", error: "missing action field" });
});

test("a listing includes a skill that was just added, and it can be called", async () => {
  put(folder, { "late/skill.toml": oneTool("late"), "late/bin/dt-late": says("late") });
  expect(await toolNamed("late")).toMatchObject({ evoclaw: { skill: "late" } });
});

test("a skill that the genome disables is neither offered nor run, in any version; an older skill with its tool takes its place", async () => {
  expect((await toolNamed("fetch_words"))?.evoclaw).toMatchObject({ version: "2.0.0" });
  const disabled = { new: { enabled: false }, tidy: { enabled: false }, trading: { enabled: true } };
  expect(await say("update_genome", { genome: genome({ skills: disabled }) })).toMatchObject({
    status: "genome_updated",
    enabled_skills: ["trading"],
    notes: ["skills: not installed here: trading"],
    version: 1,
  });
  expect((await toolNamed("fetch_words"))?.evoclaw).toMatchObject({ version: "1.0.0", skill: "old" });
  expect(await call("fetch_words@2.0.0")).toMatchObject({ status: "error", error_type: "not_found" });
  expect(await unavailable()).toContainEqual({ name: "new", why: "skill: disabled by this agent's genome" });
  expect(await say("skill", { action: "status", skill: "tidy" })).toMatchObject({
    skill: { enabled: false },
  });

  await say("update_genome", { genome: genome({ skills: { ...disabled, old: { enabled: false } } }) });
  expect(await toolNamed("fetch_words")).toBeUndefined();
  expect(await call("fetch_words")).toMatchObject({
    status: "error",
    error: expect.stringContaining("Tool 'fetch_words' not found. Available tools:"),
  });
  await until(() => !advert()?.includes("fetch_words"), { what: "the advert is taken back" });

  await say("update_genome", { action: "reset" });
  expect((await toolNamed("fetch_words"))?.evoclaw).toMatchObject({ version: "2.0.0" });
  await until(() => advert()?.includes("fetch_words"), { what: "it is advertised again" });
});

test("get_metrics with recent: the last calls, newest first, only for the owner", async () => {
  const owner = { principal: "anna", role: "owner", channel: "api" };
  await served.tool("counted", {}, { caller: owner });
  await served.tool("counted", { wrong: 2 }, { caller: owner });
  const { payload } = await served.ask("get_metrics", { recent: 2 }, { caller: owner });
  expect(payload.recent_calls).toEqual([
    expect.objectContaining({ tool: "counted", parameters: { wrong: 2 }, result: "error", caller: owner }),
    expect.objectContaining({ tool: "counted", parameters: {}, result: "success", caller: owner }),
  ]);
  const guest = { ...owner, principal: "gus", role: "guest" };
  const refused = await served.ask("get_metrics", { recent: 2 }, { caller: guest });
  expect(refused.payload).toMatchObject({ error: expect.stringContaining("not allowed for 'gus'") });
  expect((await served.ask("get_metrics", {}, { caller: guest })).payload).toHaveProperty("tools");
  for (const recent of [0, 201, 1.5, "all"])
    expect((await served.ask("get_metrics", { recent })).payload.error).toMatch(
      /payload\.recent: right would be/,
    );
});
