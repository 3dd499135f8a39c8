import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { type Peer, readyAgent, testSettings } from "./testing/home.ts";
import { type Served, serve } from "./testing/served.ts";
import { probe } from "./testing/tools.ts";

let served: Served;
let peer: Peer;
beforeAll(async () => {
  served = await serve();
  peer = served.peer;
});
afterAll(async () => await served.stop());

const nextId = () => served.nextId();
const ask = (...args: Parameters<Served["ask"]>) => served.ask(...args);
const tool = (...args: Parameters<Served["tool"]>) => served.tool(...args);
const start = (...args: Parameters<Served["start"]>) => served.start(...args);

describe("tool", () => {
  test("runs and answers in the seed's shape", async () => {
    const report = await tool("temperature");
    expect(report).toEqual({
      agent_id: "eye",
      agent_type: "monitor",
      report_type: "result",
      payload: {
        status: "success",
        tool: "temperature",
        result: "cpu-thermal: 48.3 °C",
        stderr: "",
        exit_code: 0,
        elapsed_ms: expect.any(Number),
        request_id: served.lastId(),
      },
      timestamp: expect.any(Number),
    });
    expect(Math.abs((report.timestamp as number) - Date.now() / 1_000)).toBeLessThan(5);
  });

  test("done at once needs no word of its own that it was taken", async () => {
    const { payload } = await tool("counted");
    expect(peer.events(payload.request_id as string)).toEqual([]);
  });

  test("failures are results that say what went wrong", async () => {
    expect((await tool("toaster")).payload).toMatchObject({
      status: "error",
      tool: "toaster",
      error: expect.stringContaining("Error: Tool 'toaster' not found. Available tools: counted, cpu, disk,"),
      error_type: "not_found",
      elapsed_ms: expect.any(Number),
    });
    expect((await tool("counted", { valu: "x" })).payload).toMatchObject({
      status: "error",
      error_type: "invalid_params",
      error: expect.stringContaining("Required: []. Optional: [value]."),
    });
    const slow = await ask("tool", { tool: "held", parameters: {}, timeout_ms: 50 });
    expect(slow.payload).toMatchObject({
      error_type: "timeout",
      error: expect.stringContaining("Error: Tool 'held' timed out after 0.1s."),
    });
  });

  test("a malformed command is a report of type error", async () => {
    expect(await ask("tool", { parameters: {} })).toMatchObject({
      report_type: "error",
      payload: { error: "missing tool name", request_id: served.lastId() },
    });
    expect(await ask("tool", { tool: "cpu" })).toMatchObject({
      report_type: "error",
      payload: { error: "missing parameters", request_id: served.lastId() },
    });
    expect((await ask("tool", { tool: "cpu", parameters: [] })).payload.error).toMatch(
      /^payload\.parameters: /,
    );
  });

  test("an image comes beside the words", async () => {
    expect((await tool("picture")).payload).toMatchObject({
      status: "success",
      result: "a picture",
      media: [{ media_type: "image/png", bytes: 3, data: "iVBO" }],
    });
  });

  test("a repeated request is answered from the ledger and run once", async () => {
    const runs = served.counted.runs.length;
    const command = {
      command: "tool",
      payload: { tool: "counted", parameters: { value: "once" } },
      request_id: nextId(),
    };
    const first = await peer.ask("eye", command);
    const again = await Promise.all([peer.ask("eye", command), peer.command("eye", command)]);
    await until(() => peer.reports(command.request_id).length === 3);
    expect(again[0]).toEqual(first);
    expect(served.counted.runs.slice(runs)).toEqual(["once"]);
  });

  test("of two copies at once one runs; the other hears that it is accepted", async () => {
    const slow = probe("slow", { holds: true });
    const other = await readyAgent(testSettings(served.port, { agentId: "two" }), {
      log: served.log,
      tools: [slow.tool],
    });
    const command = { command: "tool", payload: { tool: "slow", parameters: {} }, request_id: nextId() };
    await peer.command("two", command);
    await peer.command("two", command);
    await until(() => peer.events(command.request_id, "accepted").length === 2);
    slow.release();
    await until(() => peer.reports(command.request_id).length === 1);
    expect(slow.runs).toHaveLength(1);
    await other.stop();
  });
});

describe("EvoClaw's other commands", () => {
  test("ping, tools_list, get_metrics, skill", async () => {
    expect((await ask("ping")).payload).toEqual({ pong: true, request_id: served.lastId() });
    const { payload } = await ask("tools_list");
    expect(payload.count).toBe((payload.tools as unknown[]).length);
    expect((payload.tools as unknown[])[0]).toEqual({
      name: "counted",
      description: "A probe named counted.",
      parameters: expect.objectContaining({ type: "object" }),
    });
    const metrics = (await ask("get_metrics")).payload;
    expect(metrics).toMatchObject({
      agent_metrics: { actions_total: expect.any(Number), custom: {} },
      evolution_metrics: { win_rate: expect.any(Number) },
      fitness_score: expect.any(Number),
      request_id: served.lastId(),
    });
    const counts = metrics.agent_metrics as Record<string, number>;
    expect((counts.actions_success ?? 0) + (counts.actions_failed ?? 0)).toBe(counts.actions_total);
    expect((await ask("skill", { action: "list" })).payload).toMatchObject({
      status: "success",
      skills: [],
      count: 0,
    });
    expect((await ask("skill")).payload).toMatchObject({ status: "error", error: "missing action field" });
  });

  test("sensor", async () => {
    expect((await ask("sensor", { type: "temp" })).payload).toEqual({
      sensor: "temperature",
      success: true,
      data: { sensors: [{ name: "cpu-thermal", celsius: 48.312 }], text: "cpu-thermal: 48.3 °C" },
      error: null,
      request_id: served.lastId(),
    });
    const all = (await ask("sensor")).payload;
    expect(Object.keys(all.data as object)).toEqual(["temperature", "cpu", "memory", "disk", "system"]);
    expect(all).not.toHaveProperty("success");
    expect(await ask("sensor", { type: "smell" })).toMatchObject({
      report_type: "error",
      payload: {
        error: "unknown sensor type: smell. Available: temperature, cpu, memory, disk, system, all",
      },
    });
  });

  test("execute, evolution", async () => {
    expect((await ask("execute", { action: "x" })).payload).toMatchObject({
      status: "executed",
      type: "monitor",
      agent_type: "monitor",
    });
    expect((await ask("evolution", { action: "get_performance" })).payload).toMatchObject({
      status: "success",
      performance: { total_pnl: 0 },
    });
    expect((await ask("evolution")).payload.status).toBe("evolution_command_received");
  });

  test("strategies and a genome are checked and kept over a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    const first = await start({ agentId: "taught", folder });
    const say = (command: string, payload: Record<string, unknown>) =>
      peer.ask("taught", { command, payload, request_id: nextId() });
    expect(
      (await say("update_strategy", { action: "add_mean_reversion", support_level: 3 })).payload,
    ).toMatchObject({
      status: "strategy_added",
      strategy: "MeanReversion",
      params: { support_level: 3, resistance_level: 2, position_size_usd: 1_000 },
    });
    const update = { action: "update_params", strategy: "MeanReversion", params: { support_level: 4 } };
    expect((await say("update_strategy", update)).payload.status).toBe("strategy_updated");
    expect((await say("update_strategy", { ...update, strategy: "No" })).report_type).toBe("error");
    const genome = {
      identity: { name: "Alex", persona: "calm", voice: "concise" },
      skills: { see: { enabled: true, params: {} }, hear: { enabled: false, params: {} } },
      behavior: { risk_tolerance: 0.2, verbosity: 0.1, autonomy: 0.5 },
      constraints: {},
    };
    expect((await say("update_genome", { genome })).payload).toMatchObject({
      status: "genome_updated",
      identity: "Alex",
      enabled_skills: ["see"],
      behavior: { autonomy: 0.5 },
    });
    const wrong = { ...genome, behavior: { ...genome.behavior, autonomy: 7 } };
    expect((await say("update_genome", { genome: wrong })).payload.error).toMatch(
      /invalid genome: behavior\.autonomy/,
    );
    await first.stop();
    const second = await start({ agentId: "taught", folder });
    expect((await say("update_strategy", { action: "get_params" })).payload).toMatchObject({
      strategies: { MeanReversion: { support_level: 4, resistance_level: 2 } },
      count: 1,
    });
    expect((await say("update_strategy", { action: "reset" })).payload.status).toBe("strategies_reset");
    await second.stop();
  });

  test("unknown commands, trade and risk among them", async () => {
    for (const command of ["message", "trade", "risk"]) {
      expect(await ask(command)).toMatchObject({
        report_type: "error",
        payload: { error: `unknown command: ${command}`, request_id: served.lastId() },
      });
    }
  });

  test("shutdown only when it is allowed", async () => {
    expect((await ask("shutdown")).payload.error).toContain("allow_shutdown = true");
    const mortal = await start({ agentId: "mortal", allowShutdown: true });
    const { payload } = await peer.ask("mortal", { command: "shutdown", request_id: nextId() });
    expect(payload.status).toBe("shutting_down");
    await mortal.stopped;
  });
});
