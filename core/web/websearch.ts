/** The tool `websearch`. */
import { z } from "../protocol/parse.ts";
import { defineTool, type Tool, type ToolResult, textResult } from "../tools/contract.ts";
import { partOf, visible } from "./page-text.ts";
import type { SearchHit, SearchProvider } from "./provider.ts";
import { serviceFault } from "./service-fault.ts";
import { untrusted } from "./untrusted.ts";

const MAX_COUNT = 10;
const DEFAULT_COUNT = 5;
const QUERY_MAX_CHARS = 400;
const HIT_MAX_CHARS = 1_500;

export function websearch({ search }: { search: SearchProvider }): Tool {
  return defineTool({
    name: "websearch",
    description: `Search the web: titles, addresses and a few lines of each page. ${DEFAULT_COUNT} results unless count says otherwise (at most ${MAX_COUNT}). To read a page, fetch its address.`,
    input: z.strictObject({
      query: z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(QUERY_MAX_CHARS),
          z.describe("What to search for, in a few words"),
        ),
      count: z
        .optional(z.int().check(z.minimum(1), z.maximum(MAX_COUNT)))
        .check(z.describe("How many results")),
      range: z
        .optional(z.enum(["d", "w", "m", "y"]))
        .check(z.describe("Only pages of the last day, week, month or year")),
    }),
    effect: "network",
    permission: "network",
    idempotent: true,
    taints: true,
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    prepare(raw) {
      const { range } = raw;
      if (typeof range !== "string") return raw;
      const { range: _, ...rest } = raw;
      const word = range.trim().toLowerCase();
      return word === "" ? rest : { ...rest, range: word };
    },
    async execute({ query, count = DEFAULT_COUNT, range }, { signal }): Promise<ToolResult> {
      try {
        const hits = await search({ query, count, ...(range && { range }) }, signal);
        if (hits.length === 0)
          return textResult("Nothing was found. Try other or fewer words.", { count: 0 });
        return textResult(untrusted(hits.map(hitText).join("\n\n")), { count: hits.length });
      } catch (error) {
        return serviceFault(error);
      }
    },
  });
}

function hitText({ title, url, text, age }: SearchHit, index: number): string {
  const lines = [`${index + 1}. ${title}`, url, ...(age ? [age] : []), text];
  const one = visible(lines.filter(Boolean).join("\n"));
  return partOf(one, 0, HIT_MAX_CHARS, HIT_MAX_CHARS * 3).text;
}
