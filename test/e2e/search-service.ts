/**
 * A local web for the web tools: Brave's search, Context7's documentation search, and the pages in their results. It
 * records its requests.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type SearchService = {
  url: string;
  /** The key of both searches. */
  key: string;
  /** The path and query of each request, with the valid key where one is needed. */
  requests: string[];
  /** Tables below [tools] of agent.toml that let a device use the web, and allow it to reach this server. */
  settings: { web: Record<string, unknown>; browser: Record<string, unknown> };
  close(): Promise<void>;
};

export async function startSearchService(): Promise<SearchService> {
  const key = crypto.randomUUID();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://here");
    const answer = answerTo(url, request, key);
    requests.push(`${url.pathname}${url.search}`);
    response.writeHead(answer === undefined ? 401 : 200, { "content-type": answer?.type ?? "text/plain" });
    response.end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    key,
    requests,
    settings: {
      browser: { allow_addresses: ["127.0.0.1"] },
      web: {
        enabled: true,
        allow_addresses: ["127.0.0.1"],
        brave_api_key: key,
        brave_base_url: `${url}/res/v1`,
        codesearch_api_key: key,
        codesearch_base_url: `${url}/api`,
      },
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

type Answer = { type: string; body: string };

function answerTo(url: URL, { headers }: IncomingMessage, key: string): Answer | undefined {
  const json = (value: unknown) => ({ type: "application/json", body: JSON.stringify(value) });
  switch (url.pathname) {
    case "/res/v1/web/search":
      if (headers["x-subscription-token"] !== key) return undefined;
      return json({ web: { results: [hit(url.searchParams.get("q") ?? "")] } });
    case "/api/v2/libs/search":
      return headers.authorization === `Bearer ${key}`
        ? json({ results: [{ id: "/gpiozero/docs" }] })
        : undefined;
    case "/api/v2/context":
      if (headers.authorization !== `Bearer ${key}`) return undefined;
      return { type: "text/plain", body: `Passages of ${url.searchParams.get("libraryId")}` };
    default:
      return {
        type: "text/html",
        body: "<html><head><title>Tides</title></head><body><h1>Tides</h1><p>High water at 14:32.</p></body></html>",
      };
  }
}

function hit(query: string): Record<string, string> {
  return { title: `About ${query}`, url: "https://tides.example/today", description: "High water at 14:32." };
}
