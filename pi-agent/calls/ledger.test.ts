import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LEDGER_KEEP_MS } from "@edgecall/core/protocol/names.ts";
import { LedgerFile } from "@edgecall/node/ledger-file.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryStorage } from "../testing/memory-storage.ts";
import { CommandLedger, LEDGER_MAX_BYTES, LEDGER_MAX_ENTRIES, type Start } from "./ledger.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 5, 1, 12);

function harness(storage = new MemoryStorage()) {
  const events: string[] = [];
  const clock = { wall: NOON, mono: 0 };
  const pass = (ms: number) => {
    clock.wall += ms;
    clock.mono += ms;
  };
  const open = () =>
    CommandLedger.open({
      storage,
      log: (_level, event) => void events.push(event),
      clock: { wall: () => clock.wall, now: () => clock.mono },
    });
  return { storage, events, clock, pass, open };
}

const work = (id: string, more: Partial<Start> = {}): Start => ({
  id,
  command: "tool",
  tool: "gpio_write",
  idempotent: false,
  acks: true,
  ...more,
});
const look = (id: string, more: Partial<Start> = {}): Start =>
  work(id, { idempotent: true, tool: "cpu", ...more });

describe("ledger", () => {
  test("a repeated id is recognised while its call runs and afterwards", async () => {
    const ledger = await harness().open();
    expect(await ledger.begin(work("a"))).toEqual({ do: "run" });
    expect(await ledger.begin(work("a"))).toEqual({ do: "wait" });
    await ledger.done("a", '{"ok":1}');
    expect(await ledger.begin(work("a"))).toEqual({ do: "repeat", report: '{"ok":1}' });
  });

  test("of two copies at the same moment one runs", async () => {
    const ledger = await harness().open();
    const begun = await Promise.all([ledger.begin(work("a")), ledger.begin(work("a"))]);
    expect(begun.map((one) => one.do).sort()).toEqual(["run", "wait"]);
  });

  test("a call that must not run twice is synced before it runs and before its result is reported; reads are not", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    await ledger.begin(look("r"));
    await ledger.done("r", "report");
    expect(storage.syncs).toBe(0);
    await ledger.begin(work("w"));
    expect(storage.synced).toBe(storage.bytes.length);
    await ledger.done("w", "report");
    expect(storage.synced).toBe(storage.bytes.length);
    expect(storage.syncs).toBe(2);
  });

  test("after a restart: a finished result is repeated, a started read runs again, other work is unknown", async () => {
    const { open } = harness();
    const before = await open();
    for (const start of [work("done"), work("cut"), look("read")]) await before.begin(start);
    await before.done("done", "the report");
    const after = await open();
    expect(after.interrupted().map(({ id }) => id)).toEqual(["cut"]);
    expect(await after.begin(work("done"))).toEqual({ do: "repeat", report: "the report" });
    expect(await after.begin(work("cut"))).toMatchObject({ do: "unknown" });
    expect(await after.begin(look("read"))).toEqual({ do: "run" });
    expect(await after.begin(look("read"))).toEqual({ do: "wait" });
  });

  test("only results that their caller acknowledges are repeated, until it does so or a day is over", async () => {
    const { open, pass } = harness();
    const ledger = await open();
    for (const start of [work("a"), work("b"), work("c", { acks: false })]) await ledger.begin(start);
    for (const id of ["a", "b", "c"]) await ledger.done(id, `report ${id}`);
    expect(ledger.unacked()).toEqual(["a", "b"]);
    await ledger.acked("a");
    expect(ledger.unacked()).toEqual(["b"]);
    expect((await open()).unacked()).toEqual(["b"]);
    pass(LEDGER_KEEP_MS);
    expect(ledger.unacked()).toEqual([]);
  });

  test("a damaged last line is dropped and reported, and does not spoil the next line", async () => {
    const { storage, open, events } = harness();
    const before = await open();
    await before.begin(work("a"));
    await before.done("a", "report a");
    storage.bytes = Buffer.concat([storage.bytes, Buffer.from('{"t":"started","id":"b","comm')]);
    const after = await open();
    expect(events).toContain("ledger.torn");
    expect(await after.begin(work("b"))).toEqual({ do: "run" });
    const third = await open();
    expect(await third.begin(work("a"))).toEqual({ do: "repeat", report: "report a" });
    expect(await third.begin(work("b"))).toMatchObject({ do: "unknown" });
  });

  test("on a full disk reads continue from memory, and calls that must not run twice are refused", async () => {
    const { storage, open, events } = harness();
    const ledger = await open();
    storage.room = 10;
    expect(await ledger.begin(work("w"))).toEqual({
      do: "refuse",
      reason: "ENOSPC: no space left on device, write",
    });
    expect(await ledger.begin(look("r"))).toEqual({ do: "run" });
    await ledger.done("r", "the report");
    expect(await ledger.begin(look("r"))).toEqual({ do: "repeat", report: "the report" });
    expect(events).toContain("ledger.unwritable");
    // With room again, the incomplete line of the full disk must not swallow the next one.
    storage.room = Number.POSITIVE_INFINITY;
    expect(await ledger.begin(work("v"))).toEqual({ do: "run" });
    expect(await (await open()).begin(work("v"))).toMatchObject({ do: "unknown" });
  });

  test("a call that was refused on a full disk stays refused when there is room again", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    storage.room = 10;
    expect((await ledger.begin(work("w"))).do).toBe("refuse");
    expect(await ledger.begin(work("w"))).toEqual({ do: "wait" });
    await ledger.done("w", "nothing was run");
    storage.room = Number.POSITIVE_INFINITY;
    expect(await ledger.begin(work("w"))).toEqual({ do: "repeat", report: "nothing was run" });
    expect(ledger.unacked()).toEqual(["w"]);
  });

  test("a result that could not be written is still reported from memory", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    await ledger.begin(work("w"));
    storage.room = 0;
    await ledger.done("w", "switched on");
    expect(await ledger.begin(work("w"))).toEqual({ do: "repeat", report: "switched on" });
    expect(ledger.unacked()).toEqual(["w"]);
  });

  test("with more entries than it keeps, the oldest reads are dropped, and calls that must not run twice stay", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    await ledger.begin(work("first"));
    await ledger.done("first", "report");
    await ledger.begin(work("open"));
    for (let n = 0; n < LEDGER_MAX_ENTRIES; n += 1) {
      await ledger.begin(look(`r${n}`, { acks: false }));
      await ledger.done(`r${n}`, `report ${n}`);
    }
    await ledger.close();
    const after = await harness(storage).open();
    expect(storage.bytes.toString().match(/"started"/g)?.length).toBeLessThanOrEqual(LEDGER_MAX_ENTRIES);
    expect(await after.begin(work("first"))).toEqual({ do: "repeat", report: "report" });
    expect(await after.begin(work("open"))).toMatchObject({ do: "unknown" });
    expect(await after.begin(look("r0"))).toEqual({ do: "run" });
    expect(await after.begin(look(`r${LEDGER_MAX_ENTRIES - 1}`))).toEqual({
      do: "repeat",
      report: `report ${LEDGER_MAX_ENTRIES - 1}`,
    });
  });

  test("calls that begin during compaction are not forgotten", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    const replace = storage.replace.bind(storage);
    let began: ReturnType<typeof ledger.begin> | undefined;
    storage.replace = async (bytes) => {
      began ??= ledger.begin(work("meanwhile"));
      await replace(bytes);
    };
    for (let n = 0; began === undefined && n < 2 * LEDGER_MAX_ENTRIES; n += 1) {
      await ledger.begin(look(`r${n}`, { acks: false }));
      await ledger.done(`r${n}`, "report");
    }
    expect(await began).toEqual({ do: "run" });
    expect(await ledger.begin(work("meanwhile"))).toEqual({ do: "wait" });
  });

  test("a large file is compacted without forgetting what ran", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    const report = "x".repeat(50_000);
    for (let n = 0; n * report.length < LEDGER_MAX_BYTES * 1.2; n += 1) {
      await ledger.begin(work(`w${n}`));
      await ledger.done(`w${n}`, report);
      await ledger.acked(`w${n}`);
    }
    expect(storage.bytes.length).toBeLessThan(LEDGER_MAX_BYTES);
    expect(await ledger.begin(work("w0"))).toEqual({ do: "repeat", report: undefined });
  });

  test("after a day everything but recent open work is forgotten", async () => {
    const { open, pass } = harness();
    const before = await open();
    await before.begin(work("old"));
    pass(LEDGER_KEEP_MS - 1);
    await before.begin(work("young"));
    pass(2);
    const after = await open();
    expect(await after.begin(work("young"))).toMatchObject({ do: "unknown" });
    expect(await after.begin(work("old"))).toEqual({ do: "run" });
  });

  test("a clock that is set late does not age entries", async () => {
    const { open, clock } = harness();
    clock.wall = 3_600_000;
    const before = await open();
    await before.begin(work("a"));
    clock.wall = NOON;
    expect(await (await open()).begin(work("a"))).toMatchObject({ do: "unknown" });
  });

  test.each([
    ["3 h ahead", 3 * HOUR],
    ["3 h back", -3 * HOUR],
    ["1 year ahead", 365 * 24 * HOUR],
    ["1 year back", -365 * 24 * HOUR],
  ])("O11: a clock that is set %s makes no command older or younger", async (_, by) => {
    const { open, clock, pass } = harness();
    const ledger = await open();
    await ledger.begin(work("open"));
    await ledger.begin(work("ended"));
    await ledger.done("ended", "report");
    pass(2 * HOUR);
    clock.wall += by;
    expect(ledger.unacked()).toEqual(["ended"]);
    await ledger.begin(work("later"));
    await ledger.done("later", "second report");
    // Neither the file of now nor the next process has forgotten anything.
    const next = await open();
    expect(next.unacked()).toEqual(["ended", "later"]);
    expect(await next.reportOf("later")).toBe("second report");
    expect(await next.begin(work("open"))).toMatchObject({ do: "unknown" });
    // They are forgotten a day after they were heard of, by what has passed.
    pass(LEDGER_KEEP_MS - HOUR);
    expect(ledger.unacked()).toEqual(["later"]);
  });

  test("a job is a separate entry, and stays while it may continue", async () => {
    const { open, pass } = harness();
    const before = await open();
    const maxMs = 3 * LEDGER_KEEP_MS;
    expect(await before.begin(work("token", { command: "job", job: { of: "first", maxMs } }))).toEqual({
      do: "run",
    });
    pass(2 * LEDGER_KEEP_MS);
    const after = await open();
    expect(after.interrupted()).toMatchObject([{ id: "token", command: "job", jobOf: "first" }]);
    // Its result has to be delivered from its end on, not from its start.
    pass(2 * LEDGER_KEEP_MS);
    await after.done("token", "report");
    expect((await open()).unacked()).toEqual(["token"]);
  });

  test("an approval that is open at a crash is known, and an answered one does not count as open", async () => {
    const { open, storage } = harness();
    const before = await open();
    for (const id of ["open", "heard"]) {
      await before.begin(work(id));
      await before.approvalAsked(id, 60_000);
    }
    const syncs = storage.syncs;
    expect(await before.approvalAnswered("heard")).toBeUndefined();
    // The approved call runs now, and no crash may make it look as if it had not.
    expect(storage.syncs).toBe(syncs + 1);
    await before.begin(look("read"));
    await before.approvalAsked("read", 60_000);
    // Twice, because the second time reads what the first time rewrote.
    await open();
    const after = await open();
    expect(after.interrupted().map(({ id, asking }) => [id, asking])).toEqual([
      ["open", 1],
      ["heard", 0],
      ["read", 1],
    ]);
    expect(await after.begin(look("read"))).toMatchObject({ do: "unknown" });
  });

  test("a call that waits for a person for longer than a day is not forgotten before the answer may come", async () => {
    const { open, pass } = harness();
    const before = await open();
    await before.begin(work("p", { command: "prompt" }));
    await before.innerStarted("p", { call: "1", tool: "gpio_write", read: false }, true);
    await before.questionAsked("p", 7 * LEDGER_KEEP_MS);
    await before.begin(work("old"));
    pass(3 * LEDGER_KEEP_MS);
    // Twice, because the second time reads what the first time rewrote.
    await open();
    const after = await open();
    expect(await after.begin(work("p", { command: "prompt" }))).toMatchObject({ do: "unknown" });
    expect(await after.begin(work("old"))).toEqual({ do: "run" });
  });

  test("an answer to an approval that cannot be recorded is reported as such", async () => {
    const { open, storage } = harness();
    const ledger = await open();
    await ledger.begin(work("w"));
    await ledger.approvalAsked("w", 60_000);
    storage.room = 0;
    expect(String(await ledger.approvalAnswered("w"))).toContain("ENOSPC");
  });

  test("a prompt's inner calls are known after a crash, and dropped with its result", async () => {
    const { open, storage } = harness();
    const before = await open();
    await before.begin(work("p", { command: "prompt" }));
    const inner = (call: string) => ({ call, tool: "toggle", read: false, args: { value: call } });
    const syncs = storage.syncs;
    expect(await before.innerStarted("p", inner("1"), true)).toBeUndefined();
    expect(storage.syncs).toBe(syncs + 1);
    await before.innerEnded("p", "1", { ok: true, text: "on", ms: 5 });
    await before.innerStarted("p", inner("2"), true);
    await open();
    const [entry] = (await open()).interrupted();
    expect(entry?.inner).toEqual([
      { ...inner("1"), done: { ok: true, text: "on", ms: 5 } },
      { ...inner("2") },
    ]);
    const after = await open();
    await after.done("p", "report");
    // Nothing more is written about a command that has its result.
    const bytes = storage.bytes.length;
    await after.innerEnded("p", "2", { ok: true, text: "late", ms: 5 });
    expect(storage.bytes.length).toBe(bytes);
    await open();
    expect(storage.bytes.toString()).not.toContain('"inner"');
    storage.room = 0;
    await after.begin(look("q"));
    expect(await after.innerStarted("q", inner("3"), true)).toBeDefined();
  });

  test("cut at any byte it opens, and never runs again what had been recorded before it ran", async () => {
    const { storage, open } = harness();
    const ledger = await open();
    const recordedAt = new Map<string, number>();
    for (const id of ["é1", "é2", "é3"]) {
      await ledger.begin(work(id));
      // The work begins here: from now on no crash may lose the record.
      recordedAt.set(id, storage.synced);
      await ledger.begin(look(`look ${id}`));
      await ledger.done(id, `{"text":"größe\\n${id}"}`);
      await ledger.acked(id);
    }
    const whole = storage.bytes;
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const again = await harness(new MemoryStorage(Buffer.from(whole.subarray(0, cut)))).open();
      for (const [id, from] of recordedAt) {
        const begun = await again.begin(work(id));
        if (cut >= from) expect(["unknown", "repeat"]).toContain(begun.do);
      }
    }
  });

  test("with any content of the file it opens and works", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const ledger = await harness(new MemoryStorage(Buffer.from(bytes))).open();
        expect(await ledger.begin(work("new"))).toEqual({ do: "run" });
      }),
      { numRuns: 200 },
    );
  });
});

describe("ledger file", () => {
  test("keeps its content, readable only by its own user, and is replaced as a whole", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "edgecall-ledger-")), "state", "ledger.jsonl");
    const log = () => {};
    const ledger = await CommandLedger.open({ storage: new LedgerFile(path), log });
    await ledger.begin(work("a"));
    await ledger.done("a", "report a");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await ledger.close();
    const again = await CommandLedger.open({ storage: new LedgerFile(path), log });
    await again.begin(work("b"));
    expect(await again.begin(work("a"))).toEqual({ do: "repeat", report: "report a" });
    await again.close();
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(3);
  });

  test("a folder that cannot be made refuses work and serves reads", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "edgecall-ledger-")), "file");
    writeFileSync(file, "");
    const ledger = await CommandLedger.open({
      storage: new LedgerFile(join(file, "ledger.jsonl")),
      log: () => {},
    });
    expect((await ledger.begin(work("w"))).do).toBe("refuse");
    expect(await ledger.begin(look("r"))).toEqual({ do: "run" });
  });
});
