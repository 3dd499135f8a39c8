/** For tests inside workerd: a conversation with the gateway's own tools, whose web the test provides. */
import { runInDurableObject } from "cloudflare:test";
import { onTestFinished } from "vitest";
import { readAgain } from "../worker/kernel/settings/read-once.ts";
import { conversationOf } from "./states.ts";

export type Site = (url: string, init: { signal: AbortSignal }) => Response | Promise<Response>;

/**
 * Gives conversations these tools and this web until the test ends: all objects of a Worker share one `env`.
 *
 * @param site answers for every address
 */
export async function withWeb(id: string, site: Site, tools = "webfetch"): Promise<void> {
  const WEB = {
    fetch: (url: string, init: { signal: AbortSignal }) => Promise.resolve(site(url, init)),
  };
  await runInDurableObject(conversationOf(id), (instance) => {
    const { env: own } = instance as unknown as { env: Record<string, unknown> };
    const before = { GATEWAY_TOOLS: own.GATEWAY_TOOLS, WEB: own.WEB };
    Object.assign(own, { GATEWAY_TOOLS: tools, WEB });
    readAgain();
    onTestFinished(() => {
      Object.assign(own, before);
      readAgain();
    });
  });
}

export const html = (body: string) => new Response(body, { headers: { "content-type": "text/html" } });

/** A webfetch call as a model writes it. */
export const fetching = (url: string) => ({ name: "webfetch", arguments: { url } });
