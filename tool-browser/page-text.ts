/** Converts a page to text for a model: what a person would see and could use, with a name for each element. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { partOf, TEXT_MAX_CHARS, visible } from "@edgecall/core/web/page-text.ts";
import { untrusted } from "@edgecall/core/web/untrusted.ts";
import type { Locator, Page } from "playwright-core";

/** Below the runner's limit for a result, so that the line that ends a stranger's text is never cut off. */
const MAX_BYTES = 46 * 1024;
const TITLE_CHARS = 200;
/** An element's name in the text of a page: `[ref=e12]`, in a frame `[ref=f1e12]`. */
const REF = /^\[?(?:ref=)?((?:f\d+)?e\d+)\]?$/;

export type PageText = { ok: true; text: string } | { ok: false; total: number };

/** @returns not ok when `offset` is after the end */
export async function pageText(page: Page, offset: number, maxChars: number): Promise<PageText> {
  const seen = visible((await page.ariaSnapshot({ mode: "ai" })).slice(0, TEXT_MAX_CHARS));
  if (offset > 0 && offset >= seen.length) return { ok: false, total: seen.length };
  const part = partOf(seen, offset, maxChars, MAX_BYTES);
  const title = cutText(visible(await page.title()), TITLE_CHARS);
  const shown = [page.url(), ...(title ? [`Title: ${title}`] : []), "", part.text || "(an empty page)"];
  const notice =
    part.next === undefined
      ? ""
      : `\n[Showing characters ${offset}-${part.next - 1} of ${part.total}. Use action="read" with offset=${part.next} to continue.]`;
  return { ok: true, text: untrusted(shown.join("\n")) + notice };
}

/** Finds an element by its name in the page's text, or by a Playwright selector: CSS, `text=…`, `role=…`. */
export function locate(page: Page, selector: string): Locator {
  const ref = REF.exec(selector.trim())?.[1];
  return page.locator(ref === undefined ? selector : `aria-ref=${ref}`);
}
