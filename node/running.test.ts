/** The lock of a state folder, with real processes that take it and die. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claim, runningIn } from "./running.ts";

const URL_OF = "http://127.0.0.1:8787";
const folder = () => mkdtempSync(join(tmpdir(), "edgecall-lock-"));
const RUNNING = new URL("./running.ts", import.meta.url).href;

/** A program that claims the folder, says whether it has it, and stays. Its name and command line are any. */
async function claimer(dir: string): Promise<{ child: ChildProcess; has: boolean }> {
  const file = join(folder(), "edgecall.mjs");
  writeFileSync(
    file,
    `import { claim } from ${JSON.stringify(RUNNING)};
     process.stdout.write(String(claim(${JSON.stringify(dir)}, "${URL_OF}").ok));
     setInterval(() => {}, 1_000);`,
  );
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, has: said.toString() === "true" };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "close");
}

const lockOf = (dir: string) => JSON.parse(readFileSync(join(dir, "running.json"), "utf8"));
const writeLock = (dir: string, lock: object) =>
  writeFileSync(join(dir, "running.json"), JSON.stringify(lock));

test("O13: a program of any name that has the folder keeps others out, and its lock is no hindrance once it is killed", async () => {
  const dir = folder();
  const { child, has } = await claimer(dir);
  expect(has).toBe(true);
  expect(claim(dir, "http://127.0.0.1:1")).toEqual({
    ok: false,
    by: expect.objectContaining({ pid: child.pid, url: URL_OF }),
  });
  expect(runningIn(dir)).toMatchObject({ pid: child.pid });
  await kill(child);
  expect(runningIn(dir)).toBeUndefined();
  const mine = claim(dir, URL_OF);
  expect(mine.ok).toBe(true);
  expect(lockOf(dir)).toMatchObject({ pid: process.pid });
  if (mine.ok) mine.release();
  expect(readdirSync(dir)).toEqual([]);
});

test("O13: a lock from before a reboot, or of a process whose id another one has now, is replaced", {
  tags: ["needs/linux"],
}, async () => {
  const dir = folder();
  const { child } = await claimer(dir);
  const lock = lockOf(dir);
  writeLock(dir, { ...lock, started: `0000-boot ${lock.started.split(" ")[1]}` });
  expect(runningIn(dir)).toBeUndefined();
  writeLock(dir, { ...lock, started: `${lock.started}1` });
  expect(claim(dir, URL_OF)).toMatchObject({ ok: true });
  await kill(child);
});

test("O13: a lock that is torn or empty is replaced; that of an earlier version counts while its stack runs", async () => {
  const dir = folder();
  for (const text of ["", "{", '{"pid":1}']) {
    writeFileSync(join(dir, "running.json"), text);
    const claimed = claim(dir, URL_OF);
    expect(claimed.ok).toBe(true);
    if (claimed.ok) claimed.release();
  }
  writeLock(dir, { pid: process.pid, url: URL_OF });
  expect(runningIn(dir)).toBeUndefined();
});

test("O13: of many that start at once over a stale lock, one has the folder", {
  timeout: 60_000,
}, async () => {
  const dir = folder();
  const first = await claimer(dir);
  await kill(first.child);
  const all = await Promise.all(Array.from({ length: 6 }, () => claimer(dir)));
  expect(all.filter(({ has }) => has)).toHaveLength(1);
  expect(readdirSync(dir)).toEqual(["running.json"]);
});

test("O13: what a program releases is its own lock alone", () => {
  const dir = folder();
  const claimed = claim(dir, URL_OF);
  writeLock(dir, { pid: 1, url: URL_OF, started: "other" });
  if (claimed.ok) claimed.release();
  expect(lockOf(dir)).toMatchObject({ started: "other" });
});
