/** For tests inside workerd: a conversation with the gateway's own tools, whose web the test provides. */
import { runInDurableObject } from "cloudflare:test";
import { readAgain } from "../worker/settings/read-once.ts";
import { conversationOf } from "./states.ts";

export type Site = (url: string, init: { signal: AbortSignal }) => Response | Promise<Response>;

/**
 * Gives the conversation these tools and this web. A later instance of the object has neither.
 *
 * @param site answers for every address
 */
export async function withWeb(id: string, site: Site, tools = "webfetch"): Promise<void> {
  const WEB = {
    fetch: (url: string, init: { signal: AbortSignal }) => Promise.resolve(site(url, init)),
  };
  await runInDurableObject(conversationOf(id), (instance) => {
    const { env: own } = instance as unknown as { env: Record<string, unknown> };
    Object.assign(own, { GATEWAY_TOOLS: tools, WEB });
    readAgain();
  });
}

export const html = (body: string) => new Response(body, { headers: { "content-type": "text/html" } });

/** A webfetch call as a model writes it. */
export const fetching = (url: string) => ({ name: "webfetch", arguments: { url } });
