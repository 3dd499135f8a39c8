/** Programs that outlive the process that started them, on this machine and in the sandbox. */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { codeOf } from "../testing/environments.ts";
import { OUTPUT_MAX_BYTES } from "./detached.ts";
import {
  type DetachedOps,
  type Environment,
  type FollowOptions,
  LeftRunning,
  ProgramLost,
} from "./environment.ts";
import { local } from "./local.ts";
import { startOf } from "./process-tree.ts";
import { sandbox } from "./sandbox/sandbox.ts";

const KINDS: Record<string, { make(ws: string): Environment; tags: string[] }> = {
  local: { make: (cwd) => local({ cwd }), tags: [] },
  sandbox: { make: (workspace) => sandbox({ workspace }), tags: ["needs/bubblewrap"] },
};

describe.each(Object.entries(KINDS))("%s", (_kind, { make, tags }) => {
  let folder: string;
  let ws: string;
  let dir: string;
  let env: Environment;
  let ops: DetachedOps;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-detached-")));
    ws = join(folder, "ws");
    dir = join(folder, "job");
    mkdirSync(ws);
    env = make(ws);
    ops = env.exec.detached ?? expect.fail("it has no detached programs");
  });
  afterEach(async () => {
    await follow(AbortSignal.abort()).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (command: string, more: { env?: Record<string, string>; endAfterMs?: number } = {}) =>
    await ops.start(["sh", "-c", command], { dir, endAfterMs: 60_000, ...more });
  async function follow(signal = new AbortController().signal, onOutput?: FollowOptions["onOutput"]) {
    let stdout = "";
    let stderr = "";
    const ran = await ops.follow(dir, {
      signal,
      onOutput(chunk, stream) {
        if (stream === "stdout") stdout += Buffer.from(chunk).toString();
        else stderr += Buffer.from(chunk).toString();
        onOutput?.(chunk, stream);
      },
    });
    return { ...ran, stdout, stderr };
  }
  const pidIn = (name: string) => Number(readFileSync(join(ws, name), "utf8"));
  const supervisor = () => JSON.parse(readFileSync(join(dir, "program.json"), "utf8")) as { pid: number };

  test("tells the exit code, the signal and both streams, as often as it is asked", { tags }, async () => {
    await start("echo out; echo err >&2; echo $GIVEN; exit 42", { env: { GIVEN: "a b" } });
    const end = { exitCode: 42, signal: null, stopped: false, stdout: "out\na b\n", stderr: "err\n" };
    expect(await follow()).toEqual(end);
    expect(await follow()).toEqual(end);
    dir = join(folder, "second");
    await start("kill -9 $$");
    expect(await follow()).toMatchObject({ exitCode: null, signal: "SIGKILL", stopped: false, stderr: "" });
  });

  test("output comes while it runs; one that is left goes on and is followed again", { tags }, async () => {
    await start("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two");
    const leaving = new AbortController();
    const first = follow(leaving.signal, () => leaving.abort(new LeftRunning()));
    await expect(first).rejects.toThrow(LeftRunning);
    writeFileSync(join(ws, "go"), "");
    expect(await follow()).toMatchObject({ exitCode: 0, stdout: "one\ntwo\n" });
  });

  test("one that ended while nobody followed it has its exit code", { tags }, async () => {
    await start("echo done; exit 3");
    await until(() => existsSync(join(dir, "exit")));
    expect(await follow()).toMatchObject({ exitCode: 3, stdout: "done\n" });
  });

  test("an abort kills the whole tree, also what has left its session", { tags }, async () => {
    await start("echo begun; setsid sh -c 'echo $$ > inner; exec sleep 60' & wait");
    const stop = new AbortController();
    let hasBegun = false;
    const following = follow(stop.signal, () => (hasBegun = true));
    await until(() => hasBegun && existsSync(join(ws, "inner")) && pidIn("inner") > 0);
    stop.abort();
    expect(await following).toMatchObject({ stopped: true, exitCode: null, stdout: "begun\n" });
    expect(startOf(supervisor().pid)).toBeUndefined();
    if (env.kind === "local") expect(startOf(pidIn("inner"))).toBeUndefined();
  });

  test("its time ends it even if nothing follows it", { tags }, async () => {
    await start("echo begun; sleep 60", { endAfterMs: 500 });
    const { pid } = supervisor();
    await until(() => startOf(pid) === undefined);
    await expect(follow()).rejects.toThrow(ProgramLost);
    dir = join(folder, "second");
    await start("echo quick");
    const { pid: quick } = supervisor();
    await until(() => startOf(quick) === undefined);
    expect(await follow()).toMatchObject({ exitCode: 0, stdout: "quick\n" });
  });

  test("what it leaves running is killed when it ends", { tags }, async () => {
    await start("sleep 60 & echo $! > inner; echo over");
    expect(await follow()).toMatchObject({ exitCode: 0, stdout: "over\n" });
    if (env.kind === "local") expect(startOf(pidIn("inner"))).toBeUndefined();
    expect(startOf(supervisor().pid)).toBeUndefined();
  });

  test("the output has a bound, and the program does not block there", { tags }, async () => {
    await start("head -c 40000000 /dev/zero; echo err >&2; exit 5");
    let bytes = 0;
    const ran = await ops.follow(dir, {
      signal: new AbortController().signal,
      onOutput: (chunk, stream) => {
        if (stream === "stdout") bytes += chunk.length;
      },
    });
    expect(ran.exitCode).toBe(5);
    expect(bytes).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
    expect(bytes).toBeGreaterThan(OUTPUT_MAX_BYTES - 1024 ** 2);
  });

  test("nobody knows the end of one whose supervisor was killed, or that ran before a restart of the device", {
    tags,
  }, async () => {
    await start("echo begun; echo $$ > inner; sleep 60");
    await until(() => existsSync(join(ws, "inner")) && pidIn("inner") > 0);
    process.kill(supervisor().pid, "SIGKILL");
    await expect(follow()).rejects.toThrow(ProgramLost);
    if (env.kind === "local") expect(startOf(pidIn("inner"))).toBeUndefined();
    // The id is another process's now, which is left alone.
    const other = spawn("sleep", ["60"], { detached: true });
    const record = JSON.parse(readFileSync(join(dir, "program.json"), "utf8"));
    writeFileSync(join(dir, "program.json"), JSON.stringify({ ...record, pid: other.pid }));
    await expect(follow()).rejects.toThrow(ProgramLost);
    await expect(follow(AbortSignal.abort())).rejects.toThrow(ProgramLost);
    writeFileSync(
      join(dir, "program.json"),
      JSON.stringify({ ...record, boot: "another", pid: other.pid, started_at: startOf(other.pid ?? 0) }),
    );
    await expect(follow()).rejects.toThrow(ProgramLost);
    expect(startOf(other.pid ?? 0)).toBeDefined();
    other.kill("SIGKILL");
    rmSync(join(dir, "program.json"));
    await expect(follow()).rejects.toThrow(ProgramLost);
  });

  test("a missing program, folder or place is told", { tags }, async () => {
    const begun = async (argv: [string, ...string[]], cwd?: string) => {
      await ops.start(argv, { dir, endAfterMs: 60_000, ...(cwd !== undefined && { cwd }) });
      await follow();
    };
    expect(await codeOf(begun(["no-such-program-here"]))).toBe("spawn_failed");
    dir = join(folder, "second");
    expect(await codeOf(begun(["true"], "none"))).toBe("cwd_missing");
    writeFileSync(join(folder, "file"), "");
    dir = join(folder, "file", "third");
    expect(await codeOf(begun(["true"]))).toBe("io");
    dir = join(folder, "fourth");
    expect(await codeOf(begun(["echo", "x".repeat(200_000)]))).toBe("spawn_failed");
  });
});
