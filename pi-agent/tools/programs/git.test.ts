// @module-tag needs/git
// @module-tag needs/bubblewrap
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Tool, textOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import { local } from "../../env/local.ts";
import { sandbox } from "../../env/sandbox/sandbox.ts";
import { gitBranch } from "./git-branch.ts";
import { gitCommit } from "./git-commit.ts";
import { gitDiff } from "./git-diff.ts";
import { gitLog } from "./git-log.ts";
import { gitMissing } from "./git-run.ts";
import { gitStatus } from "./git-status.ts";

let folder: string;
let ws: string;
let tools: Tool[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-git-")));
  ws = join(folder, "ws");
  mkdirSync(ws);
  const env = sandbox({ workspace: ws });
  tools = [gitStatus(env), gitDiff(env), gitCommit(env), gitLog(env), gitBranch(env)];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function call(name: string, args: Record<string, unknown> = {}) {
  const caller = { principal: "test", role: "admin", channel: "test" };
  const { result } = await runTool(new ToolRegistry(tools), { callId: "c", name, args, caller });
  return { text: textOf(result), code: result.fault?.code };
}
const git = (...args: string[]) =>
  execFileSync("git", ["-C", ws, "-c", "init.defaultBranch=main", ...args]).toString();
const put = (name: string, text: string) => writeFileSync(join(ws, name), text);

async function repository() {
  git("init", "-q");
  put("main.go", "package main\n");
  await call("git_commit", { message: "Initial commit" });
  put("main.go", "package main\n\nfunc fix() {}\n");
  await call("git_commit", { message: "Fix bug", paths: ["main.go"] });
}

test("the seed's flow: the last commits, then the diff of the newest", async () => {
  await repository();
  const log = await call("git_log", { max_count: 3 });
  expect(log.text).toMatch(
    /^commit ([0-9a-f]{40}) \(HEAD -> main\)\nAuthor: edgecall agent <.*>\nDate: .*\n\n {4}Fix bug\n/,
  );
  const newest = /^commit (\w+)/.exec(log.text)?.[1] ?? "";
  const diff = await call("git_diff", { commit: newest });
  expect(diff.text).toMatch(/^diff --git a\/main.go b\/main.go\n/);
  expect(diff.text).toContain("+func fix() {}");
  expect((await call("git_diff", { commit: "HEAD~1" })).text).toContain("+package main");
  expect((await call("git_diff", { commit: "HEAD~1..HEAD" })).text).toContain("+func fix() {}");
  expect((await call("git_log", { max_count: 1 })).text).not.toContain("Initial commit");
});

test("a change in the commit's own second, with the same size, is noticed", async () => {
  await repository();
  // git's index stores times in seconds, and both have to be in one.
  const second = () => Math.floor(statSync(join(ws, "main.go")).ctimeMs / 1_000);
  await until(
    () => {
      put("main.go", "package one\n");
      git("add", "main.go");
      const added = second();
      put("main.go", "package two\n");
      return second() === added;
    },
    { what: "both within one second" },
  );
  await until(() => Math.floor(Date.now() / 1_000) > second(), { what: "the next second" });
  expect((await call("git_status")).text).toBe("## main\nMM main.go\n");
  expect((await call("git_diff")).text).toContain("+package two");
});

test("status and diff report changes, and say when there are none", async () => {
  await repository();
  expect((await call("git_status")).text).toBe("## main\n(nothing was changed since the last commit)");
  expect((await call("git_diff")).text).toBe("(no changes since the last commit)");
  put("main.go", "package other\n");
  put("new file.txt", "new");
  expect((await call("git_status")).text).toBe('## main\n M main.go\n?? "new file.txt"\n');
  expect((await call("git_diff")).text).toContain("-package main\n");
});

test("a commit takes only the named paths, literally, or everything", async () => {
  await repository();
  put("a.txt", "a");
  put("b.txt", "b");
  put(":(top)*", "odd");
  expect((await call("git_commit", { message: "Only a", paths: ["a.txt"] })).text).toContain("Only a");
  expect(git("show", "--stat", "--format=").trim()).toContain("1 file changed");
  expect((await call("git_commit", { message: "Odd", paths: [":(top)*"] })).code).toBeUndefined();
  expect(git("ls-files", "b.txt")).toBe("");
  expect((await call("git_commit", { message: "$(id) `id` --amend" })).code).toBeUndefined();
  expect(git("log", "-1", "--format=%s").trim()).toBe("$(id) `id` --amend");
  expect((await call("git_commit", { message: "Again" })).code).toBe("no_change");
  expect((await call("git_commit", { message: "x", paths: ["none"] })).code).toBe("exit_nonzero");
});

test("branches are listed", async () => {
  await repository();
  git("branch", "side");
  expect((await call("git_branch")).text).toMatch(
    /^\* main +[0-9a-f]+ Fix bug\n {2}side +[0-9a-f]+ Fix bug\n$/,
  );
});

test.each(["--output=/tmp/x", "-O/x", "--no-index", "HEAD --output=x", "$(id)", "a;b", "-", ""])(
  "git_diff accepts no option as a commit: %s",
  async (commit) => {
    await repository();
    expect((await call("git_diff", { commit })).code).toBe("invalid_params");
  },
);

test("missing things are reported in words", async () => {
  expect((await call("git_status")).text).toContain("The workspace is not a git repository");
  git("init", "-q");
  expect((await call("git_log")).text).toBe("(no commits yet)");
  expect((await call("git_branch")).text).toBe("(no branches yet)");
  await repository();
  expect(await call("git_diff", { commit: "nope" })).toMatchObject({ code: "not_found" });
});

test("a hook of the repository runs in the sandbox, without access to this device", async () => {
  await repository();
  const token = join(folder, "outside");
  const hook = `#!/bin/sh\ntouch ${token} 2>/dev/null\ntouch hook-ran\nls /root > seen 2>&1\n`;
  writeFileSync(join(ws, ".git/hooks/pre-commit"), hook, { mode: 0o755 });
  put("x", "x");
  await call("git_commit", { message: "With a hook", paths: ["x"] });
  expect(existsSync(join(ws, "hook-ran"))).toBe(true);
  expect(existsSync(token)).toBe(false);
});

test("settings in the workspace's home are not the user's", async () => {
  await repository();
  writeFileSync(
    join(ws, ".gitconfig"),
    "[core]\n\tpager = touch paged\n[alias]\n\tstatus = !touch aliased\n[user]\n\tname = Mallory\n",
  );
  await call("git_log");
  put("y", "y");
  await call("git_commit", { message: "y", paths: ["y"] });
  expect(existsSync(join(ws, "paged"))).toBe(false);
  expect(git("log", "-1", "--format=%an").trim()).toBe("edgecall agent");
});

test("a long log says how to get a part of it", async () => {
  await repository();
  put("long.txt", Array.from({ length: 3_000 }, (_, n) => `line ${n}`).join("\n"));
  await call("git_commit", { message: "Long" });
  const { text } = await call("git_diff", { commit: "HEAD" });
  expect(text).toMatch(/\[Showing lines 1-2000 of 300\d\. Read single files, or use a smaller range\.\]$/);
});

test("without a sandbox the git tools are not offered", async () => {
  expect(await gitMissing(local({ cwd: ws }))).toContain('sandboxing = "bubblewrap"');
  expect(await gitMissing(sandbox({ workspace: ws }))).toBeUndefined();
});
