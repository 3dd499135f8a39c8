import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Locks } from "@edgecall/core/tools/locks.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { casesOf, expectCase, placeOf } from "../../testing/cases.ts";
import { tree } from "../../testing/tree.ts";
import { edit } from "./edit.ts";
import { EDIT_MAX_BYTES } from "./file-text.ts";

const toolIn = (folder: string) => edit({ name: "local", files: localFiles({ cwd: folder }) });

/** Makes a folder with `f.txt`, and edits it once. */
async function edited(content: string | Buffer, args: Record<string, unknown>) {
  const folder = tree({ "f.txt": content });
  const outcome = await callTool(toolIn(folder), { path: "f.txt", ...args });
  return { ...outcome, after: readFileSync(join(folder, "f.txt")).toString("utf8"), folder };
}

describe("cases", () => {
  for (const one of casesOf("edit")) {
    test(`${one.id}: ${one.title}`, async () => {
      const folder = placeOf(one);
      const tool = toolIn(folder);
      const calls = one.parallel ?? [one.input];
      const locks = new Locks();
      const caller = { principal: "test", role: "owner", channel: "test" };
      const outcomes = await Promise.all(
        calls.map((args) =>
          runTool(new ToolRegistry([tool]), { callId: "c", name: "edit", args, caller }, { locks }),
        ),
      );
      for (const { result } of outcomes) {
        const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
        expectCase(one.expect, { text, code: result.fault?.code, folder });
        for (const part of (one.expect.diffIncludes ?? []) as string[])
          expect(result.forUser).toContain(part);
      }
    });
  }
});

test("the model reads a line, the person the diff", async () => {
  const { result, text } = await edited("a\nb\nc\nd\ne\nf\n", { old_string: "e\n", new_string: "E\n" });
  expect(text).toBe("Edited f.txt: 1 place (+1 -1 lines, first at line 5).");
  expect(result.forUser).toBe(`${text}\n--- f.txt\n+++ f.txt\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f`);
});

test("replace_all replaces each, and needs no unique text", async () => {
  expect(
    (await edited("foo foo foo", { old_string: "foo", new_string: "$&", replace_all: true })).after,
  ).toBe("$& $& $&");
  expect((await edited("aaaa", { old_string: "aa", new_string: "b", replace_all: true })).after).toBe("bb");
  expect(
    (await edited("a\r\nb\na\n", { old_string: "a\n", new_string: "x\n", replace_all: true })).after,
  ).toBe("x\r\nb\nx\n");
});

test("several edits are all searched in the original file", async () => {
  const edits = [
    { old_string: "three", new_string: "one" },
    { old_string: "one", new_string: "three" },
  ];
  expect((await edited("one two three", { edits })).after).toBe("three two one");
  const bad = await edited("one two three", { edits: [...edits, { old_string: "four", new_string: "x" }] });
  expect(bad.code).toBe("no_match");
  expect(bad.text).toContain("old_string of edit 3");
  expect(bad.after).toBe("one two three");
});

test("wrong arguments are named", async () => {
  expect((await edited("a", { old_string: "a" })).code).toBe("invalid_params");
  expect((await edited("a", { new_string: "a" })).text).toContain("give old_string and new_string, or edits");
  expect((await edited("a", { oldText: "a", newText: "b" })).after).toBe("b");
  expect(
    (await edited("a", { path: null, file_path: "f.txt", edits: [{ oldText: "a", newText: "c" }] })).after,
  ).toBe("c");
  expect((await edited("a", { edits: '[{"old_string":"a","new_string":"d"}]' })).after).toBe("d");
});

describe("a loose match", () => {
  test("changes only its place", async () => {
    const before = "①②  \r\n“x”\t\nＡ — b\n";
    const { after } = await edited(before, { old_string: "A - b", new_string: "c" });
    expect(after).toBe("①②  \r\n“x”\t\nc\n");
  });

  test("never takes half of a letter", async () => {
    expect((await edited("ﬁn", { old_string: "f", new_string: "x" })).code).toBe("no_match");
    expect((await edited("ﬁn", { old_string: "fin", new_string: "x" })).after).toBe("x");
    expect((await edited("½", { old_string: "1", new_string: "x" })).code).toBe("no_match");
  });

  test("is not tried where there is an exact match", async () => {
    expect((await edited("a\u00a0b\na b", { old_string: "a b", new_string: "x" })).after).toBe("a\u00a0b\nx");
    expect((await edited("x\u00a0y", { old_string: "  ", new_string: "z" })).code).toBe("no_match");
  });
});

test("files that are not text or too large stay unchanged", async () => {
  const latin1 = Buffer.from([0x67, 0xf6, 0x67]);
  const { code, folder } = await edited(latin1, { old_string: "g", new_string: "x" });
  expect(code).toBe("is_binary");
  expect(readFileSync(join(folder, "f.txt"))).toEqual(latin1);
  writeFileSync(join(folder, "big.txt"), "a".repeat(EDIT_MAX_BYTES + 1));
  const big = await callTool(toolIn(folder), { path: "big.txt", old_string: "a", new_string: "b" });
  expect(big.code).toBe("too_large");
  expect((await callTool(toolIn(folder), { path: ".", old_string: "a", new_string: "b" })).code).toBe(
    "is_directory",
  );
  expect((await callTool(toolIn(folder), { path: "../f", old_string: "a", new_string: "b" })).code).toBe(
    "access_denied",
  );
  expect(
    (await callTool(toolIn(folder), { path: "/etc/hostname", old_string: "a", new_string: "b" })).code,
  ).not.toBe(undefined);
  expect(statSync(join(folder, "f.txt")).size).toBe(3);
});

test("property: an edit is a splice", async () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "\n", "\r\n", "é", "e\u0301", " ", "“", "😀", "①"),
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(text, text, text, async (before, wanted, put) => {
      fc.pre(wanted !== "");
      const { code, after } = await edited(`<${before}${wanted}>`, {
        old_string: `${wanted}>`,
        new_string: put,
      });
      if (code !== undefined) {
        expect(after).toBe(`<${before}${wanted}>`);
        return;
      }
      const lineFeeds = (one: string) => one.replaceAll("\r\n", "\n");
      expect(lineFeeds(after)).toBe(lineFeeds(`<${before}${put}`));
      expect(after.startsWith(`<${before}`)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
