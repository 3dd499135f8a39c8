import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, type Inline, parseMarkdown, safeHref } from "./markdown.ts";

const only = (text: string): Block | undefined => parseMarkdown(text)[0];

test("blocks are read as models write them", () => {
  const text = [
    "## Title",
    "a **b** `c`",
    "second line",
    "",
    "- one",
    "  - two",
    "> said",
    "```sh",
    "rm *",
    "```",
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "---",
  ].join("\n");
  const blocks = parseMarkdown(text);
  expect(blocks.map(({ kind }) => kind)).toEqual([
    "heading",
    "paragraph",
    "list",
    "quote",
    "code",
    "table",
    "rule",
  ]);
  expect(blocks[1]).toEqual({
    kind: "paragraph",
    content: [
      { kind: "text", text: "a " },
      { kind: "strong", text: "b" },
      { kind: "text", text: " " },
      { kind: "code", text: "c" },
      { kind: "text", text: "\nsecond line" },
    ],
  });
  expect(blocks[2]).toMatchObject({ ordered: false, items: [{ depth: 0 }, { depth: 1 }] });
  expect(blocks[4]).toEqual({ kind: "code", text: "rm *" });
});

test("a fence that is still being written is code already", () => {
  expect(only("```\nhalf")).toEqual({ kind: "code", text: "half" });
});

test.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "JaVaScRiPt:x",
  "/v1/agents",
  "//evil",
  "file:///etc",
])("%s is no link", (target) => {
  expect(safeHref(target)).toBeUndefined();
  const { content } = only(`[click](${target})`) as { content: Inline[] };
  expect(
    content
      .map(({ kind, text }) => `${kind} ${text}`)
      .join("+")
      .replace("+text ", ""),
  ).toBe(`text [click](${target})`);
});

test("a picture is shown from this home only; another's is a link", () => {
  const [own] = (only("![cat](/v1/media/abc.def)") as { content: Inline[] }).content;
  expect(own).toEqual({ kind: "picture", text: "cat", src: "/v1/media/abc.def" });
  const [other] = (only("![cat](https://evil.example/cat.png)") as { content: Inline[] }).content;
  expect(other).toEqual({ kind: "link", text: "cat", href: "https://evil.example/cat.png" });
});

test("whatever is written, links are harmless, and it ends soon", () => {
  const pieces = fc.constantFrom(
    "[",
    "](",
    ")",
    "`",
    "**",
    "*",
    "|",
    "\n",
    "- ",
    "> ",
    "```",
    "javascript:",
    "![",
    "x ",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 300 }), (parts) => {
      const links = JSON.stringify(parseMarkdown(parts.join(""))).matchAll(/"href":"([^"]*)"/g);
      for (const [, href] of links) expect(href).toMatch(/^(https?|mailto):/);
    }),
  );
  for (const piece of ["[", "`", "**", "*a", "![", "|", "> ", "- ", "http://"]) {
    const began = performance.now();
    parseMarkdown(piece.repeat(Math.floor(50_000 / piece.length)));
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});
