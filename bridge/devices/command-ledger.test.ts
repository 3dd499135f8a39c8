/** The ledger of devices' commands: what a restart, a torn file and a full disk leave of it. */
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LEDGER_KEEP_MS } from "@edgecall/core/protocol/names.ts";
import { LedgerFile, type LedgerStorage } from "@edgecall/node/ledger-file.ts";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CommandBegun, DeviceLedger } from "./command-ledger.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 5, 1, 12);
let path: string;
let now: number;
/** The time by which the steady clock is behind. */
let set: number;
let logged: string[];
let opened: DeviceLedger[];

beforeEach(() => {
  opened = [];
  path = join(mkdtempSync(join(tmpdir(), "ledger-")), "state", "device-calls.jsonl");
  now = NOON;
  set = 0;
  logged = [];
});

afterEach(async () => {
  for (const ledger of opened) await ledger.close();
});

async function open(storage: LedgerStorage = new LedgerFile(path)): Promise<DeviceLedger> {
  const log = (_: string, event: string) => logged.push(event);
  const ledger = await DeviceLedger.open(storage, log, { now: () => now, wall: () => now + set });
  opened.push(ledger);
  return ledger;
}

const command = (id: string, more: Partial<CommandBegun> = {}): CommandBegun => ({
  id,
  agent: "plug",
  action: "set",
  device: "Plug",
  ...more,
});

test("what a power cut leaves behind a line that was synced takes nothing of that line", async () => {
  // Zeros, a hole, the beginning of the next line: found by `npm run chaos -- --acting 168 --seed 4`.
  for (const tail of [Buffer.alloc(41), Buffer.from('\n{"t":"se'), Buffer.from('\0\0\0","id":"x"}\n')]) {
    const ledger = await open();
    await ledger.begin(command("own", { own: true }));
    await ledger.close();
    appendFileSync(path, tail);
    const next = await open();
    expect(next.get("own")?.state).toBe("begun");
    await next.begin(command("after"));
    await next.close();
    const last = await open();
    expect([last.get("own")?.state, last.get("after")?.state]).toEqual(["begun", "begun"]);
    await last.close();
  }
});

test("a command of the bridge's own is none of Home's: it is not reported to it, and Home's word settles it not", async () => {
  const ledger = await open();
  for (const id of ["begun", "sent", "done"])
    expect(await ledger.begin(command(id, { own: true }))).toBeUndefined();
  for (const id of ["sent", "done"]) ledger.sent(id);
  ledger.done("done", "report");
  ledger.acked("done");
  await ledger.close();

  const next = await open();
  expect([...next.interrupted(), ...next.unacked()]).toEqual([]);
  expect(next.own().map(({ begun, state }) => [begun.id, state])).toEqual([
    ["begun", "begun"],
    ["sent", "sent"],
    ["done", "done"],
  ]);
  for (const id of ["begun", "sent", "done"]) next.settle(id);
  await next.close();
  const last = await open();
  expect(last.own()).toEqual([]);
  expect(last.get("begun")?.state).toBe("acked");
});

test("after a restart it knows what was begun, sent, reported and acked, and what was not sent", async () => {
  const ledger = await open();
  for (const id of ["begun", "sent", "done", "acked", "void"])
    expect(await ledger.begin(command(id))).toBeUndefined();
  for (const id of ["sent", "done", "acked"]) ledger.sent(id);
  for (const id of ["done", "acked"]) ledger.done(id, `report of ${id}`);
  ledger.acked("acked");
  ledger.acked("sent");
  ledger.void("void");
  await ledger.close();

  const next = await open();
  expect(next.interrupted().map(({ begun, state }) => [begun.id, state])).toEqual([
    ["begun", "begun"],
    ["sent", "sent"],
  ]);
  expect(next.unacked()).toEqual([{ id: "done", agent: "plug", payload: "report of done" }]);
  expect(next.get("acked")).toMatchObject({ state: "acked" });
  expect(next.get("void")).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a command is on disk when it may be sent", async () => {
  const ledger = await open();
  await ledger.begin(command("a"));
  expect(readFileSync(path, "utf8")).toContain('"id":"a"');
});

test("what is older than a day is forgotten, unless the clock was not set when it was written", async () => {
  const ledger = await open();
  await ledger.begin(command("old"));
  now = 5_000;
  await ledger.begin(command("without-clock"));
  now = NOON + LEDGER_KEEP_MS + 1;
  await ledger.begin(command("new"));
  await ledger.close();
  const next = await open();
  expect(next.interrupted().map(({ begun }) => begun.id)).toEqual(["without-clock", "new"]);
});

test("a file that cannot be written or read: nothing may be sent, and the reason is said", async () => {
  const full: LedgerStorage = {
    load: async () => Buffer.alloc(0),
    append: async () => {
      throw new Error("ENOSPC: no space left on device");
    },
    sync: async () => {},
    read: async () => Buffer.alloc(0),
    replace: async () => {},
    close: async () => {},
  };
  const ledger = await open(full);
  expect(await ledger.begin(command("a"))).toMatch(/^ENOSPC/);
  expect(ledger.get("a")).toBeUndefined();
  const broken = await open({ ...full, load: () => Promise.reject(new Error("EIO: i/o error")) });
  expect(await broken.begin(command("a"))).toMatch(/^EIO/);
  expect(logged).toEqual([
    "devices.ledger_unwritten",
    "devices.ledger_unwritten",
    "devices.ledger_unreadable",
  ]);
});

/** Thousands of syncs would take a disk minutes. */
class UnsyncedFile extends LedgerFile {
  override async sync(): Promise<void> {}
}

test("it stays small: acked commands are forgotten oldest first, and the file is written anew", async () => {
  const ledger = await open(new UnsyncedFile(path));
  for (let n = 0; n < 5_200; n += 1) {
    await ledger.begin(command(`id-${n}`));
    ledger.done(`id-${n}`, "x".repeat(300));
    ledger.acked(`id-${n}`);
  }
  await ledger.close();
  expect(ledger.get("id-0")).toBeUndefined();
  expect(ledger.get("id-5199")).toBeDefined();
  expect(statSync(path).size).toBeLessThan(3 * 1024 * 1024);
  const next = await open();
  expect(next.get("id-5199")).toMatchObject({ state: "acked" });
  expect(statSync(path).size).toBeLessThan(1024 * 1024);
}, 60_000);

test.each([
  ["3 h ahead", 3],
  ["3 h back", -3],
  ["1 year ahead", 365 * 24],
  ["1 year back", -365 * 24],
])("O11: a clock that is set %s forgets no command, and keeps none for longer", async (_, hours) => {
  const ledger = await open();
  await ledger.begin(command("before"));
  ledger.sent("before");
  now += 2 * HOUR;
  set = hours * HOUR;
  await ledger.begin(command("after"));
  await ledger.close();
  expect((await open()).interrupted().map(({ begun }) => begun.id)).toEqual(["before", "after"]);
  now += LEDGER_KEEP_MS - HOUR;
  expect((await open()).interrupted().map(({ begun }) => begun.id)).toEqual(["after"]);
});

test("with too many commands that Home has not heard of, nothing more is sent", async () => {
  const ledger = await open(new UnsyncedFile(path));
  for (let n = 0; n < 1_000; n += 1) await ledger.begin(command(`id-${n}`));
  expect(await ledger.begin(command("more"))).toMatch(/1000 commands have no stored outcome/);
}, 60_000);

test("a power cut that tears the last line, or any rubbish, loses nothing that is whole", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.nat(60), async (rubbish, cut) => {
      path = join(mkdtempSync(join(tmpdir(), "ledger-")), "device-calls.jsonl");
      const ledger = await open();
      await ledger.begin(command("whole"));
      await ledger.begin(command("torn"));
      await ledger.close();
      const text = readFileSync(path, "utf8");
      writeFileSync(path, text.slice(0, text.length - cut));
      appendFileSync(path, `\n${rubbish}`);
      const next = await open();
      expect(next.get("whole")).toMatchObject({ state: "begun" });
      expect(await next.begin(command("after"))).toBeUndefined();
      await next.close();
      expect((await open()).get("after")).toBeDefined();
    }),
    { numRuns: 50 },
  );
}, 60_000);
