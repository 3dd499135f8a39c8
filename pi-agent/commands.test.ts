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
    expect((await ask("tool", { tool: "cpu", parameters: [] })).payload.error).toMatch(
      /^payload\.parameters: /,
    );
  });

  test("D12 a command without a request_id is answered, in words that name the field", async () => {
    for (const text of ['{"command":"ping","payload":{}}', '{"command":"ping","request_id":7}', "hello"]) {
      const before = served.peer.heard.length;
      await served.peer.send("eye", text);
      const answer = await until(() =>
        served.peer.heard.slice(before).find(({ payload }) => payload.report_type === "error"),
      );
      expect(answer.payload.payload, text).toEqual({
        error: expect.stringMatching(
          text === "hello" ? /^invalid command: / : /request_id: .*expected string/,
        ),
      });
    }
  });

  test("D14 without parameters a tool is called with none", async () => {
    expect(await ask("tool", { tool: "cpu" })).toMatchObject({
      report_type: "result",
      payload: { status: "success", tool: "cpu" },
    });
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

test("unknown commands, trade and risk among them", async () => {
  for (const command of ["message", "trade", "risk"]) {
    expect(await ask(command)).toMatchObject({
      report_type: "error",
      payload: { error: `unknown command: ${command}`, request_id: served.lastId() },
    });
  }
});
