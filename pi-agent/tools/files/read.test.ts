import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { tree } from "../../testing/tree.ts";
import { COUNTED_BYTES, read } from "./read.ts";

function place(files: Record<string, string | Buffer>) {
  const root = tree({ "/etc/hostname": "eye\n", "/secret.txt": "secret", ...prefixed(files) });
  const workspace = join(root, "ws");
  mkdirSync(workspace, { recursive: true });
  const run = (args: Record<string, unknown>) =>
    callTool(read({ files: localFiles({ root, cwd: workspace }) }), args);
  return { root, workspace, run };
}

function prefixed(files: Record<string, string | Buffer>) {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [`/ws/${name}`, content]));
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `Line ${from + index}`).join("\n");

test("a small file is returned unchanged", async () => {
  const { run } = place({ "a.txt": "Hello, world!\nLine 2\nLine 3", "b.txt": "x\n", "sub/c.txt": "größe ✓" });
  expect((await run({ path: "a.txt" })).text).toBe("Hello, world!\nLine 2\nLine 3");
  expect((await run({ path: "b.txt" })).text).toBe("x\n");
  expect((await run({ path: "./sub/../sub/c.txt" })).text).toBe("größe ✓");
});

test("over 2000 lines: whole lines, and how to continue", async () => {
  const { run } = place({ "large.txt": lines(1, 2_500) });
  const { text } = await run({ path: "large.txt" });
  expect(text).toContain("Line 2000\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]");
  expect(text).not.toContain("Line 2001");
  expect((await run({ path: "large.txt", offset: 2_001 })).text.endsWith("Line 2500")).toBe(true);
});

test("a window in the middle", async () => {
  const { run } = place({ "w.txt": lines(1, 100) });
  const { text } = await run({ path: "w.txt", offset: 41, limit: 20 });
  expect(text.startsWith("Line 41\n")).toBe(true);
  expect(text.endsWith("Line 60\n\n[40 more lines in file. Use offset=61 to continue.]")).toBe(true);
  expect((await run({ path: "w.txt", offset: 51 })).text).not.toContain("Use offset=");
});

test("over 50 KB: only whole lines", async () => {
  const { run } = place({ "big.txt": Array.from({ length: 700 }, () => "y".repeat(99)).join("\n") });
  const { text } = await run({ path: "big.txt" });
  expect(text.slice(-120)).toContain(
    "[Showing lines 1-509 of 700 (50.0KB limit). Use offset=510 to continue.]",
  );
});

test("a long line does not end the read, and is mentioned when it cannot be shown", async () => {
  const { run } = place({ "m.txt": `a\n${"x".repeat(70_000)}\nz\n` });
  expect((await run({ path: "m.txt", offset: 3 })).text).toBe("z\n");
  const long = await run({ path: "m.txt", offset: 2 });
  expect(long.code).toBe("too_large");
  expect(long.text).toContain("Use offset=3");
});

test("an offset past the end is an error that names the length; an empty file is not", async () => {
  const { run } = place({ "s.txt": "a\nb\n", "empty.txt": "" });
  const { code, text } = await run({ path: "s.txt", offset: 3 });
  expect(code).toBe("beyond_eof");
  expect(text).toContain("2 lines total");
  expect((await run({ path: "empty.txt" })).text).toBe("(empty file)");
  expect((await run({ path: "s.txt", offset: -5 })).code).toBe("invalid_params");
});

test("binaries, folders, pipes and devices are refused, each with its own code", async () => {
  const { run, workspace } = place({
    "b.dat": Buffer.from("\0ABCDEF"),
    "latin1.txt": Buffer.from([0x67, 0x72, 0xf6, 0xdf, 0x65]),
    "cut.txt": Buffer.from([0x61, 0xc3]),
    "d/x": "",
  });
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  expect((await run({ path: "b.dat" })).code).toBe("is_binary");
  expect((await run({ path: "latin1.txt" })).code).toBe("is_binary");
  expect((await run({ path: "cut.txt" })).code).toBe("is_binary");
  expect((await run({ path: "d" })).code).toBe("is_directory");
  expect((await run({ path: "pipe" })).code).toBe("access_denied");
});

test("missing and forbidden differ, and nothing is revealed about files elsewhere", async () => {
  const { run, root, workspace } = place({ "a.txt": "a" });
  expect((await run({ path: "none.txt" })).code).toBe("not_found");
  expect((await run({ path: "a.txt/x" })).code).toBe("not_found");
  for (const path of [
    "/proc/self/environ",
    "/dev/zero",
    "/etc/shadow",
    "/no/such",
    "../secret.txt",
    join(root, "secret.txt"),
    `${workspace}-other/x`,
    "a\0b",
  ]) {
    expect((await run({ path })).code, path).toBe("access_denied");
  }
  writeFileSync(join(workspace, "p.txt"), "x");
  chmodSync(join(workspace, "p.txt"), 0);
  // Root may read everything, so this half of the difference cannot be seen.
  if (process.getuid?.() !== 0) expect((await run({ path: "p.txt" })).code).toBe("access_denied");
});

test("links are followed to their targets, as far as allowed", async () => {
  const { run, root, workspace } = place({ "a.txt": "a", "d/x.txt": "x" });
  symlinkSync("a.txt", join(workspace, "inside"));
  symlinkSync(join(root, "secret.txt"), join(workspace, "outside"));
  symlinkSync(root, join(workspace, "up"));
  symlinkSync("/proc/self/environ", join(workspace, "environ"));
  expect((await run({ path: "inside" })).text).toBe("a");
  expect((await run({ path: "outside" })).code).toBe("access_denied");
  expect((await run({ path: "up/secret.txt" })).code).toBe("access_denied");
  expect((await run({ path: "environ" })).code).toBe("access_denied");
});

test("the few readable system files, below root", async () => {
  const { run } = place({});
  expect((await run({ path: "/etc/hostname" })).text).toBe("eye\n");
  expect((await run({ path: "/etc/os-release" })).code).toBe("not_found");
  const real = await callTool(read({ files: localFiles({ cwd: "/nonexistent" }) }), {
    path: "/etc/os-release",
  });
  expect(real.text).toBe(readFileSync("/etc/os-release", "utf8"));
});

test("only a part of a huge file is read", async () => {
  const line = `${"x".repeat(1_023)}\n`;
  const { run, workspace } = place({ "huge.txt": line.repeat(COUNTED_BYTES / 1_024 + 5_000) });
  const { text } = await run({ path: "huge.txt", limit: 10 });
  expect(text.slice(-90)).toContain(
    "[Showing lines 1-10 of more. The file has 20.9MB. Use offset=11 to continue.]",
  );
  expect((await run({ path: "huge.txt", offset: 20_000, limit: 1 })).text).toContain(line);
  writeFileSync(join(workspace, "one-line.txt"), Buffer.alloc(COUNTED_BYTES + 9, 97));
  const { code, text: refused } = await run({ path: "one-line.txt" });
  expect(code).toBe("too_large");
  expect(refused).toContain("Line 1 of 'one-line.txt' has over 16.0MB, over the limit of 50.0KB.");
});

test("a byte order mark is not shown, and a window ends at whole characters", async () => {
  const { run } = place({ "bom.txt": "\ufeffa\r\nb\r\n", "wide.txt": `${"€".repeat(400_000)}\nend\n` });
  expect((await run({ path: "bom.txt" })).text).toBe("a\r\nb\r\n");
  expect((await run({ path: "wide.txt", offset: 2 })).text).toBe("end\n");
});

test("a picture is shown, whatever its name is", async () => {
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(60_000)]);
  const { run } = place({ "small.txt": png.subarray(0, 900), "big.png": png });
  const { result } = await run({ path: "small.txt" });
  expect(result.content).toMatchObject([
    { type: "text", text: "Read image file [image/png] (900B)" },
    { type: "image", mediaType: "image/png", data: png.subarray(0, 900).toString("base64") },
  ]);
  // Too large for the report, and without a gateway that stores it.
  const refused = await run({ path: "big.png" });
  expect(refused.code).toBeDefined();
  const kept: Array<{ bytes: number; mediaType: string }> = [];
  const outcome = await runTool(
    new ToolRegistry([read({ files: localFiles({ cwd: place({ "b.png": png }).workspace }) })]),
    {
      callId: "c",
      name: "read",
      args: { path: "b.png" },
      caller: { principal: "test", role: "owner", channel: "test" },
      artifact: async (bytes, mediaType) => {
        kept.push({ bytes: bytes.length, mediaType });
        return { type: "artifact", id: "i", mediaType, bytes: bytes.length, sha256: "s" };
      },
    },
  );
  expect(kept).toEqual([{ bytes: png.length, mediaType: "image/png" }]);
  expect(outcome.result.content[1]).toMatchObject({ type: "artifact", bytes: png.length });
});

test("a name with other spaces or quotes is found, and a similar name is suggested", async () => {
  const { run } = place({ "file name.txt": "plain", "it’s.txt": "curly", "Notes.md": "n" });
  expect((await run({ path: "file\u00a0name.txt" })).text).toBe("plain");
  expect((await run({ path: "it's.txt" })).text).toBe("curly");
  const { code, text } = await run({ path: "notes.txt" });
  expect(code).toBe("not_found");
  expect(text).toContain("Similar: Notes.md.");
});

test("the owner's limits", async () => {
  const { workspace } = place({ "l.txt": lines(1, 50) });
  const tool = read({ files: localFiles({ cwd: workspace }) }, { maxLines: 10, maxBytes: 1_024 });
  expect((await callTool(tool, { path: "l.txt" })).text).toContain(
    "[Showing lines 1-10 of 50. Use offset=11",
  );
  expect((await callTool(tool, { path: "l.txt", limit: 11 })).code).toBe("invalid_params");
});

test("S21 a file that is mentioned with @ is read, unless a file has exactly that name", async () => {
  const folder = tree({ "src/x.ts": "mentioned\n", "@own": "own\n" });
  const tool = read({ files: localFiles({ cwd: folder }) });
  expect((await callTool(tool, { path: "@src/x.ts" })).text).toBe("mentioned\n");
  expect((await callTool(tool, { path: "@own" })).text).toBe("own\n");
  expect((await callTool(tool, { path: "@none" })).code).toBe("not_found");
  expect((await callTool(tool, { path: "@/etc/passwd" })).code).toBe("not_found");
});
