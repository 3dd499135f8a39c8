import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileOps } from "../../env/environment.ts";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { casesOf, expectCase, placeOf } from "../../testing/cases.ts";
import { tree } from "../../testing/tree.ts";
import { applyPatch } from "./apply-patch.ts";

const patchOf = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

function inFolder(files: Record<string, string | Buffer>, wrap = (ops: FileOps) => ops) {
  const folder = tree(files);
  const tool = applyPatch({ name: "local", files: wrap(localFiles({ cwd: folder })) });
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  return { folder, read, run: (...lines: string[]) => callTool(tool, { patch: patchOf(...lines) }) };
}

describe("cases", () => {
  for (const one of casesOf("apply_patch")) {
    test(`${one.id}: ${one.title}`, async () => {
      const folder = placeOf(one);
      const tool = applyPatch({ name: "local", files: localFiles({ cwd: folder }) });
      const { text, code } = await callTool(tool, one.input);
      expectCase(one.expect, { text, code, folder });
    });
  }
});

test("several files at once; the model reads a list, the person a diff", async () => {
  const { run, read, folder } = inFolder({ "a.txt": "1\n2\n3\n", "b.txt": "b\n" });
  const { text, result } = await run(
    "*** Update File: a.txt",
    "@@",
    " 1",
    "-2",
    "+two",
    "",
    "*** Delete File: b.txt",
    "*** Add File: sub/c.txt",
    "+c",
    "+",
    "+d",
  );
  expect(text).toBe("Done:\nM a.txt\nD b.txt\nA sub/c.txt");
  expect(result.forUser).toContain("-2\n+two\n 3");
  expect(read("a.txt")).toBe("1\ntwo\n3\n");
  expect(read("sub/c.txt")).toBe("c\n\nd\n");
  expect(existsSync(join(folder, "b.txt"))).toBe(false);
});

test("with one wrong change, nothing is changed", async () => {
  const { run, read, folder } = inFolder({ "a.txt": "1\n", "z.txt": "z\n", bin: Buffer.from([0, 255]) });
  const good = ["*** Add File: new.txt", "+x", "*** Update File: a.txt", "@@", "-1", "+2"];
  const bad: Array<[string, string[]]> = [
    ["no_match", ["*** Update File: z.txt", "@@", "-y", "+x"]],
    ["not_found", ["*** Update File: none", "@@", "-y", "+x"]],
    ["access_denied", ["*** Add File: ../out.txt", "+x"]],
    ["access_denied", ["*** Update File: z.txt", "*** Move to: ../out.txt", "@@", "-z", "+x"]],
    ["blocked", ["*** Update File: z.txt", "*** Move to: /tmp/out.txt", "@@", "-z", "+x"]],
    ["exists", ["*** Add File: z.txt", "+x"]],
    ["exists", ["*** Update File: z.txt", "*** Move to: a.txt", "@@", "-z", "+x"]],
    ["is_binary", ["*** Update File: bin", "@@", "-y", "+x"]],
    ["is_directory", ["*** Delete File: ."]],
    ["invalid_params", ["*** Update File: z.txt", "@@", "?z"]],
    ["invalid_params", ["*** Update File: z.txt"]],
    ["invalid_params", ["*** Add File: y.txt", "x"]],
  ];
  for (const [wanted, lines] of bad) {
    const { code, text } = await run(...good, ...lines);
    expect(code, text).toBe(wanted);
    expect(read("a.txt")).toBe("1\n");
    expect(read("z.txt")).toBe("z\n");
    expect(existsSync(join(folder, "new.txt"))).toBe(false);
  }
});

test("a write that fails half-way is undone", async () => {
  let writes = 0;
  const { run, read, folder } = inFolder({ "a.txt": "1\n", "b.txt": "1\n", "old.txt": "o\n" }, (ops) => ({
    ...ops,
    async writeFile(path, bytes, options) {
      writes += 1;
      if (writes === 3) throw new Error("the card is full");
      await ops.writeFile(path, bytes, options);
    },
  }));
  chmodSync(join(folder, "a.txt"), 0o755);
  const change = (name: string) => [`*** Update File: ${name}`, "@@", "-1", "+2"];
  const { text } = await run(
    "*** Delete File: old.txt",
    "*** Add File: n.txt",
    "+n",
    ...change("a.txt"),
    ...change("b.txt"),
  );
  expect(text).toContain("the card is full");
  expect([read("a.txt"), read("b.txt"), read("old.txt")]).toEqual(["1\n", "1\n", "o\n"]);
  expect(existsSync(join(folder, "n.txt"))).toBe(false);
  expect(statSync(join(folder, "a.txt")).mode & 0o777).toBe(0o755);
});

describe("places", () => {
  const changed = async (before: string, ...lines: string[]) => {
    const { run, read } = inFolder({ "f.txt": before });
    const { code } = await run("*** Update File: f.txt", ...lines);
    return code ?? read("f.txt");
  };

  test("a line above distinguishes two places", async () => {
    const before = "def a\n  x\ndef b\n  x\n";
    expect(await changed(before, "@@ def b", "-  x", "+  y")).toBe("def a\n  x\ndef b\n  y\n");
    expect(await changed(before, "@@ def b", "+  new")).toBe("def a\n  x\ndef b\n  new\n  x\n");
    expect(await changed(before, "@@ def c", "-  x", "+  y")).toBe("no_match");
  });

  test("at the end", async () => {
    expect(await changed("x\ny\nx\n", "@@", "-x", "+z", "*** End of File")).toBe("x\ny\nz\n");
    expect(await changed("x\n", "@@", "+z")).toBe("x\nz\n");
    expect(await changed("x", "@@", "+z")).toBe("x\nz\n");
    expect(await changed("x\n", "@@", "-x", "+z", "")).toBe("z\n");
    expect(await changed("a\nb", "@@", "-a", "+A")).toBe("A\nb");
  });

  test("hunks are searched in order, and line endings stay", async () => {
    expect(await changed("a\r\nb\r\nc\r\n", "@@", "-a", "+1", "+2", "@@", "-c", "+3")).toBe(
      "1\r\n2\r\nb\r\n3\r\n",
    );
    expect(await changed("a\nb\n", "@@", "-b", "+1", "@@", "-a", "+2")).toBe("no_match");
    expect(await changed("\ufeffa\nb\n", "@@ -1,2 +1,2 @@", "-a", "+A")).toBe("\ufeffA\nb\n");
    expect(await changed("“q” \n\n", "@@", ' "q"', "-", "+x")).toBe("“q” \nx\n");
    expect(await changed("a\n", "@@", "-a", "+a")).toBe("no_change");
  });
});

test("moving keeps the mode; one file may be named twice; of a link, the target is patched", async () => {
  const { run, read, folder } = inFolder({ "s.sh": "1\n2\n", "d/t.txt": "t\n" });
  chmodSync(join(folder, "s.sh"), 0o755);
  symlinkSync("d/t.txt", join(folder, "l"));
  const { code, text } = await run(
    "*** Update File: s.sh",
    "@@",
    "-1",
    "+one",
    "*** Update File: ./s.sh",
    "*** Move to: bin/s.sh",
    "@@",
    "-2",
    "+two",
    "*** Update File: l",
    "@@",
    "-t",
    "+T",
    "*** Delete File: d/t.txt",
    "*** Add File: d/t.txt",
    "+again",
  );
  expect(code, text).toBeUndefined();
  expect(read("bin/s.sh")).toBe("one\ntwo\n");
  expect(statSync(join(folder, "bin/s.sh")).mode & 0o777).toBe(0o755);
  expect(read("l")).toBe("again\n");
});
