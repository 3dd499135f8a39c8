/** Splitting and dialects: pure functions, tested with anything that a model may write. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnQuestion } from "../api/answers.ts";
import { escapeMarkdown, render, slackMrkdwn, telegramHtml, whatsappText } from "./dialect.ts";
import { choicesOf, isTooLong, questionWords } from "./question-words.ts";
import { readCommand } from "./read-command.ts";
import { splitMarkdown } from "./split.ts";

const word = fc.string({ maxLength: 30, unit: "grapheme" });
const line = fc.oneof(
  word,
  fc.constantFrom("```", "```sh", "~~~", "````", "", "  ```", "| a | b |"),
  fc.array(word).map((words) => words.join(" ")),
);
const markdown = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"));

describe("split", () => {
  test("no part is longer than allowed or empty, and every word is there", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 100, max: 400 }), (text, max) => {
        const parts = splitMarkdown(text, max);
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(max);
          expect(part.trim()).not.toBe("");
        }
        const bare = (some: string) => some.replace(/^ {0,3}(`{3,}|~{3,}).*$/gm, "").replace(/\s/g, "");
        expect(bare(parts.join("\n"))).toBe(bare(text));
      }),
      { numRuns: 300 },
    );
  });

  test("a fence is closed and opened again with its language", () => {
    const code = Array.from({ length: 30 }, (_, at) => `echo ${at}`).join("\n");
    const parts = splitMarkdown(`Look:\n\n\`\`\`sh\n${code}\n\`\`\`\nDone.`, 120);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part.match(/^```/gm)?.length).toBe(2);
    expect(parts[1]?.startsWith("```sh\necho")).toBe(true);
    expect(parts.at(-1)?.endsWith("```\nDone.")).toBe(true);
  });

  test("a cut right before the end of a fence leaves no empty block", () => {
    const text = `\`\`\`\n${"x".repeat(90)}\n\`\`\`\nend`;
    expect(splitMarkdown(text, 100)).toEqual([`\`\`\`\n${"x".repeat(90)}\n\`\`\``, "end"]);
  });

  test("an open fence is closed, with and without room for it", () => {
    expect(splitMarkdown("```sh\nls", 100)).toEqual(["```sh\nls\n```"]);
    const parts = splitMarkdown(`\`\`\`\n${"x ".repeat(48)}`, 100);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(100);
      expect(part.match(/^```/gm)?.length).toBe(2);
    }
  });

  test("a surrogate pair stays whole", () => {
    for (const part of splitMarkdown("😀".repeat(200), 101)) expect(part.isWellFormed()).toBe(true);
  });
});

describe("dialects", () => {
  const text =
    "# Title\n**bold _both_** *it* `a<b` ~~no~~ [x](https://a.b/c?d=1&e=2)\n- item\n> quote\n```js\nif (a < b) {}\n```\n2 * 3 * 4, snake_case_name <tag>";

  test("Telegram's HTML", () => {
    expect(render(text, telegramHtml)).toBe(
      '<b>Title</b>\n<b>bold <i>both</i></b> <i>it</i> <code>a&lt;b</code> <s>no</s> <a href="https://a.b/c?d=1&amp;e=2">x</a>\n• item\n<blockquote>quote</blockquote>\n<pre><code class="language-js">if (a &lt; b) {}</code></pre>\n2 * 3 * 4, snake_case_name &lt;tag&gt;',
    );
  });

  test("a text without markup, in Markdown: at most twice as long, and the same without the backslashes", () => {
    expect(escapeMarkdown("*b* [a](http://x) <@1> `c`\n- item\n1. one")).toBe(
      "\\*b\\* \\[a\\]\\(http\\://x\\) \\<\\@1\\> \\`c\\`\n\\- item\n1\\. one",
    );
    expect(escapeMarkdown("a\n\n- item\n \n  + more\r\n\r\n1. one\n\n--")).toBe(
      "a\n\n\\- item\n \n  \\+ more\r\n\r\n1\\. one\n\n\\--",
    );
    // Chance alone rarely puts a list's mark below an empty line.
    const mark = fc.constantFrom("-", "+", "1.", "\\", " ", "\t", "\r", "\u2028", "\n", "a", "*");
    const listed = fc.array(mark, { maxLength: 20 }).map((marks) => marks.join(""));
    fc.assert(
      fc.property(fc.oneof(markdown, listed), (text) => {
        const escaped = escapeMarkdown(text);
        expect(escaped.length).toBeLessThanOrEqual(2 * text.length);
        expect(escaped.replace(/\\([^0-9A-Za-z\s])/g, "$1")).toBe(text);
        expect(escaped).not.toMatch(/(?<!\\)(\\\\)*[*_~`|<>[\]@#:]/);
      }),
    );
  });

  test("WhatsApp's and Slack's", () => {
    expect(render("# T\n**b** *i* ~~s~~ [x](https://a.b)", whatsappText)).toBe(
      "*T*\n*b* _i_ ~s~ x (https://a.b)",
    );
    expect(render("**b** <!channel> [x](https://a.b)", slackMrkdwn)).toBe(
      "*b* &lt;!channel&gt; <https://a.b|x>",
    );
  });

  test("in any text the tags are well nested, and nothing else is a tag", () => {
    const nasty = fc
      .array(
        fc.constantFrom(
          "*",
          "**",
          "_",
          "__",
          "`",
          "~~",
          "[",
          "](https://a.b)",
          "<b>",
          "&",
          "a",
          " ",
          "\n",
          "```",
          "# ",
          "> ",
        ),
      )
      .map((all) => all.join(""));
    fc.assert(
      fc.property(nasty, (some) => {
        const open: string[] = [];
        const html = render(some, telegramHtml);
        for (const [, slash, tag = ""] of html.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
          if (slash === "") open.push(tag);
          else expect(open.pop()).toBe(tag);
        }
        expect(open).toEqual([]);
        expect(html.replace(/<\/?[a-z]+( (href|class)="[^"<>]*")?>|&(amp|lt|gt);/g, "")).not.toMatch(/[<>&]/);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ["/stop", { name: "stop", argument: "" }],
  ["!status", { name: "status", argument: "" }],
  ["/approve@my_bot ABC234 guest", { name: "approve", argument: "ABC234 guest" }],
  ["/start", { name: "help", argument: "" }],
  ["/tmp is full", undefined],
  ["please /stop", undefined],
])("'%s' as a command", (text, command) => {
  expect(readCommand(text)).toEqual(command);
});

describe("an approval in a chat", () => {
  const asks = (parameters: Record<string, unknown>): TurnQuestion => ({
    ...{ id: "q", call: "c", agent: "pi", text: "May I?", options: [], expires_at: 0 },
    approval: { tool: "bash", parameters, cwd: "/ho\u200bme", reason: "policy\u202e" },
  });

  test("S2 shows invisible characters as escapes, and says so", () => {
    const words = questionWords(asks({ command: "ls \u202e#fr- mr\u2066" }));
    expect(words).toContain('"command": "ls \\u202e#fr- mr\\u2066"');
    expect(words).toContain("in /ho\\u200bme\n");
    expect(words).toContain(
      "⚠ Contains characters that cannot be seen, shown as escapes: U+202E, U+2066, U+200B.",
    );
    expect(
      questionWords({ ...asks({}), approval: undefined, text: "a\u202eb", options: ["\u200bno"] } as never),
    ).toBe("**pi** asks: a\\u202eb\n\n1. \\u200bno\n\n(or /answer and a number)");
    expect(questionWords({ ...asks({}), via: ["eye", "nas\u202e"] })).toContain(
      "**pi** (asked by eye → nas\\u202e) wants to run",
    );
    expect(questionWords(asks({ command: "ls" }))).not.toContain(
      "⚠ Contains characters that cannot be seen, shown as escapes: U+200B, U+202E, U+2066",
    );
  });

  test("S3 that is too long shows its head, its tail and the count between, and cannot be approved there", () => {
    const long = asks({ command: `echo begin\n${"x".repeat(48_000)}\nrm -rf /` });
    const words = questionWords(long, "https://edge.example");
    expect(words).toContain("echo begin");
    expect(words).toContain("rm -rf /");
    expect(words).toMatch(/… 45,0\d\d more characters …/);
    expect(words).toContain("approve it in the console; it can be denied here. https://edge.example");
    expect(words.length).toBeLessThan(4_000);
    expect(isTooLong(long)).toBe(true);
    expect(choicesOf(long)).toEqual([{ label: "Deny", data: "q:q:1", answer: "deny" }]);
    const short = asks({ command: "x".repeat(15_000) });
    expect(questionWords(short)).toContain("x".repeat(15_000));
    expect(choicesOf(short).map(({ label }) => label)).toEqual(["Approve", "Deny"]);
  });

  test("L14: of several calls shows each with its device and arguments, or says that it is too long", () => {
    const several = (count: number, content: string): TurnQuestion => {
      const calls = Array.from({ length: count }, (_, at) => [
        `${at + 1}. write on pi`,
        { path: `f${at}`, content },
      ]);
      return {
        ...asks(Object.fromEntries(calls)),
        approval: { tool: `${count} calls`, parameters: Object.fromEntries(calls), reason: "policy" },
        members: calls.map((_, at) => ({ id: `q${at}`, call: `c${at}`, agent: "pi" })),
      };
    };
    const words = questionWords(several(60, "x\u202e"));
    expect(words).toContain("**pi** wants to run **60 calls**");
    expect(words.split("\n").filter((line) => /^\d+\. write on pi \{"path":"f\d+"/.test(line))).toHaveLength(
      60,
    );
    expect(words).toContain('60. write on pi {"path":"f59","content":"x\\u202e"}');
    expect(choicesOf(several(60, "x")).map(({ label }) => label)).toEqual(["Approve", "Deny"]);
    const long = several(60, "x".repeat(1_000));
    expect(isTooLong(long)).toBe(true);
    expect(questionWords(long).length).toBeLessThan(4_000);
    expect(choicesOf(long).map(({ label }) => label)).toEqual(["Deny"]);
  });
});
