import { LedgerFile } from "@edgecall/node/ledger-file.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../../test/wait.ts";
import { type Peer, readyAgent, testSettings } from "../testing/home.ts";
import { type Served, serve } from "../testing/served.ts";
import { probe } from "../testing/tools.ts";

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
  test("runs and answers in the seed's form", async () => {
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

  test("a call that is done at once sends no separate acceptance", async () => {
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

  test("D12 a command without a request_id gets an error that names the field", async () => {
    for (const text of ['{"command":"ping","payload":{}}', '{"command":"ping","request_id":7}', "hello"]) {
      const before = served.peer.received.length;
      await served.peer.send("eye", text);
      const answer = await until(() =>
        served.peer.received.slice(before).find(({ payload }) => payload.report_type === "error"),
      );
      expect(answer.payload.payload, text).toEqual({
        error: expect.stringMatching(
          text === "hello" ? /^invalid command: / : /request_id: .*expected string/,
        ),
      });
    }
  });

  test("D14 without parameters a tool is called with an empty object", async () => {
    expect(await ask("tool", { tool: "cpu" })).toMatchObject({
      report_type: "result",
      payload: { status: "success", tool: "cpu" },
    });
  });

  test("an image comes next to the text", async () => {
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

  test("of two copies at once one runs; the other is answered as accepted", async () => {
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

test("unknown commands, including trade and risk", async () => {
  for (const command of ["message", "trade", "risk"]) {
    expect(await ask(command)).toMatchObject({
      report_type: "error",
      payload: { error: `unknown command: ${command}`, request_id: served.lastId() },
    });
  }
});

describe("evoclaw/broadcast", () => {
  const broadcast = (text: string) => served.peer.broadcast(text);

  test("D16 every agent runs and answers a command there, as EvoClaw's agents do", async () => {
    const request_id = served.nextId();
    await broadcast(JSON.stringify({ command: "ping", payload: {}, request_id }));
    const report = await until(() => served.peer.reports(request_id)[0], { what: "the answer" });
    expect(report).toMatchObject({ agent_id: "eye", report_type: "result", payload: { pong: true } });
    const tool = served.nextId();
    const command = { command: "tool", payload: { tool: "cpu", parameters: {} }, request_id: tool };
    await broadcast(JSON.stringify(command));
    expect((await until(() => served.peer.reports(tool)[0])).payload).toMatchObject({ status: "success" });
    await broadcast(JSON.stringify({ command: "nonsense", payload: {}, request_id: "b-3" }));
    expect(await until(() => served.peer.reports("b-3")[0])).toMatchObject({
      report_type: "error",
      payload: { error: "unknown command: nonsense" },
    });
  });

  test("D16 other messages there get no answer and do no harm", async () => {
    const before = served.peer.received.filter(({ kind }) => kind === "reports").length;
    for (const text of ['{"content":"hello","sent_at":1}', "hello", '{"command":"ping","payload":{}}', ""])
      await broadcast(text);
    // The agent reads in order, so this answer shows that the earlier messages were read.
    const request_id = served.nextId();
    await broadcast(JSON.stringify({ command: "ping", payload: {}, request_id }));
    await until(() => served.peer.reports(request_id)[0]);
    const said = served.peer.received.filter(
      ({ kind, payload }) => kind === "reports" && payload.report_type !== "heartbeat",
    );
    expect(said.slice(-1)[0]?.payload.payload).toMatchObject({ request_id });
    expect(served.peer.received.filter(({ kind }) => kind === "reports").length).toBeLessThanOrEqual(
      before + 2,
    );
  });
});

describe("shutdown", () => {
  const say = (id: string, command: string, payload: object = {}, more: object = {}) =>
    served.peer.ask(id, { command, payload, request_id: served.nextId(), ...more });
  const caller = (role: string) => ({ caller: { principal: "pat", role, channel: "api" } });

  test("not without the owner's permission in agent.toml", async () => {
    const { payload } = await say("eye", "shutdown", {}, caller("owner"));
    expect(payload.error).toContain("allow_shutdown = true");
  });

  test("a named caller must be the owner", async () => {
    const mortal = await served.start({ agentId: "mortal", allowShutdown: true });
    for (const role of ["guest", "member"]) {
      expect(await say("mortal", "shutdown", {}, caller(role))).toMatchObject({
        report_type: "error",
        payload: { error: `shutdown is not allowed for 'pat' (${role}): only the owner may. Ask the owner.` },
      });
    }
    expect((await say("mortal", "ping")).payload.pong).toBe(true);
    expect((await say("mortal", "shutdown", {}, caller("owner"))).payload.status).toBe("shutting_down");
    await mortal.stopped;
  });

  test("D12 shutdown answers before the agent ends, also with a slow card", async () => {
    const mortal = await served.start({ agentId: "mortal3", allowShutdown: true });
    const sync = LedgerFile.prototype.sync;
    // A synced write on a worn card takes seconds.
    const slow = vi.spyOn(LedgerFile.prototype, "sync").mockImplementation(async function (this: LedgerFile) {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return await sync.call(this);
    });
    try {
      expect((await say("mortal3", "shutdown")).payload.status).toBe("shutting_down");
      await mortal.stopped;
    } finally {
      slow.mockRestore();
    }
    const heard = served.peer.received.filter(({ topic }) => topic.includes("/mortal3/"));
    const at = (kind: string, word: string) =>
      heard.findLastIndex((one) => one.kind === kind && JSON.stringify(one.payload).includes(word));
    expect(at("reports", "shutting_down")).toBeGreaterThanOrEqual(0);
    expect(at("reports", "shutting_down")).toBeLessThan(at("presence", "offline"));
  }, 30_000);

  test("a caller without a name is the LAN's orchestrator", async () => {
    const mortal = await served.start({ agentId: "mortal2", allowShutdown: true });
    expect((await say("mortal2", "shutdown")).payload.status).toBe("shutting_down");
    await mortal.stopped;
  });
});
