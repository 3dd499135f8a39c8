/** Bindings of the Worker, and its variables and secrets, to which settings/ gives their meaning and defaults. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";

export interface Env extends Variables {
  HOME: DurableObjectNamespace;
  CONVERSATION: DurableObjectNamespace;
  /** Cloudflare's own models. Absent on one machine, or when wrangler.toml has no [ai]. */
  AI?: {
    run(model: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
  };
  /** The console's files; absent where the gateway was deployed without them. */
  ASSETS?: { fetch(request: Request): Promise<Response> };
  /** Requests to the web, limited to public addresses. Absent on Cloudflare, where no private network can be reached. */
  WEB?: { fetch(url: string, init: RequestInit): Promise<Response> };

  /** What is wrong with the files of the rows, as a list of conditions. Absent on Cloudflare. */
  ROWS?: { fetch(url: string): Promise<Response> };

  /** Replaces the owner's token, and answers with the new one. Absent where this machine does not keep it. */
  OWNER?: { fetch(url: string, init: RequestInit): Promise<Response> };

  /** Counts every request that may carry a credential, by the client's address. */
  RATE_ADDRESS?: RateLimit;
  /** Counts sign-ins and wrong credentials, by address. */
  RATE_GUESSES?: RateLimit;
  /** Counts requests, by token. */
  RATE_TOKENS?: RateLimit;
  /** Counts messages from chat apps, by person. */
  RATE_SENDERS?: RateLimit;
}
