/** Tests that programs behave the same in every environment. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { codeOf as code, inEveryEnvironment, ODD_NAMES, runIn } from "../testing/environments.ts";
import type { Environment, RunOptions } from "./environment.ts";

inEveryEnvironment((kind, place) => {
  let ws: string;
  let outside: string;
  let env: Environment;
  beforeEach(() => {
    ({ ws, outside, env } = place());
  });
  const run = (argv: [string, ...string[]], options: Partial<RunOptions> = {}) => runIn(env, argv, options);
  const sh = (command: string, options: Partial<RunOptions> = {}) => run(["sh", "-c", command], options);

  test("tells the exit code and both streams", async () => {
    expect(await sh("echo out; echo err >&2; exit 42")).toEqual({
      exitCode: 42,
      signal: null,
      stopped: false,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(await sh("exit 255")).toMatchObject({ exitCode: 255, stderr: "" });
    expect(await sh("exit 1")).toMatchObject({ exitCode: 1 });
  });

  test("names the signal that ended it", async () => {
    expect(await sh("kill -9 $$")).toMatchObject({
      exitCode: null,
      signal: "SIGKILL",
      stopped: false,
      stderr: "",
    });
    expect(await sh("kill -TERM $$")).toMatchObject({ signal: "SIGTERM" });
  });

  test("arguments arrive as they were given", async () => {
    const words = [...ODD_NAMES, "", "a'b'c", "A=B"];
    const { stdout } = await run(["printf", "%s\\0", ...words]);
    expect(stdout).toBe(words.map((word) => `${word}\0`).join(""));
  });

  test("D13 arguments may be many and long", async () => {
    const words = [...Array.from({ length: 300 }, (_, n) => `w${n}`), "x'".repeat(4_000)];
    const { stdout } = await run(["printf", "%s\\0", ...words]);
    expect(stdout).toBe(words.map((word) => `${word}\0`).join(""));
    expect(await code(run(["echo", "x".repeat(200_000)]))).toBe("spawn_failed");
  });

  test("starts in the workspace or a folder of it, and nowhere else", async () => {
    mkdirSync(join(ws, "sub dir"));
    symlinkSync(outside, join(ws, "out"));
    expect((await run(["pwd"])).stdout).toBe(`${ws}\n`);
    expect((await run(["pwd"], { cwd: "sub dir" })).stdout).toBe(`${join(ws, "sub dir")}\n`);
    expect(await code(run(["pwd"], { cwd: "none" }))).toBe("cwd_missing");
    expect(["blocked", "cwd_missing"]).toContain(await code(run(["pwd"], { cwd: ".." })));
    // In the sandbox the link's target does not exist.
    expect(["blocked", "cwd_missing"]).toContain(await code(run(["pwd"], { cwd: "out" })));
  });

  test("a missing program is distinguished from one that fails", async () => {
    expect(await code(run(["no-such-program-here"]))).toBe("spawn_failed");
    expect(await code(run(["/nonexistent-shell-path", "-c", "echo"]))).toBe("spawn_failed");
    expect(await sh("exit 127")).toMatchObject({ exitCode: 127 });
  });

  test("has a clean environment, and the given variables", async () => {
    process.env.EDGECALL_TEST_SECRET = "not for tools";
    try {
      const { stdout } = await sh("env; cat /proc/$$/environ /proc/$PPID/environ 2>/dev/null", {
        env: { GIVEN: "a b" },
      });
      if (kind !== "local") expect(stdout).not.toContain("EDGECALL_TEST_SECRET");
      expect((await run(["env"], { env: { GIVEN: "a b" } })).stdout).toContain("GIVEN=a b\n");
      const names = (await run(["env"])).stdout.split("\n").map((line) => line.split("=")[0]);
      expect([
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "TZ",
        "PWD",
        "EDGECALL_RUN",
        "OLDPWD",
        "_",
        "SHLVL",
        "",
      ]).toEqual(expect.arrayContaining(names));
    } finally {
      delete process.env.EDGECALL_TEST_SECRET;
    }
  });

  test.each([
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "NODE_OPTIONS",
    "PATH",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "GIT_SSH_COMMAND",
    "IFS",
    "BASH_FUNC_ls%%",
    "a b",
  ])("the variable %s is refused", async (name) => {
    expect(await code(run(["true"], { env: { [name]: "x" } }))).toBe("blocked");
  });

  test("stdin is the given text, and then ends; without one it ends at once", async () => {
    expect((await run(["cat"], { stdin: Buffer.from("given") })).stdout).toBe("given");
    expect((await sh("cat; echo after")).stdout).toBe("after\n");
    const much = Buffer.alloc(300_000, "x");
    expect((await run(["wc", "-c"], { stdin: much })).stdout.trim()).toBe("300000");
    // A program that reads none of it also ends.
    expect(await run(["true"], { stdin: much })).toMatchObject({ exitCode: 0 });
  });

  test("passes on large and binary output completely", async () => {
    let bytes = 0;
    const ran = await sh("head -c 3000000 /dev/zero; head -c 1000 /dev/zero >&2", {
      onOutput: (chunk) => {
        bytes += chunk.length;
      },
    });
    expect(ran.exitCode).toBe(0);
    expect(bytes).toBe(3_001_000);
  });

  test("output arrives while it runs", async () => {
    const stop = new AbortController();
    const ran = sh("echo begun; sleep 60", { signal: stop.signal, onOutput: () => stop.abort() });
    expect(await ran).toMatchObject({ stopped: true, stdout: "begun\n" });
    // A container may take podman 30 s to remove (podman.ts).
  }, 60_000);

  test("an aborted signal starts nothing", async () => {
    expect(await sh("touch started", { signal: AbortSignal.abort() })).toMatchObject({ stopped: true });
    expect(existsSync(join(ws, "started"))).toBe(false);
  });

  test("an abort ends children, their sessions and their orphans before it is confirmed", async () => {
    const stop = new AbortController();
    const token = `31${Date.now() % 1e7}`;
    const command = `sleep ${token}.1 & setsid sleep ${token}.2 & (setsid sleep ${token}.3 &) ; (sleep ${token}.4 &) ; echo up; wait`;
    const running = sh(command, { signal: stop.signal });
    await until(() => processesWith(token).length >= 4);
    stop.abort();
    expect(await running).toMatchObject({ exitCode: null, stopped: true });
    expect(processesWith(token)).toEqual([]);
  }, 60_000);

  test("processes that are left running at the end are ended too, and delay nothing", async () => {
    const token = `32${Date.now() % 1e7}`;
    const startedAt = performance.now();
    const ran = await sh(`sleep ${token}.1 & setsid sleep ${token}.2 >/dev/null 2>&1 & echo done`);
    expect(ran).toMatchObject({ exitCode: 0, stopped: false, stdout: "done\n" });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(processesWith(token)).toEqual([]);
  });

  test("two at once do not disturb each other", async () => {
    const stop = new AbortController();
    const first = sh("sleep 60", { signal: stop.signal });
    const second = sh("sleep 0.3; echo second");
    stop.abort();
    expect(await first).toMatchObject({ stopped: true });
    expect(await second).toMatchObject({ exitCode: 0, stdout: "second\n" });
  });
}, "every kind of sandbox");

function processesWith(token: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words[0]?.endsWith("sleep") && words[1]?.startsWith(token) ? [words.join(" ")] : [];
    } catch {
      return [];
    }
  });
}
