import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { casesOf, expectCase, placeOf } from "../../testing/cases.ts";
import { tree } from "../../testing/tree.ts";
import { APPEND_MAX_FILE_BYTES, append } from "./append.ts";
import { write } from "./write.ts";

const TOOLS = { write, append };

describe("cases", () => {
  for (const one of casesOf("write")) {
    test(`${one.id}: ${one.title}`, async () => {
      const folder = placeOf(one);
      const make = TOOLS[one.tool as keyof typeof TOOLS];
      const tool = make({ name: "local", files: localFiles({ cwd: folder }) });
      const { text, code } = await callTool(tool, one.input);
      expectCase(one.expect, { text, code, folder });
    });
  }
});

function inFolder(files: Record<string, string | Buffer>) {
  const folder = tree(files);
  const environment = { name: "local", files: localFiles({ cwd: folder }) };
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  return {
    folder,
    read,
    write: (args: Record<string, unknown>) => callTool(write(environment), args),
    append: (args: Record<string, unknown>) => callTool(append(environment), args),
  };
}

test("bytes are counted, not characters; the person sees the change", async () => {
  const { write } = inFolder({ "b.txt": "a\nb\n" });
  expect((await write({ path: "a.txt", content: "éé" })).text).toBe("Created a.txt (4B).");
  const { text, result } = await write({ path: "b.txt", content: "a\nc\n" });
  expect(text).toBe("Replaced b.txt (4B).");
  expect(result.forUser).toBe(`${text}\n--- b.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c`);
});

test("content is written unchanged: escapes, newlines, nothing at all", async () => {
  const { write, read } = inFolder({});
  for (const content of ["a\\nb", "\r\n", "", "\ufeffx", "no newline", "\0"]) {
    expect((await write({ path: "f", content })).code).toBeUndefined();
    expect(read("f")).toBe(content);
  }
});

test("overwrite=false keeps an existing file", async () => {
  const { write, read } = inFolder({ "a.txt": "old" });
  const { code, text } = await write({ path: "a.txt", content: "new", overwrite: false });
  expect(code).toBe("exists");
  expect(text).toContain("overwrite=true");
  expect(read("a.txt")).toBe("old");
  expect((await write({ path: "b.txt", content: "new", overwrite: false })).code).toBeUndefined();
});

test("each unwritable path is refused with its own code", async () => {
  const { write, append, folder } = inFolder({ "d/x": "", bin: Buffer.from([0, 255]), f: "f" });
  for (const call of [write, append]) {
    expect((await call({ path: "d", content: "x" })).code).toBe("is_directory");
    expect((await call({ path: "f/x", content: "x" })).code).toBe("not_directory");
    expect((await call({ path: "../x", content: "x" })).code).toBe("access_denied");
    expect((await call({ path: "/etc/hostname", content: "x" })).code).toBe("access_denied");
    expect((await call({ path: "x", content: 5 })).code).toBe("invalid_params");
  }
  expect((await write({ path: "../x", content: "x" })).text).toContain("may write (its workspace)");
  expect((await write({ path: "bin", content: "now text" })).code).toBeUndefined();
  symlinkSync("d/new", join(folder, "l"));
  expect((await write({ path: "l", content: "through" })).text).toBe("Created l (7B).");
  expect(readFileSync(join(folder, "d/new"), "utf8")).toBe("through");
});

test("append makes a missing file, and keeps existing bytes", async () => {
  const { append, folder, read } = inFolder({
    bin: Buffer.from([0, 255]),
    big: Buffer.alloc(APPEND_MAX_FILE_BYTES + 1),
  });
  expect((await append({ path: "n/log", content: "1\n" })).text).toBe("Appended 2B to n/log (2B now).");
  await append({ path: "n/log", content: "2\n" });
  expect(read("n/log")).toBe("1\n2\n");
  await append({ path: "bin", content: "x" });
  expect(readFileSync(join(folder, "bin"))).toEqual(Buffer.from([0, 255, 0x78]));
  const { code, text } = await append({ path: "big", content: "x" });
  expect(code).toBe("too_large");
  expect(text).toContain("bash with >>");
  expect(statSync(join(folder, "big")).size).toBe(APPEND_MAX_FILE_BYTES + 1);
  expect(existsSync(join(folder, "none"))).toBe(false);
});
