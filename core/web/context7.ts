/**
 * Context7's documentation search (https://context7.com/docs/api-guide): `/v2/libs/search` finds the library,
 * `/v2/context` gives the passages of its documentation that answer a question. Without a key it answers only a few
 * requests.
 */
import { z } from "../protocol/parse.ts";
import type { WebFetch } from "./fetch-page.ts";
import { askService, below, type DocsProvider, ProviderError, serviceJson } from "./provider.ts";

export const CONTEXT7_BASE_URL = "https://context7.com/api";
const NAME = "The documentation service";
/** `/org/project`, optionally with a version. */
const LIBRARY_ID = /^\/[\w.-]+\/[\w./-]+$/;

const Library = z.looseObject({ id: z.string() });
/** The guide shows a list, but the service answers with an object. */
const Libraries = z.union([z.array(z.unknown()), z.looseObject({ results: z.array(z.unknown()) })]);

export function context7(options: { key?: string; baseUrl?: string; fetch: WebFetch }): DocsProvider {
  const { key, baseUrl = CONTEXT7_BASE_URL, fetch } = options;
  const service = {
    name: NAME,
    fetch,
    keys: key ? [key] : [],
    headers: (one?: string) => ({
      accept: "application/json, text/plain",
      ...(one && { authorization: `Bearer ${one}` }),
    }),
  };
  return async ({ query, library }, signal) => {
    const id =
      library !== undefined && LIBRARY_ID.test(library)
        ? library
        : await findLibrary(
            below(baseUrl, "/v2/libs/search", { libraryName: library ?? query, query }),
            signal,
          );
    if (id === undefined) {
      throw new ProviderError(
        "no_match",
        `${NAME} knows no library of that name; name it in 'library', like react or /vercel/next.js`,
      );
    }
    const url = below(baseUrl, "/v2/context", { libraryId: id, query, type: "txt" });
    const text = (await askService(url, service, signal)).trim();
    return text === "" ? "" : `Library: ${id}\n\n${text}`;
  };

  async function findLibrary(url: URL, signal: AbortSignal): Promise<string | undefined> {
    const answer = Libraries.safeParse(serviceJson(await askService(url, service, signal), NAME));
    if (!answer.success) return undefined;
    const listed = Array.isArray(answer.data) ? answer.data : answer.data.results;
    return listed.map((item) => Library.safeParse(item).data?.id).find((id) => id !== undefined);
  }
}
