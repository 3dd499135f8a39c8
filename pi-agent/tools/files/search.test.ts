import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../env/environment.ts";
import { local } from "../../env/local.ts";
import { sandbox } from "../../env/sandbox/sandbox.ts";
import { callTool } from "../../testing/call.ts";
import { casesOf, expectCase, placeOf } from "../../testing/cases.ts";
import { tree } from "../../testing/tree.ts";
import { find, glob } from "./find.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { rgMissing } from "./ripgrep.ts";

const RG = ["needs/ripgrep"];

const TOOLS = { grep, find, ls, glob };
/** The cases' name of an argument, and ours. */
const RENAMED: Record<string, string> = { glob: "include" };

const PLACES: Record<string, (folder: string) => Environment> = {
  local: (folder) => local({ cwd: folder }),
  sandbox: (folder) => sandbox({ workspace: folder }),
};

for (const [place, environment] of Object.entries(PLACES)) {
  const tags = place === "local" ? RG : [...RG, "needs/bubblewrap"];
  describe(`cases, ${place}`, { tags }, () => {
    for (const one of casesOf("search")) {
      test(`${one.id}: ${one.title}`, async () => {
        const folder = placeOf(one);
        const tool = TOOLS[one.tool as keyof typeof TOOLS](environment(folder));
        const args = Object.fromEntries(
          Object.entries(one.input).map(([name, value]) => [RENAMED[name] ?? name, value]),
        );
        const { text, code } = await callTool(tool, args);
        expectCase(one.expect, { text, code, folder });
      });
    }
  });
}

const inTree = (files: Record<string, string | Buffer>) => {
  const folder = tree(files);
  const run = (name: keyof typeof TOOLS, args: Record<string, unknown>) =>
    callTool(TOOLS[name](local({ cwd: folder })), args);
  return { folder, run };
};

describe("grep", { tags: RG }, () => {
  test("names are paths from the workspace, wherever the search runs", async () => {
    const { run } = inTree({ "a/b/c.txt": "hit\n", "top.txt": "hit\n" });
    expect((await run("grep", { pattern: "hit" })).text).toBe("a/b/c.txt:1: hit\ntop.txt:1: hit");
    expect((await run("grep", { pattern: "hit", path: "a" })).text).toBe("a/b/c.txt:1: hit");
    expect((await run("grep", { pattern: "hit", path: "a/b/c.txt" })).text).toBe("a/b/c.txt:1: hit");
    expect((await run("grep", { pattern: "hit", path: "./a/../top.txt" })).text).toBe("top.txt:1: hit");
  });

  test("context, case and groups", async () => {
    const { run } = inTree({ "a.txt": "1\n2\nHIT\n4\n5\n6\n7\nhit\n" });
    expect((await run("grep", { pattern: "hit", context: 1, ignore_case: true })).text).toBe(
      ["a.txt-2- 2", "a.txt:3: HIT", "a.txt-4- 4", "--", "a.txt-7- 7", "a.txt:8: hit"].join("\n"),
    );
    expect((await run("grep", { pattern: "hit" })).text).toBe("a.txt:8: hit");
    expect((await run("grep", { pattern: "hit", ignoreCase: true, glob: "*.txt" })).text).toContain("HIT");
  });

  test("a limit says how to get more", async () => {
    const { run } = inTree({
      "a.txt": "hit\n".repeat(300),
      "z.txt": `${"hit".padEnd(480, "x")}\n`.repeat(200),
    });
    const { text, result } = await run("grep", { pattern: "hit" });
    expect(text.split("\n").filter((line) => line.startsWith("a.txt:"))).toHaveLength(100);
    expect(text).toContain(
      "\n\n[Showing matches 1-100 of more. Use limit=200 for more, or a narrower pattern, path or include.]",
    );
    expect(result.details).toEqual({ matches: 100, cut: "matches" });
    const bytes = await run("grep", { pattern: "hit", path: "z.txt", limit: 1_000 });
    expect(bytes.text).toMatch(/\[Showing matches 1-1\d\d of more \(50.0KB limit\). Use a narrower/);
    expect(Buffer.byteLength(bytes.text)).toBeLessThanOrEqual(50 * 1_024);
    const exact = await run("grep", { pattern: "hit", path: "a.txt", limit: 300 });
    expect(exact.text).not.toContain("[Showing");
  });

  test("no argument becomes an option or runs a program", async () => {
    const { folder, run } = inTree({ "a.txt": "x -e y\n--files\n", "s.sh": "#!/bin/sh\ntouch pwned\n" });
    execFileSync("chmod", ["+x", join(folder, "s.sh")]);
    for (const evil of [
      "--pre=./s.sh",
      "--files",
      "-e",
      "-foo",
      "--",
      "-f/etc/passwd",
      "--hostname-bin=./s.sh",
    ]) {
      for (const args of [{ pattern: evil }, { pattern: "x", include: evil }, { pattern: "x", path: evil }]) {
        const { code } = await run("grep", args);
        expect([undefined, "not_found", "invalid_params"], JSON.stringify(args)).toContain(code);
      }
      await run("find", { pattern: evil });
      await run("find", { pattern: "*", path: evil });
    }
    expect((await run("grep", { pattern: "--files" })).text).toBe("a.txt:2: --files");
    expect((await run("ls", {})).text).toBe("a.txt\ns.sh");
    writeFileSync(join(folder, ".rc"), "--files\n");
    process.env.RIPGREP_CONFIG_PATH = join(folder, ".rc");
    expect((await run("grep", { pattern: "x -e" })).text).toBe("a.txt:1: x -e y");
    delete process.env.RIPGREP_CONFIG_PATH;
  });

  test("an invalid pattern is reported as such", async () => {
    const { run } = inTree({ "a.txt": "x" });
    const { code, text } = await run("grep", { pattern: "a(" });
    expect(code).toBe("invalid_params");
    expect(text).toContain("unclosed group");
    expect((await run("grep", { pattern: "a(", literal: true })).text).toBe("No matches found");
    expect((await run("grep", { pattern: "x", include: "{" })).code).toBe("invalid_params");
  });

  test("binaries, odd bytes and odd names", async () => {
    const { run } = inTree({
      "b.dat": Buffer.from("hit\0hit\n"),
      "latin1.txt": Buffer.from([0x68, 0x69, 0x74, 0xe9, 0x0a]),
      "ansi.txt": "hit \x1b[31mred\x1b[0m\r\n",
      "two\nlines.txt": "hit\n",
      "-rf": "hit\n",
    });
    const { text } = await run("grep", { pattern: "hit" });
    expect(text).toContain("latin1.txt:1: hit\ufffd");
    expect(text).toContain("ansi.txt:1: hit \ufffd[31mred\ufffd[0m\n");
    expect(text).toContain("two\ufffdlines.txt:1: hit");
    expect(text).toContain("-rf:1: hit");
    expect(text).not.toContain("\0");
    expect((await run("grep", { pattern: "hit", path: "b.dat" })).text).not.toContain("\0");
    expect((await run("grep", { pattern: "hit", path: "-rf" })).text).toBe("-rf:1: hit");
  });

  test("files that .gitignore names are left out, in a repository or not; nothing outside is searched", async () => {
    const { folder, run } = inTree({
      ".gitignore": "build/\n",
      "build/x.txt": "hit\n",
      "sub/.gitignore": "y.txt\n",
      "sub/y.txt": "hit\n",
      "y.txt": "hit\n",
    });
    const outside = tree({ "secret.txt": "hit secret\n" });
    symlinkSync(outside, join(folder, "l"));
    expect((await run("grep", { pattern: "hit" })).text).toBe("y.txt:1: hit");
    expect((await run("grep", { pattern: "hit", include: "*" })).text).toBe("y.txt:1: hit");
    for (const path of ["l", "l/", "l/secret.txt", "..", "/etc", outside])
      expect((await run("grep", { pattern: "hit", path })).code, path).toBe("access_denied");
    expect((await run("grep", { pattern: "hit", path: "none" })).code).toBe("not_found");
  });

  test("an endless line is left out, and mentioned", async () => {
    const { run } = inTree({ "a.txt": "hit\n", "one.json": `hit${"x".repeat(5_000_000)}\n` });
    expect((await run("grep", { pattern: "hit" })).text).toBe(
      "a.txt:1: hit\n[1 lines of over 4.0MB are left out.]",
    );
  });

  test("without ripgrep the error says what to install", async () => {
    const environment = local({ cwd: tmpdir() });
    expect(await rgMissing(environment)).toBeUndefined();
    const path = process.env.PATH;
    process.env.PATH = mkdtempSync(join(tmpdir(), "empty-"));
    const missing = await rgMissing(environment);
    process.env.PATH = path;
    expect(missing).toContain("install ripgrep");
  });
});

describe("find and glob", { tags: RG }, () => {
  test("patterns by name and by path, in a folder", async () => {
    const { run } = inTree({ "a/x.ts": "", "a/b/y.ts": "", "y.js": "", "!odd.ts": "", "a/[1].ts": "" });
    expect((await run("find", { pattern: "*.ts" })).text).toBe("!odd.ts\na/[1].ts\na/b/y.ts\na/x.ts");
    expect((await run("find", { pattern: "*.ts", path: "a/b" })).text).toBe("a/b/y.ts");
    expect((await run("find", { pattern: "b/*.ts", path: "a" })).text).toBe("a/b/y.ts");
    expect((await run("find", { pattern: "*.{js,md}" })).text).toBe("y.js");
    expect((await run("find", { pattern: "!odd.ts" })).text).toBe("!odd.ts");
    expect((await run("find", { pattern: "*.ts", path: "y.js" })).code).toBe("not_directory");
    expect((await run("find", { pattern: "*", path: ".." })).code).toBe("access_denied");
  });

  test("D9 node_modules and __pycache__ are left out unless they are named", async () => {
    const { run } = inTree({
      "a.js": "",
      "node_modules/x/b.js": "",
      "lib/node_modules/c.js": "",
      "src/__pycache__/d.pyc": "",
      "src/d.py": "",
      "my_node_modules.js": "",
    });
    for (const name of ["find", "glob"] as const) {
      expect((await run(name, { pattern: "*.js" })).text.split("\n").sort()).toEqual([
        "a.js",
        "my_node_modules.js",
      ]);
      expect((await run(name, { pattern: "*" })).text.split("\n").sort()).toEqual([
        "a.js",
        "my_node_modules.js",
        "src/d.py",
      ]);
      expect((await run(name, { pattern: "*.js", path: "node_modules" })).text).toBe("node_modules/x/b.js");
      expect((await run(name, { pattern: "**/node_modules/**/*.js" })).text.split("\n").sort()).toEqual([
        "lib/node_modules/c.js",
        "node_modules/x/b.js",
      ]);
      expect((await run(name, { pattern: "*.pyc", path: "src/__pycache__" })).text).toBe(
        "src/__pycache__/d.pyc",
      );
    }
  });

  test("glob lists the last changed files first", async () => {
    const { folder, run } = inTree({ "old.log": "", "new.log": "", "mid.log": "" });
    utimesSync(join(folder, "old.log"), 1_000, 1_000);
    utimesSync(join(folder, "mid.log"), 2_000, 2_000);
    expect((await run("glob", { pattern: "*.log" })).text).toBe("new.log\nmid.log\nold.log");
  });

  test("a limit says how to get more", async () => {
    const { folder, run } = inTree({});
    mkdirSync(folder, { recursive: true });
    for (let n = 10; n < 40; n += 1) writeFileSync(join(folder, `${n}.txt`), "");
    const { text } = await run("find", { pattern: "*.txt", limit: 5 });
    expect(text).toBe(
      "10.txt\n11.txt\n12.txt\n13.txt\n14.txt\n\n[Showing files 1-5 of more. Use limit=10 for more, or a narrower pattern or path.]",
    );
    expect((await run("ls", { limit: 2 })).text).toBe(
      "10.txt\n11.txt\n\n[Showing entries 1-2 of 30. Use limit=4 for more.]",
    );
    expect((await run("ls", { path: "10.txt" })).code).toBe("not_directory");
  });
});

describe("S21 files that .gitignore names are left out, whatever the glob", { tags: RG }, () => {
  const files = {
    ".gitignore": "*.log\n!keep.log\nbuild/\n",
    "a.ts": "hit\n",
    "a.log": "hit\n",
    "keep.log": "hit\n",
    "build/b.ts": "hit\n",
    "src/.gitignore": "gen.ts\n",
    "src/c.ts": "hit\n",
    "src/gen.ts": "hit\n",
    "src/deep/gen.ts": "hit\n",
    "src/deep/d.ts": "hit\n",
  };

  test.each([
    ["*.ts", ["a.ts", "src/c.ts", "src/deep/d.ts"]],
    ["src/**/*.ts", ["src/c.ts", "src/deep/d.ts"]],
    ["**/gen.ts", []],
    ["*.log", ["keep.log"]],
    ["{a,c}.ts", ["a.ts", "src/c.ts"]],
    ["build/*", []],
  ])("S21 find, glob and grep's include: %s", async (pattern, wanted) => {
    const { run } = inTree(files);
    const found = await run("find", { pattern });
    expect(found.text).toBe(wanted.join("\n") || "No files found matching pattern");
    const listed = await run("glob", { pattern });
    expect(listed.text.split("\n").sort()).toEqual(
      [wanted.join("\n") || "No files found matching pattern"].join().split("\n"),
    );
    const hits = await run("grep", { pattern: "hit", include: pattern });
    expect(hits.text).toBe(wanted.map((name) => `${name}:1: hit`).join("\n") || "No matches found");
  });

  test("S21 globs that no ignore rule can express find their files", async () => {
    const { run } = inTree({ "a b ": "x\n", "!x": "x\n", "#y": "x\n", ".gitignore": "no\n" });
    expect((await run("find", { pattern: "!x" })).text).toBe("!x");
    expect((await run("find", { pattern: "#y" })).text).toBe("#y");
    expect((await run("find", { pattern: "a*" })).text).toBe("a b ");
  });
});

test("S21 grep's limit with context shows only the context of the shown matches", {
  tags: RG,
}, async () => {
  const lines = ["1", "hit 2", "3", "4", "5", "6", "hit 7", "8"];
  const { run } = inTree({ "a.txt": `${lines.join("\n")}\n`, "b.txt": "0\nhit\n" });
  const one = await run("grep", { pattern: "hit", context: 1, limit: 1 });
  expect(one.text.split("\n").slice(0, 3)).toEqual(["a.txt-1- 1", "a.txt:2: hit 2", "a.txt-3- 3"]);
  expect(one.text).toContain("[Showing matches 1-1 of more.");
  expect(one.text).not.toContain("a.txt-6-");
  const two = await run("grep", { pattern: "hit", context: 2, limit: 2 });
  expect(two.text).toContain("a.txt-8- 8\n");
  expect(two.text).not.toContain("b.txt");
  const all = await run("grep", { pattern: "hit", context: 1, limit: 3 });
  expect(all.text).toContain("b.txt:2: hit");
  expect(all.text).not.toContain("Showing");
});
