/** Long texts of signs that a parser may look at again and again: each is read in bounded time. */
import { expect, test } from "vitest";
import { discordFormat, discordMarkdown } from "./discord-markdown.ts";
import { markdownContent } from "./parse.ts";
import { split } from "./split.ts";

const HOSTILE = [
  "*",
  "_",
  "[",
  "![",
  ">",
  "- ",
  "> - ",
  "1. ",
  "` ",
  "*a ",
  "a**b",
  "*a_ ",
  "[a](",
  "](x)[",
  "<",
  "|\n",
  "https://a.b/(",
  "[a]: b\n",
  "~~a ",
  "- a\n\n",
  "\t-",
];

test("C1: no text of 32,000 characters takes a second of processor time, and none is lost by depth", () => {
  for (const unit of HOSTILE) {
    const text = unit.repeat(32_000 / unit.length);
    const began = process.cpuUsage();
    const parts = split(markdownContent(text), discordFormat, 2_000);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000, JSON.stringify(unit)).toBeLessThan(1_000);
    expect(Array.isArray(parts)).toBe(true);
  }
  const deep = `${"> ".repeat(500)}deep`;
  expect(discordMarkdown(markdownContent(deep).blocks)).toContain("deep");
});
