/** Brave's web search API: https://api-dashboard.search.brave.com/app/documentation/web-search */
import { z } from "../protocol/parse.ts";
import type { WebFetch } from "./fetch-page.ts";
import { askService, below, type SearchHit, type SearchProvider, serviceJson } from "./provider.ts";
import { rangeWord } from "./search-range.ts";

export const BRAVE_BASE_URL = "https://api.search.brave.com/res/v1";
const NAME = "The search service";

const Answer = z.looseObject({
  web: z.optional(z.looseObject({ results: z.optional(z.array(z.unknown())) })),
});
const Result = z.looseObject({
  title: z.string(),
  url: z.string(),
  description: z.optional(z.string()),
  age: z.optional(z.string()),
  extra_snippets: z.optional(z.array(z.string())),
});

/** @param options.keys one or more subscription tokens */
export function brave(options: {
  keys: readonly string[];
  baseUrl?: string;
  fetch: WebFetch;
}): SearchProvider {
  const { keys, baseUrl = BRAVE_BASE_URL, fetch } = options;
  const service = {
    name: NAME,
    fetch,
    keys,
    headers: (key?: string) => ({ accept: "application/json", ...(key && { "x-subscription-token": key }) }),
  };
  return async ({ query, count, range }, signal) => {
    const url = below(baseUrl, "/web/search", {
      q: query,
      count: String(count),
      text_decorations: "false",
      ...(range && { freshness: rangeWord("brave", range) }),
    });
    const answer = Answer.safeParse(serviceJson(await askService(url, service, signal), NAME));
    return (answer.data?.web?.results ?? []).slice(0, count).flatMap(hitOf);
  };
}

/** An unreadable hit is left out, because the others are still useful. */
function hitOf(item: unknown): SearchHit[] {
  const result = Result.safeParse(item);
  if (!result.success) return [];
  const { title, url, description = "", age, extra_snippets = [] } = result.data;
  return [{ title, url, text: [description, ...extra_snippets].join("\n"), ...(age && { age }) }];
}
