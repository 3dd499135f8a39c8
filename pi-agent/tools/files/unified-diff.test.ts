// @module-tag needs/git
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { tree } from "../../testing/tree.ts";
import { applyPatch } from "./apply-patch.ts";

const tool = (folder: string) => applyPatch({ name: "local", files: localFiles({ cwd: folder }) });
const apply = (folder: string, patch: string) => callTool(tool(folder), { patch });

function git(cwd: string, args: string[], input = ""): { code: number | null; out: string } {
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: tmpdir(),
  };
  const ran = spawnSync("git", args, { cwd, input, env, encoding: "utf8" });
  return { code: ran.status, out: ran.stdout };
}

/** Returns all files of a folder with their contents. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function diffOf(before: Record<string, string>, after: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-diff-"));
  for (const [side, files] of [["a", before] as const, ["b", after] as const]) {
    mkdirSync(join(folder, side));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, side, name), text);
  }
  // The folders have the names of git's own prefixes.
  return git(folder, ["diff", "--no-index", "--no-prefix", "a", "b"]).out;
}

test("D9 a diff from git is applied: changes, a new file, a deleted one, and a renamed one", async () => {
  const before = {
    "one.txt": "1\n2\n3\n4\n5\n6\n7\n8\n",
    "gone.txt": "x\ny\n",
    "old name.txt": "keep\nme\nwhole\n",
  };
  const after = {
    "one.txt": "1\n2\n3\nfour\n5\n6\n7\n8\n9\n",
    "new é.txt": "é\n",
    "new name.txt": "keep\nme\nwhole\n",
  };
  const folder = tree(before);
  const repository = tree(before);
  git(repository, ["init", "-q"]);
  git(repository, ["add", "-A"]);
  git(repository, ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "before"]);
  for (const name of Object.keys(before)) rmSync(join(repository, name));
  for (const [name, text] of Object.entries(after)) writeFileSync(join(repository, name), text);
  git(repository, ["add", "-A"]);
  const diff = git(repository, ["diff", "--cached", "-M"]).out;
  expect(diff).toContain("rename from old name.txt");
  expect(diff).toContain('"b/new \\303\\251.txt"');
  const { text, result } = await apply(folder, diff);
  expect(text).toMatch(/^Done:\n/);
  expect(result.forUser).toContain("-4\n+four");
  expect(filesOf(folder)).toEqual(after);
});

test("D9 diff -u without git's header and prefixes, with dates, below other text", async () => {
  const folder = tree({ "src/a.txt": "a\nb\nc\n" });
  const patch =
    "Here is the change:\n--- src/a.txt\t2026-11-22 10:00:00\n+++ src/a.txt\t2026-11-22 10:01:00\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
  expect((await apply(folder, patch)).code).toBeUndefined();
  expect(filesOf(folder)).toEqual({ "src/a.txt": "a\nB\nc\n" });
});

test("D9 the whole diff is checked first: when one hunk does not apply, nothing is changed", async () => {
  const files = { "a.txt": "a\n", "b.txt": "b\n", "sub/c.txt": "c\n" };
  const good =
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";
  const bad: Array<[string, string]> = [
    ["no_match", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+B\n"],
    ["no_match", "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"],
    ["not_found", "--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-x\n+B\n"],
    ["exists", "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+x\n"],
    ["access_denied", "--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n"],
    ["blocked", "--- /dev/null\n+++ /tmp/out.txt\n@@ -0,0 +1 @@\n+x\n"],
    ["invalid_params", "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n-b\n+B\n"],
    ["invalid_params", "diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 100755\n"],
    [
      "invalid_params",
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+b.txt\n",
    ],
    ["invalid_params", "diff --git a/b.bin b/b.bin\nindex 1..2 100644\nGIT binary patch\nliteral 0\n"],
    ["invalid_params", "diff --git a/a.txt b/x.txt\nsimilarity index 100%\ncopy from a.txt\ncopy to x.txt\n"],
  ];
  for (const [code, patch] of bad) {
    const folder = tree(files);
    const { code: got, text } = await apply(folder, good + patch);
    expect(got, `${patch}\n${text}`).toBe(code);
    expect(filesOf(folder)).toEqual(files);
  }
});

test("D9 a new file may be executable, and the last line may lack its newline", async () => {
  const folder = tree({ "end.txt": "a\nb" });
  const patch =
    "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n@@ -0,0 +1 @@\n+#!/bin/sh\n" +
    "diff --git a/end.txt b/end.txt\n--- a/end.txt\n+++ b/end.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
  expect((await apply(folder, patch)).code).toBeUndefined();
  expect(filesOf(folder)).toEqual({ "run.sh": "#!/bin/sh\n", "end.txt": "a\nc" });
  expect(statSync(join(folder, "run.sh")).mode & 0o777).toBe(0o755);
  expect(existsSync(join(folder, "sub"))).toBe(false);
});

test("D9 writes and moves below .git are judged like any other write there", async () => {
  const folder = tree({ "hook.txt": "#!/bin/sh\n" });
  const judged = async (patch: string) =>
    await tool(folder).targets?.({ patch }, new AbortController().signal);
  const rename =
    "diff --git a/hook.txt b/.git/hooks/pre-commit\nsimilarity index 100%\nrename from hook.txt\nrename to .git/hooks/pre-commit\n";
  expect(JSON.stringify(await judged(rename))).toContain(".git/hooks/pre-commit");
  const add = "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n";
  expect(JSON.stringify(await judged(add))).toContain(".git/hooks/x");
});

describe("S14 a patch does not block the device", () => {
  const BOUND_MS = 5_000;
  const took = async (before: string, patch: string) => {
    const folder = tree({ f: before });
    const begun = performance.now();
    const { code, text } = await apply(folder, patch);
    return { ms: performance.now() - begun, code, text, after: readFileSync(join(folder, "f"), "utf8") };
  };
  /** Each place is found at the other end of the file, and one more line is added there. */
  const far = (places: number) => `--- a/f\n+++ b/f\n${"@@ -5,2 +5,3 @@\n+y\n x\n z\n".repeat(places)}`;
  const empty = (lines: number) => `${"\n".repeat(lines)}x\nz\n`;

  test("S14 a unified diff whose places are far away is refused in words, however long it is", async () => {
    for (const [places, lines] of [
      [1_000, 250_000],
      [2_000, 500_000],
      [4_000, 1_000_000],
    ] as const) {
      const { ms, code, text, after } = await took(empty(lines), far(places));
      expect(ms).toBeLessThan(BOUND_MS);
      expect(code).toBe("too_large");
      expect(text).toMatch(/too far from where it says in 'f'.* Nothing was changed/);
      expect(after.length).toBe(lines + 4);
    }
  }, 60_000);

  test("S14 many places at the stated lines take time in proportion to the file", async () => {
    const diff = (places: number) => {
      const hunks = Array.from(
        { length: places },
        (_, n) => `@@ -${4 * n + 2},2 +${5 * n + 2},3 @@\n b\n+new\n c\n`,
      );
      return `--- a/f\n+++ b/f\n${hunks.join("")}`;
    };
    for (const places of [10_000, 20_000]) {
      const { ms, code, after } = await took("a\nb\nc\nd\n".repeat(places), diff(places));
      expect(code).toBeUndefined();
      expect(ms).toBeLessThan(BOUND_MS);
      expect(after).toBe("a\nb\nnew\nc\nd\n".repeat(places));
    }
  }, 60_000);

  test("S14 so does a patch of the other format whose lines match only loosely", async () => {
    const patch = `*** Begin Patch\n*** Update File: f\n${"@@\n-a \u201cb\u201d\n+new\n".repeat(2_000)}*** End Patch`;
    for (const lines of [20_000, 40_000]) {
      const { ms, code, text } = await took('a "b"\n'.repeat(lines), patch);
      expect(ms).toBeLessThan(BOUND_MS);
      expect([code, text]).toEqual(["too_large", expect.stringContaining("Nothing was changed")]);
    }
    // More lines than a call takes arguments.
    const { code, after } = await took(
      `${"\n".repeat(400_000)}x\n`,
      "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch",
    );
    expect([code, after.slice(-3)]).toEqual([undefined, "\ny\n"]);
  }, 60_000);
});

describe("D9 like git apply:", () => {
  const line = fc.constantFrom("a", "b", "", "x y", "{", "\tt");
  const text = fc
    .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
    .map(([lines, ended]) => (lines.length === 0 ? "" : lines.join("\n") + (ended ? "\n" : "")));

  test("D9 the diff of two texts, on the first text and on a slightly different one", () => {
    return fc.assert(
      fc.asyncProperty(text, text, text, fc.boolean(), async (before, after, other, onOther) => {
        fc.pre(before !== after && before !== "" && after !== "");
        const diff = diffOf({ f: before }, { f: after });
        fc.pre(diff !== "");
        // Git compares bytes: it takes an unchanged last line without newline for the beginning of any line, and joins
        // the following text to it. Here such a line is the file's last one.
        fc.pre(!(onOther && /^ .*\n\\ No newline/m.test(diff)));
        const base = onOther ? other + before : before;
        const [ours, theirs] = [tree({ f: base }), tree({ f: base })];
        const { code } = await apply(ours, diff);
        const applied = git(theirs, ["apply", "--whitespace=nowarn", "-"], diff);
        expect(code === undefined, `git: ${applied.code}, ours: ${code}\n${diff}`).toBe(applied.code === 0);
        expect(filesOf(ours)).toEqual(filesOf(theirs));
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
