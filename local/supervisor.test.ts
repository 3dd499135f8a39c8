import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { type Child, supervise } from "./supervisor.ts";

let dir: string;
let lines: string[];
let child: Child | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "edgecall-supervisor-"));
  lines = [];
});
afterEach(async () => {
  await child?.stop();
  child = undefined;
  rmSync(dir, { recursive: true });
});

function start(code: string): Child {
  const file = join(dir, "child.mjs");
  writeFileSync(file, code);
  child = supervise({ name: "child", args: [file, dir], env: process.env, say: (line) => lines.push(line) });
  return child;
}
const READY =
  'process.send({ ready: true, pid: process.pid }); process.on("disconnect", () => process.exit());';
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // In a container without an init an orphan stays a zombie, which runs nothing.
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};

test("a killed child is restarted, and a line says so", async () => {
  const running = start(`console.log("hello"); ${READY}`);
  const { pid } = (await running.ready) as { pid: number };
  process.kill(pid, "SIGKILL");
  await until(() => running.pid !== pid && lines.filter((line) => line === "hello").length === 2);
  expect(lines).toContain("child ended (SIGKILL); it is started again in 0.2 s");
});

test("stop ends the child and its processes, and nothing is restarted", async () => {
  const running = start(
    `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";
     const other = spawn("sleep", ["60"]); writeFileSync(process.argv[2] + "/other", String(other.pid)); ${READY}
     process.on("SIGTERM", () => process.exit(0));`,
  );
  const { pid } = (await running.ready) as { pid: number };
  const other = Number(readFileSync(join(dir, "other"), "utf8"));
  expect([alive(pid), alive(other)]).toEqual([true, true]);
  await running.stop();
  await until(() => !alive(pid) && !alive(other));
  expect(lines.join()).not.toContain("started again");
});

test("a killed child's processes end too", async () => {
  const running = start(
    `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";
     const other = spawn("sleep", ["60"]); writeFileSync(process.argv[2] + "/other", String(other.pid)); ${READY}`,
  );
  const { pid } = (await running.ready) as { pid: number };
  const other = Number(readFileSync(join(dir, "other"), "utf8"));
  process.kill(pid, "SIGKILL");
  await until(() => !alive(other));
});

test("a child that ends before it is ready fails, with its exit code, and is not restarted", async () => {
  const running = start('console.error("no such port"); process.exit(3);');
  await expect(running.ready).rejects.toThrow("child ended before it was ready (exit code 3)");
  expect(lines).toEqual(["no such port"]);
});
