/** The rows of the ledger that Home reads for a report, as the platform counts and bills them. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { hasReported, Ledger } from "./ledger.ts";

afterEach(reset);

const CALLER = { principal: "anna", role: "owner", channel: "api" } as const;
const CALLS = 400;

/** A ledger that counts the rows that its statements read and write. */
function counting(storage: DurableObjectStorage) {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  const sql = {
    exec: (query: string, ...bindings: SqlStorageValue[]) => {
      const cursor = storage.sql.exec(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    },
  };
  const ledger = new Ledger({ sql } as unknown as DurableObjectStorage);
  const sum = (key: "rowsRead" | "rowsWritten") => cursors.reduce((all, cursor) => all + cursor[key], 0);
  const counted = <T>(run: () => T) => {
    cursors.length = 0;
    const value = run();
    return { value, read: sum("rowsRead"), written: sum("rowsWritten") };
  };
  return { ledger, counted };
}

const order = (command: string, payload: Record<string, unknown>) => ({
  command,
  payload,
  silenceMs: 1_000,
  totalMs: 1_000,
  idempotent: true,
});

test("S6 a report reads only the rows that it is about, however many calls are stored; a call needs no index", async () => {
  await runInDurableObject(await madeHome(), (_, ctx) => {
    const { ledger, counted } = counting(ctx.storage);
    const now = Date.now();
    const done = { status: "success", text: "x".repeat(2_000), elapsedMs: 1 } as const;
    const add = (id: string, command: string, payload: Record<string, unknown>, flags = {}) => {
      const added = counted(() =>
        ledger.add(
          { id, conversation: "a/api/c", agent: "pi", caller: CALLER, order: order(command, payload), flags },
          1,
          "sent",
          now,
        ),
      );
      const settled = counted(() => ledger.settle(id, done, true, now));
      return added.written + settled.written;
    };
    const written = Array.from({ length: CALLS }, (_, n) => add(`call-${n}`, "tool", { tool: "cpu" }));
    const before = Math.max(...written);
    for (let n = 0; n < 3; n += 1) add(`job-${n}`, "job", { call: "call-7", tool: "cpu" }, { early: n < 2 });
    add("queued-1", "tool", { tool: "cpu" }, { queued: true });

    const early = counted(() => ledger.earlyOf("call-7").map(({ id }) => id));
    expect(early.value).toEqual(["job-0", "job-1"]);
    expect(early.read).toBeLessThan(10);
    const begun = counted(() => ledger.turnsBegunBy("pi", now - 1));
    expect(begun.value).toBe(2);
    expect(begun.read).toBeLessThan(10);
    const none = counted(() => ledger.dropEarlyOf("call-8"));
    expect(none.value).toBe(0);
    expect(none.read).toBeLessThan(10);
    expect(counted(() => ledger.dropEarlyOf("call-7")).value).toBe(2);
    for (const ask of [
      () => ledger.isFull("pi"),
      () => ledger.open(),
      () => ledger.open("pi"),
      () => ledger.openByAgent(),
      () => ledger.nextDue(),
      () => ledger.onTheWay(),
      () => ledger.unaccepted(now),
      () => ledger.overdue(now),
      () => ledger.lineRestored(now),
      () => ledger.undelivered(),
    ])
      expect([ask.toString(), counted(ask).read < 10]).toEqual([ask.toString(), true]);

    ctx.storage.sql.exec("DROP INDEX call_early; DROP INDEX call_begins");
    expect(add("without", "tool", { tool: "cpu" })).toBe(before);
    expect(counted(() => ledger.dropEarlyOf("call-8")).read).toBeGreaterThan(CALLS);
  });
});

test("S6 a call that the gateway gave up has no report of its device yet: not when it was restored, and not in a row of 0.2.0", async () => {
  const outcome = (more: Partial<SettledOutcome>) => ({
    outcome: { status: "error", text: "x", elapsedMs: 1, ...more } as SettledOutcome,
  });
  // Version 0.2 stored no sources.
  expect(hasReported(outcome({ errorType: "outcome_unknown" }))).toBe(false);
  expect(hasReported(outcome({ errorType: "timeout" }))).toBe(false);
  expect(hasReported(outcome({ errorType: "offline" }))).toBe(false);
  expect(hasReported(outcome({ errorType: "execution_failed" }))).toBe(true);
  expect(hasReported(outcome({ status: "success" }))).toBe(true);
  expect(hasReported(outcome({ errorType: "outcome_unknown", sources: ["agent:pi"] }))).toBe(true);
  await runInDurableObject(await madeHome(), (_, ctx) => {
    const ledger = new Ledger(ctx.storage);
    const call = {
      id: "call-1",
      conversation: "a/api/c",
      agent: "pi",
      caller: CALLER,
      order: order("tool", {}),
    };
    ledger.add(call, 1, "taken", Date.now());
    ledger.giveUpAll(Date.now());
    const restored = ledger.get("call-1");
    expect(restored?.outcome).toMatchObject({ errorType: "outcome_unknown", sources: [] });
    expect(restored && hasReported(restored)).toBe(false);
  });
});
