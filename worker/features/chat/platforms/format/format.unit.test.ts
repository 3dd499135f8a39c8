/** What each platform gets for a text: a table of cases, and what holds for any text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import cases from "../../../../../test/cases/chat_formats.json" with { type: "json" };
import { type Part, richTextProblem } from "../../../../../test/platforms/slack.ts";
import { parsed } from "../../../../../test/platforms/telegram.ts";
import { type Block, type Content, plainContent } from "./blocks.ts";
import {
  commonMarkdown,
  discordFormat,
  discordMarkdown,
  escapeMarkdown,
  markdownFormat,
} from "./discord-markdown.ts";
import { markdownContent } from "./parse.ts";
import { slackFormat, slackRichText } from "./slack-rich-text.ts";
import { split } from "./split.ts";
import { telegramFormat, telegramHtml } from "./telegram-html.ts";
import { whatsappFormat, whatsappText } from "./whatsapp-text.ts";

const PLATFORMS = {
  telegram: { format: telegramFormat, write: telegramHtml, max: 200 },
  whatsapp: { format: whatsappFormat, write: whatsappText, max: 200 },
  discord: { format: discordFormat, write: discordMarkdown, max: 200 },
  slack: {
    format: slackFormat,
    write: (blocks: readonly Block[]) => JSON.stringify(slackRichText(blocks).elements),
    max: 900,
  },
  generic: { format: markdownFormat, write: commonMarkdown, max: 200 },
} as const;
const EACH = Object.entries(PLATFORMS);

const codeOf = ({ blocks }: Content) =>
  blocks.flatMap((block) => (block.kind === "code" ? [block.text] : []));

test("C1: the table has forty texts and more, each with a form for four platforms", () => {
  expect(cases.length).toBeGreaterThanOrEqual(40);
  for (const { name, telegram, whatsapp, discord, slack } of cases) {
    expect(
      [telegram, whatsapp, discord].every((form) => form !== ""),
      name,
    ).toBe(true);
    expect(parsed(telegram), name).toHaveProperty("text");
    expect(richTextProblem(slack as Part[]), name).toBeUndefined();
  }
});

test("C1: code of each text arrives byte for byte on each platform", () => {
  let count = 0;
  for (const { name, markdown, telegram, whatsapp, discord, slack } of cases) {
    const content = markdownContent(markdown);
    const inline = content.blocks.flatMap((block) => (block.kind === "text" ? block.runs : []));
    const codes = [...codeOf(content), ...inline.filter(({ code }) => code).map(({ text }) => text)];
    const shown = parsed(telegram);
    const inSlack = JSON.stringify(slack);
    for (const code of codes) {
      expect("text" in shown && shown.text, name).toContain(code);
      expect(whatsapp, name).toContain(code);
      expect(discord, name).toContain(code);
      expect(inSlack, name).toContain(JSON.stringify(code));
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(25);
});

describe.each(cases)("C1: $name", ({ markdown, ...expected }) => {
  const { blocks } = markdownContent(markdown);
  test.each(Object.entries(expected).filter(([key]) => key in PLATFORMS))("on %s", (platform, form) => {
    const { write } = PLATFORMS[platform as keyof typeof PLATFORMS];
    expect(write(blocks)).toEqual(platform === "slack" ? JSON.stringify(form) : form);
  });
});

const sign = fc.constantFrom(
  ...[
    "*",
    "**",
    "_",
    "__",
    "`",
    "``",
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
    "- ",
    "1. ",
    "|",
  ],
  ...["\n\n", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é", "\\", "https://a.b/c_d_e", "word", "\n    "],
);
const anyText = fc.array(sign, { maxLength: 80 }).map((all) => all.join(""));
const segments = new Intl.Segmenter("en", { granularity: "grapheme" });

describe.each(EACH)("C1: any text on %s", (platform, { format, write, max }) => {
  test("is within the limit in each part, and in a form that the platform takes", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { blocks } of split(markdownContent(text), format, max)) {
          const form = write(blocks);
          if (platform === "telegram") {
            const shown = parsed(form);
            expect(shown).toHaveProperty("text");
            expect("text" in shown ? shown.text.length : 0).toBeLessThanOrEqual(max);
          } else expect(form.length).toBeLessThanOrEqual(max);
          if (platform === "slack") expect(richTextProblem(JSON.parse(form) as Part[])).toBeUndefined();
        }
      }),
      { numRuns: 400 },
    );
  });

  test("split code is the same code, in parts with its language", () => {
    const code = Array.from(
      { length: 60 },
      (_, at) => `  echo *${at}* __init__ \`x\` <&> ${"y".repeat(at % 9)}`,
    ).join("\n");
    const parts = split(
      markdownContent(`1. Do:\n\n   \`\`\`sh\n${code.replace(/^/gm, "   ")}\n   \`\`\`\n`),
      format,
      max,
    );
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.flatMap(codeOf).join("\n")).toBe(code);
    for (const { blocks } of parts)
      for (const block of blocks) if (block.kind === "code") expect(block.language).toBe("sh");
  });

  test("C9: a split at any place leaves emoji families, flags, skin tones and accents whole", () => {
    for (const grapheme of ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é̂", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
      for (let before = 0; before < 12; before += 1) {
        const text = "x".repeat(before) + grapheme.repeat(600);
        const parts = split(plainContent(text), format, max).map(({ blocks }) =>
          blocks.map((block) => (block.kind === "plain" ? block.text : "")).join(""),
        );
        expect(parts.length).toBeGreaterThan(1);
        expect(parts.join("")).toBe(text);
        for (const part of parts)
          for (const { segment } of segments.segment(part.replace(/^x+/, ""))) expect(segment).toBe(grapheme);
      }
  });

  if (platform !== "telegram")
    test("an address that is longer than a message is written out in parts", () => {
      const parts = split(markdownContent(`[label](https://a.b/${"c".repeat(3_000)})`), format, max);
      expect(parts.length).toBeGreaterThan(2);
      for (const { blocks } of parts) expect(write(blocks).length).toBeLessThanOrEqual(max);
    });
});

test("C1: Telegram gets at most a hundred styles and links in a message, and all that there are", () => {
  const texts = [
    "**b** [l](https://a.b/c) `c` ".repeat(90),
    "- **b** *i* `c`\n".repeat(70),
    "> **b**\n\n".repeat(130),
    `# ${"`c` b ".repeat(80)}`,
    "```sh\nls\n```\n".repeat(120),
  ];
  for (const text of texts) {
    const content = markdownContent(text);
    const parts = split(content, telegramFormat, 4_096).map(({ blocks }) => telegramHtml(blocks));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(parsed(part)).toHaveProperty("text");
    const [count, one] = [parts.join(""), telegramHtml(content.blocks)].map(
      (html) => html.match(/<(?:b|i|code|a|pre)\b/g)?.length ?? 0,
    );
    // A style that is cut in two begins twice.
    expect(count).toBeGreaterThanOrEqual(one ?? 0);
  }
});

test("C1: text without markup on Discord: at most twice as long, and the same without the backslashes", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const escaped = escapeMarkdown(text);
      expect(escaped.length).toBeLessThanOrEqual(2 * text.length);
      expect(escaped.replace(/\\([^0-9A-Za-z\s])/g, "$1")).toBe(text);
    }),
  );
});
