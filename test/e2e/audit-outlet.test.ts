/** The audit log is sent to a real libSQL server: every line arrives exactly once, whatever happens on the way. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { bundleWorker } from "../../local/bundles.ts";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { childrenNamed } from "../../local/workerd-guard.ts";
import { sampleOf } from "../sample-of.ts";
import { Sqld } from "../sqld.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { FaultyLine } from "./faulty-line.ts";

describe("with sqld", { tags: ["needs/sqld"] }, () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-audit-"));
  const log: string[] = [];
  let server: Sqld;
  let line: FaultyLine;
  let bundle: string;
  let gateway: Gateway;

  const start = (vars: Record<string, string> = {}) =>
    startWorker({
      port: 0,
      dir,
      bundle,
      onLog: (text) => log.push(text),
      vars: {
        ...testVars,
        AUDIT_URL: line.url,
        AUDIT_TOKEN: server.token,
        AUDIT_SEND_EVERY_S: "1",
        AUDIT_KEEP_MB: "1",
        ...vars,
      },
    });

  beforeAll(async () => {
    server = await Sqld.start();
    line = await FaultyLine.open(server.url);
    bundle = await bundleWorker();
    gateway = await start();
  });
  afterEach(() => {
    line.fault = "none";
    line.release();
  });
  afterAll(async () => {
    await gateway?.stop();
    await line?.close();
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.url}${path}`, { ...init, headers: { authorization: `Bearer ${TOKENS.owner}` } });

  /** Sends a command to an unknown agent. Home refuses it and records that in the audit log. */
  async function refused(mark: string): Promise<void> {
    const payload = { tool: "siren", parameters: { mark } };
    const body = JSON.stringify({ command: "tool", payload });
    expect((await ask("/v1/agents/nobody/commands", { method: "POST", body })).status).toBe(404);
  }

  type State = { waiting: number; since: number | null; problem: string | null; lost: number };
  const state = async () => ((await (await ask("/v1/status")).json()) as { audit: State }).audit;
  const arrived = async (mark: string) => {
    const sql = `SELECT COUNT(*) AS n FROM edgecall_calls WHERE parameters ->> 'mark' = '${mark}'`;
    // The table is created with the first line.
    return Number((await server.query(sql).catch(() => []))[0]?.n ?? 0);
  };
  const hasArrived = (mark: string, times = 1) =>
    until(async () => (await arrived(mark)) === times, { what: `${times} lines of ${mark} in the store` });
  const isQuiet = () => until(async () => (await state()).waiting === 0, { what: "nothing waits" });

  /** Sends audit lines as a bridge brings them. @param chars the length of each line's parameters */
  async function bringLines(ids: readonly string[], lines: number, text: string): Promise<void> {
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/bridge`, {
      headers: { authorization: `Bearer ${TOKENS.bridge}` },
    });
    const acks = new Set<string>();
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { t: string; id: string };
      if (frame.t === "ack") acks.add(frame.id);
      if (frame.t !== "welcome") return;
      for (const id of ids) {
        const batch = Array.from({ length: lines }, (_, n) => ({
          timestamp: new Date(1_795_000_000_000 + n).toISOString(),
          agent_id: "pi",
          tool: "camera",
          parameters: { mark: id, n, text },
          result: "success",
          exit_code: null,
          elapsed_ms: 1.5,
          call_id: `${id}-${n}`,
          request_id: id,
          caller: { principal: "anna", role: "owner", channel: "api" },
        }));
        const payload = JSON.stringify({ type: "audit", request_id: id, lines: batch });
        socket.send(JSON.stringify({ t: "event", id, agent: "pi", payload }));
      }
    });
    socket.on("open", () =>
      socket.send(JSON.stringify({ t: "hello", protocol: 1, bridge: "test", version: "0" })),
    );
    await until(() => ids.every((id) => acks.has(id)), { what: "the acks" });
    socket.close();
  }

  test("the database has what a query needs: columns, a view, and the key that an export has too", async () => {
    const odd = "half \ud83d, none \u0000, 'quoted' \"twice\" \\ud83d 🦔";
    await refused(odd);
    const rows = await until(async () => {
      const found = await server.query("SELECT * FROM edgecall_calls WHERE agent = 'nobody'").catch(() => []);
      return found.length > 0 && found;
    });
    expect(rows).toMatchObject([
      {
        home: "a",
        agent: "nobody",
        tool: "siren",
        result: "error",
        error_type: "not_found",
        error: expect.stringContaining("Agent 'nobody' not found"),
        principal: "anna",
        channel: "api",
        elapsed_ms: 0,
        approved: null,
      },
    ]);
    expect(JSON.parse(String(rows[0]?.parameters))).toEqual({ mark: odd.replace("\ud83d,", "\ufffd,") });
    const [first, ...rest] = (await (await ask("/v1/audit/export")).text()).trim().split("\n");
    const { id, seq, ...entry } = JSON.parse(first ?? "") as Record<string, unknown>;
    expect(rest).toHaveLength(1);
    expect(await server.query("SELECT id, seq, timestamp FROM edgecall_audit")).toEqual([
      { id, seq, timestamp: entry.timestamp },
    ]);
  });

  test("the questions of docs/guides/watching.md can be asked", async () => {
    const docs = readFileSync(new URL("../../docs/guides/watching.md", import.meta.url), "utf8");
    const questions = (/```sql\n(.*?)```/s.exec(docs)?.[1] ?? "")
      .split(";")
      .filter((sql) => sql.trim() !== "");
    expect(questions).toHaveLength(3);
    const [, , failures = []] = await Promise.all(questions.map((sql) => server.query(sql)));
    expect(failures).toEqual([{ agent: "nobody", tool: "siren", error_type: "not_found", times: 1 }]);
  });

  test("a connection that breaks after the store has the lines: they are sent again and stored once", async () => {
    line.fault = "cut";
    await refused("cut");
    await hasArrived("cut");
    const { length } = line.requests;
    await until(() => line.requests.length > length, { what: "it is sent again" });
    expect((await state()).problem).toBe("AUDIT_URL: no answer (Error)");
    line.fault = "none";
    await isQuiet();
    expect((await state()).problem).toBeNull();
    expect(await arrived("cut")).toBe(1);
  });

  test("a kill between sending and recording that: the lines are stored once, and calls are answered while the store is silent", async () => {
    line.fault = "held";
    await refused("killed");
    await until(() => line.held === 1, { what: "the store has it and does not answer" });
    await refused("meanwhile");
    const { length } = line.requests;
    for (const pid of childrenNamed("workerd", process.pid)) process.kill(pid, "SIGKILL");
    line.fault = "none";
    await until(() => line.requests.length > length, { what: "it is sent again", within: 30_000 });
    await hasArrived("killed");
    await hasArrived("meanwhile");
    await isQuiet();
    expect(await arrived("killed")).toBe(1);
  });

  test.each([
    ["500", "AUDIT_URL answered 500"],
    ["stranger", "AUDIT_URL answered 401"],
    ["redirect", "AUDIT_URL answered 307"],
    ["garbage", "AUDIT_URL answers as no libSQL server does"],
    ["endless", "AUDIT_URL answers as no libSQL server does"],
  ] as const)("a store that is %s is reported, and gets everything later", async (fault, problem) => {
    line.fault = fault;
    await refused(fault);
    const outlet = await until(async () => {
      const now = await state();
      return now.problem !== null && now;
    });
    expect(outlet).toMatchObject({ problem, lost: 0, since: expect.any(Number) });
    expect(outlet.waiting).toBeGreaterThan(200);
    expect(log.some((text) => text.includes("audit.unsent") && text.includes(problem))).toBe(true);
    line.fault = "none";
    await hasArrived(fault);
    await isQuiet();
    expect(line.requests.every(({ path }) => path === "/v2/pipeline")).toBe(true);
  });

  test("large rows of three-byte letters arrive", async () => {
    await bringLines(["large"], 100, "漢".repeat(2_000));
    await hasArrived("large", 100);
    expect((await state()).lost).toBe(0);
  });

  test("after a long outage the dropped lines are counted and the rest arrives", async () => {
    await isQuiet();
    line.fault = "down";
    const batches = Array.from({ length: 6 }, (_, n) => `flood-${n}`);
    await bringLines(batches, 50, "x".repeat(5_000));
    const { lost, waiting } = await state();
    expect(lost).toBe(100);
    expect(waiting).toBeGreaterThan(1_000_000);
    expect(log.some((text) => text.includes("audit.lost"))).toBe(true);
    const page = await (await ask("/metrics")).text();
    expect(sampleOf(page, 'edgecall_gateway_audit_waiting_bytes{home="a"}')).toBe(waiting);
    expect(sampleOf(page, 'edgecall_gateway_audit_waiting_seconds{home="a"}')).toBeGreaterThan(0);
    expect(sampleOf(page, 'edgecall_gateway_audit_lost_lines_total{home="a"}')).toBe(100);
    line.fault = "none";
    await isQuiet();
    for (const [n, batch] of batches.entries()) expect(await arrived(batch)).toBe(n < 2 ? 0 : 50);
  });

  test("a new address gets all lines that are still stored; without an address the status does not mention it", async () => {
    await gateway.stop();
    const other = await FaultyLine.open(server.url);
    try {
      await server.query("DELETE FROM edgecall_audit");
      gateway = await start({ AUDIT_URL: other.url });
      await refused("moved");
      await hasArrived("moved");
      expect(await arrived("flood-5")).toBe(50);
      await gateway.stop();
      gateway = await start({ AUDIT_URL: "" });
      expect(await state()).toBeUndefined();
      const { length } = other.requests;
      await refused("kept here");
      expect(await arrived("kept here")).toBe(0);
      expect(other.requests).toHaveLength(length);
    } finally {
      await other.close();
    }
  });

  test("the token appears in no log, and is sent to no other address", () => {
    expect(log.join("\n")).not.toContain(server.token.slice(-20));
    expect(log.join("\n")).not.toContain(server.token.slice(0, 60));
    expect(line.requests.every(({ token }) => token === `Bearer ${server.token}`)).toBe(true);
  });
});
