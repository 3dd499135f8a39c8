/** The tool `codesearch`: passages from the documentation of programming libraries. */
import { z } from "../protocol/parse.ts";
import { defineTool, type Tool, type ToolResult, textResult } from "../tools/contract.ts";
import { partOf, visible } from "./page-text.ts";
import type { DocsProvider } from "./provider.ts";
import { serviceFault } from "./service-fault.ts";
import { untrusted } from "./untrusted.ts";

const MAX_CHARS = 20_000;
const MAX_BYTES = 46 * 1024;

export function codesearch({ search }: { search: DocsProvider }): Tool {
  return defineTool({
    name: "codesearch",
    description:
      "Search the documentation of programming languages, libraries and tools: passages and code examples that answer a question. Name the library where you can.",
    input: z.strictObject({
      query: z
        .string()
        .check(z.minLength(1), z.maxLength(500), z.describe("The question, like: how to read a GPIO pin")),
      library: z
        .optional(z.string().check(z.minLength(1), z.maxLength(200)))
        .check(z.describe("Its name, like gpiozero, or its id, like /vercel/next.js")),
    }),
    effect: "network",
    permission: "network",
    idempotent: true,
    taints: true,
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    async execute({ query, library }, { signal }): Promise<ToolResult> {
      try {
        const text = await search({ query, ...(library && { library: library.trim() }) }, signal);
        if (text === "") return textResult("Nothing was found. Ask in other words, or name the library.");
        const part = partOf(visible(text), 0, MAX_CHARS, MAX_BYTES);
        const cut = part.next === undefined ? "" : `\n[Cut: ${part.next} of ${part.total} characters shown.]`;
        return textResult(untrusted(part.text) + cut);
      } catch (error) {
        return serviceFault(error);
      }
    },
  });
}
