import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, type Inline, parseMarkdown, safeHref } from "./markdown.ts";

const only = (text: string): Block | undefined => parseMarkdown(text)[0];

test("blocks are parsed as models write them", () => {
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
  expect(blocks[2]).toMatchObject({
    ordered: false,
    items: [{ content: [{ kind: "paragraph" }, { kind: "list", items: [{}] }] }],
  });
  expect(blocks[4]).toEqual({ kind: "code", text: "rm *" });
});

test("an unfinished fence is already shown as code", () => {
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
])("%s is not a link", (target) => {
  expect(safeHref(target)).toBeUndefined();
  const { content } = only(`[click](${target})`) as { content: Inline[] };
  expect(
    content
      .map(({ kind, text }) => `${kind} ${text}`)
      .join("+")
      .replace("+text ", ""),
  ).toBe(`text [click](${target})`);
});

test("a picture is shown only from this home; another one is a link", () => {
  const [own] = (only("![cat](/v1/media/abc.def)") as { content: Inline[] }).content;
  expect(own).toEqual({ kind: "picture", text: "cat", src: "/v1/media/abc.def" });
  const [other] = (only("![cat](https://evil.example/cat.png)") as { content: Inline[] }).content;
  expect(other).toEqual({ kind: "link", text: "cat", href: "https://evil.example/cat.png" });
});

test("in any text, links are harmless, and parsing is fast", () => {
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

/** Returns a tree of blocks as short words. */
function shape(blocks: readonly Block[]): unknown[] {
  return blocks.map((block) => {
    if (block.kind !== "list")
      return "content" in block ? block.content.map(({ text }) => text).join("") : block.kind;
    const { ordered, start, items } = block;
    const name = ordered ? `ol ${start}` : "ul";
    return {
      [name]: items.map(({ done, content }) => [...(done === undefined ? [] : [done]), ...shape(content)]),
    };
  });
}

test("C7 lists are nested as written, each with its own kind and numbers", () => {
  const text = [
    "1. one",
    "   - a",
    "     - deep",
    "   - b",
    "2. two",
    "",
    "   more of two",
    "   ```",
    "   code",
    "   ```",
    "",
    "3. three",
    "  1. with two spaces",
    "- another list",
    "end",
  ].join("\n");
  expect(shape(parseMarkdown(text))).toEqual([
    {
      "ol 1": [
        ["one", { ul: [["a", { ul: [["deep"]] }], ["b"]] }],
        ["two", "more of two", "code"],
        ["three", { "ol 1": [["with two spaces"]] }],
      ],
    },
    { ul: [["another list"]] },
    "end",
  ]);
  expect(shape(parseMarkdown("7. seven\n8. eight"))).toEqual([{ "ol 7": [["seven"], ["eight"]] }]);
});

test("C7 tasks are marked, and columns are aligned", () => {
  expect(shape(parseMarkdown("- [x] done\n- [ ] open\n- plain"))).toEqual([
    { ul: [[true, "done"], [false, "open"], ["plain"]] },
  ]);
  expect(only("| a | b | c |\n|:--|:-:|--:|\n| x \\| y | 2 | 3.14 |")).toMatchObject({
    kind: "table",
    align: ["start", "center", "end"],
    rows: [[[{ text: "x | y" }], [{ text: "2" }], [{ text: "3.14" }]]],
  });
});

test("C7 lists of any depth are parsed fast", () => {
  for (const line of [
    (at: number) => `${" ".repeat(at % 12)}- x`,
    (at: number) => `${"  ".repeat(at)}- x`,
    () => "- - - x",
    () => "-\n",
  ]) {
    const text = Array.from({ length: 2_000 }, (_, at) => line(at))
      .join("\n")
      .slice(0, 60_000);
    const began = performance.now();
    parseMarkdown(text);
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});
