/** The tool `webfetch`: a page of the public web as text. */
import { z } from "../protocol/parse.ts";
import { defineTool, faultResult, type Tool, type ToolResult, textResult } from "../tools/contract.ts";
import { type AllowedRanges, URL_MAX_CHARS } from "./address.ts";
import { fetchPage, MAX_BODY_BYTES, type WebFetch } from "./fetch-page.ts";
import { pageText, partOf } from "./page-text.ts";
import { untrusted } from "./untrusted.ts";

const DEFAULT_CHARS = 20_000;
export const MAX_CHARS = 40_000;
/** Below the runner's limit for a result, so that the line that ends a stranger's text is never cut off. */
const MAX_TEXT_BYTES = 46 * 1024;

export type WebfetchOptions = {
  fetch: WebFetch;
  /** Non-public addresses that may be fetched. */
  allowed?: AllowedRanges;
  maxBodyBytes?: number;
};

export function webfetch(options: WebfetchOptions): Tool {
  return defineTool({
    name: "webfetch",
    description: `Fetch a page of the public web and read it as text (HTML becomes Markdown, JSON is indented). ${DEFAULT_CHARS} characters at once; use offset to continue. Pages up to ${MAX_BODY_BYTES / 1024 / 1024} MB; no pictures, no log-in, no addresses of a home network.`,
    input: z.strictObject({
      url: z
        .string()
        .check(z.minLength(1), z.maxLength(URL_MAX_CHARS), z.describe("Address: https://… or http://…")),
      offset: z
        .optional(z.int().check(z.minimum(0), z.maximum(10_000_000)))
        .check(z.describe("First character, from 0")),
      max_chars: z
        .optional(z.int().check(z.minimum(1), z.maximum(MAX_CHARS)))
        .check(z.describe("How many characters at most")),
    }),
    effect: "network",
    permission: "network",
    idempotent: true,
    taints: true,
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    async execute({ url, offset = 0, max_chars = DEFAULT_CHARS }, { signal }): Promise<ToolResult> {
      const page = await fetchPage(url.trim(), { ...options, signal });
      if (!page.ok) {
        return faultResult(
          page.code,
          { text: `Error: Nothing was fetched: ${page.problem}.`, advice: advice(page.code) },
          {
            cause: page.cause,
          },
        );
      }
      const details = { url: page.url.href, status: page.status, bytes: page.body.length };
      const read = pageText(page);
      if (!read.ok) {
        return faultResult(
          "is_binary",
          {
            text: "Error: What is at 'url' is not text (a picture, an archive, a PDF), and cannot be read here.",
            advice: "Look for a page about it, or give the user the address.",
          },
          { details },
        );
      }
      const part = partOf(read.text, offset, max_chars, MAX_TEXT_BYTES);
      if (offset > 0 && offset >= part.total) {
        return faultResult(
          "beyond_eof",
          `Error: 'offset' ${offset} is beyond the end of the page (${part.total} characters).`,
        );
      }
      return textResult(
        untrusted(answerText(page.url, read.title, part.text)) + notice(offset, part),
        details,
      );
    },
  });
}

/** Address and title are the site's own text too, so they belong inside the marks. */
function answerText(url: URL, title: string, text: string): string {
  return [url.href, ...(title ? [`Title: ${title}`] : []), "", text || "(no text on this page)"].join("\n");
}

function notice(offset: number, { next, total }: ReturnType<typeof partOf>): string {
  if (next === undefined) return "";
  return `\n[Showing characters ${offset}-${next - 1} of ${total}. Use offset=${next} to continue.]`;
}

function advice(code: string): string {
  if (code === "private_address" || code === "blocked")
    return "Do not try it another way. Explain to the user.";
  if (code === "invalid_params" || code === "unsupported_scheme")
    return "Required: [url], like https://example.com/page.";
  return "Try another page or explain to the user.";
}
