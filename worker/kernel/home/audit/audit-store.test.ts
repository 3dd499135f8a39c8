import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { describe, expect, test } from "vitest";
import { passed } from "../../../../test/keyed-home.ts";
import { madeHome } from "../../../../test/made-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import type { AuditPage } from "../../api/audit.ts";
import { AuditStore } from "./audit-store.ts";

const line = (timestamp: string, tool: string, more = {}) => ({
  timestamp,
  agent_id: "somebody-else",
  tool,
  parameters: { unit: "celsius" },
  result: "success",
  exit_code: null,
  elapsed_ms: 3,
  call_id: "c",
  request_id: "r",
  caller: { principal: "anna", role: "owner", channel: "api" },
  ...more,
});

async function tell(bridge: TestBridge, id: string, lines: unknown[], from = "pi") {
  const payload = JSON.stringify({ type: "audit", request_id: id, lines });
  bridge.send({ t: "event", id, agent: from, payload });
  await until(() => bridge.acks().includes(id), { what: `the ack of ${id}` });
}

async function entries(query = "", token = TOKENS.owner) {
  const response = await ask(`/v1/audit${query}`, { token });
  const body = (await response.json()) as { entries?: Array<ReturnType<typeof line>>; error?: unknown };
  return { status: response.status, ...body };
}

describe("the audit log", () => {
  test("is stored once under the topic's agent, and found newest first", async () => {
    const bridge = await TestBridge.connect([agent("pi"), agent("eye")]);
    const first = line("2026-11-22T10:00:00.000Z", "cpu");
    await tell(bridge, "audit-1", [first]);
    // Its acknowledgement was lost, and another line was added since: the batch replaces itself.
    const second = line("2026-11-22T10:01:00.000Z", "disk", { result: "error", error_type: "timeout" });
    bridge.received.length = 0;
    await tell(bridge, "audit-1", [first, second]);
    await tell(bridge, "audit-9", [line("2026-11-22T10:00:30.000Z", "snapshot")], "eye");
    const all = await entries();
    expect(all.entries?.map(({ agent_id, tool }) => [agent_id, tool])).toEqual([
      ["pi", "disk"],
      ["eye", "snapshot"],
      ["pi", "cpu"],
    ]);
    expect(all.entries?.[2]).toEqual({ ...first, agent_id: "pi" });
    expect((await entries("?agent=pi&result=error")).entries).toHaveLength(1);
    expect((await entries("?tool=cpu")).entries).toHaveLength(1);
    expect((await entries("?since=2026-11-22T10:00:20Z&until=2026-11-22T10:00:40Z")).entries).toMatchObject([
      { tool: "snapshot" },
    ]);
    expect((await entries("?limit=1")).entries).toMatchObject([{ tool: "disk" }]);
    expect((await entries("", TOKENS.otherHome)).entries).toEqual([]);
  });

  test("is for an administrator, and a wrong query is reported", async () => {
    expect((await entries("", TOKENS.guest)).status).toBe(403);
    expect(await entries("?limit=0")).toMatchObject({
      status: 400,
      error: { message: "limit: expected a whole number from 1 to 1000" },
    });
    expect((await entries("?since=yesterday")).status).toBe(400);
    expect((await entries("?result=maybe")).status).toBe(400);
  });
});

const storedLine = (timestamp: string, tool: string, more: Partial<AuditLine> = {}) =>
  ({ ...line(timestamp, tool), ...more }) as AuditLine;

/** A separate audit log with these variables. */
async function record<T>(
  vars: Variables,
  work: (audit: AuditStore, ctx: DurableObjectState) => T,
): Promise<T> {
  const stub = await madeHome();
  return await runInDurableObject(stub, (_, ctx) => work(new AuditStore(ctx.storage, vars), ctx));
}
const rowsIn = ({ storage }: DurableObjectState) =>
  storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM audit").one().n;

describe("is bounded", () => {
  const DAY_MS = 86_400_000;
  const NOW = Date.parse("2026-11-22T12:00:00Z");
  const toolsOf = (audit: AuditStore) => {
    const tools: string[] = [];
    let page: AuditPage = { batches: [], after: 0, more: true };
    while (page.more) {
      page = audit.page(page.after);
      tools.push(...page.batches.flatMap(({ lines }) => lines.map(({ tool }) => tool)));
    }
    return tools;
  };

  test("by age, on Home's clock", async () => {
    await record({ AUDIT_KEEP_DAYS: "2" }, (audit) => {
      // A device without a clock, and one whose clock is far ahead.
      audit.add("pi", "1", [storedLine("1970-01-01T00:00:00.000Z", "old")], NOW - 2 * DAY_MS - 1);
      audit.add("pi", "2", [storedLine("2099-01-01T00:00:00.000Z", "young")], NOW - 2 * DAY_MS);
      audit.add("pi", "3", [storedLine("1970-01-01T00:00:00.000Z", "new")], NOW);
      expect(toolsOf(audit)).toEqual(["young", "new"]);
      audit.prune(NOW + 10 * DAY_MS);
      expect(toolsOf(audit)).toEqual([]);
    });
  });

  test("S19 when it is full, lines of the agent with the most are dropped", async () => {
    await record({ AUDIT_KEEP_MB: "1" }, (audit, ctx) => {
      const parameters = "x".repeat(20_000);
      const put = (agent: string, id: string, tool: string, at: number) =>
        audit.add(agent, id, [storedLine("2026-11-22T10:00:00.000Z", tool, { parameters })], at);
      for (let n = 0; n < 5; n += 1) put("quiet", String(n), `quiet-${n}`, NOW + n);
      for (let n = 0; n < 100; n += 1) put("loud", String(n), `loud-${n}`, NOW + 10 + n);
      // Repeated, and changed: neither is counted twice.
      for (let n = 0; n < 100; n += 1) put("loud", "same", `same-${n % 3 === 0}`, NOW + 200 + n);
      const kept = toolsOf(audit);
      expect(kept.filter((tool) => tool.startsWith("quiet"))).toHaveLength(5);
      expect(kept.filter((tool) => tool.startsWith("loud")).length).toBeGreaterThan(30);
      const { bytes } = ctx.storage.sql
        .exec<{ bytes: number }>("SELECT SUM(length(CAST(lines AS BLOB))) AS bytes FROM audit")
        .one();
      expect(bytes).toBeLessThanOrEqual(1024 * 1024 + 21_000);
      const { counted } = ctx.storage.sql
        .exec<{ counted: number }>("SELECT SUM(bytes) AS counted FROM audit_share")
        .one();
      expect(counted).toBe(bytes);
    });
  });

  test("by size, in bytes, and without reading its content", async () => {
    await record({ AUDIT_KEEP_MB: "1" }, (audit, ctx) => {
      // Of 3 bytes each: 10 of them exceed 1 MiB.
      const parameters = "漢".repeat(40_000);
      for (let n = 0; n < 30; n += 1)
        audit.add(
          "pi",
          String(n),
          [storedLine("2026-11-22T10:00:00.000Z", `t${n}`, { parameters })],
          NOW + n,
        );
      const kept = toolsOf(audit);
      expect(kept).toHaveLength(9);
      expect(kept.at(-1)).toBe("t29");
      const { sql } = ctx.storage;
      const cost = { read: 0, written: 0 };
      const exec = sql.exec.bind(sql);
      sql.exec = (query: string, ...bindings: unknown[]) => {
        const cursor = exec(query, ...bindings);
        queueMicrotask(() => {
          cost.read += cursor.rowsRead;
          cost.written += cursor.rowsWritten;
        });
        return cursor as never;
      };
      audit.add("pi", "30", [storedLine("2026-11-22T10:00:00.000Z", "t30", { parameters })], NOW + 30);
      return Promise.resolve().then(() => {
        // A row with its key is added, and the oldest is deleted.
        expect(cost.written).toBe(3);
        expect(cost.read).toBeLessThan(10);
      });
    });
  });

  test("wrong settings delete nothing", async () => {
    await record({ AUDIT_KEEP_DAYS: "never" }, (audit, ctx) => {
      audit.add("pi", "1", [storedLine("2026-01-01T00:00:00.000Z", "old")], 1);
      audit.prune(NOW);
      expect(rowsIn(ctx)).toBe(1);
    });
  });
});

test("while somebody follows the record, agents that are online are asked for their lines, once in a while", async () => {
  const features = ["tool", "watch"];
  const bridge = await TestBridge.connect([
    agent("pi", { features }),
    agent("eye", { features }),
    agent("old"),
  ]);
  const asked = () =>
    bridge.received.flatMap((frame) => {
      if (frame.t !== "publish") return [];
      const { command, payload } = JSON.parse(frame.payload) as { command: string; payload: object };
      return command === "watch" ? [{ agent: frame.agent, payload }] : [];
    });
  await entries();
  await entries("?follow=yes&agent=pi");
  await until(() => asked().length === 1);
  await entries("?follow=yes");
  await entries("?follow=yes");
  await until(() => asked().length === 2);
  await passed(bridge);
  const payload = { record_ms: 40_000 };
  expect(asked()).toEqual([
    { agent: "pi", payload },
    { agent: "eye", payload },
  ]);
});

test("a repeated batch changes nothing; one with more lines replaces it", async () => {
  await record({}, (audit) => {
    const first = storedLine("2026-11-22T10:00:00.000Z", "cpu");
    audit.add("pi", "1", [first], 1_000);
    audit.add("eye", "1", [first], 1_000);
    expect(audit.page(0).after).toBe(1_001);
    audit.add("pi", "1", [first], 5_000);
    expect(audit.page(1_001)).toEqual({ batches: [], after: 1_001, more: false });
    audit.add("pi", "1", [first, storedLine("2026-11-22T10:01:00.000Z", "disk")], 6_000);
    expect(audit.page(1_001)).toMatchObject({ batches: [{ at: 6_000, lines: [{}, {}] }], after: 6_000 });
    expect(audit.page(0).batches.map(({ at }) => at)).toEqual([1_001, 6_000]);
  });
});

test("an agent that is not served cannot add lines", async () => {
  const stub = await madeHome();
  await runInDurableObject(stub, async (_, ctx) => {
    const home = new Home(ctx, { ...env, ALLOW_UNSIGNED_AGENTS: "evo" });
    const { 1: socket } = new WebSocketPair();
    ctx.acceptWebSocket(socket, ["bridge"]);
    const told = { token: "b", connectedAt: Date.now(), welcomed: true, told: true };
    socket.serializeAttachment(told);
    const lines = [storedLine("2026-11-22T10:00:00.000Z", "cpu")];
    for (const from of ["ghost", "evo"]) {
      const payload = JSON.stringify({ type: "audit", request_id: from, lines });
      await home.webSocketMessage(socket, JSON.stringify({ t: "event", id: from, agent: from, payload }));
    }
    expect((await home["audit.find"]({ limit: 9 })).map(({ agent_id }) => agent_id)).toEqual(["evo"]);
  });
});

test("the newest are found, whatever a device sends late", async () => {
  await record({}, (audit) => {
    const at = (minute: number) => new Date(Date.parse("2026-11-20T10:00:00Z") + minute * 60_000);
    for (let n = 0; n < 50; n += 1)
      audit.add("pi", String(n), [storedLine(at(n).toISOString(), `t${n}`)], at(n).getTime());
    // It was offline for three days.
    const old = Array.from({ length: 100 }, (_, n) => storedLine(`2026-11-17T10:00:00.${n + 100}Z`, "late"));
    audit.add("eye", "1", old, at(60).getTime());
    expect(audit.find({ limit: 3 }).map(({ tool }) => tool)).toEqual(["t49", "t48", "t47"]);
    expect(audit.find({ limit: 1_000 })).toHaveLength(150);
    expect(audit.find({ limit: 5, until: "2026-11-18" }).map(({ tool }) => tool)).toEqual(
      Array(5).fill("late"),
    );
  });
});

describe("calls that no device received", () => {
  test.each([
    { agent_id: "nobody", action: "siren", params: { loud: true } },
    { agent_id: "asleep", query: "are you there?" },
    { agent_id: "no agent's name", action: "siren" },
  ])("a model's call is logged with its refusal: $agent_id", async (args) => {
    await TestBridge.connect([agent("asleep", { online: false, last_seen: 1 })]);
    await say("refused", script({ calls: [{ arguments: args }] }, { text: "no" }));
    const of = args.agent_id.includes(" ") ? "-" : args.agent_id;
    const { entries: lines } = await entries(`?agent=${of}`);
    expect(lines).toEqual([
      {
        timestamp: expect.stringMatching(/^20/),
        agent_id: of,
        tool: args.action ?? "prompt",
        parameters: args.query === undefined ? (args.params ?? {}) : { prompt: args.query },
        result: "error",
        error_type: of === "asleep" ? "offline" : "not_found",
        error: expect.stringContaining(args.agent_id),
        exit_code: null,
        elapsed_ms: 0,
        call_id: expect.any(String),
        request_id: expect.any(String),
        caller: { principal: "anna", role: "owner", channel: "api", conversation: "refused" },
      },
    ]);
  });

  test("so is a command", async () => {
    const body = JSON.stringify({ command: "tool", payload: { tool: "cpu", parameters: { n: 1 } } });
    const response = await ask("/v1/agents/stranger/commands", { method: "POST", body });
    expect(response.status).toBe(404);
    expect((await entries("?agent=stranger")).entries).toMatchObject([
      { tool: "cpu", parameters: { n: 1 }, error_type: "not_found", caller: { principal: "anna" } },
    ]);
  });
});

test("so is a call that waited in vain for one of our agents", async () => {
  const slow = { ...CPU, name: "backup", queue_ms: 60_000 };
  await TestBridge.connect([agent("away", { online: false, last_seen: 1, tools: [slow] })]);
  await say(
    "waited",
    script({ calls: [{ arguments: { agent_id: "away", action: "backup" } }] }, { text: "ok" }),
  );
  expect((await entries("?agent=away")).entries).toEqual([]);
  const stub = await madeHome("a");
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("UPDATE call SET deadline = 1, ends_at = 1 WHERE agent = 'away'");
  });
  await runDurableObjectAlarm(stub);
  expect((await entries("?agent=away")).entries).toMatchObject([{ tool: "backup", result: "error" }]);
});

describe("GET /v1/audit/export", () => {
  const exported = async (query = "", token = TOKENS.owner) => {
    const response = await ask(`/v1/audit/export${query}`, { token });
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    return { response, lines: lines.map((one) => JSON.parse(one) as Record<string, unknown>) };
  };

  test("returns everything in pages, continues where it ended, and accepts the filter", async () => {
    const parameters = "x".repeat(20_000);
    await runInDurableObject(await madeHome("b"), (_, ctx) => {
      const audit = new AuditStore(ctx.storage, {});
      for (let n = 0; n < 40; n += 1)
        audit.add("pi", `e${n}`, [
          storedLine(`2026-11-22T10:${n + 10}:00.000Z`, `t${n % 2}`, { parameters }),
        ]);
    });
    const { response, lines } = await exported("", TOKENS.otherHome);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("content-disposition")).toMatch(/filename="edgecall-audit-b-20.*\.jsonl"/);
    const end = lines.at(-1);
    expect(end).toEqual({ end: true, lines: 40, after: lines.at(-2)?.seq });
    expect(lines.slice(0, -1).map(({ tool }) => tool)).toEqual(
      Array.from({ length: 40 }, (_, n) => `t${n % 2}`),
    );
    expect(new Set(lines.slice(0, -1).map(({ id }) => id)).size).toBe(40);
    expect(lines[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      agent_id: "pi",
      parameters,
    });

    const nothing = await exported(`?after=${end?.after}`, TOKENS.otherHome);
    expect(nothing.lines).toEqual([{ end: true, lines: 0, after: end?.after }]);
    await runInDurableObject(await madeHome("b"), (_, ctx) =>
      new AuditStore(ctx.storage, {}).add("pi", "new", [storedLine("2026-11-22T09:00:00.000Z", "news")]),
    );
    const since = await exported(`?after=${end?.after}`, TOKENS.otherHome);
    expect(since.lines).toMatchObject([{ tool: "news" }, { end: true, lines: 1 }]);

    const some = await exported("?tool=t1&since=2026-11-22T10:20Z&until=2026-11-22T10:30Z", TOKENS.otherHome);
    expect(some.lines).toHaveLength(6);
    expect(some.lines.slice(0, -1).every(({ tool }) => tool === "t1")).toBe(true);
  });

  test("is for an administrator of its own home, and a wrong query is reported", async () => {
    expect((await exported("", TOKENS.guest)).response.status).toBe(403);
    for (const query of ["?after=-1", "?after=x", "?until=tomorrow"])
      expect((await exported(query)).response.status).toBe(400);
    expect((await exported()).lines.some(({ tool }) => tool === "news")).toBe(false);
  });
});

describe("with an outside store", () => {
  const vars = { AUDIT_URL: "https://store.invalid", AUDIT_KEEP_DAYS: "1", AUDIT_KEEP_MB: "1" };
  const DAY_MS = 86_400_000;

  test("lines that wait for it are not deleted by age; too many are counted", async () => {
    await record(vars, (audit, ctx) => {
      const parameters = "é".repeat(150_000);
      for (let n = 1; n <= 3; n += 1)
        audit.add("pi", String(n), [storedLine("2026-11-22T10:00:00.000Z", "t", { parameters })], n);
      audit.prune(10 * DAY_MS);
      expect(rowsIn(ctx)).toBe(3);
      expect(audit.sinkState()).toMatchObject({ since: 1, lost: 0, problem: null });
      const outlet = audit.sink();
      outlet?.put({ sentTo: 2, tries: 0, retryAt: 0, problem: null, lost: 0 });
      audit.prune(10 * DAY_MS);
      expect(audit.page(0).batches.map(({ at }) => at)).toEqual([3]);
      for (let n = 4; n <= 8; n += 1)
        audit.add("pi", String(n), [storedLine("2026-11-22T10:00:00.000Z", "t", { parameters })], n);
      expect(audit.page(0).batches[0]?.at).toBe(5);
      expect(audit.sinkState()).toMatchObject({ since: 5, lost: 2 });
      const { sql } = ctx.storage;
      const { bytes } = sql
        .exec<{ bytes: number }>("SELECT SUM(length(CAST(lines AS BLOB))) AS bytes FROM audit")
        .one();
      expect(audit.sinkState()?.waiting).toBe(bytes);
    });
  });

  test("the alarm is set for it only while lines wait", async () => {
    const stub = await madeHome();
    await runInDurableObject(stub, async (_, ctx) => {
      const home = new Home(ctx, { ...env, ...vars });
      await ctx.storage.deleteAlarm();
      expect(await ctx.storage.getAlarm()).toBeNull();
      const now = Date.now();
      await home["calls.record"]("c", storedLine("2026-11-22T10:00:00.000Z", "webfetch"));
      const at = await until(() => ctx.storage.getAlarm());
      expect(at).toBeGreaterThanOrEqual(now + 60_000);
      expect(at).toBeLessThan(now + 120_000);
      new AuditStore(ctx.storage, vars)
        .sink()
        ?.put({ sentTo: now * 2, tries: 0, retryAt: 0, problem: null, lost: 0 });
      await ctx.storage.deleteAlarm();
      await home.alarm();
      expect(await ctx.storage.getAlarm()).toBeNull();
    });
  });

  test("a line that it cannot send is not retried forever", async () => {
    const stub = await madeHome();
    await runInDurableObject(stub, async (_, ctx) => {
      const home = new Home(ctx, { ...env, ...vars });
      const now = Date.now();
      ctx.storage.sql.exec("INSERT INTO audit VALUES (1, 1, 'pi', 'x', '2026', '2026', '{broken')");
      await home.alarm();
      const tries = () => new AuditStore(ctx.storage, vars).sink()?.get().tries;
      await until(() => tries() === 1);
      await home.alarm();
      expect(tries()).toBe(1);
      expect(await ctx.storage.getAlarm()).toBeGreaterThanOrEqual(now + 60_000);
    });
  });
});
