/**
 * Attempts to hide from a person what an approval is for: a text of a stranger in the arguments, in what an agent says of itself, or in a name, as
 * each platform shows it. Judged by the shown text: all of the arguments are in it, as they are run, and nothing is invisible; or nobody approves
 * there.
 */
import { approvalText } from "@edgecall/core/approvals/approval-text.ts";
import { describeCall } from "@edgecall/core/approvals/sentence.ts";
import { slotText } from "@edgecall/core/approvals/slot-text.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { zh } from "@edgecall/core/phrases/languages/zh.ts";
import { ENGLISH, Phrases } from "@edgecall/core/phrases/phrases.ts";
import { visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import { expect, test } from "vitest";
import { parsed } from "../../../../test/platforms/telegram.ts";
import type { TurnQuestion } from "../../../kernel/api/answers.ts";
import { commonMarkdown, discordMarkdown } from "./format/discord-markdown.ts";
import { markdownContent } from "./format/parse.ts";
import { slackRichText } from "./format/slack-rich-text.ts";
import { telegramHtml } from "./format/telegram-html.ts";
import { whatsappText } from "./format/whatsapp-text.ts";
import { choicesOf, questionText } from "./question-text.ts";

/** What would do harm stands at the end of each. */
const HARM = "unlock the door";
const TEXTS: Record<string, string> = {
  "letters from right to left": `\u202e${HARM}\u202c`,
  "an isolate": `ok\u2066${HARM}\u2069`,
  "an Arabic letter mark": `ok\u061c${HARM}`,
  "zero-width spaces": [...HARM].join("\u200b"),
  "a word joiner": `ok\u2060${HARM}`,
  tags: `ok${[..."unlock"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("")}`,
  "variation selectors": `ok${"\ufe0f".repeat(20)}${HARM}`,
  "variation selectors beyond the first 65,536": `ok${"\u{e0100}".repeat(20)}${HARM}`,
  "Hangul fillers": `ok${"\u3164".repeat(50)}${HARM}`,
  "Braille blanks": `ok${"\u2800".repeat(50)}${HARM}`,
  "soft hyphens": `ok${"\u00ad".repeat(50)}${HARM}`,
  "no-break spaces": `ok${"\u00a0".repeat(500)}${HARM}`,
  "ideographic spaces": `ok${"\u3000".repeat(500)}${HARM}`,
  "a line separator": `ok\u2028${HARM}`,
  "a next line": `ok\u0085${HARM}`,
  "a carriage return": `ok\r${HARM}`,
  backspaces: `ok${"\b".repeat(20)}${HARM}`,
  "escape sequences": `\u001b[8m${HARM}\u001b[0m`,
  "a NUL": `ok\0${HARM}`,
  "half a character": `ok\ud83d${HARM}`,
  "2,000 line feeds": `ok${"\n".repeat(2_000)}${HARM}`,
  "2,000 tabs": `ok${"\t".repeat(2_000)}${HARM}`,
  "8,000 spaces": `ok${" ".repeat(8_000)}${HARM}`,
  "20,000 spaces": `ok${" ".repeat(20_000)}${HARM}`,
  "9,000 emoji": `${"😀".repeat(9_000)}${HARM}`,
  "200 marks on a letter": `o${"\u0301".repeat(200)}${HARM}`,
  "the end of a fence": `ok\n\`\`\`\n${HARM}`,
  "a longer fence": `ok\n${"`".repeat(40)}\n${HARM}`,
  "a fence of tildes": `ok\n~~~\n${HARM}`,
  "code of one line": `\`ok\` ${HARM}`,
  "a spoiler": `||${HARM}||`,
  "crossed out": `~~${HARM}~~ ~${HARM}~`,
  "a link": `[ok](https://ok.example/?${HARM.replaceAll(" ", "+")})`,
  "a picture": `![ok](https://ok.example/a.png "${HARM}")`,
  HTML: `<span style="display:none">${HARM}</span>`,
  "a comment of HTML": `<!-- ${HARM} -->`,
  "a spoiler of Telegram": `<tg-spoiler>${HARM}</tg-spoiler>`,
  entities: `&lt;b&gt;&#8238;${HARM}`,
  "a mention": `<@U1> <!channel|ok> @everyone ${HARM}`,
  "a time of Discord": `<t:1:R> ${HARM}`,
  "a reference": `[ok]: https://ok.example "${HARM}"`,
  "a table": `| ok |\n| --- |\n| ${HARM} |`,
  "a heading and a rule": `# ok\n\n---\n\n${HARM}`,
  "another question": `ok\n**pi** wants to run **cpu**\n{}\n${HARM}`,
  "the words of a cut": `ok … 3,000 more characters … ${HARM}`,
  backslashes: `ok\\\\\\"\\\n${HARM}`,
  "a formula": `$$\\phantom{${HARM}}$$`,
  "bare addresses": `https://ok.example www.ok.example mail@ok.example ${HARM}`,
  "a footnote": `ok[^1]\n\n[^1]: ${HARM}`,
  "a quotation that unfolds": `>>> ok\n${HARM}`,
  "a quotation of Telegram": `<blockquote expandable>${HARM}</blockquote>`,
};

const INVISIBLE =
  /\u034f|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u17b4\u17b5\u3000\u3164\uffa0\u2800]|\p{Variation_Selector}/u;

/** What a person sees in each app, with the markup that it reads taken off where a part of it could hide something. */
const PLATFORMS: Record<string, (words: string) => string> = {
  telegram: (words) => {
    const shown = parsed(telegramHtml(markdownContent(words).blocks));
    return "text" in shown ? shown.text : "";
  },
  // It keeps marks from being read as markup by a joiner of its own.
  whatsapp: (words) => whatsappText(markdownContent(words).blocks).replaceAll("\u2060", ""),
  discord: (words) => discordMarkdown(markdownContent(words).blocks),
  slack: (words) => slackTexts(slackRichText(markdownContent(words).blocks).elements),
  generic: (words) => commonMarkdown(markdownContent(words).blocks),
};

function slackTexts(of: unknown): string {
  if (Array.isArray(of)) return of.map(slackTexts).join("");
  if (typeof of !== "object" || of === null) return "";
  const { text, url, elements } = of as { text?: unknown; url?: unknown; elements?: unknown };
  // A link without a text shows its address.
  const own = text ?? url;
  return (typeof own === "string" ? own : "") + slackTexts(elements);
}

function asked(what: Partial<NonNullable<TurnQuestion["approval"]>>, text = SENTENCE): TurnQuestion {
  const approval = { tool: "bash", parameters: {}, reason: "it writes", hash: "h", ...what };
  return {
    id: "q",
    agent: "pi",
    text,
    options: [],
    expires_at: 1,
    approval,
  } as unknown as TurnQuestion;
}

const SENTENCE = "Run this on pi?";

/** An approval that can be given here is for what is shown. */
function seen(question: TurnQuestion, wanted: readonly string[]): string[] {
  if (!choicesOf(question).some(({ answer }) => answer === "approve")) return [];
  const words = questionText(question);
  return Object.entries(PLATFORMS).flatMap(([platform, show]) => {
    const text = show(words);
    const hidden = INVISIBLE.exec(text.replace(/[\n\t]/g, ""))?.[0];
    // Markdown's marks are escaped, and shown as they were written.
    const read = text.replace(/\\([!-/:-@[-`{-~])/g, "$1");
    const lacking = wanted.filter((one) => !text.includes(one) && !read.includes(one));
    return [
      ...(hidden === undefined ? [] : [`${platform} shows U+${hidden.codePointAt(0)?.toString(16)}`]),
      ...lacking.map((one) => `${platform} lacks ${one.slice(0, 80)}`),
    ];
  });
}

test.each(Object.entries(TEXTS))("S27: %s hides nothing of what is approved", (_, text) => {
  const parameters = { command: text, [text]: 1 };
  const lines = visibleJson(parameters, 1).split("\n");
  expect(seen(asked({ parameters }), lines)).toEqual([]);
  // Beside the arguments, a text may be cut, and leave none of them out.
  const unread = [{ agent: "evil", line: text, was: text, actions: [text], group: text }];
  const plain = { parameters: { command: HARM } };
  expect(seen(asked({ ...plain, unread }), [`"command": "${HARM}"`, SENTENCE])).toEqual([]);
  for (const field of ["tool", "cwd", "reason"])
    expect(seen(asked({ ...plain, [field]: text }), [`"command": "${HARM}"`, SENTENCE]), field).toEqual([]);
  // A script is shown line by line, or as JSON where its lines could hide something.
  const card = { verb: "Run", decline: "No", asker: "anna asked", facts: [], shows: ["command"] };
  const script = { command: text, timeout_ms: 5 };
  const { lines: own = visibleJson({ command: text }).slice(1, -1).split("\n"), rest } = approvalText(
    { approval: { parameters: script, card } },
    undefined,
  );
  expect(seen(asked({ parameters: script, card }), [...own, rest, SENTENCE])).toEqual([]);
  // Names are in the sentence, who asked and what is known: as they stand there.
  const slot = slotText(text, ENGLISH);
  const named = { ...card, asker: `${slot} asked`, facts: [{ label: "Where", text: slot }] };
  const sentence = `Run this on ${slot}?`;
  const wanted = [HARM, sentence, `${slot} asked`, `Where: ${slot}`];
  expect(seen(asked({ parameters: { command: HARM }, card: named }, sentence), wanted)).toEqual([]);
  expect(visible(text)).toContain(text === TEXTS.tags ? "ok" : "o");
});

test.each(Object.entries(TEXTS))("S27: %s in a name formats nothing", (_, text) => {
  for (const phrases of [ENGLISH, new Phrases(de), new Phrases(zh)]) {
    const slot = slotText(text, phrases);
    const calls = [
      { name: text, action: "set", parameters: { on: true }, hosted: true },
      { name: "Lamp", action: text, parameters: { [text]: text }, hosted: true },
      { name: text, action: "write", parameters: { path: text, content: "x" }, hosted: false },
    ];
    for (const call of calls) {
      const sentence = describeCall(call, phrases).ask(slotText(call.name, phrases));
      expect(sentence.length).toBeLessThanOrEqual(400);
      // A person, a program or a device that asked has a name, too.
      const card = {
        verb: "Run",
        decline: "No",
        asker: `${slot} asked`,
        facts: [{ label: "Where", text: slot }],
      };
      const words = questionText(asked({ parameters: { command: HARM }, card }, sentence));
      const { blocks } = markdownContent(words);
      const texts = blocks.flatMap((block) => (block.kind === "text" ? [block] : []));
      for (const { level, marker, quote, depth } of texts)
        expect({ level, marker, quote, depth }).toEqual({
          level: undefined,
          marker: undefined,
          quote: 0,
          depth: 0,
        });
      const [bold, ...others] = texts.flatMap(({ runs }) => runs);
      expect(bold).toEqual({ text: sentence, bold: true });
      const forms = others.flatMap(({ text: _, ...form }) => Object.keys(form));
      expect(forms).toEqual([]);
      expect(others.map(({ text }) => text).join("")).toContain(`${slot} asked`);
    }
  }
});
